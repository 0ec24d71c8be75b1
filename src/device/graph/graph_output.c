/* SPDX-License-Identifier: MIT */
/*
 * graph_output: see graph_output.h. Numbers are in this machine's byte order, which the file names. Of
 * kallsyms only code is written: it is what has calls.
 */
#include "device/graph/graph_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/outfile.h"
#include "ftrace/bytes.h"

#define OPTION_TRACECLOCK 4U
#define OPTION_UNAME 5U
#define OPTION_CPUCOUNT 8U
#define CMDLINES_MAX (4U << 20)

static void put16(struct outfile *f, uint16_t v)
{
	outfile_write(f, &v, sizeof(v));
}

static void put32(struct outfile *f, uint32_t v)
{
	outfile_write(f, &v, sizeof(v));
}

static void put64(struct outfile *f, uint64_t v)
{
	outfile_write(f, &v, sizeof(v));
}

/* A file of the tracer's, with its length in 64 bits before it. */
static int put_file(struct outfile *f, const char *folder, const char *name, struct error *e)
{
	char text[TRACEFS_TEXT_MAX];
	int n = tracefs_read(folder, name, text, sizeof(text), e);

	if (n < 0)
		return n;
	put64(f, (uint64_t)n);
	outfile_write(f, text, (size_t)n);
	return 0;
}

static int put_formats(struct outfile *f, const char *root, struct error *e)
{
	static const char *const sched[] = { "sched_switch", "sched_waking" };
	char name[96];
	uint32_t n = 0, kind;
	const char *event;
	int r = 0;

	for (kind = 0; kind < GRAPH_KINDS; kind++) {
		snprintf(name, sizeof(name), "%s/events/ftrace/%s/format", root,
			 graph_map_get_name((enum graph_kind)kind));
		n += access(name, R_OK) == 0;
	}
	put32(f, n);
	for (kind = 0; kind < GRAPH_KINDS && r == 0; kind++) {
		event = graph_map_get_name((enum graph_kind)kind);
		snprintf(name, sizeof(name), "%s/events/ftrace/%s/format", root, event);
		if (access(name, R_OK))
			continue;
		snprintf(name, sizeof(name), "events/ftrace/%s/format", event);
		r = put_file(f, root, name, e);
	}
	put32(f, 1);
	outfile_write(f, "sched", 6);
	put32(f, 2);
	for (n = 0; n < 2 && r == 0; n++) {
		snprintf(name, sizeof(name), "events/sched/%s/format", sched[n]);
		r = put_file(f, root, name, e);
	}
	return r;
}

/* Its length comes first and is known last. */
static int put_kallsyms(struct outfile *f, struct error *e)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	uint64_t at = outfile_offset(f), from;
	char line[1024];
	const char *type;
	uint32_t len;

	put32(f, 0);
	from = outfile_offset(f);
	while (in && fgets(line, sizeof(line), in)) {
		type = strchr(line, ' ');
		if (type && type[1] && strchr("tTwW", type[1]))
			outfile_write(f, line, strlen(line));
	}
	if (in)
		fclose(in);
	len = (uint32_t)(outfile_offset(f) - from);
	return outfile_patch(f, at, &len, sizeof(len), e);
}

static void put_cmdlines(struct outfile *f, const char *root)
{
	char *text = malloc(CMDLINES_MAX);
	int n = text ? tracefs_read(root, "saved_cmdlines", text, CMDLINES_MAX, NULL) : 0;

	put64(f, n > 0 ? (uint64_t)n : 0);
	if (n > 0)
		outfile_write(f, text, (size_t)n);
	free(text);
}

static void put_option(struct outfile *f, uint16_t id, const void *data, uint32_t len)
{
	put16(f, id);
	put32(f, len);
	outfile_write(f, data, len);
}

static void put_options(struct outfile *f, uint32_t cpus, const char *clock)
{
	struct utsname u = { .sysname = "" };
	char text[sizeof(u)];

	uname(&u);
	snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release, u.machine);
	outfile_write(f, "options  ", 10);
	put_option(f, OPTION_TRACECLOCK, clock, (uint32_t)strlen(clock) + 1);
	put_option(f, OPTION_UNAME, text, (uint32_t)strlen(text) + 1);
	put_option(f, OPTION_CPUCOUNT, &cpus, sizeof(cpus));
	put16(f, 0);
}

static int put_head(struct outfile *f, const struct graph_control *c, const struct graph_rings *r,
		    struct error *e)
{
	const uint8_t sizes[2] = { BYTES_HOST_BIG, r->layout.long_size };
	int failed;

	outfile_write(f, "\x17\x08\x44tracing6", 12); /* with its NUL */
	outfile_write(f, sizes, sizeof(sizes));
	put32(f, r->page_bytes);
	outfile_write(f, "header_page", 12);
	failed = put_file(f, c->folder, "events/header_page", e);
	if (failed == 0) {
		outfile_write(f, "header_event", 13);
		failed = put_file(f, c->folder, "events/header_event", e);
	}
	if (failed == 0)
		failed = put_formats(f, c->root, e);
	if (failed == 0)
		failed = put_kallsyms(f, e);
	if (failed < 0)
		return failed;
	put32(f, 0); /* formats of printk */
	put_cmdlines(f, c->root);
	return 0;
}

static int copy_pages(struct outfile *f, const struct graph_rings *r, const struct graph_ring *ring,
		      struct error *e)
{
	uint64_t at = 0;
	ssize_t n;

	while (at < ring->bytes) {
		n = pread(ring->file_fd, r->page, r->page_bytes, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(e, n ? errno : EIO, "cannot read the pages again: %s",
					 n ? strerror(errno) : "they are cut short");
		outfile_write(f, r->page, (size_t)n);
		at += (uint64_t)n;
	}
	return 0;
}

/* CPUs are numbered without gaps here, and each has its pages. */
static int put_pages(struct outfile *f, struct graph_rings *r, const char *clock, struct error *e)
{
	uint32_t cpus = r->list[r->n - 1].cpu + 1, cpu, i = 0;
	uint64_t head = outfile_offset(f) + 16ULL * cpus + 8 + strlen(clock);
	uint64_t at = (head + r->page_bytes - 1) / r->page_bytes * r->page_bytes, size;
	int failed = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		size = i < r->n && r->list[i].cpu == cpu ? r->list[i++].bytes : 0;
		put64(f, at);
		put64(f, size);
		at += size;
	}
	put64(f, strlen(clock));
	outfile_write(f, clock, strlen(clock));
	memset(r->page, 0, r->page_bytes);
	outfile_write(f, r->page, (size_t)(-head % r->page_bytes));
	for (i = 0; i < r->n && failed == 0; i++)
		failed = copy_pages(f, r, &r->list[i], e);
	return failed;
}

int graph_output_write(const char *path, const struct graph_control *c, struct graph_rings *r,
		       struct error *e)
{
	CLEANUP(outfile) struct outfile *f = NULL;
	uint32_t cpus = r->list[r->n - 1].cpu + 1;
	char clock[64];
	int failed = outfile_open(&f, path, e);

	if (failed < 0)
		return failed;
	snprintf(clock, sizeof(clock), "[%s]", c->settings->clock);
	failed = put_head(f, c, r, e);
	if (failed < 0)
		return failed;
	put32(f, cpus);
	put_options(f, cpus, clock);
	outfile_write(f, "flyrecord", 10);
	failed = put_pages(f, r, clock, e);
	return failed < 0 ? failed : outfile_commit(f, e);
}
