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

static void test_wrong_metadata(void **state)
{
	static const char *const edits[][2] = {
		{ "event {", "event [" },
		{ "\"kernel\"", "\"ust\"" },
		{ "_prev_tid", "_prev_xid" },
		{ "_filename;", "_filename[2];" },
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
