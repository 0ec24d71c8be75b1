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

#define INT(bits, sign, name)                                                                      \
	"integer { size = " #bits "; align = 8; signed = " #sign "; base = 10; } _" name ";\n"
#define COMM(name)                                                                                 \
	"integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; } _" name "[16];"  \
	"\n"
#define EVENT(name, id, fields)                                                                    \
	"event { name = \"" name "\"; id = " #id "; stream_id = 0; fields := struct {\n" fields    \
	"}; };\n"

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace { major = 1; minor = 8; byte_order = le;\n"
	"packet.header := struct { uint32_t magic; uint32_t stream_id; uint64_t "
	"stream_instance_id; }; };\n"
	"env { hostname = \"board\"; domain = \"kernel\"; sysname = \"Linux\";\n"
	"kernel_release = \"5.10.7-test\"; tracer_name = \"lttng-modules\";\n"
	"tracer_major = 2; tracer_minor = 12; };\n"
	"clock { name = \"monotonic\"; freq = 1000000000; offset = 1600000000000000000; };\n"
	"typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } "
	":= stamp32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } "
	":= stamp64_t;\n"
	"struct header { enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"variant <id> { struct { stamp32_t timestamp; } compact;\n"
	"struct { uint32_t id; stamp64_t timestamp; } extended; } v; } align(8);\n"
	"stream { id = 0; event.header := struct header; packet.context := struct {\n"
	"stamp64_t timestamp_begin; stamp64_t timestamp_end; uint64_t content_size;\n"
	"uint64_t packet_size; uint64_t packet_seq_num; uint64_t events_discarded;\n"
	"uint32_t cpu_id; }; };\n" EVENT("sched_switch", 0,
					 COMM("prev_comm") INT(32, 1, "prev_tid")
						 INT(32, 1, "prev_prio") INT(64, 1, "prev_state")
							 COMM("next_comm") INT(32, 1, "next_tid")
								 INT(32, 1, "next_prio"))
		EVENT("sched_waking", 1,
		      COMM("comm") INT(32, 1, "tid") INT(32, 1, "prio") INT(32, 1, "target_cpu"))
			EVENT("syscall_entry_read", 2,
			      INT(32, 0, "fd")) EVENT("lttng_statedump_process_state", 3,
						      INT(32, 1, "tid") INT(32, 1, "vtid")
							      INT(32, 1, "pid") INT(32, 1, "vpid")
								      COMM("name"))
				EVENT("sched_process_exec", 4,
				      "string { encoding = UTF8; } _filename;\n" INT(32, 1, "tid")
					      INT(32, 1, "old_tid"))
					EVENT("sched_pi_setprio", 5,
					      COMM("comm") INT(32, 1, "tid") INT(32, 1, "oldprio")
						      INT(32, 1, "newprio"))
						EVENT("sched_process_fork", 6,
						      COMM("parent_comm") INT(32, 1, "parent_tid")
							      COMM("child_comm")
								      INT(32, 1, "child_tid"));

static char root[64];

static void write_file(const char *name, const void *data, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* A stream file under construction. */
static uint8_t bytes[4096];
static size_t len, packet;

static void put(uint64_t v, size_t n)
{
	for (; n; n--, v >>= 8)
		bytes[len++] = (uint8_t)v;
}

static void put_comm(const char *name)
{
	memset(bytes + len, 0, 16);
	memcpy(bytes + len, name, strlen(name));
	len += 16;
}

static void begin_packet(uint32_t cpu, uint64_t begin, uint64_t end, uint64_t seq, uint64_t lost)
{
	packet = len;
	put(0xC1FC1FC1, 4);
	put(0, 4);
	put(cpu, 8);
	put(begin, 8);
	put(end, 8);
	put(0, 16);
	put(seq, 8);
	put(lost, 8);
	put(cpu, 4);
}

static void end_packet(void)
{
	size_t at = len, bits = (len - packet) * 8;

	len = packet + 32;
	put(bits, 8);
	put(bits, 8);
	len = at;
}

static void event(uint16_t id, uint32_t stamp)
{
	put(id, 2);
	put(stamp, 4);
}

static void put_dump(uint32_t stamp, uint32_t tid, uint32_t pid, const char *name)
{
	event(3, stamp);
	put(tid, 4);
	put(tid, 4);
	put(pid, 4);
	put(pid, 4);
	put_comm(name);
}

static void put_waking(uint32_t stamp)
{
	event(1, stamp);
	put_comm("worker");
	put(11, 4);
	put(20, 4);
	put(1, 4);
}

static void put_switch(uint32_t stamp)
{
	event(0, stamp);
	put_comm("init");
	put(10, 4);
	put(20, 4);
	put(0x402, 8);
	put_comm("worker");
	put(11, 4);
	put((uint32_t)-51, 4);
}

static void write_cpu0(void)
{
	len = 0;
	begin_packet(0, 1000, 1500, 0, 0);
	put_dump(1000, 10, 10, "init");
	put_dump(1001, 11, 10, "worker");
	put_waking(1100);
	event(2, 1150);
	put(3, 4);
	put_switch(1200);
	put_waking(1300);
	end_packet();
	begin_packet(0, 2000, 2500, 1, 5);
	put_waking(2100);
	end_packet();
	begin_packet(0, 3000, 3500, 3, 5);
	put_waking(3100);
	end_packet();
	write_file("channel0_0", bytes, len);
}

static void write_cpu1(void)
{
	len = 0;
	begin_packet(1, 1000, 1500, 0, 0);
	event(6, 1100);
	put_comm("init");
	put(10, 4);
	put_comm("init");
	put(12, 4);
	event(4, 1101);
	memcpy(bytes + len, "/bin/true", 10);
	len += 10;
	put(12, 4);
	put(12, 4);
	event(5, 1102);
	put_comm("sixteen_byte_nam");
	put(13, 4);
	put(0, 4);
	put((uint32_t)-1, 4);
	end_packet();
	write_file("channel0_1", bytes, len);
}

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/kiseki-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	write_file("metadata", metadata, sizeof(metadata) - 1);
	write_cpu0();
	write_cpu1();
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

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

static struct trace_item next_item(struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item item;

	if (s->ops->next(s, &item, &e) != 1)
		fail_msg("no item: %s", e.text);
	return item;
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
	struct trace_item i = next_item(s);

	check_waking(&i, 1100, 10);
	i = next_item(s);
	assert_int_equal(i.cpu, 1);
	assert_int_equal(i.event.kind, SCHED_FORK);
	assert_int_equal(i.event.pid, 10);
	assert_int_equal(i.event.other.pid, 12);
	i = next_item(s);
	assert_int_equal(i.event.kind, SCHED_EXEC);
	assert_int_equal(i.event.pid, 12);
	assert_int_equal(i.event.filename_len, 9);
	assert_memory_equal(i.event.filename, "/bin/true", 9);
	i = next_item(s);
	assert_int_equal(i.event.kind, SCHED_SETPRIO);
	assert_memory_equal(i.event.task.comm, "sixteen_byte_nam", 16);
	assert_int_equal(i.event.task.prio, 100);
	assert_int_equal(i.event.other.prio, 99);
	i = next_item(s);
	assert_int_equal(i.event.kind, SCHED_SWITCH);
	assert_int_equal(i.event.state, 0x402);
	assert_int_equal(i.event.pid, 10);
	assert_int_equal(i.event.other.prio, 49);
	i = next_item(s);
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
		i = next_item(s);
		check_loss(&i, 1500, 2000, 5);
		i = next_item(s);
		check_waking(&i, 2100, 11);
		i = next_item(s);
		check_loss(&i, 2500, 3000, LOSS_UNKNOWN);
		i = next_item(s);
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
	write_file("channel0_0", bytes, len - 1);
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

static void write_metadata(const char *from, const char *to)
{
	char text[sizeof(metadata) + 128];
	const char *at = strstr(metadata, from);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - metadata), metadata, to,
		 at + strlen(from));
	write_file("metadata", text, strlen(text));
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
		write_metadata(edits[i][0], edits[i][1]);
		if (read_all() >= 0)
			fail_msg("%s was accepted", edits[i][1]);
	}
	write_file("metadata", "", 0);
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
	write_cpu0();
	n = len;
	memcpy(whole, bytes, n);
	write_file("channel0_0", whole, n - 1);
	assert_int_equal(read_all(), -EBADMSG);
	for (i = 0; i < n; i += 23) {
		write_file("channel0_0", whole, i);
		read_all();
	}
	for (i = 0; i < n; i += i < 64 ? 1 : 5) {
		whole[i] ^= 0xff;
		write_file("channel0_0", whole, n);
		whole[i] ^= 0xff;
		read_all();
	}
	whole[56 + 4] ^= 0xff; /* the CPU */
	whole[64] = 0xff;
	whole[65] = 0xff;
	write_file("channel0_0", whole, n);
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
	setup(state);
	write_metadata("event {", "event [");
	read_all();
	write_file("metadata", metadata, sizeof(metadata) - 1);
	write_cpu0();
	write_file("channel0_0", bytes, len - 1);
	read_all();
	fflush(stderr);
	written = lseek(STDERR_FILENO, 0, SEEK_CUR);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(file);
	unlink(path);
	teardown(state);
	assert_int_equal(written, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_info, setup, teardown),
		cmocka_unit_test_setup_teardown(test_items, setup, teardown),
		cmocka_unit_test_setup_teardown(test_items_here, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_metadata, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_stream, setup, teardown),
		cmocka_unit_test(test_silence),
	};

	/* With the name of an empty folder: leave the trace there, for tests/data/lttng. */
	if (argc == 2) {
		snprintf(root, sizeof(root), "%s", argv[1]);
		write_file("metadata", metadata, sizeof(metadata) - 1);
		write_cpu0();
		write_cpu1();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
