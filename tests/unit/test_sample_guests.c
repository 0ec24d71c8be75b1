/* SPDX-License-Identifier: MIT */
/* sample_guests: who ran in a guest, by what registers say and the guest told; and nobody where that is not known. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/sample_guests.h"
#include "wire/sample_meta_encode.h"

#define VM 500

static void put_rows(struct sample_guests *g, int32_t vm, const struct sample_table_row *rows,
		     size_t n)
{
	uint8_t bytes[4096], *p, *guest, *tables;
	size_t i;

	guest = meta_item_begin(bytes, META_GUEST);
	p = sample_meta_put_guest(guest, vm);
	tables = meta_item_begin(p, META_TABLES);
	p = tables;
	for (i = 0; i < n; i++) {
		struct sample_table_row row = rows[i];

		row.comm_len = row.comm ? (uint32_t)strlen(row.comm) : 0;
		p = sample_meta_put_table(p, &row);
	}
	p = meta_item_end(tables, p);
	p = meta_item_end(guest, p);
	assert_int_equal(sample_guests_decode(g, bytes, (size_t)(p - bytes)), 0);
}
#define PUT_ROWS(g, vm, rows) put_rows(g, vm, rows, sizeof(rows) / sizeof((rows)[0]))

static const char *who(const struct sample_guests *g, int32_t vm, uint64_t tick,
		       const struct sample_event *like)
{
	struct sample_event ev = *like;
	struct sample_owner owner;

	ev.tick = tick;
	return sample_guests_find(g, vm, SAMPLE_EXITS_SVM, &ev, &owner) ? owner.comm : "nobody";
}

static const struct sample_table_row rows[] = {
	{ .pid = 10, .tid = 10, .tick = 100, .table = 0x42000, .task = 0x1000, .comm = "web" },
	{ .pid = 10, .tid = 11, .tick = 120, .table = 0x42000, .task = 0x2000, .comm = "worker" },
	{ .pid = 10, .tid = 10, .tick = 200, .is_end = true, .table = 0x42000, .task = 0x1000 },
	{ .pid = 20, .tid = 20, .tick = 250, .table = 0x42000, .task = 0x1000, .comm = "next" },
	{ .pid = 3, .tid = 3, .tick = 0, .table = 0, .task = 0x3000, .comm = "kworker" },
};

static void test_tables(void **state)
{
	const struct sample_event user = { .mode = SAMPLE_GUEST_USER,
					   .guest = SAMPLE_GUEST_TABLE,
					   .guest_table = 0x42000 | 0x1803 };
	struct sample_guests *g;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	PUT_ROWS(g, VM, rows);
	assert_int_equal(sample_guests_settle(g), 0);
	assert_string_equal(who(g, VM, 99, &user), "nobody");
	assert_string_equal(who(g, VM, 100, &user), "web");
	assert_string_equal(who(g, VM, 220, &user), "nobody");
	assert_string_equal(who(g, VM, 250, &user), "next");
	assert_string_equal(who(g, VM + 1, 250, &user), "nobody");
	assert_null(sample_guests_spaces(g, VM + 1));
	assert_non_null(sample_guests_spaces(g, VM));
	sample_guests_free(g);
}

/* A kernel thread runs on the table of whoever ran before. */
static void test_threads(void **state)
{
	struct sample_event ev = { .mode = SAMPLE_GUEST_KERNEL,
				   .guest = SAMPLE_GUEST_TABLE | SAMPLE_GUEST_TASK,
				   .guest_table = 0x42000,
				   .guest_task = 0x3000 };
	struct sample_guests *g;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	PUT_ROWS(g, VM, rows);
	assert_int_equal(sample_guests_settle(g), 0);
	assert_string_equal(who(g, VM, 150, &ev), "kworker");
	ev.guest_task = 0x2000;
	assert_string_equal(who(g, VM, 150, &ev), "worker");
	/* The one for idle CPUs is told of by nobody. */
	ev.guest_task = 0x9999;
	assert_string_equal(who(g, VM, 130, &ev), "nobody");
	ev.guest = SAMPLE_GUEST_TABLE;
	assert_string_equal(who(g, VM, 130, &ev), "worker");
	ev.guest |= SAMPLE_GUEST_TASK;
	ev.guest |= SAMPLE_GUEST_CONTEXT;
	ev.guest_context = 3;
	assert_string_equal(who(g, VM, 150, &ev), "kworker");
	sample_guests_free(g);
}

/* x86: the stack tells the task. One that was used again is the next one's; an interrupt's is nobody's; and where the
 * kernel is still on the program's, the table is that program's own. */
static void test_stacks(void **state)
{
	static const struct sample_table_row told[] = {
		{ .pid = 10,
		  .tid = 10,
		  .tick = 0,
		  .table = 0x42000,
		  .task = 0xffffc90000050000,
		  .comm = "web" },
		{ .pid = 7, .tid = 7, .tick = 0, .task = 0xffffc90000058000, .comm = "kworker" },
		{ .pid = 7, .tid = 7, .tick = 100, .is_end = true, .task = 0xffffc90000058000 },
		{ .pid = 9, .tid = 9, .tick = 120, .task = 0xffffc90000058000, .comm = "next" },
	};
	struct sample_event ev = { .mode = SAMPLE_GUEST_KERNEL,
				   .guest =
					   SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_TASK,
				   .guest_table = 0x42000,
				   .guest_task = 0xffffc90000058000 };
	struct sample_guests *g;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	PUT_ROWS(g, VM, told);
	assert_int_equal(sample_guests_settle(g), 0);
	assert_string_equal(who(g, VM, 50, &ev), "kworker");
	assert_string_equal(who(g, VM, 110, &ev), "nobody");
	assert_string_equal(who(g, VM, 120, &ev), "next");
	ev.guest_task = 0xffffc90000050000;
	assert_string_equal(who(g, VM, 50, &ev), "web");
	ev.guest_task = 0xffffc900000e0000;
	assert_string_equal(who(g, VM, 50, &ev), "nobody");
	ev.guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE;
	assert_string_equal(who(g, VM, 50, &ev), "web");
	sample_guests_free(g);
}

/* A guest that tells of no tasks tells by tables whom a kernel ran for; and asking it to settle again changes nothing. */
static void test_no_tasks(void **state)
{
	static const struct sample_table_row told[] = {
		{ .pid = 20, .tid = 20, .tick = 50, .table = 0x44000, .comm = "late" },
		{ .pid = 10, .tid = 10, .tick = 0, .table = 0x42000, .comm = "web" },
		{ .pid = 20, .tid = 21, .tick = 20, .table = 0x44000, .comm = "early" },
		{ .pid = 20, .tid = 22, .tick = 20, .table = 0x44000, .comm = "same" },
	};
	struct sample_event ev = { .mode = SAMPLE_GUEST_KERNEL,
				   .guest = SAMPLE_GUEST_TABLE | SAMPLE_GUEST_TASK,
				   .guest_table = 0x42000,
				   .guest_task = 0x9000 };
	struct sample_guests *g;
	int times;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	PUT_ROWS(g, VM, told);
	for (times = 0; times < 2; times++) {
		assert_int_equal(sample_guests_settle(g), 0);
		ev.guest_table = 0x42000;
		assert_string_equal(who(g, VM, 60, &ev), "web");
		ev.guest_table = 0x44000;
		assert_string_equal(who(g, VM, 30, &ev), "same");
		assert_string_equal(who(g, VM, 60, &ev), "late");
		assert_false(sample_guests_is_torn(g));
	}
	sample_guests_free(g);
}

/* A process of the guest, which starts at this tick, and a function of its kernel. */
static void put_life(struct sample_guests *g, uint64_t tick)
{
	const struct sample_life_row life = { .pid = 10,
					      .parent = 1,
					      .tick = tick,
					      .what = SAMPLE_LIFE_START,
					      .comm = "web",
					      .comm_len = 3 };
	const struct sample_kernel_name name = {
		.from = 0x1000, .to = 0x2000, .name = "f", .name_len = 1
	};
	uint8_t bytes[256], *p, *guest, *item;

	guest = meta_item_begin(bytes, META_GUEST);
	item = meta_item_begin(sample_meta_put_guest(guest, VM), META_LIFE);
	p = meta_item_end(item, sample_meta_put_life(item, &life));
	item = meta_item_begin(p, META_KERNEL_NAMES);
	p = meta_item_end(item, sample_meta_put_kernel_name(item, &name));
	p = meta_item_end(guest, p);
	assert_int_equal(sample_guests_decode(g, bytes, (size_t)(p - bytes)), 0);
}

/* What comes for a time that was forgotten already leaves a hole, and that is known. */
static void test_torn(void **state)
{
	const struct sample_horizon to = { .tick = 100, .end_tick = 100 };
	struct sample_guests *g;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	put_life(g, 50);
	put_life(g, 90);
	assert_int_equal(sample_guests_settle(g), 0);
	assert_int_equal(sample_guests_forget(g, &to), 0);
	assert_false(sample_guests_is_torn(g));
	put_life(g, 120);
	assert_false(sample_guests_is_torn(g));
	put_life(g, 40);
	assert_true(sample_guests_is_torn(g));
	sample_guests_free(g);
}

static void test_garbage(void **state)
{
	static const uint8_t cut[] = { META_GUEST, 3, 2, META_TABLES, 9 };
	static const uint8_t cut_link[] = { META_GUEST, 4, 2, META_GUEST_LINK, 1, 5 };
	static const uint8_t below_zero[] = { META_GUEST, 1, 1 };
	static const uint8_t long_name[] = { META_GUEST, 28, 2, META_TABLES, 25, 2,
					     2,		 0,  0, 0,	     0,	 17 };
	struct sample_guests *g;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	assert_int_equal(sample_guests_decode(g, cut, sizeof(cut)), -EBADMSG);
	assert_int_equal(sample_guests_decode(g, cut_link, sizeof(cut_link)), -EBADMSG);
	assert_int_equal(sample_guests_decode(g, below_zero, sizeof(below_zero)), -EBADMSG);
	assert_int_equal(sample_guests_decode(g, long_name, sizeof(long_name)), -EBADMSG);
	assert_int_equal(sample_guests_settle(g), 0);
	sample_guests_free(g);
}

/* How it went with its program, in order; what would move a cursor does not. */
static void test_links(void **state)
{
	struct guest_link_row told[] = {
		{ .tick = 5,
		  .what = GUEST_LINK_TALKS,
		  .error_ns = 40,
		  .note = "g\033",
		  .note_len = 2 },
		{ .tick = 9, .what = GUEST_LINK_SILENT },
	};
	uint8_t bytes[4096], *p, *guest, *links;
	const struct sample_link *got;
	struct sample_guests *g;
	size_t i;

	(void)state;
	assert_int_equal(sample_guests_new(&g), 0);
	guest = meta_item_begin(bytes, META_GUEST);
	p = links = meta_item_begin(sample_meta_put_guest(guest, VM), META_GUEST_LINK);
	for (i = 0; i < 2; i++)
		p = guest_link_put(p, &told[i]);
	p = meta_item_end(guest, meta_item_end(links, p));
	assert_int_equal(sample_guests_decode(g, bytes, (size_t)(p - bytes)), 0);
	assert_int_equal(sample_guests_vm(g, 0), VM);
	assert_int_equal(sample_guests_vm(g, 1), -1);
	assert_int_equal(sample_guests_links(g, VM, &got), 2);
	assert_string_equal(got[0].note, "g?");
	assert_int_equal(got[0].error_ns, 40);
	assert_int_equal(got[1].what, GUEST_LINK_SILENT);
	assert_int_equal(got[1].tick, 9);
	assert_int_equal(sample_guests_links(g, VM + 1, &got), 0);
	sample_guests_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),	cmocka_unit_test(test_tables),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_garbage), cmocka_unit_test(test_no_tasks),
		cmocka_unit_test(test_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
