/* SPDX-License-Identifier: MIT */
/*
 * stored: a store in a folder of its own, and blocks to put into it, for the tests of the store.
 *
 * Each stream has its own encoder and counts as a device would: sequence, `before`, losses told.
 * What was put is counted here, too, so that a test can compare.
 */
#ifndef KISEKI_TESTS_STORED_H
#define KISEKI_TESTS_STORED_H

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "store/store_reader.h"
#include "tools/sched_random.h"
#include "wire/sched_encode.h"

#define STORED_ROOM 65536U

struct stored_stream {
	uint32_t stream;
	uint64_t sequence, count;
	uint64_t end_tick;
	struct sched_random events;
	struct sched_encoder encoder;
	uint8_t buffer[BLOCK_HEADER_MAX + STORED_ROOM];
	struct block block; /* the last one made, */
	uint8_t *bytes;	    /* and its bytes */
};

static inline struct message_id stored_id(uint32_t n)
{
	struct message_id id = { { 0 } };

	memcpy(id.bytes, "test", 4);
	put_le32(id.bytes + 4, n);
	put_le32(id.bytes + 12, n * 2654435761U);
	return id;
}

static inline void stored_stream_init(struct stored_stream *s, uint32_t stream, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->stream = stream;
	sched_random_init(&s->events, seed, SCHED_RANDOM_REAL);
}

/* A block of n events; `lost` events are told as lost by the ring before them. */
static inline void stored_make(struct stored_stream *s, bool key, uint32_t n, uint64_t lost)
{
	struct block b = { .codec = CODEC_SCHED, .stream = s->stream, .events = n };
	struct sched_event ev;
	uint64_t from = s->end_tick;
	uint32_t i;

	b.sequence = s->sequence++;
	b.flags = (uint8_t)((key ? BLOCK_KEY : 0) | (lost ? BLOCK_LOST : 0));
	b.lost[LOSS_RING] = lost;
	b.first_tick = s->events.tick;
	if (lost != LOSS_UNKNOWN)
		s->count += lost;
	b.before = key ? s->count : 0;
	s->count += n;
	if (key) {
		sched_encoder_init(&s->encoder, s->stream - 1);
		from = b.first_tick;
	}
	sched_encoder_begin(&s->encoder, s->buffer + BLOCK_HEADER_MAX, STORED_ROOM, b.first_tick);
	for (i = 0; i < n; i++) {
		if (key && i == 0) /* the first event is at the header's tick */
			b.first_tick = s->events.tick;
		sched_random_next(&s->events, &ev);
		assert_int_equal(sched_encode(&s->encoder, &ev), WIRE_OK);
		if (ev.tick > s->end_tick)
			s->end_tick = ev.tick;
	}
	b.ticks = s->end_tick > from ? s->end_tick - from : 0;
	b.payload_len = sched_encoder_end(&s->encoder);
	s->bytes = block_encode(&b, s->buffer + BLOCK_HEADER_MAX, &b.len);
	assert_int_equal(block_decode(s->bytes, b.len, &s->block), WIRE_OK);
}

static inline int stored_put(struct store *st, uint32_t run, const struct stored_stream *s)
{
	struct error e = ERROR_INIT;

	return store_put(st, run, &s->block, s->bytes, &e);
}

/* A block as given, without payload. */
static inline int stored_put_bare(struct store *st, uint32_t run, struct block b)
{
	uint8_t buffer[BLOCK_HEADER_MAX + 1], *bytes;
	struct error e = ERROR_INIT;
	struct block sound;

	b.codec = b.stream ? CODEC_SCHED : CODEC_META;
	bytes = block_encode(&b, buffer + BLOCK_HEADER_MAX, &b.len);
	assert_int_equal(block_decode(bytes, b.len, &sound), WIRE_OK);
	return store_put(st, run, &sound, bytes, &e);
}

static inline void stored_commit(struct store *s)
{
	struct error e = ERROR_INIT;
	uint64_t durable = 0;

	if (store_commit(s, &durable, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(durable, store_puts(s));
}

static inline uint32_t stored_run(struct store *s, uint32_t device, uint32_t run, uint32_t boot)
{
	struct message_id d = stored_id(device), r = stored_id(run), b = stored_id(boot);
	struct error e = ERROR_INIT;
	uint32_t number = 0;

	if (store_run(s, &d, &r, &b, &number, &e) < 0)
		fail_msg("%s", e.text);
	return number;
}

static inline struct store *stored_open(const char *dir, const struct store_options *o)
{
	struct error e = ERROR_INIT;
	struct store *s;

	if (store_open(&s, dir, o, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static inline int stored_remove_one(const char *path, const struct stat *st, int type,
				    struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

/* The server in which to test, as clickhouse://HOST:PORT, or NULL: then it is folders. */
static inline const char *stored_server(void)
{
	const char *server = getenv("KISEKI_TEST_STORE");

	return server && *server ? server : NULL;
}

static inline void stored_remove(const char *dir)
{
	char command[256];

	if (!stored_server()) {
		nftw(dir, stored_remove_one, 16, FTW_DEPTH | FTW_PHYS);
		return;
	}
	snprintf(command, sizeof(command), "curl -sS http://%s --data-binary 'DROP DATABASE %s'",
		 stored_server() + strlen("clickhouse://"), strrchr(dir, '/') + 1);
	assert_int_equal(system(command), 0);
}

/* In memory if it can be had: a sync costs nothing there, and these tests make thousands. In a server,
 * a database of its own. */
static inline void stored_folder(char out[64])
{
	static unsigned int n;

	if (stored_server()) {
		snprintf(out, 64, "%s/test_%d_%u", stored_server(), (int)getpid(), n++);
		return;
	}
	snprintf(out, 64, "%s/kiseki-test-store-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(out));
}

/* What the ledger of a run sums up to. */
struct stored_ledger {
	uint64_t lost[LOSS_CAUSES];
	uint32_t unknown[LOSS_CAUSES];
	uint32_t rows;
};

static inline int stored_add_row(void *context, const struct store_loss *l)
{
	struct stored_ledger *sum = context;

	assert_true(l->cause < LOSS_CAUSES);
	sum->rows++;
	if (l->count == LOSS_UNKNOWN)
		sum->unknown[l->cause]++;
	else
		sum->lost[l->cause] += l->count;
	return 0;
}

/* The run's facts and its ledger, which must agree. */
static inline struct store_run stored_facts(struct store *s, uint32_t run,
					    struct stored_ledger *ret)
{
	struct stored_ledger sum = { { 0 } };
	struct error e = ERROR_INIT;
	struct store_run facts;
	bool unknown = false;
	int i;

	if (store_get_run(s, run, &facts, &e) < 0 ||
	    store_ledger(s, run, stored_add_row, &sum, &e) < 0)
		fail_msg("%s", e.text);
	for (i = 0; i < LOSS_CAUSES; i++) {
		assert_int_equal(facts.lost[i], sum.lost[i]);
		unknown = unknown || sum.unknown[i];
	}
	assert_int_equal(facts.lost_unknown, unknown);
	if (ret)
		*ret = sum;
	return facts;
}

#endif
