/* SPDX-License-Identifier: MIT */
/*
 * The CTF import on a small trace written here byte by byte in the form of LTTng 2.12: two CPUs, a
 * state dump, an event that is not ours, discarded events and a discarded packet. Then the same
 * with damage of many sorts: always one line of error, nothing on standard error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/ctf_reader.h"
#include "convert/import.h"
#include "ctf_build.h"

static unsigned int alive_calls;

static void alive(void)
{
	alive_calls++;
}

static struct trace_source *open_source(void)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;

	if (source_ctf_open(&s, root, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void test_info(void **state)
{
	struct trace_source *s = open_source();
	const struct trace_info *i = &s->info;

	(void)state;
	assert_string_equal(i->device, "board");
	assert_string_equal(i->kernel, "5.10.7-test");
	assert_int_equal(i->cpus, 2);
	assert_string_equal(i->clock.name, "mono");
	assert_true(i->clock.has_realtime);
	assert_int_equal(i->clock.realtime_off_ns, 1600000000000000000LL);
	assert_int_equal(clock_ns(&i->clock, 1234), 1234);
	assert_int_equal(i->dialect.features,
			 DIALECT_NO_FLAGS | DIALECT_NO_CUR | DIALECT_FIXED_COMM);
	assert_int_equal(i->dialect.kinds, 1 << SCHED_SWITCH | 1 << SCHED_WAKING | 1 << SCHED_EXEC |
						   1 << SCHED_SETPRIO | 1 << SCHED_FORK);
	assert_int_equal(i->n_tasks, 2);
	assert_string_equal(info_get_task(i, 11)->comm, "worker");
	assert_int_equal(info_get_task(i, 11)->tgid, 10);
	source_free(s);
}

static void check_waking(const struct trace_item *i, uint64_t tick, int32_t pid)
{
	assert_int_equal(i->type, ITEM_EVENT);
	assert_int_equal(i->cpu, 0);
	assert_int_equal(i->event.kind, SCHED_WAKING);
	assert_int_equal(i->event.tick, tick);
	assert_int_equal(i->event.pid, pid);
	assert_string_equal(i->event.task.comm, "worker");
	assert_int_equal(i->event.task.pid, 11);
	assert_int_equal(i->event.task.prio, 120);
	assert_int_equal(i->event.value, 1);
}

/* The packet of both CPUs before the losses. */
static void check_first_packets(struct trace_source *s)
{
	struct trace_item i = ctf_next_item(s);

	check_waking(&i, 1100, 10);
	i = ctf_next_item(s);
	assert_int_equal(i.cpu, 1);
	assert_int_equal(i.event.kind, SCHED_FORK);
	assert_int_equal(i.event.pid, 10);
	assert_int_equal(i.event.other.pid, 12);
	i = ctf_next_item(s);
	assert_int_equal(i.event.kind, SCHED_EXEC);
	assert_int_equal(i.event.pid, 12);
	assert_int_equal(i.event.filename_len, 9);
	assert_memory_equal(i.event.filename, "/bin/true", 9);
	i = ctf_next_item(s);
	assert_int_equal(i.event.kind, SCHED_SETPRIO);
	assert_memory_equal(i.event.task.comm, "sixteen_byte_nam", 16);
	assert_int_equal(i.event.task.prio, 100);
	assert_int_equal(i.event.other.prio, 99);
	i = ctf_next_item(s);
	assert_int_equal(i.event.kind, SCHED_SWITCH);
	assert_int_equal(i.event.state, 0x402);
	assert_int_equal(i.event.pid, 10);
	assert_int_equal(i.event.other.prio, 49);
	i = ctf_next_item(s);
	check_waking(&i, 1300, 11);
}

static void check_loss(const struct trace_item *i, uint64_t from, uint64_t to, uint64_t count)
{
	assert_int_equal(i->type, ITEM_LOSS);
	assert_int_equal(i->cpu, 0);
	assert_int_equal(i->loss.from_tick, from);
	assert_int_equal(i->loss.to_tick, to);
	assert_int_equal(i->loss.count, count);
	assert_int_equal(i->loss.cause, LOSS_RING);
}

static void check_items(struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item i;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		check_first_packets(s);
		i = ctf_next_item(s);
		check_loss(&i, 1500, 2000, 5);
		i = ctf_next_item(s);
		check_waking(&i, 2100, 11);
		i = ctf_next_item(s);
		check_loss(&i, 2500, 3000, LOSS_UNKNOWN);
		i = ctf_next_item(s);
		check_waking(&i, 3100, 11);
		assert_int_equal(s->ops->next(s, &i, &e), 0);
		assert_int_equal(s->info.skipped, 1);
		assert_int_equal(s->ops->rewind(s, &e), 0);
	}
}

static void test_items(void **state)
{
	struct trace_source *s = open_source();

	(void)state;
	check_items(s);
	source_free(s);
}

/* The reader without the process around it, so that the sanitizers see it to its end. */
static void test_items_here(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;

	(void)state;
	if (ctf_reader_open(&s, root, alive, &e) < 0)
		fail_msg("%s", e.text);
	check_items(s);
	source_free(s);
	assert_true(alive_calls > 0);
	ctf_write_file("channel0_0", bytes, len - 1);
	assert_int_equal(ctf_reader_open(&s, root, alive, &e), -EBADMSG);
}

/* Reads all; 0 or the error, whose text must be one line and not empty. */
static int read_all(void)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_item i;
	int r = source_ctf_open(&s, root, &e);

	if (r >= 0) {
		while ((r = s->ops->next(s, &i, &e)) > 0)
			;
		if (r < 0) /* it stays there */
			assert_int_equal(s->ops->next(s, &i, &e), r);
		source_free(s);
	}
	if (r < 0) {
		assert_true(strlen(e.text) > 10);
		assert_null(strchr(e.text, '\n'));
		assert_null(strstr(e.text, "ends with status")); /* a sanitizer in the child */
	}
	return r;
}

/* LTTng before 2.2, and perf, have other names for the same fields. */
static void test_other_names(void **state)
{
	static const char *const names[][2] = {
		{ "_tid;\ninteger { size = 32; align = 8; signed = 1; base = 10; } _old_tid",
		  "_pid;\ninteger { size = 32; align = 8; signed = 1; base = 10; } _old_pid" },
		{ "_prev_tid", "_prev_pid" },
		{ "_next_tid", "_next_pid" },
		{ "_parent_tid", "_parent_pid" },
		{ "_child_tid", "_child_pid" },
		{ "\"sched_switch\"", "\"sched:sched_switch\"" },
	};
	struct trace_source *s;
	size_t i;

	(void)state;
	strcpy(description, metadata);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ctf_edit_more(names[i][0], names[i][1]);
	s = open_source();
	assert_string_equal(s->info.origin, "LTTng CTF 1.8");
	check_items(s);
	source_free(s);
}

/* A class of which a field is missing, or is of another type, costs its events and nothing else. */
static void test_unread_class(void **state)
{
	struct trace_source *s;
	struct trace_item i;
	int n;

	(void)state;
	ctf_edit("_prev_tid", "_prev_xid");
	s = open_source();
	assert_string_equal(s->info.origin,
			    "LTTng CTF 1.8, not understood: sched_switch has no usable field "
			    "prev_tid");
	assert_false(s->info.dialect.kinds & 1U << SCHED_SWITCH);
	for (n = 0; n < 4; n++)
		ctf_next_item(s);
	i = ctf_next_item(s);
	assert_int_equal(i.type, ITEM_LOSS);
	assert_int_equal(i.loss.cause, LOSS_DAMAGE);
	assert_int_equal(i.loss.count, 1);
	assert_int_equal(i.loss.from_tick, 1200);
	assert_int_equal(i.loss.to_tick, 1200);
	i = ctf_next_item(s);
	check_waking(&i, 1300, 0);
	source_free(s);
}

static void put_perf_waking(uint32_t stamp, uint32_t cpu)
{
	ctf_put_waking(stamp);
	ctf_put(cpu, 4);
}

/* perf writes the CPU into each event, and no packet has one. */
static void test_perf_cpu(void **state)
{
	static const uint32_t cpus[] = { 2, 5, 0 };
	struct trace_source *s;
	char path[128];
	int pass, k;

	(void)state;
	ctf_edit("uint32_t cpu_id;", "uint32_t other;");
	ctf_edit_more("_target_cpu;", "_target_cpu;\n" INT(32, 0, "perf_cpu"));
	ctf_edit_more("lttng-modules", "perf");
	snprintf(path, sizeof(path), "%s/channel0_1", root);
	unlink(path);
	len = 0;
	ctf_begin_packet(7, 1000, 1500, 0, 0);
	put_perf_waking(1100, 2);
	put_perf_waking(1200, 5);
	put_perf_waking(1300, 0);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
	s = open_source();
	assert_int_equal(s->info.cpus, 6);
	assert_string_equal(s->info.origin, "perf CTF 1.8");
	for (pass = 0; pass < 2; pass++) {
		for (k = 0; k < 3; k++) {
			struct trace_item i = ctf_next_item(s);

			assert_int_equal(i.cpu, cpus[k]);
			assert_int_equal(i.event.tick, 1100 + 100 * k);
			assert_int_equal(i.event.task.prio, 20); /* not LTTng's */
		}
		assert_int_equal(s->ops->rewind(s, NULL), 0);
	}
	source_free(s);
}

static void refuse(const char *why)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;

	assert_true(source_ctf_open(&s, root, &e) < 0);
	if (!strstr(e.text, why))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, why);
}

/* The library warns of an index that it then does without; the reason is another one. */
static void test_true_reason(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/index", root);
	assert_int_equal(mkdir(path, 0700), 0);
	ctf_write_file("index/channel0_0.idx", "no index of a packet, no magic number", 37);
	ctf_edit("\"kernel\"", "\"ust\"");
	refuse("domain ust");
	ctf_edit("uint32_t cpu_id;", "uint32_t other;");
	refuse("neither packets nor events tell their CPU");
}

static void test_wrong_metadata(void **state)
{
	static const char *const edits[][2] = {
		{ "event {", "event [" },
		{ "\"kernel\"", "\"ust\"" },
		{ "uint32_t cpu_id;", "uint32_t other;" },
		{ "freq = 1000000000", "freq = 99999999999999" },
		{ "clock {", "clack {" },
		{ "struct header;", "struct nothing;" },
	};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		ctf_edit(edits[i][0], edits[i][1]);
		if (read_all() >= 0)
			fail_msg("%s was accepted", edits[i][1]);
	}
	ctf_write_file("metadata", "", 0);
	assert_int_equal(read_all(), -EBADMSG);
	snprintf(path, sizeof(path), "%s/metadata", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(read_all(), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(read_all(), -EBADMSG);
}

/* Every cut of a stream and every flipped byte ends in order; cuts inside a packet are noticed. */
static void test_damaged_stream(void **state)
{
	static uint8_t whole[sizeof(bytes)];
	size_t i, n;

	(void)state;
	ctf_write_cpu0();
	n = len;
	memcpy(whole, bytes, n);
	ctf_write_file("channel0_0", whole, n - 1);
	assert_int_equal(read_all(), -EBADMSG);
	for (i = 0; i < n; i += 23) {
		ctf_write_file("channel0_0", whole, i);
		read_all();
	}
	for (i = 0; i < n; i += i < 64 ? 1 : 5) {
		whole[i] ^= 0xff;
		ctf_write_file("channel0_0", whole, n);
		whole[i] ^= 0xff;
		read_all();
	}
	whole[56 + 4] ^= 0xff; /* the CPU */
	whole[64] = 0xff;
	whole[65] = 0xff;
	ctf_write_file("channel0_0", whole, n);
	assert_int_equal(read_all(), -EBADMSG);
}

static void test_silence(void **state)
{
	int saved = dup(STDERR_FILENO), file;
	char path[128];
	off_t written;

	snprintf(path, sizeof(path), "/tmp/kiseki-test-stderr.%d", (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(saved >= 0 && file >= 0);
	fflush(stderr);
	assert_true(dup2(file, STDERR_FILENO) >= 0);
	ctf_setup(state);
	ctf_edit("event {", "event [");
	read_all();
	ctf_write_file("metadata", metadata, sizeof(metadata) - 1);
	ctf_write_cpu0();
	ctf_write_file("channel0_0", bytes, len - 1);
	read_all();
	fflush(stderr);
	written = lseek(STDERR_FILENO, 0, SEEK_CUR);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(file);
	unlink(path);
	ctf_teardown(state);
	assert_int_equal(written, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_info, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_items, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_items_here, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_other_names, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_unread_class, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_perf_cpu, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_true_reason, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_wrong_metadata, ctf_setup, ctf_teardown),
		cmocka_unit_test_setup_teardown(test_damaged_stream, ctf_setup, ctf_teardown),
		cmocka_unit_test(test_silence),
	};

	/* With the name of an empty folder: leave the trace there, for tests/data/lttng. */
	if (argc == 2) {
		snprintf(root, sizeof(root), "%s", argv[1]);
		ctf_write_file("metadata", metadata, sizeof(metadata) - 1);
		ctf_write_cpu0();
		ctf_write_cpu1();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
