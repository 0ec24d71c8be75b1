/* SPDX-License-Identifier: MIT */
/*
 * sink_tracedat: trace.dat version 6, which trace-cmd, KernelShark and Trace Compass all read.
 *
 * Events go to a spool of pages (tracedat_spool.h) as they come. The file itself is written at the
 * end, when the sizes of all parts and the last names of tasks are known.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outfile.h"
#include "convert/sink.h"
#include "convert/tracedat.h"
#include "convert/tracedat_record.h"
#include "convert/tracedat_spool.h"

struct sink {
	struct trace_sink base;
	struct outfile *out;
	char *path;
	struct tracedat_spool spool;
	const struct trace_info *info;
	struct tracedat_records records;
	uint32_t kinds; /* seen among the events */
};

static void put(uint8_t *p, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static int begin(struct trace_sink *base, const struct trace_info *info, struct error *e)
{
	struct sink *s = (struct sink *)base;

	s->info = info;
	tracedat_records_init(&s->records, &info->dialect);
	return tracedat_spool_open(&s->spool, s->path, info->cpus,
				   info->dialect.long_size == 4 ? 4 : 8, e);
}

static int event(struct sink *s, const struct trace_item *it, struct error *e)
{
	uint8_t bytes[TRACEDAT_RECORD_MAX];
	struct tracedat_spool_record record = { bytes, 0 };

	record.len = tracedat_records_encode(&s->records, &it->event, bytes);
	s->kinds |= 1U << it->event.kind;
	return tracedat_spool_event(&s->spool, it->cpu, clock_event_ns(&s->info->clock, &it->event),
				    record, e);
}

static int item(struct trace_sink *base, const struct trace_item *it, struct error *e)
{
	struct sink *s = (struct sink *)base;

	if (it->cpu >= s->spool.n_cpus)
		return error_set(e, EINVAL, "cannot write %s: an event of CPU %u, the trace has %u",
				 s->path, it->cpu, s->spool.n_cpus);
	if (it->type == ITEM_LOSS)
		return tracedat_spool_loss(&s->spool, it->cpu, it->loss.count, e);
	return event(s, it, e);
}

static void write_number(struct sink *s, uint64_t v, unsigned int size)
{
	uint8_t bytes[8];

	put(bytes, v, size);
	outfile_write(s->out, bytes, size);
}

static void write_header_info(struct sink *s)
{
	static const char event_text[] = "# compressed entry header\n"
					 "\ttype_len    :    5 bits\n"
					 "\ttime_delta  :   27 bits\n"
					 "\tarray       :   32 bits\n\n"
					 "\tpadding     : type == 29\n"
					 "\ttime_extend : type == 30\n"
					 "\ttime_stamp : type == 31\n"
					 "\tdata max type_len  == 28\n";
	char page[512];
	int n = snprintf(page, sizeof(page),
			 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
			 s->spool.long_size, s->spool.data_offset,
			 TRACEDAT_SPOOL_PAGE - s->spool.data_offset);

	outfile_write(s->out, "header_page", 12);
	write_number(s, (uint64_t)n, 8);
	outfile_write(s->out, page, (size_t)n);
	outfile_write(s->out, "header_event", 13);
	write_number(s, sizeof(event_text) - 1, 8);
	outfile_write(s->out, event_text, sizeof(event_text) - 1);
}

static void write_system(struct sink *s, const char *system, uint32_t kinds)
{
	char text[TRACEDAT_FORMAT_MAX];
	uint32_t n = 0;
	size_t len;
	int k;

	for (k = 0; k < SCHED_KINDS; k++) {
		if (strcmp(sched_map_get_system((enum sched_kind)k), system))
			kinds &= ~(1U << k);
		n += kinds >> k & 1;
	}
	outfile_write(s->out, system, strlen(system) + 1);
	write_number(s, n, 4);
	for (k = 0; k < SCHED_KINDS; k++)
		if (kinds >> k & 1) {
			len = tracedat_records_format(&s->records, (enum sched_kind)k, text);
			write_number(s, len, 8);
			outfile_write(s->out, text, len);
		}
}

/* "pid name\n"; a line break in a name would tear the list. */
static size_t cmdline(const struct trace_task *t, char line[64])
{
	int n = snprintf(line, 64, "%d %.*s", t->pid, SCHED_COMM_LEN, t->comm), i;

	for (i = 0; i < n; i++)
		if (line[i] == '\n')
			line[i] = '?';
	line[n] = '\n';
	return (size_t)n + 1;
}

static void write_cmdlines(struct sink *s)
{
	uint64_t len = 0;
	char line[64];
	size_t i;

	for (i = 0; i < s->info->n_tasks; i++)
		len += cmdline(&s->info->tasks[i], line);
	write_number(s, len, 8);
	for (i = 0; i < s->info->n_tasks; i++)
		outfile_write(s->out, line, cmdline(&s->info->tasks[i], line));
}

/* The clock's name as the kernel's trace_clock shows it. Stamps are written in nanoseconds, so the
 * name of a counter would be wrong, unless it is not known how long its ticks are. */
static size_t clock_text(const struct trace_clock *c, char text[TRACE_CLOCK_NAME_LEN + 4])
{
	bool is_counter = clock_name_is_ticks(c->name) || !strcmp(c->name, "uptime");

	if (!c->name[0])
		return 0;
	return (size_t)snprintf(text, TRACE_CLOCK_NAME_LEN + 4, "[%.*s]\n",
				TRACE_CLOCK_NAME_LEN - 1,
				is_counter && !clock_is_ticks(c) ? "local" : c->name) +
	       1;
}

static void write_option(struct sink *s, enum tracedat_option id, const void *data, size_t len)
{
	write_number(s, id, 2);
	write_number(s, len, 4);
	outfile_write(s->out, data, len);
}

static int write_options(struct sink *s, struct error *e)
{
	const struct trace_info *i = s->info;
	_cleanup_free_ char *device = strdup(i->device), *uname = NULL;
	char clock[TRACE_CLOCK_NAME_LEN + 4];
	size_t clock_len = clock_text(&i->clock, clock);
	uint8_t cpus[4];
	char *p;

	for (p = device; p && *p; p++)
		*p = *p == ' ' ? '-' : *p;
	if (!device || asprintf(&uname, "Linux %s %s %s", device, i->kernel, i->machine) < 0) {
		uname = NULL;
		return error_set(e, ENOMEM, "cannot write %s: out of memory", s->path);
	}
	outfile_write(s->out, "options  ", 10);
	put(cpus, s->spool.n_cpus, 4);
	write_option(s, TRACEDAT_CPUCOUNT, cpus, 4);
	if (i->device[0] || i->kernel[0] || i->machine[0])
		write_option(s, TRACEDAT_UNAME, uname, strlen(uname) + 1);
	if (clock_len)
		write_option(s, TRACEDAT_TRACECLOCK, clock, clock_len);
	write_number(s, TRACEDAT_DONE, 2);
	return 0;
}

static int write_head(struct sink *s, struct error *e)
{
	uint32_t kinds = s->info->dialect.kinds | s->kinds | 1U << SCHED_WAKING;
	uint32_t tasks = 1U << SCHED_RENAME;

	outfile_write(s->out, TRACEDAT_MAGIC, TRACEDAT_MAGIC_LEN);
	outfile_write(s->out, "6", 2);
	write_number(s, 0, 1);
	write_number(s, s->spool.long_size, 1);
	write_number(s, TRACEDAT_SPOOL_PAGE, 4);
	write_header_info(s);
	write_number(s, 0, 4); /* ftrace's own events */
	write_number(s, kinds & tasks ? 2 : 1, 4);
	write_system(s, "sched", kinds);
	if (kinds & tasks)
		write_system(s, "task", kinds);
	write_number(s, 0, 4); /* kallsyms */
	write_number(s, 0, 4); /* formats of printk */
	write_cmdlines(s);
	write_number(s, s->spool.n_cpus, 4);
	return write_options(s, e);
}

/* Where each CPU's pages will be; then nothing up to the first page. */
static void write_table(struct sink *s)
{
	char clock[TRACE_CLOCK_NAME_LEN + 4];
	size_t len = clock_text(&s->info->clock, clock);
	static const uint8_t zeros[TRACEDAT_SPOOL_PAGE];
	uint64_t at, page;
	uint32_t i;

	outfile_write(s->out, "flyrecord", 10);
	at = outfile_offset(s->out) + 16ULL * s->spool.n_cpus + (len ? 8 + len : 0);
	page = (at + TRACEDAT_SPOOL_PAGE - 1) / TRACEDAT_SPOOL_PAGE * TRACEDAT_SPOOL_PAGE;
	for (i = 0; i < s->spool.n_cpus; i++) {
		write_number(s, page, 8);
		write_number(s, tracedat_spool_get_size(&s->spool, i), 8);
		page += tracedat_spool_get_size(&s->spool, i);
	}
	if (len) {
		write_number(s, len, 8);
		outfile_write(s->out, clock, len);
	}
	outfile_write(s->out, zeros,
		      (TRACEDAT_SPOOL_PAGE - outfile_offset(s->out) % TRACEDAT_SPOOL_PAGE) %
			      TRACEDAT_SPOOL_PAGE);
}

static int end(struct trace_sink *base, struct error *e)
{
	struct sink *s = (struct sink *)base;
	uint32_t i;
	int r;

	r = tracedat_spool_finish(&s->spool, e);
	if (r == 0)
		r = write_head(s, e);
	if (r < 0)
		return r;
	write_table(s);
	for (i = 0; i < s->spool.n_cpus && r == 0; i++)
		r = tracedat_spool_copy(&s->spool, i, s->out, e);
	return r < 0 ? r : outfile_commit(s->out, e);
}

static void free_sink(struct trace_sink *base)
{
	struct sink *s = (struct sink *)base;

	tracedat_spool_close(&s->spool);
	outfile_free(s->out);
	free(s->path);
	free(s);
}

static const struct trace_sink_ops ops = {
	.begin = begin,
	.item = item,
	.end = end,
	.free = free_sink,
};

int sink_tracedat_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	s->base.ops = &ops;
	s->spool.fd = -1;
	s->path = strdup(path);
	r = s->path ? outfile_open(&s->out, path, e)
		    : error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	if (r < 0) {
		free_sink(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
