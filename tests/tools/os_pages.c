/* SPDX-License-Identifier: MIT */
/* os_pages: see os_pages.h. */
#include "tools/os_pages.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 16U
#define TYPE_TIME_STAMP 31U
#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

const char os_format_switch[] =
	"name: sched_switch\nID: 201\nformat:\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_state=%s%s\", (REC->prev_state & ((((0x00000000 | 0x00000001 | "
	"0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - "
	"1)) ? __print_flags(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | "
	"0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { "
	"0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, "
	"{ 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" "
	"}) : \"R\", REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | "
	"0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\"\n";
const char os_format_waking[] = "name: sched_waking\nID: 202\nformat:\n" COMMON
				"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
				"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";
const char os_format_enter[] = "name: sys_enter\nID: 25\nformat:\n" COMMON
			       "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
			       "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";
const char os_format_exit[] = "name: sys_exit\nID: 24\nformat:\n" COMMON
			      "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
			      "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/* --- pages --- */

void os_page_init(struct os_page *p, uint64_t stamp)
{
	memset(p, 0, sizeof(*p));
	memcpy(p->bytes, &stamp, 8);
	p->stamp = stamp;
}

static void commit(struct os_page *p, uint64_t flags)
{
	uint64_t word;

	memcpy(&word, p->bytes + 8, 8);
	word = (word & ~0x07ffffffULL) | p->used | flags;
	memcpy(p->bytes + 8, &word, 8);
}

void os_page_miss(struct os_page *p)
{
	commit(p, 0x80000000U);
}

/* The first word of a record has its type in the low five bits where bytes are little-endian, else
 * in the high ones. */
static void put_word(struct os_page *p, uint32_t type, uint32_t delta)
{
	uint32_t word =
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? type << 27 | delta : delta << 5 | type;

	memcpy(p->bytes + HEAD + p->used, &word, 4);
	p->used += 4;
}

static void add(struct os_page *p, uint64_t stamp, const uint8_t *data, uint32_t len)
{
	uint32_t high = (uint32_t)(stamp >> 27);

	put_word(p, TYPE_TIME_STAMP, stamp & 0x07ffffff);
	memcpy(p->bytes + HEAD + p->used, &high, 4);
	p->used += 4;
	put_word(p, len / 4, 0);
	memcpy(p->bytes + HEAD + p->used, data, len);
	p->used += len;
	p->stamp = stamp;
	commit(p, 0);
}

static void put(uint8_t *record, uint32_t at, uint64_t v, uint32_t size)
{
	uint32_t v32 = (uint32_t)v;
	uint16_t v16 = (uint16_t)v;

	memcpy(record + at, size == 8 ? (void *)&v : size == 4 ? (void *)&v32 : (void *)&v16, size);
}

void os_page_switch(struct os_page *p, uint64_t stamp, int32_t from, uint64_t state, int32_t to)
{
	uint8_t r[64] = { 0 };

	put(r, 0, OS_ID_SWITCH, 2);
	put(r, 4, (uint32_t)from, 4);
	put(r, 24, (uint32_t)from, 4);
	put(r, 32, state, 8);
	put(r, 56, (uint32_t)to, 4);
	r[8] = r[40] = 'x';
	add(p, stamp, r, sizeof(r));
}

void os_page_waking(struct os_page *p, uint64_t stamp, int32_t waker, int32_t tid)
{
	uint8_t r[36] = { 0 };

	put(r, 0, OS_ID_WAKING, 2);
	put(r, 4, (uint32_t)waker, 4);
	put(r, 24, (uint32_t)tid, 4);
	r[8] = 'x';
	add(p, stamp, r, sizeof(r));
}

static void add_call(struct os_page *p, uint64_t stamp, uint32_t id, int32_t tid, int64_t number)
{
	uint8_t r[64] = { 0 };

	put(r, 0, id, 2);
	put(r, 4, (uint32_t)tid, 4);
	put(r, 8, (uint64_t)number, 8);
	add(p, stamp, r, id == OS_ID_ENTER ? 64 : 24);
}

void os_page_call(struct os_page *p, uint64_t stamp, int32_t tid, int64_t number)
{
	add_call(p, stamp, OS_ID_ENTER, tid, number);
}

void os_page_return(struct os_page *p, uint64_t stamp, int32_t tid, int64_t number)
{
	add_call(p, stamp, OS_ID_EXIT, tid, number);
}

/* --- the folder --- */

static void write_file(const char *path, const char *name, const void *data, size_t len, int flags)
{
	char file[256];
	int fd;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	fd = open(file, O_WRONLY | O_CREAT | flags, 0600);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	close(fd);
}

static void make_folder(const char *path, const char *name)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "%s/%s", path, name);
	if (mkdir(folder, 0700))
		abort();
}

static void add_format(const char *path, const char *folder, const char *text)
{
	char name[128];

	make_folder(path, folder);
	snprintf(name, sizeof(name), "%s/format", folder);
	write_file(path, name, text, strlen(text), 0);
}

void os_folder_set_overrun(const char *path, uint32_t cpu, uint64_t overrun)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
	snprintf(text, sizeof(text),
		 "entries: 0\noverrun: %llu\ncommit overrun: 0\nbytes: 0\ndropped events: 0\n"
		 "read events: 0\n",
		 (unsigned long long)overrun);
	write_file(path, name, text, strlen(text), O_TRUNC);
}

void os_folder_init(char path[64], uint32_t cpus)
{
	char name[64];

	snprintf(path, 64, "/tmp/kiseki-os-XXXXXX");
	if (!mkdtemp(path))
		abort();
	make_folder(path, "per_cpu");
	make_folder(path, "events");
	make_folder(path, "events/sched");
	make_folder(path, "events/raw_syscalls");
	write_file(path, "events/header_page", header_page, sizeof(header_page) - 1, 0);
	add_format(path, "events/sched/sched_switch", os_format_switch);
	add_format(path, "events/sched/sched_waking", os_format_waking);
	add_format(path, "events/raw_syscalls/sys_enter", os_format_enter);
	add_format(path, "events/raw_syscalls/sys_exit", os_format_exit);
	while (cpus--) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u", cpus);
		make_folder(path, name);
		snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpus);
		write_file(path, name, "", 0, 0);
		os_folder_set_overrun(path, cpus, 0);
	}
}

void os_folder_add(const char *path, uint32_t cpu, const struct os_page *p)
{
	char name[64];

	snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	write_file(path, name, p->bytes, sizeof(p->bytes), O_APPEND);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

void os_folder_done(const char *path)
{
	nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}
