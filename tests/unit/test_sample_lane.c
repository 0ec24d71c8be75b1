/* SPDX-License-Identifier: MIT */
/*
 * sample_lane, profile_meta, profile_file: records go through the recorder's half and come out of a reader's: all of
 * them, in order, or counted; from a file that is complete or not, and where there was no room for some blocks.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/profile/profile_file.h"
#include "device/profile/profile_meta.h"
#include "trace/sample_ksk.h"
#include "wire/sample_lane.h"

#define CHAINS 12U

struct fixture {
	struct block_out out; /* before the file's: may refuse */
	struct profile_file file;
	struct sample_lane lane[2];
	struct profile_meta meta;
	char path[64];
	uint32_t refuse_every, asked;
};

static int put(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct fixture *f = (struct fixture *)o;

	if (!must && f->refuse_every && ++f->asked % f->refuse_every == 0)
		return -ENOSPC;
	return f->file.out.put(&f->file.out, b, payload, must);
}

static void begin(struct fixture *f)
{
	uint8_t *p;

	memset(f, 0, sizeof(*f));
	snprintf(f->path, sizeof(f->path), "/tmp/kiseki-sample-lane-%d.ksk", (int)getpid());
	assert_int_equal(profile_file_open(&f->file, f->path, NULL), 0);
	f->out.put = put;
	f->out.cause = LOSS_STORE;
	sample_lane_init(&f->lane[0], &f->out, 0);
	sample_lane_init(&f->lane[1], &f->out, 3);
	profile_meta_init(&f->meta, &f->out);
	p = profile_meta_begin(&f->meta);
	profile_meta_end(&f->meta,
			 sample_meta_put_sampling(p, &(struct sample_sampling){ .period = 77 }));
}

static void end(struct fixture *f)
{
	profile_file_close(&f->file);
	unlink(f->path);
}

/* The n-th record of a lane; every seventh is a switch, and times go back now and then. */
static void make(struct sample_event *ev, uint64_t chain[CHAINS], uint32_t lane, uint32_t n)
{
	uint32_t i, mixed = (n * 2654435761U) >> 7;

	*ev = (struct sample_event){ .tick = 1000000 + n * 1000ULL + lane, .kind = SAMPLE_TAKEN };
	ev->task.tid = (int32_t)(100 + mixed % 5);
	ev->task.pid = 100;
	ev->task.vcpu = SAMPLE_NO_VCPU;
	snprintf(ev->task.comm, sizeof(ev->task.comm), "task %u", mixed % 5);
	if (n % 7 == 6) {
		ev->kind = SAMPLE_SWITCH;
		ev->next = ev->task;
		ev->next.tid++;
		return;
	}
	ev->mode = SAMPLE_KERNEL;
	ev->weight = 1000 + n / 100;
	ev->n_kernel = 3;
	ev->n_user = (uint16_t)(mixed % (CHAINS - 3));
	for (i = 0; i < CHAINS; i++)
		chain[i] =
			(i < 3 ? 0xffff800000000000 : 0x400000) + (mixed % 64) * 0x40 + i * 0x1000;
	ev->chain = chain;
}

static void put_all(struct fixture *f, uint32_t n)
{
	uint64_t chain[CHAINS];
	struct sample_event ev;
	uint32_t i, lane;

	for (i = 0; i < n; i++) {
		for (lane = 0; lane < 2; lane++) {
			make(&ev, chain, lane, i);
			sample_lane_put(&f->lane[lane], &ev, i);
		}
		if (i % 1000 == 500)
			sample_lane_lose(&f->lane[1], LOSS_RING, 5);
		if (i % 4096 == 4095)
			sample_lane_lose(&f->lane[0], LOSS_RING, LOSS_UNKNOWN);
		for (lane = 0; lane < 2; lane++)
			sample_lane_flush(&f->lane[lane], i);
	}
}

struct found {
	uint32_t n[4], lost[4], unknown;
	bool is_cut, is_same;
};

static void read_all(struct fixture *f, struct found *ret)
{
	CLEANUP(sample_source) struct sample_source *s = NULL;
	uint64_t chain[CHAINS];
	struct sample_event ev;
	struct sample_item item;
	int r;

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(sample_ksk_open(f->path, &s, NULL), 0);
	ret->is_cut = s->is_cut;
	ret->is_same = true;
	assert_int_equal(s->sampling.period, 77);
	while ((r = s->ops->next(s, &item, NULL)) > 0) {
		assert_true(item.cpu == 0 || item.cpu == 3);
		if (item.type == ITEM_EVENT) {
			make(&ev, chain, item.cpu == 3,
			     (uint32_t)((item.event.tick - 1000000) / 1000));
			ret->is_same &= sample_event_equal(&ev, &item.event);
			ret->n[item.cpu]++;
		} else if (item.loss.count == LOSS_UNKNOWN) {
			ret->unknown++;
		} else {
			ret->lost[item.cpu] += (uint32_t)item.loss.count;
		}
	}
	assert_int_equal(r, 0);
}

static void test_whole(void **state)
{
	static struct fixture f;
	struct found found;
	const uint32_t n = 30000;

	(void)state;
	begin(&f);
	put_all(&f, n);
	assert_int_equal(sample_lane_stop(&f.lane[0], 0), 0);
	assert_int_equal(sample_lane_stop(&f.lane[1], 0), 0);
	profile_meta_flush(&f.meta);
	assert_int_equal(profile_file_finish(&f.file, NULL), 0);
	read_all(&f, &found);
	assert_false(found.is_cut);
	assert_true(found.is_same);
	assert_int_equal(found.n[0], n);
	assert_int_equal(found.n[3], n);
	assert_int_equal(found.lost[3], 5 * 30);
	assert_int_equal(found.unknown, 7);
	end(&f);
}

/* Nobody finishes it: what was put is there. */
static void test_killed(void **state)
{
	static struct fixture f;
	struct found found;

	(void)state;
	begin(&f);
	put_all(&f, 5000);
	read_all(&f, &found);
	assert_true(found.is_cut);
	assert_true(found.is_same);
	assert_true(found.n[0] > 3500 && found.n[0] < 5000);
	end(&f);
}

static void test_no_room(void **state)
{
	static struct fixture f;
	struct found found;
	const uint32_t n = 20000;

	(void)state;
	begin(&f);
	f.refuse_every = 3;
	put_all(&f, n);
	f.refuse_every = 0;
	sample_lane_stop(&f.lane[0], 0);
	sample_lane_stop(&f.lane[1], 0);
	assert_int_equal(profile_file_finish(&f.file, NULL), 0);
	read_all(&f, &found);
	assert_false(found.is_cut);
	assert_true(found.is_same);
	assert_true(found.n[0] < n);
	assert_int_equal(found.n[0] + found.lost[0], n);
	assert_int_equal(found.n[3] + found.lost[3], n + 5 * 20);
	assert_int_equal(f.lane[0].lost[LOSS_STORE], found.lost[0]);
	end(&f);
}

/* Times that go back become those before them; nothing but losses is a file, too. */
static void test_odd(void **state)
{
	static struct fixture f;
	CLEANUP(sample_source) struct sample_source *s = NULL;
	struct sample_item item;
	struct sample_event ev;
	uint64_t chain[CHAINS], last = 0;
	uint32_t n = 0;

	(void)state;
	begin(&f);
	sample_lane_lose(&f.lane[1], LOSS_RING, 9);
	sample_lane_lose(&f.lane[1], LOSS_RING, LOSS_UNKNOWN);
	make(&ev, chain, 0, 50);
	sample_lane_put(&f.lane[0], &ev, 0);
	sample_lane_flush(&f.lane[0], SAMPLE_LANE_FLUSH_MS);
	make(&ev, chain, 0, 40);
	sample_lane_put(&f.lane[0], &ev, 0);
	make(&ev, chain, 0, 45);
	sample_lane_put(&f.lane[0], &ev, 0);
	ev.kind = SAMPLE_KINDS; /* no record at all */
	sample_lane_put(&f.lane[0], &ev, 0);
	assert_int_equal(sample_lane_stop(&f.lane[0], 0), 0);
	assert_int_equal(sample_lane_stop(&f.lane[1], 0), 0);
	assert_int_equal(profile_file_finish(&f.file, NULL), 0);
	assert_int_equal(sample_ksk_open(f.path, &s, NULL), 0);
	while (s->ops->next(s, &item, NULL) > 0) {
		if (item.type != ITEM_EVENT)
			continue;
		assert_true(item.event.tick >= last);
		last = item.event.tick;
		n++;
	}
	assert_int_equal(n, 3);
	assert_int_equal(last, 1050000);
	end(&f);
}

/* --- gaps --- */

struct seen {
	struct block_out out;
	struct block last;
	uint32_t n;
};

static int see(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct seen *s = (struct seen *)o;

	(void)payload;
	(void)must;
	s->last = *b;
	s->n++;
	return 0;
}

/* Says no to everything, whatever must be. */
static int refuse(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	(void)o;
	(void)b;
	(void)payload;
	(void)must;
	return -EIO;
}

static void put_at(struct sample_lane *l, uint64_t tick)
{
	uint64_t chain[CHAINS];
	struct sample_event ev;

	make(&ev, chain, 0, 0);
	ev.tick = tick;
	sample_lane_put(l, &ev, 0);
}

/* Where not even what must be told can be, each record is counted as lost, the lane says so at its end, and tells all of it once it
 * can. A loss of nothing is none. */
static void test_refused(void **state)
{
	static struct sample_lane l;
	struct seen s = { .out = { .put = refuse, .cause = LOSS_STORE } };

	(void)state;
	sample_lane_init(&l, &s.out, 0);
	sample_lane_lose(&l, LOSS_RING, 0);
	assert_int_equal(l.lost[LOSS_RING], 0);
	sample_lane_lose(&l, LOSS_RING, 3);
	sample_lane_lose(&l, LOSS_RING, LOSS_UNKNOWN);
	put_at(&l, 1000); /* two headers are needed to tell, and the first is refused */
	assert_int_equal(l.lost[LOSS_STORE], 1);
	assert_int_equal(sample_lane_stop(&l, 0), -EIO);
	s.out.put = see;
	assert_int_equal(sample_lane_stop(&l, 0), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.last.before, 4);
	assert_true(s.last.lost[LOSS_RING] == LOSS_UNKNOWN);
	assert_int_equal(s.last.flags & BLOCK_KEY, BLOCK_KEY);
}

/* Who only reads headers knows when a loss ended: by a KEY block, or by a block without records before another. */
static void test_loss_ends(void **state)
{
	static struct sample_lane l;
	struct seen s = { .out = { .put = see } };

	(void)state;
	sample_lane_init(&l, &s.out, 0);
	sample_lane_lose(&l, LOSS_RING, 2);
	put_at(&l, 20000); /* the first of all is a KEY */
	assert_int_equal(sample_lane_stop(&l, 0), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.last.lost[LOSS_RING], 2);
	assert_int_equal(s.last.first_tick, 20000);
	assert_int_equal(s.last.before, 2);
	put_at(&l, 21000);
	sample_lane_lose(&l, LOSS_RING, 3);
	put_at(&l, 29000);
	assert_int_equal(s.n, 3); /* the block before the loss, and what is lost */
	assert_int_equal(s.last.flags & BLOCK_KEY, 0);
	assert_int_equal(s.last.events, 0);
	assert_int_equal(s.last.lost[LOSS_RING], 3);
	assert_int_equal(s.last.ticks, 29000 - 21000);
	sample_lane_flush(&l, SAMPLE_LANE_FLUSH_MS);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.last.ticks, 0);
	assert_int_equal(s.last.events, 1);
	assert_int_equal(block_told(&s.last), 0);
	sample_lane_lose(&l, LOSS_RING, LOSS_UNKNOWN);
	assert_int_equal(sample_lane_stop(&l, 35000), 0); /* nothing follows */
	assert_int_equal(s.n, 5);
	assert_true(s.last.lost[LOSS_RING] == LOSS_UNKNOWN);
	assert_int_equal(s.last.ticks, 35000 - 29000);
}

/* --- helpers --- */

#define HELPERS 3

static void *help(void *source)
{
	sample_ksk_help(source);
	return NULL;
}

static void check_same(struct sample_source *a, struct sample_source *b)
{
	struct sample_item x, y;
	uint32_t n = 0;
	int r;

	while ((r = a->ops->next(a, &x, NULL)) == b->ops->next(b, &y, NULL) && r > 0) {
		if (++n == 20000)
			sample_ksk_dismiss(b);
		assert_int_equal(x.type, y.type);
		assert_int_equal(x.cpu, y.cpu);
		if (x.type == ITEM_EVENT)
			assert_true(sample_event_equal(&x.event, &y.event));
		else
			assert_memory_equal(&x.loss, &y.loss, sizeof(x.loss));
	}
	assert_int_equal(r, 0);
	assert_true(n > 59000);
}

/* What is decoded by others, for some of the time, is the same and comes in the same order. */
static void test_helped(void **state)
{
	CLEANUP(sample_source) struct sample_source *alone = NULL;
	CLEANUP(sample_source) struct sample_source *helped = NULL;
	static struct fixture f;
	pthread_t threads[HELPERS];
	size_t i;

	(void)state;
	begin(&f);
	put_all(&f, 30000);
	sample_lane_stop(&f.lane[0], 0);
	sample_lane_stop(&f.lane[1], 0);
	profile_meta_flush(&f.meta);
	assert_int_equal(profile_file_finish(&f.file, NULL), 0);
	assert_int_equal(sample_ksk_open(f.path, &alone, NULL), 0);
	assert_int_equal(sample_ksk_open(f.path, &helped, NULL), 0);
	for (i = 0; i < HELPERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, help, helped), 0);
	check_same(alone, helped);
	for (i = 0; i < HELPERS; i++)
		pthread_join(threads[i], NULL);
	/* Alone again, from the start. */
	assert_int_equal(alone->ops->rewind(alone, NULL), 0);
	assert_int_equal(helped->ops->rewind(helped, NULL), 0);
	check_same(alone, helped);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss_ends), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_whole),	  cmocka_unit_test(test_killed),
		cmocka_unit_test(test_no_room),	  cmocka_unit_test(test_odd),
		cmocka_unit_test(test_helped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
