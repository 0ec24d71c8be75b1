/* SPDX-License-Identifier: MIT */
/*
 * ctf_build: a small trace written byte by byte in the form of LTTng 2.12, in a folder of the test's own: two CPUs,
 * a state dump, an event that is not ours, discarded events and a discarded packet.
 */
#ifndef KISEKI_TESTS_CTF_BUILD_H
#define KISEKI_TESTS_CTF_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/import.h"

#define CTF_BYTES (512U << 10) /* of a stream's file */

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

static char root[64], description[sizeof(metadata) + 256];

static inline void ctf_write_file(const char *name, const void *data, size_t len)
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
static uint8_t bytes[CTF_BYTES];
static size_t len, packet;

static inline void ctf_put(uint64_t v, size_t n)
{
	for (; n; n--, v >>= 8)
		bytes[len++] = (uint8_t)v;
}

static inline void ctf_put_comm(const char *name)
{
	memset(bytes + len, 0, 16);
	memcpy(bytes + len, name, strlen(name));
	len += 16;
}

static inline void ctf_begin_packet(uint32_t cpu, uint64_t begin, uint64_t end, uint64_t seq,
				    uint64_t lost)
{
	packet = len;
	ctf_put(0xC1FC1FC1, 4);
	ctf_put(0, 4);
	ctf_put(cpu, 8);
	ctf_put(begin, 8);
	ctf_put(end, 8);
	ctf_put(0, 16);
	ctf_put(seq, 8);
	ctf_put(lost, 8);
	ctf_put(cpu, 4);
}

static inline void ctf_end_packet(void)
{
	size_t at = len, bits = (len - packet) * 8;

	len = packet + 32;
	ctf_put(bits, 8);
	ctf_put(bits, 8);
	len = at;
}

static inline void ctf_begin_event(uint16_t id, uint32_t stamp)
{
	ctf_put(id, 2);
	ctf_put(stamp, 4);
}

static inline void ctf_put_dump(uint32_t stamp, uint32_t tid, uint32_t pid, const char *name)
{
	ctf_begin_event(3, stamp);
	ctf_put(tid, 4);
	ctf_put(tid, 4);
	ctf_put(pid, 4);
	ctf_put(pid, 4);
	ctf_put_comm(name);
}

static inline void ctf_put_waking(uint32_t stamp)
{
	ctf_begin_event(1, stamp);
	ctf_put_comm("worker");
	ctf_put(11, 4);
	ctf_put(20, 4);
	ctf_put(1, 4);
}

static inline void ctf_put_switch(uint32_t stamp)
{
	ctf_begin_event(0, stamp);
	ctf_put_comm("init");
	ctf_put(10, 4);
	ctf_put(20, 4);
	ctf_put(0x402, 8);
	ctf_put_comm("worker");
	ctf_put(11, 4);
	ctf_put((uint32_t)-51, 4);
}

static inline void ctf_write_cpu0(void)
{
	len = 0;
	ctf_begin_packet(0, 1000, 1500, 0, 0);
	ctf_put_dump(1000, 10, 10, "init");
	ctf_put_dump(1001, 11, 10, "worker");
	ctf_put_waking(1100);
	ctf_begin_event(2, 1150);
	ctf_put(3, 4);
	ctf_put_switch(1200);
	ctf_put_waking(1300);
	ctf_end_packet();
	ctf_begin_packet(0, 2000, 2500, 1, 5);
	ctf_put_waking(2100);
	ctf_end_packet();
	ctf_begin_packet(0, 3000, 3500, 3, 5);
	ctf_put_waking(3100);
	ctf_end_packet();
	ctf_write_file("channel0_0", bytes, len);
}

static inline void ctf_write_cpu1(void)
{
	len = 0;
	ctf_begin_packet(1, 1000, 1500, 0, 0);
	ctf_begin_event(6, 1100);
	ctf_put_comm("init");
	ctf_put(10, 4);
	ctf_put_comm("init");
	ctf_put(12, 4);
	ctf_begin_event(4, 1101);
	memcpy(bytes + len, "/bin/true", 10);
	len += 10;
	ctf_put(12, 4);
	ctf_put(12, 4);
	ctf_begin_event(5, 1102);
	ctf_put_comm("sixteen_byte_nam");
	ctf_put(13, 4);
	ctf_put(0, 4);
	ctf_put((uint32_t)-1, 4);
	ctf_end_packet();
	ctf_write_file("channel0_1", bytes, len);
}

static inline int ctf_setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/kiseki-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	ctf_write_file("metadata", metadata, sizeof(metadata) - 1);
	ctf_write_cpu0();
	ctf_write_cpu1();
	return 0;
}

static inline int ctf_teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* The description with one text in place of another; then more of it, from what was written last. */
static inline void ctf_edit_more(const char *from, const char *to)
{
	char text[sizeof(description)];
	const char *at = strstr(description, from);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - description), description, to,
		 at + strlen(from));
	strcpy(description, text);
	ctf_write_file("metadata", text, strlen(text));
}

static inline void ctf_edit(const char *from, const char *to)
{
	strcpy(description, metadata);
	ctf_edit_more(from, to);
}

static inline struct trace_item ctf_next_item(struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item item;

	if (s->ops->next(s, &item, &e) != 1)
		fail_msg("no item: %s", e.text);
	return item;
}

#endif
