/* SPDX-License-Identifier: MIT */
/*
 * ctf_reader: traces that LTTng does not write every day: long waits for the first switch, packets without stamps or of another
 * CPU, all sorts of losses at once, a folder that changes while it is read. The reader is in this process, not in one of its own.
 */
#include <errno.h>
#include <sys/stat.h>

#include "convert/ctf_reader.h"
#include "convert/import.h"
#include "ctf_build.h"

/* What happens to the metadata between the moment that it is read and the first message. */
static const char *changed;
static size_t changed_len;

static void alive(void)
{
	if (changed)
		ctf_write_file("metadata", changed, changed_len);
	changed = NULL;
}

static void vanish(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/metadata", root);
	unlink(path);
}

static struct trace_source *open_here(void (*hook)(void))
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;

	if (ctf_reader_open(&s, root, hook, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

/* Reads to the end: how many events, and losses. */
static uint32_t count(struct trace_source *s, uint32_t *ret_losses)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint32_t n = 0;
	int r;

	*ret_losses = 0;
	while ((r = s->ops->next(s, &item, &e)) > 0) {
		n += item.type == ITEM_EVENT;
		*ret_losses += item.type == ITEM_LOSS;
	}
	if (r < 0)
		fail_msg("%s", e.text);
	source_free(s);
	return n;
}

static void refuse(const char *why)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_item item;
	int r = ctf_reader_open(&s, root, alive, &e);

	if (r >= 0) {
		while ((r = s->ops->next(s, &item, &e)) > 0)
			;
		source_free(s);
	}
	assert_int_equal(r, -EBADMSG);
	if (!strstr(e.text, why))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, why);
}

/* So many wakeups, then a switch from task 10 to task 11, then one more. */
static void write_wakeups(uint32_t n)
{
	uint32_t i;

	len = 0;
	ctf_begin_packet(0, 1000, 900000, 0, 0);
	for (i = 0; i < n; i++)
		ctf_put_waking(1000 + i);
	ctf_put_switch(1000 + n);
	ctf_put_waking(1001 + n);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
	ctf_write_file("channel0_1", "", 0);
}

/* The task that runs is the one that the first switch takes the CPU from, if that comes soon. */
static void check_running(uint32_t n, int32_t first)
{
	struct trace_source *s;
	struct trace_item item;
	uint32_t i, losses;

	write_wakeups(n);
	s = open_here(alive);
	for (i = 0; i < n; i++) {
		item = ctf_next_item(s);
		assert_int_equal(item.event.kind, SCHED_WAKING);
		assert_int_equal(item.event.tick, 1000 + i);
		assert_int_equal(item.event.pid, first);
	}
	item = ctf_next_item(s);
	assert_int_equal(item.event.kind, SCHED_SWITCH);
	assert_int_equal(item.event.pid, 10);
	item = ctf_next_item(s);
	assert_int_equal(item.event.pid, 11);
	assert_int_equal(count(s, &losses), 0);
}

static void test_first_switch(void **state)
{
	(void)state;
	check_running(1, 10);
	check_running(200, 10);
	check_running(1500, 0);
}

/* Events that are not ours are not kept, but they are not looked through without end either. */
static void test_others_first(void **state)
{
	const uint32_t n = 21000;
	struct trace_source *s;
	struct trace_item item;
	uint32_t i, losses;

	(void)state;
	len = 0;
	ctf_begin_packet(0, 1000, 900000, 0, 0);
	for (i = 0; i < n; i++) {
		ctf_begin_event(2, 1000 + i);
		ctf_put(3, 4);
	}
	ctf_put_waking(1000 + n);
	ctf_put_switch(1001 + n);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
	s = open_here(alive);
	assert_true(s->info.skipped >= 20000 && s->info.skipped < n);
	for (i = 0; i < 3; i++) /* CPU 1 is earlier */
		assert_int_equal(ctf_next_item(s).cpu, 1);
	item = ctf_next_item(s);
	assert_int_equal(item.event.kind, SCHED_WAKING);
	assert_int_equal(item.event.pid, 0);
	assert_int_equal(s->info.skipped, n);
	assert_int_equal(count(s, &losses), 1);
}

static void test_cpus(void **state)
{
	(void)state;
	/* A stream that turns to a CPU which no stream began with. */
	len = 0;
	ctf_begin_packet(0, 1000, 1500, 0, 0);
	ctf_put_switch(1200);
	ctf_end_packet();
	ctf_begin_packet(7, 2000, 2500, 1, 0);
	ctf_put_waking(2100);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
	refuse("turns to the unknown CPU 7");
	ctf_edit("uint32_t cpu_id;",
		 "integer { size = 32; align = 8; signed = true; base = 10; } cpu_id;");
	len = 0;
	ctf_begin_packet(UINT32_MAX, 1000, 1500, 0, 0);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
	refuse("impossible cpu_id -1");
}

/* Without the stamps of packets a loss is known to be before the next one, and no more. */
static void test_no_packet_stamps(void **state)
{
	struct trace_source *s;
	struct trace_item item;
	uint32_t losses;

	(void)state;
	ctf_edit("stamp64_t timestamp_begin; stamp64_t timestamp_end;",
		 "uint64_t first; uint64_t last;");
	s = open_here(alive);
	do
		item = ctf_next_item(s);
	while (item.type == ITEM_EVENT);
	assert_int_equal(item.loss.count, 5);
	assert_int_equal(item.loss.from_tick, 0);
	assert_int_equal(item.loss.to_tick, 1300);
	item = ctf_next_item(s);
	assert_int_equal(item.event.tick, 2100);
	item = ctf_next_item(s);
	assert_int_equal(item.type, ITEM_LOSS);
	assert_true(item.loss.count == LOSS_UNKNOWN);
	assert_int_equal(item.loss.from_tick, 0);
	assert_int_equal(item.loss.to_tick, 2100);
	assert_int_equal(count(s, &losses), 1);
	assert_int_equal(losses, 0);
}

/* Events and packets are missing before the same packet: one loss, which nobody has counted. */
static void check_two_losses(uint64_t lost_before)
{
	struct trace_source *s;
	struct trace_item item;
	uint32_t losses;

	len = 0;
	ctf_begin_packet(0, 1000, 1500, 0, lost_before);
	ctf_put_switch(1200);
	ctf_end_packet();
	ctf_begin_packet(0, 3000, 3500, 4, 9);
	ctf_put_waking(3100);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
	ctf_write_file("channel0_1", "", 0);
	s = open_here(alive);
	item = ctf_next_item(s);
	if (lost_before) {
		assert_int_equal(item.type, ITEM_LOSS);
		assert_true(item.loss.count == LOSS_UNKNOWN);
		item = ctf_next_item(s);
	}
	assert_int_equal(item.event.kind, SCHED_SWITCH);
	item = ctf_next_item(s);
	assert_int_equal(item.type, ITEM_LOSS);
	assert_true(item.loss.count == LOSS_UNKNOWN);
	assert_int_equal(item.loss.from_tick, 1500);
	assert_int_equal(item.loss.to_tick, 3000);
	assert_int_equal(count(s, &losses), 1);
	assert_int_equal(losses, 0);
}

static void test_two_losses(void **state)
{
	(void)state;
	check_two_losses(0);
	check_two_losses(5);  /* a count that is not from this stream's start */
	check_two_losses(20); /* … and one that goes back */
}

/* A task that exits runs, whoever was seen running there. */
static void test_exit(void **state)
{
	struct trace_source *s;
	struct trace_item item;

	(void)state;
	ctf_edit("sched_pi_setprio", "sched_process_exit");
	ctf_edit_more("_oldprio", "_prio");
	s = open_here(alive);
	do
		item = ctf_next_item(s);
	while (item.event.kind != SCHED_EXIT);
	assert_int_equal(item.event.task.pid, 13);
	assert_int_equal(item.event.pid, 13);
	source_free(s);
}

static bool is_big(const char *text, size_t n)
{
	struct trace_source *s;
	uint32_t losses;
	bool big;

	changed = text;
	changed_len = n;
	s = open_here(alive);
	big = s->info.dialect.features & DIALECT_BIG_ENDIAN;
	assert_int_equal(count(s, &losses), 8);
	assert_int_equal(losses, 2);
	ctf_write_file("metadata", metadata, sizeof(metadata) - 1);
	return big;
}

/* The byte order stands in the metadata's first bytes, if it is packed, and if it is still there. */
static void test_byte_order(void **state)
{
	struct trace_source *s;

	(void)state;
	assert_false(is_big(NULL, 0));
	assert_true(is_big("\x75\xd1\x1d\x57...", 7));
	assert_false(is_big("\x57\x1d\xd1\x75...", 7));
	assert_false(is_big("\x75\xd1", 2));
	s = open_here(vanish);
	assert_false(s->info.dialect.features & DIALECT_BIG_ENDIAN);
	source_free(s);
}

static void test_rewind(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = open_here(alive);
	struct trace_item item;

	(void)state;
	ctf_next_item(s);
	ctf_edit("event {", "event [");
	assert_true(s->ops->rewind(s, &e) < 0);
	assert_true(strlen(e.text) > 10);
	assert_true(s->ops->next(s, &item, &e) < 0);
	ctf_write_file("metadata", metadata, sizeof(metadata) - 1);
	assert_int_equal(s->ops->rewind(s, &e), 0);
	ctf_next_item(s);
	source_free(s);
}

/* A session of LTTng has the kernel's trace in a folder of that name. */
static void test_session(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	char session[64], kernel[80];

	(void)state;
	strcpy(session, "/tmp/kiseki-test-XXXXXX");
	assert_non_null(mkdtemp(session));
	snprintf(kernel, sizeof(kernel), "%s/kernel", session);
	assert_int_equal(rename(root, kernel), 0);
	if (source_ctf_open(&s, session, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(ctf_next_item(s).event.tick, 1100);
	source_free(s);
	assert_int_equal(rename(kernel, root), 0);
	assert_int_equal(rmdir(session), 0);
	assert_int_equal(source_ctf_open(&s, session, &e), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_switch, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_others_first, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_cpus, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_no_packet_stamps, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_two_losses, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_exit, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_byte_order, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_rewind, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_session, ctf_setup, ctf_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
