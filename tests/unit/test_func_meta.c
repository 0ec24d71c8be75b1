/* SPDX-License-Identifier: MIT */
/*
 * func_meta: the tables of function streams to bytes and back, by the vector of docs/format/wire.md,
 * section 7.12; rows that come again, late, or not at all; and bytes that no encoder made.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/func_items.h"
#include "tools/vector.h"
#include "trace/func_meta.h"
#include "trace/func_meta_shift.h"
#include "wire/block.h"
#include "wire/func_meta_encode.h"
#include "wire/varint.h"

#define ROOM 65536U

static struct vector vector;
static uint8_t made[ROOM], wanted[ROOM];

/* The trace of the vector. */
static struct func_items *make_source(void)
{
	struct func_items *s = func_items_new(2);
	struct func_mapping m = { .from = 0xaaaad5c00000,
				  .to = 0xaaaad5c01000,
				  .since = 1,
				  .until = UINT32_MAX,
				  .build_id = { 0x8d, 0x7f, 0x1c, 0x0e },
				  .build_id_len = 4,
				  .path = (char *)"/usr/bin/editor" };
	struct func_process kernel;

	free(s->source.processes[0].command);
	free(s->source.processes[0].exe);
	s->source.processes[0].command = strdup("editor");
	s->source.processes[0].exe = strdup("/usr/bin/editor");
	s->source.processes[0].pid = 4711;
	s->source.processes[0].parent = 12;
	assert_int_equal(func_process_add_mapping(&s->source.processes[0], &m), 0);
	m = (struct func_mapping){ .from = 0xffff80000000,
				   .to = 0xffff80020000,
				   .offset = 0x1000,
				   .since = 2,
				   .until = 5,
				   .path = (char *)"/lib/plug.so" };
	assert_int_equal(func_process_add_mapping(&s->source.processes[0], &m), 0);
	assert_int_equal(func_process_init(&kernel, "kernel", ""), 0);
	kernel.kernel = true;
	assert_int_equal(func_process_add_name(&kernel, "schedule", 8), 0);
	assert_int_equal(func_process_add_name(&kernel, "vfs_read", 8), 0);
	assert_int_equal(func_source_add_process(&s->source, &kernel, NULL), 0);
	s->source.threads[0].tid = 4711;
	sched_comm_set(s->source.threads[0].comm, "editor", 6);
	s->source.threads[1] = (struct func_thread){ .process = 1, .tid = 0, .cpu = 3 };
	s->source.clock.mult = 0xf3cf3cf3U;
	s->source.clock.shift = 32;
	s->source.clock.base_ns = 0 - 1000000ULL;
	s->source.clock.has_realtime = true;
	s->source.clock.realtime_off_ns = 1700000000000000000LL;
	s->source.clock.realtime_err_ns = 1000;
	assert_int_equal(func_source_add_sync(&s->source, 1050000000, 999000000), 0);
	assert_int_equal(func_source_add_sync(&s->source, 3150000000U, 2999000100U), 0);
	return s;
}

static void expect_payload(size_t made_len)
{
	size_t i, len = vector_bytes(&vector, wanted, ROOM);

	if (made_len == len && !memcmp(made, wanted, len))
		return;
	for (i = 0; i < made_len; i++)
		fprintf(stderr, "%02x", made[i]);
	fputc('\n', stderr);
	fail_msg("%s: other bytes than the vector's; made were those above", vector.name);
}

static void expect_back(const struct func_meta *m)
{
	const struct func_process *p = &m->tables.processes[0];

	assert_int_equal(m->tables.n_processes, 2);
	assert_int_equal(p->pid, 4711);
	assert_int_equal(p->parent, 12);
	assert_string_equal(p->command, "editor");
	assert_string_equal(p->exe, "/usr/bin/editor");
	assert_int_equal(p->n_mappings, 2);
	assert_true(p->mappings[0].from == 0xaaaad5c00000 && p->mappings[0].to == 0xaaaad5c01000);
	assert_true(p->mappings[0].until == UINT32_MAX);
	assert_int_equal(p->mappings[0].build_id_len, 4);
	assert_int_equal(p->mappings[1].since, 2);
	assert_int_equal(p->mappings[1].until, 5);
	assert_int_equal(p->mappings[1].offset, 0x1000);
	assert_string_equal(p->mappings[1].path, "/lib/plug.so");
	p++;
	assert_true(p->kernel);
	assert_int_equal(p->n_names, 2);
	assert_string_equal(p->names[1], "vfs_read");
	assert_int_equal(m->n_threads, 2);
	assert_int_equal(m->threads[1].number, 1);
	assert_int_equal(m->threads[1].thread.cpu, 3);
	assert_int_equal(m->tables.threads[0].tid, 4711);
	assert_int_equal(m->tables.threads[0].cpu, -1);
	assert_true(m->has_clock && m->found);
	assert_true(m->tables.clock.base_ns == 0 - 1000000ULL);
	assert_string_equal(m->tables.clock.name, "mono");
	assert_int_equal(m->tables.n_syncs, 2);
	assert_true(m->tables.syncs[1].mono_ns == 2999000100U);
}

static void test_vector(void **state)
{
	struct func_items *s = make_source();
	struct func_meta_place at = { 0 };
	struct func_meta m;
	size_t len, payloads = 0;
	int times;

	(void)state;
	vector_open(&vector, "func_meta.hex");
	while ((len = func_meta_encode(&s->source, &at, made, ROOM)))
		expect_payload(len);
	assert_int_equal(vector_bytes(&vector, wanted, ROOM), 0);
	/* Said once or twice, it says the same. */
	for (times = 1; times <= 2; times++) {
		func_meta_init(&m);
		for (payloads = 0; payloads < 6U * (unsigned)times;) {
			vector_open(&vector, "func_meta.hex");
			while ((len = vector_bytes(&vector, wanted, ROOM))) {
				assert_int_equal(func_meta_decode(&m, wanted, len), 0);
				payloads++;
			}
		}
		assert_int_equal(func_meta_settle(&m), 0);
		expect_back(&m);
		func_meta_done(&m);
	}
	func_source_free(&s->source);
}

/* What changed while it was recorded is said by a later row. */
static void test_later(void **state)
{
	struct func_meta_mapping row = {
		.from = 0x1000, .to = 0x2000, .since = 1, .until = UINT32_MAX, .path = { "/a", 2 }
	};
	struct func_meta_thread thread = { .number = 9, .process = 4, .tid = 7, .cpu = -1 };
	struct func_meta m;
	uint8_t *body, *p;
	int i;

	(void)state;
	func_meta_init(&m);
	for (i = 0; i < 2; i++) {
		body = meta_item_begin(made, META_MAPPINGS);
		p = func_meta_put_mapping(func_meta_put_owner(body, 1), &row);
		p = meta_item_end(body, p);
		assert_int_equal(func_meta_decode(&m, made, (size_t)(p - made)), 0);
		body = meta_item_begin(made, META_THREADS);
		thread.comm = (struct func_meta_text){ i ? "new" : "old", 3 };
		p = meta_item_end(body, func_meta_put_thread(body, &thread));
		assert_int_equal(func_meta_decode(&m, made, (size_t)(p - made)), 0);
		row.until = 4;
	}
	assert_int_equal(func_meta_add_thread(&m, 9), 0);
	assert_int_equal(func_meta_add_thread(&m, 3), 0);
	assert_int_equal(func_meta_settle(&m), 0);
	assert_int_equal(m.tables.processes[1].n_mappings, 1);
	assert_int_equal(m.tables.processes[1].mappings[0].until, 4);
	assert_int_equal(m.n_threads, 2);
	assert_int_equal(m.threads[0].number, 3);
	assert_int_equal(m.threads[0].thread.process, 5); /* nobody's */
	assert_string_equal(m.threads[1].thread.comm, "new");
	assert_int_equal(m.tables.n_processes, 6);
	assert_int_equal(m.tables.processes[4].pid, -1);
	assert_string_equal(m.tables.processes[5].command, "");
	func_meta_done(&m);
}

/* Rows out of order: of a mapping that was said twice the one that ended counts, of two readings of the clocks at one time the first. */
static void test_disorder(void **state)
{
	static const struct {
		uint64_t from;
		uint32_t until;
	} told[] = { { 0x5000, 4 }, { 0x5000, UINT32_MAX }, { 0x1000, UINT32_MAX }, { 0x9000, 7 } };
	static const uint64_t syncs[][2] = { { 30, 300 }, { 10, 100 }, { 20, 100 }, { 20, 90 } };
	struct func_meta_mapping row = { .since = 1, .path = { "/a", 2 } };
	struct func_meta m;
	const struct func_process *p;
	uint8_t *body, *at;
	size_t i;

	(void)state;
	func_meta_init(&m);
	at = body = meta_item_begin(made, META_MAPPINGS);
	at = func_meta_put_owner(at, 0);
	for (i = 0; i < 4; i++) {
		row.from = told[i].from;
		row.to = row.from + 0x1000;
		row.until = told[i].until;
		at = func_meta_put_mapping(at, &row);
	}
	at = meta_item_end(body, at);
	body = meta_item_begin(at, META_FUNC_SYNCS);
	for (i = 0, at = body; i < 4; i++)
		at = varint_put(varint_put(at, syncs[i][0]), syncs[i][1]);
	at = meta_item_end(body, at);
	assert_int_equal(func_meta_decode(&m, made, (size_t)(at - made)), 0);
	assert_int_equal(func_meta_settle(&m), 0);
	p = &m.tables.processes[0];
	assert_int_equal(p->n_mappings, 3);
	assert_int_equal(p->mappings[0].from, 0x1000);
	assert_true(p->mappings[1].from == 0x5000 && p->mappings[1].until == 4);
	assert_int_equal(p->mappings[2].from, 0x9000);
	assert_int_equal(m.tables.n_syncs, 2);
	assert_int_equal(m.tables.syncs[0].tick, 10);
	assert_int_equal(m.tables.syncs[1].tick, 30);
	assert_int_equal(func_meta_add_thread(&m, STREAM_FUNC_THREADS - 1), 0);
	assert_int_equal(func_meta_add_thread(&m, STREAM_FUNC_THREADS), -E2BIG);
	func_meta_done(&m);
}

/* What a device says of calls is moved; what it says of other things is not looked at. */
static void test_wanted(void **state)
{
	static const uint8_t names[] = { 0x63, 0x01, 0x00, META_NAMES, 2, 0, 0 },
			     other[] = { META_DEVICE, 1, 'x', 0x63, 0x01, 0x00 };

	(void)state;
	assert_true(func_meta_shift_wants(names, sizeof(names)));
	assert_false(func_meta_shift_wants(other, sizeof(other)));
	assert_false(func_meta_shift_wants(names, 2));
	assert_false(func_meta_shift_wants(names, 0));
}

/* More than one block's worth of each. */
static void test_many(void **state)
{
	struct func_items *s = func_items_new(5000);
	struct func_mapping m = { .to = 1, .until = UINT32_MAX };
	struct func_meta_place at = { 0 };
	struct func_meta back;
	char text[1000];
	uint32_t i;
	size_t len, payloads = 0;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	m.path = text;
	for (i = 0; i < 300; i++) {
		m.since = i;
		assert_int_equal(func_process_add_mapping(&s->source.processes[0], &m), 0);
		assert_int_equal(func_process_add_name(&s->source.processes[0], text, i), 0);
		assert_int_equal(func_source_add_sync(&s->source, i, i), 0);
	}
	func_meta_init(&back);
	while ((len = func_meta_encode(&s->source, &at, made, ROOM))) {
		assert_true(len <= ROOM);
		assert_int_equal(func_meta_decode(&back, made, len), 0);
		payloads++;
	}
	assert_true(payloads > 10);
	assert_int_equal(func_meta_settle(&back), 0);
	assert_int_equal(back.n_threads, 5000);
	assert_int_equal(back.tables.threads[4999].tid, 900 + 4999);
	assert_int_equal(back.tables.processes[0].n_mappings, 300);
	assert_int_equal(back.tables.processes[0].n_names, 300);
	assert_int_equal(strlen(back.tables.processes[0].names[299]), 299);
	assert_int_equal(back.tables.n_syncs, 300);
	func_meta_done(&back);
	func_source_free(&s->source);
}

static void test_bad(void **state)
{
	static const uint8_t rows[][24] = {
		{ META_PROCESSES, 4, 0x80, 0x80, 0x04, 0x00 }, /* number 65536 */
		{ META_THREADS, 4, 0x00, 0x80, 0x80, 0x04 },   /* of process 65536 */
		{ META_MAPPINGS, 2, 0x00, 0x01 },	       /* cut */
		{ META_MAPPINGS, 18, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		  0x01, 0x01 }, /* behind the last address */
		{ META_FUNC_SYNCS, 1, 0x05 },
		{ META_FUNC_CLOCK, 1, 0x00 },
		{ META_NAMES, 4, 0x00, 0x00, 0x05, 0x41 },
	};
	struct func_meta m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		func_meta_init(&m);
		assert_int_equal(func_meta_decode(&m, rows[i], 2 + (size_t)rows[i][1]), -EBADMSG);
		func_meta_done(&m);
	}
	/* A type that nobody knows is passed over. */
	func_meta_init(&m);
	assert_int_equal(func_meta_decode(&m, (const uint8_t *)"\x63\x01\x00", 3), 0);
	assert_false(m.found);
	func_meta_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),	 cmocka_unit_test(test_later),
		cmocka_unit_test(test_disorder), cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_many),	 cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
