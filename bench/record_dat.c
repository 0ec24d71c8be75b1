/* SPDX-License-Identifier: MIT */
/*
 * record_dat: the recorded pages as a trace.dat, version 6, the one that every reader knows.
 *
 * The file is what the kernel says about itself (page header, event formats, task names), a few
 * options, a table of where each CPU's pages are, and the pages. All numbers are in this machine's
 * byte order, which the file's head names.
 */
#include "record.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"

#define OPTION_CPUSTAT 2
#define OPTION_TRACECLOCK 4
#define OPTION_UNAME 5
#define OPTION_CPUCOUNT 8

static void put(FILE *f, const void *p, size_t len)
{
	fwrite(p, 1, len, f); /* errors stay in the FILE, asked for once at the end */
}

static void put16(FILE *f, uint16_t v)
{
	put(f, &v, sizeof(v));
}

static void put32(FILE *f, uint32_t v)
{
	put(f, &v, sizeof(v));
}

static void put64(FILE *f, uint64_t v)
{
	put(f, &v, sizeof(v));
}

/* 64-bit length, then the file. */
static int put_file(FILE *f, const char *path)
{
	size_t len;
	_cleanup_free_ char *text = read_text(path, &len);

	if (!text)
		return -1;
	put64(f, len);
	put(f, text, len);
	return 0;
}

static int put_format(FILE *f, const char *system, const char *event)
{
	char path[512];

	snprintf(path, sizeof(path), INSTANCE "/events/%s/%s/format", system, event);
	return put_file(f, path);
}

static int put_head(FILE *f)
{
	put(f, "\x17\x08\x44tracing6", 12);
	fputc(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0, f);
	fputc(sizeof(long), f);
	put32(f, PAGE);
	put(f, "header_page", 12);
	if (put_file(f, INSTANCE "/events/header_page"))
		return -1;
	put(f, "header_event", 13);
	return put_file(f, INSTANCE "/events/header_event");
}

/* No ftrace formats: none of those events is recorded. */
static int put_formats(FILE *f)
{
	size_t i;

	put32(f, 0);
	put32(f, 2);
	put(f, "sched", 6);
	put32(f, SCHED_EVENTS);
	for (i = 0; i < SCHED_EVENTS; i++)
		if (put_format(f, "sched", sched_events[i]))
			return -1;
	put(f, "task", 5);
	put32(f, 1);
	return put_format(f, "task", "task_rename");
}

/* The kernel's own table, which is small, then the tasks alive now that it does not name. */
static int put_cmdlines(FILE *f)
{
	size_t len, comm_len, all_len = 0;
	_cleanup_free_ char *saved = read_text(TRACEFS "/saved_cmdlines", &len);
	_cleanup_free_ char *all = NULL;
	char path[320], key[32];
	struct dirent *d;
	FILE *list = open_memstream(&all, &all_len);
	DIR *proc = opendir("/proc");

	if (!saved || !list || !proc)
		return fail("list", "the tasks");
	fprintf(list, "\n%s", saved);
	while ((d = readdir(proc))) {
		_cleanup_free_ char *comm = NULL;

		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		snprintf(key, sizeof(key), "\n%.16s ", d->d_name);
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		fflush(list);
		if (access(path, R_OK) || strstr(all, key))
			continue;
		comm = read_text(path, &comm_len);
		if (comm)
			fprintf(list, "%s %s", d->d_name, comm);
	}
	closedir(proc);
	fclose(list);
	put64(f, all_len - 1);
	put(f, all + 1, all_len - 1);
	return 0;
}

static void put_option(FILE *f, uint16_t id, const void *data, size_t len)
{
	put16(f, id);
	put32(f, (uint32_t)len);
	put(f, data, len);
}

static int put_options(FILE *f, const struct recording *r)
{
	uint32_t cpus = (uint32_t)r->cpus;
	char path[256], text[1024];
	struct utsname u;
	size_t len;
	int cpu;

	put(f, "options  ", 10);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/stats", cpu);
		_cleanup_free_ char *stats = read_text(path, &len);

		if (!stats)
			return -1;
		snprintf(text, sizeof(text), "CPU: %d\n%s", cpu, stats);
		put_option(f, OPTION_CPUSTAT, text, strlen(text) + 1);
	}
	put_option(f, OPTION_TRACECLOCK, "", 0); /* the text follows the table of CPUs */
	uname(&u);
	snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
	put_option(f, OPTION_UNAME, text, strlen(text) + 1);
	put_option(f, OPTION_CPUCOUNT, &cpus, sizeof(cpus));
	put16(f, 0);
	put(f, "flyrecord", 10);
	return 0;
}

static uint64_t page_up(uint64_t offset)
{
	return (offset + PAGE - 1) / PAGE * PAGE;
}

static int put_pages(FILE *f, const struct cpu *c, uint64_t offset)
{
	uint8_t page[PAGE];
	uint64_t at;

	if (fseeko(f, (off_t)offset, SEEK_SET))
		return fail("seek in", "the output");
	for (at = 0; at < c->bytes; at += PAGE) {
		if (pread(c->file_fd, page, PAGE, (off_t)at) != PAGE)
			return fail("read", "the collected pages");
		put(f, page, PAGE);
	}
	return 0;
}

/* The table says where each CPU's pages are; they start on a page of the file. */
static int put_data(FILE *f, const struct recording *r)
{
	size_t clock_len;
	_cleanup_free_ char *clock_text = read_text(INSTANCE "/trace_clock", &clock_len);
	uint64_t offset[CPUS_MAX], next;
	int cpu;

	if (!clock_text)
		return -1;
	next = page_up((uint64_t)ftello(f) + (uint64_t)r->cpus * 16 + 8 + clock_len);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		offset[cpu] = next;
		put64(f, next);
		put64(f, r->cpu[cpu].bytes);
		next += r->cpu[cpu].bytes;
	}
	put64(f, clock_len);
	put(f, clock_text, clock_len);
	for (cpu = 0; cpu < r->cpus; cpu++)
		if (put_pages(f, &r->cpu[cpu], offset[cpu]))
			return -1;
	return 0;
}

int write_dat(const struct recording *r, const char *out)
{
	FILE *f = fopen(out, "wbe");
	int failed;

	if (!f)
		return fail("create", out);
	failed = put_head(f) || put_formats(f);
	if (!failed) {
		put32(f, 0); /* no kallsyms */
		put32(f, 0); /* no printk formats */
		failed = put_cmdlines(f);
	}
	if (!failed) {
		put32(f, (uint32_t)r->cpus);
		failed = put_options(f, r) || put_data(f, r);
	}
	if (!failed && ferror(f))
		failed = fail("write", out);
	if (fclose(f) && !failed)
		failed = fail("write", out);
	if (failed)
		unlink(out);
	return failed ? -1 : 0;
}
