/* SPDX-License-Identifier: MIT */
/*
 * func_buffer: whatever happens to the file of a traced process, the events that are given and those
 * that are told as lost are, one by one and at their places, the events that were made.
 */
#include <errno.h>
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

#include "tools/func_file.h"
#include "tools/func_random.h"
#include "trace/func_buffer.h"
#include "wire/varint.h"

#define THREADS 6U
#define MADE_MAX 60000U
#define CALLS 100000U /* more than a segment holds */

/* What the threads did, to compare with. */
struct made {
	struct func_event *events;
	uint64_t n;
	uint64_t at; /* how many the source has accounted for */
};

struct run {
	struct func_file *file;
	struct made made[THREADS];
	struct func_random *random[THREADS];
};

static void make_run(struct run *r, const struct func_file_layout *l, uint64_t seed, unsigned style)
{
	uint32_t i;

	memset(r, 0, sizeof(*r));
	r->file = func_file_new(l);
	for (i = 0; i < THREADS; i++) {
		r->made[i].events = calloc(MADE_MAX, sizeof(struct func_event));
		r->random[i] = malloc(sizeof(*r->random[i]));
		assert_non_null(r->made[i].events);
		assert_non_null(r->random[i]);
		func_random_init(r->random[i], seed * THREADS + i, style);
		r->random[i]->tick = 2000 + i;
		func_file_add_thread(r->file, 100 + i, "worker");
	}
}

static void free_run(struct run *r)
{
	uint32_t i;

	for (i = 0; i < THREADS; i++) {
		free(r->made[i].events);
		free(r->random[i]);
	}
	func_file_free(r->file);
}

/* Some events of some thread. */
static void push_some(struct run *r, uint32_t most)
{
	struct func_random *any = r->random[0];
	uint32_t i = func_random_below(any, THREADS), n = func_random_below(any, most);
	struct made *m = &r->made[i];

	for (; n && m->n < MADE_MAX; n--) {
		func_random_next(r->random[i], &m->events[m->n]);
		func_file_push(r->file, i, &m->events[m->n++]);
	}
}

static struct func_source *open_run(const struct run *r, size_t len)
{
	struct func_buffer_bytes bytes = { .data = r->file->data, .len = len };
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;

	if (func_buffer_open_memory(&bytes, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

/* Reads to the end; losses[] sums what was told, by cause. */
static void check_items(struct run *r, struct func_source *s, uint64_t losses[LOSS_CAUSES])
{
	struct error e = ERROR_INIT;
	struct func_item item;
	uint64_t last[THREADS] = { 0 };
	struct made *m;
	uint32_t i;
	int got;

	memset(losses, 0, LOSS_CAUSES * sizeof(*losses));
	for (i = 0; i < THREADS; i++)
		r->made[i].at = 0;
	while ((got = s->ops->next(s, &item, &e)) == 1) {
		assert_true(item.thread < THREADS);
		m = &r->made[item.thread];
		if (item.type == FUNC_ITEM_LOSS) {
			assert_true(item.loss.count != LOSS_UNKNOWN);
			assert_true(item.loss.from_tick == last[item.thread]);
			m->at += item.loss.count;
			losses[item.loss.cause] += item.loss.count;
			continue;
		}
		assert_true(m->at < m->n);
		assert_true(func_event_equal(&item.event, &m->events[m->at]));
		last[item.thread] = item.event.tick;
		m->at++;
	}
	assert_int_equal(got, 0);
	for (i = 0; i < THREADS; i++)
		assert_true(r->made[i].at == r->made[i].n);
}

static uint64_t count_made(const struct run *r)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < THREADS; i++)
		n += r->made[i].n;
	return n;
}

static const struct func_file_layout roomy = {
	.slots = THREADS, .chunks = 512, .chunk_bytes = 16384, .segment_bytes = 40000
};
static const struct func_file_layout narrow = {
	.slots = THREADS, .chunks = 24, .chunk_bytes = 16384, .segment_bytes = 40000
};
static const struct func_file_layout flight = {
	.slots = THREADS,
	.chunks = 24,
	.chunk_bytes = 16384,
	.policy = FUNC_FLIGHT,
	.segment_bytes = 40000,
};

static uint64_t sum(const uint64_t losses[LOSS_CAUSES])
{
	return losses[0] + losses[1] + losses[2] + losses[3] + losses[4];
}

static void test_whole(void **state)
{
	uint64_t losses[LOSS_CAUSES], seed;
	struct func_source *s;
	struct run r;
	unsigned i;

	(void)state;
	for (seed = 1; seed <= 4; seed++) {
		make_run(&r, &roomy, seed, (unsigned)seed - 1);
		for (i = 0; i < 200; i++)
			push_some(&r, 500);
		s = open_run(&r, r.file->len);
		assert_int_equal(s->n_threads, THREADS);
		assert_int_equal(s->n_processes, 1);
		assert_int_equal(s->processes[0].pid, 4321);
		assert_string_equal(s->processes[0].command, "sample");
		assert_string_equal(s->processes[0].exe, "/usr/bin/sample");
		assert_int_equal(s->threads[3].tid, 103);
		assert_string_equal(s->threads[3].comm, "worker");
		check_items(&r, s, losses);
		assert_int_equal(sum(losses), 0);
		assert_int_equal(s->ops->rewind(s, NULL), 0);
		check_items(&r, s, losses);
		func_source_free(s);
		free_run(&r);
	}
}

/* Full: calls are lost until chunks are free again; their places are known. */
static void test_full(void **state)
{
	uint64_t losses[LOSS_CAUSES], seed;
	struct func_source *s;
	struct run r;
	unsigned i;

	(void)state;
	for (seed = 1; seed <= 6; seed++) {
		make_run(&r, &narrow, seed, seed % 2 ? FUNC_RANDOM_REAL : FUNC_RANDOM_BROKEN);
		for (i = 0; i < 2000; i++)
			push_some(&r, 400);
		s = open_run(&r, r.file->len);
		check_items(&r, s, losses);
		assert_true(losses[LOSS_BUFFER] > 0);
		assert_true(losses[LOSS_BUFFER] == sum(losses));
		func_source_free(s);
		free_run(&r);
	}
}

static void test_flight(void **state)
{
	uint64_t losses[LOSS_CAUSES], seed;
	struct func_source *s;
	struct run r;
	unsigned i;

	(void)state;
	for (seed = 1; seed <= 6; seed++) {
		make_run(&r, &flight, seed, FUNC_RANDOM_REAL);
		for (i = 0; i < 2000; i++)
			push_some(&r, 400);
		s = open_run(&r, r.file->len);
		check_items(&r, s, losses);
		assert_true(losses[LOSS_RING] > 0);
		assert_true(losses[LOSS_RING] == sum(losses));
		assert_true(sum(losses) < count_made(&r));
		func_source_free(s);
		free_run(&r);
	}
}

/* Somebody takes chunks out, in any order; the program finds room again. */
static void test_drained(void **state)
{
	uint64_t losses[LOSS_CAUSES], seed;
	struct func_source *s;
	struct run r;
	uint8_t *h;
	unsigned i;

	(void)state;
	for (seed = 1; seed <= 6; seed++) {
		make_run(&r, &narrow, seed, FUNC_RANDOM_REAL);
		put_le32(r.file->data + FUNC_BUFFER_AT_DRAINED, 77);
		for (i = 0; i < 2000; i++) {
			push_some(&r, 400);
			h = func_file_chunk(r.file, func_random_below(r.random[1], 24));
			if (!func_random_below(r.random[1], 3) &&
			    get_le32(h + FUNC_CHUNK_AT_STATE) == FUNC_CHUNK_FULL)
				put_le32(h + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE);
		}
		s = open_run(&r, r.file->len);
		check_items(&r, s, losses);
		assert_true(losses[LOSS_SPOOL] > 0);
		assert_true(losses[LOSS_SPOOL] + losses[LOSS_BUFFER] == sum(losses));
		func_source_free(s);
		free_run(&r);
	}
}

/* Cut anywhere behind the slots: what is gone is counted, by the slots at the latest. */
static void test_cut(void **state)
{
	uint64_t losses[LOSS_CAUSES], first;
	struct func_source *s;
	struct run r;
	size_t len;
	unsigned i;

	(void)state;
	make_run(&r, &narrow, 9, FUNC_RANDOM_REAL);
	for (i = 0; i < 2000; i++)
		push_some(&r, 400);
	first = (uint64_t)(func_file_chunk(r.file, 0) - r.file->data);
	for (len = r.file->len; len > first; len -= 4999 < len - first ? 4999 : len - first) {
		s = open_run(&r, len);
		check_items(&r, s, losses);
		assert_true(losses[LOSS_BUFFER] + losses[LOSS_DAMAGE] == sum(losses));
		func_source_free(s);
	}
	s = open_run(&r, (size_t)first);
	check_items(&r, s, losses);
	assert_true(sum(losses) == count_made(&r));
	func_source_free(s);
	free_run(&r);
}

/* A chunk that nobody decodes: its events are told as damaged, those behind the next key are there. */
static void test_torn_chunk(void **state)
{
	uint64_t losses[LOSS_CAUSES];
	struct func_source *s;
	struct run r;
	uint8_t *h;
	uint32_t i, used;

	(void)state;
	make_run(&r, &narrow, 11, FUNC_RANDOM_REAL);
	for (i = 0; i < 300; i++)
		push_some(&r, 400);
	for (i = 0; i < 3; i++) {
		h = func_file_chunk(r.file, i);
		used = get_le32(h + FUNC_CHUNK_AT_USED);
		assert_true(used > 100);
		if (i == 0) /* no code starts so */
			memset(h + FUNC_CHUNK_HEAD, 0xff, used);
		else if (i == 1)
			put_le32(h + FUNC_CHUNK_AT_USED, UINT32_MAX);
		else
			put_le32(h + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_TAKEN);
	}
	s = open_run(&r, r.file->len);
	check_items(&r, s, losses);
	assert_true(losses[LOSS_DAMAGE] > 0);
	assert_true(losses[LOSS_DAMAGE] + losses[LOSS_BUFFER] == sum(losses));
	func_source_free(s);
	free_run(&r);
}

/* Threads that come and go, and some without a slot: their losses are those of a thread that stands
 * for all of them. */
static void test_threads(void **state)
{
	static const struct func_file_layout few = {
		.slots = 2, .chunks = 4, .chunk_bytes = 4096, .segment_bytes = 8192
	};
	struct func_event ev = { .value = 0x1000, .kind = FUNC_ENTER };
	struct func_buffer_bytes bytes = { 0 };
	uint64_t given = 0, lost = 0, rest = 0, made = 0;
	struct func_source *s = NULL;
	struct func_file *f = func_file_new(&few);
	struct func_item item;
	uint32_t i, k, t;

	(void)state;
	for (i = 0; i < 12; i++) {
		t = func_file_add_thread(f, 200 + i, "short");
		for (k = 0; k < 900 + 100 * i; k++) {
			ev.tick = 5000 + 100000 * i + 3 * k;
			ev.kind = k % 2 ? FUNC_EXIT : FUNC_ENTER;
			func_file_push(f, t, &ev);
			made++;
		}
		if (i % 3)
			func_file_end_thread(f, t);
	}
	bytes.data = f->data;
	bytes.len = f->len;
	assert_int_equal(func_buffer_open_memory(&bytes, &s, NULL), 0);
	assert_string_equal(s->threads[s->n_threads - 1].comm, "(no slot)");
	while (s->ops->next(s, &item, NULL) == 1) {
		if (item.type == FUNC_ITEM_EVENT)
			given++;
		else if (item.thread == s->n_threads - 1)
			rest += item.loss.count;
		else
			lost += item.loss.count;
	}
	assert_true(given > 0 && rest > 0);
	assert_true(given + lost + rest == made);
	func_source_free(s);
	func_file_free(f);
}

/* Whatever the numbers of header, slots and heads are: no crash, and it ends. */
static void test_hostile(void **state)
{
	struct func_buffer_bytes bytes = { 0 };
	struct func_source *s;
	struct func_item item;
	struct error e;
	uint64_t items;
	uint32_t i, k, at;
	struct run r;

	(void)state;
	make_run(&r, &narrow, 13, FUNC_RANDOM_BROKEN);
	for (i = 0; i < 100; i++)
		push_some(&r, 400);
	bytes.len = r.file->len;
	for (i = 0; i < 400; i++) {
		uint8_t *copy = malloc(r.file->len);

		assert_non_null(copy);
		memcpy(copy, r.file->data, r.file->len);
		for (k = 0; k < 1 + i % 8; k++) {
			at = func_random_below(r.random[0], 5);
			at = at == 0   ? func_random_below(r.random[0], 512)
			     : at == 1 ? 4096 + func_random_below(r.random[0], 4096)
				       : (uint32_t)(func_file_chunk(r.file,
								    func_random_below(r.random[0],
										      24)) -
						    r.file->data) +
						 func_random_below(r.random[0], at == 2 ? 64 : 400);
			copy[at] = (uint8_t)func_random_bits(r.random[0]);
		}
		bytes.data = copy;
		if (func_buffer_open_memory(&bytes, &s, &e) == 0) {
			for (items = 0; s->ops->next(s, &item, &e) == 1; items++)
				assert_true(item.thread < s->n_threads);
			assert_true(items < 10 * r.file->len);
			func_source_free(s);
		}
		free(copy);
	}
	free_run(&r);
}

static void test_refused(void **state)
{
	struct func_buffer_bytes bytes = { 0 };
	struct func_file *f = func_file_new(&narrow);
	struct func_source *s;
	struct error e = ERROR_INIT;

	(void)state;
	bytes.data = f->data;
	bytes.len = 4095;
	assert_int_equal(func_buffer_open_memory(&bytes, &s, &e), -EBADMSG);
	assert_string_equal(e.text, "a function record that ends within its header");
	bytes.len = 3;
	assert_int_equal(func_buffer_open_memory(&bytes, &s, &e), -EBADMSG);
	bytes.len = f->len;
	put_le32(f->data + FUNC_BUFFER_AT_VERSION, 2);
	assert_int_equal(func_buffer_open_memory(&bytes, &s, &e), -EBADMSG);
	assert_string_equal(e.text, "a function record of version 2, this reads version 1");
	put_le32(f->data + FUNC_BUFFER_AT_VERSION, 1);
	put_le64(f->data + FUNC_BUFFER_AT_CHUNKS_AT, UINT64_MAX - 5);
	put_le32(f->data + FUNC_BUFFER_AT_CHUNKS, 0);
	assert_int_equal(func_buffer_open_memory(&bytes, &s, &e), 0);
	func_source_free(s);
	put_le32(f->data + FUNC_BUFFER_AT_CHUNK_BYTES, 64);
	assert_int_equal(func_buffer_open_memory(&bytes, &s, &e), -EBADMSG);
	func_file_free(f);
}

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* What is wrong with a header is said, whatever the number. */
static void test_bounds(void **state)
{
	static const struct {
		uint32_t at, value;
	} wrong[] = {
		{ FUNC_BUFFER_AT_HEADER_BYTES, FUNC_BUFFER_HEADER - 1 },
		{ FUNC_BUFFER_AT_SLOTS, FUNC_BUFFER_SLOTS_MAX + 1 },
		{ FUNC_BUFFER_AT_CHUNKS, FUNC_BUFFER_CHUNKS_MAX + 1 },
		{ FUNC_BUFFER_AT_SLOT_BYTES, FUNC_SLOT_HEAD - 1 },
		{ FUNC_BUFFER_AT_SLOT_BYTES, UINT32_MAX },
		{ FUNC_BUFFER_AT_CHUNK_BYTES, FUNC_BUFFER_CHUNK_MAX + 1 },
	};
	struct func_buffer_bytes bytes = { 0 };
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_file *f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f = func_file_new(&narrow);
		put_le32(f->data + wrong[i].at, wrong[i].value);
		bytes.data = f->data;
		bytes.len = f->len;
		assert_int_equal(func_buffer_open_memory(&bytes, &s, &e), -EBADMSG);
		func_file_free(f);
	}
}

/* A record of one thread whose first chunk is full; the caller frees it. */
static struct func_file *make_chunks(void)
{
	struct func_event ev = { .value = 0x1234, .kind = FUNC_ENTER };
	struct func_file *f = func_file_new(&roomy);
	uint32_t k;

	func_file_add_thread(f, 10, "one");
	for (k = 0; k < CALLS; k++) {
		ev.tick = 10000 + 7 * k;
		ev.kind = k % 2 ? FUNC_EXIT : FUNC_ENTER;
		func_file_push(f, 0, &ev);
	}
	return f;
}

/* Reads it to its end; what was made is given or told as lost, unless the file is gone. */
static int count_items(struct func_source *s, uint64_t *ret_given, uint64_t *ret_lost)
{
	struct error e = ERROR_INIT;
	struct func_item item;
	int r;

	*ret_given = *ret_lost = 0;
	while ((r = s->ops->next(s, &item, &e)) == 1)
		if (item.type == FUNC_ITEM_EVENT)
			++*ret_given;
		else
			*ret_lost += item.loss.count;
	return r;
}

/* A process that goes on while its record is read takes chunks back, and may cut or remove it. */
static void test_changed(void **state)
{
	static const struct {
		uint32_t at, value;
	} change[] = {
		{ FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE },
		{ FUNC_CHUNK_AT_STREAM, 7 },
		{ FUNC_CHUNK_AT_SEQUENCE, 1000 },
	};
	char path[] = "/tmp/kiseki-test-XXXXXX";
	uint64_t given, lost, done = 1, total = 0;
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_file *f;
	size_t i;

	(void)state;
	close(mkstemp(path));
	for (i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		f = make_chunks();
		write_file(path, f->data, f->len);
		assert_int_equal(func_buffer_open(path, &s, &e), 0);
		s->ops->progress(s, &done, &total);
		assert_true(done == 0 && total > 0);
		put_le32(func_file_chunk(f, 0) + change[i].at, change[i].value);
		write_file(path, f->data, f->len);
		assert_int_equal(count_items(s, &given, &lost), 0);
		assert_true(given > 0 && lost > 0 && given + lost == CALLS);
		s->ops->progress(s, &done, &total);
		assert_true(done > 0 && done <= total);
		func_source_free(s);
		func_file_free(f);
	}
	f = make_chunks();
	write_file(path, f->data, f->len);
	assert_int_equal(func_buffer_open(path, &s, &e), 0);
	assert_int_equal(truncate(path, FUNC_BUFFER_HEADER), 0);
	assert_int_equal(count_items(s, &given, &lost), 0);
	assert_true(given == 0 && lost == CALLS);
	func_source_free(s);
	write_file(path, f->data, f->len);
	assert_int_equal(func_buffer_open(path, &s, &e), 0);
	assert_int_equal(remove(path), 0);
	assert_int_equal(count_items(s, &given, &lost), -ENOENT);
	func_source_free(s);
	func_file_free(f);
}

/* What is no record, or has no maps that could be read. */
static void test_no_record(void **state)
{
	char folder[] = "/tmp/kiseki-test-XXXXXX", path[64], maps[64], other[64];
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_file *f = make_chunks();

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a", folder);
	snprintf(maps, sizeof(maps), "%s/a.maps", folder);
	snprintf(other, sizeof(other), "%s/b", folder);
	assert_int_equal(func_buffer_open(path, &s, &e), -ENOENT);
	assert_int_equal(func_buffer_open(folder, &s, &e), -EBADMSG);
	assert_int_equal(func_buffer_open_folder(path, &s, &e), -ENOENT);
	write_file(path, f->data, f->len);
	assert_int_equal(mkdir(maps, 0755), 0); /* as if it had none */
	assert_int_equal(symlink("b", other), 0);
	assert_int_equal(func_buffer_open_folder(folder, &s, &e), 0);
	assert_int_equal(s->processes[0].n_mappings, 0);
	func_source_free(s);
	assert_int_equal(rmdir(maps), 0);
	write_file(maps, "1000-0800 r-xp 0 0:0 1 /x\nnonsense\n", 35);
	assert_int_equal(func_buffer_open(path, &s, &e), 0);
	func_source_free(s);
	write_file(maps, "# kiseki maps 2\n",
		   16); /* of a version that comes later: addresses stay addresses */
	assert_int_equal(func_buffer_open(path, &s, &e), 0);
	assert_int_equal(s->processes[0].n_mappings, 0);
	func_source_free(s);
	assert_int_equal(unlink(maps), 0);
	assert_int_equal(symlink("a.maps", maps), 0);
	assert_int_equal(func_buffer_open(path, &s, &e), -ELOOP);
	assert_int_equal(unlink(other), 0);
	put_le32(f->data + FUNC_BUFFER_AT_VERSION, 2);
	write_file(other, f->data, f->len);
	assert_int_equal(unlink(maps), 0);
	assert_int_equal(func_buffer_open_folder(folder, &s, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "/b: "));
	/* Nothing behind it is read. */
	snprintf(maps, sizeof(maps), "%s/c", folder);
	put_le32(f->data + FUNC_BUFFER_AT_VERSION, 1);
	write_file(maps, f->data, f->len);
	assert_int_equal(func_buffer_open_folder(folder, &s, &e), -EBADMSG);
	assert_int_equal(unlink(maps), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(rmdir(folder), 0);
	func_file_free(f);
}

/* Two processes of one folder, with their maps; the ticks are of one counter and stay. */
static void test_folder(void **state)
{
	static const char maps[] = "1000-3000 r-xp 00000000 fe:00 131    /usr/bin/sample\n";
	char folder[] = "/tmp/kiseki-test-XXXXXX", path[64];
	struct func_event ev = { .value = 0x1234, .kind = FUNC_ENTER };
	struct func_file *f;
	struct func_source *s = NULL;
	struct func_item item;
	struct error e = ERROR_INIT;
	uint64_t last = 0;
	uint32_t i, k, n = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (i = 0; i < 2; i++) {
		f = func_file_new(&roomy);
		func_file_add_thread(f, 10 + i, "one");
		for (k = 0; k < 100; k++) {
			ev.tick = 10000 + 7 * k + 3 * i;
			func_file_push(f, 0, &ev);
		}
		snprintf(path, sizeof(path), "%s/sample.%u", folder, 10 + i);
		write_file(path, f->data, f->len);
		snprintf(path, sizeof(path), "%s/sample.%u.maps", folder, 10 + i);
		write_file(path, maps, sizeof(maps) - 1);
		func_file_free(f);
	}
	if (func_buffer_open_folder(folder, &s, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(s->n_processes, 2);
	assert_int_equal(s->n_threads, 2);
	assert_int_equal(s->threads[1].process, 1);
	assert_int_equal(s->processes[1].n_mappings, 1);
	assert_string_equal(s->processes[1].mappings[0].path, "/usr/bin/sample");
	while (s->ops->next(s, &item, &e) == 1) {
		assert_int_equal(item.type, FUNC_ITEM_EVENT);
		assert_true(item.event.tick >= last);
		assert_true((item.event.tick - 10000) % 7 == (item.thread ? 3 : 0));
		last = item.event.tick;
		n++;
	}
	assert_int_equal(n, 200);
	func_source_free(s);
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/sample.%u", folder, 10 + i);
		assert_int_equal(remove(path), 0);
		strcat(path, ".maps");
		assert_int_equal(remove(path), 0);
	}
	assert_int_equal(func_buffer_open_folder(folder, &s, &e), -ENOENT);
	assert_int_equal(remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	  cmocka_unit_test(test_full),
		cmocka_unit_test(test_flight),	  cmocka_unit_test(test_drained),
		cmocka_unit_test(test_cut),	  cmocka_unit_test(test_torn_chunk),
		cmocka_unit_test(test_threads),	  cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_folder),
		cmocka_unit_test(test_bounds),	  cmocka_unit_test(test_changed),
		cmocka_unit_test(test_no_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
