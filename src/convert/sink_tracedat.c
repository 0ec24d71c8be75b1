/* SPDX-License-Identifier: MIT */
/*
 * sink_tracedat: trace.dat version 6, which trace-cmd, KernelShark and Trace Compass all read.
 *
 * The file wants each CPU's pages in one piece, while events come merged. So pages go to an
 * unlinked spool file as they fill and are put in order at the end. The spool is an array of slots
 * of one page and the number of the CPU's next slot, which is reserved when a page is begun: a CPU
 * is then a list that is written once and read front to back, and memory stays at one page per CPU
 * however long the trace is.
 *
 * A loss starts a new page and is noted in its commit word, which is where the kernel puts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/outfile.h"
#include "convert/sink.h"
#include "convert/tracedat.h"
#include "convert/tracedat_record.h"
#include "ftrace/page.h"

#define PAGE_SIZE_OUT 4096U
#define SLOT_SIZE (PAGE_SIZE_OUT + 8U)
#define DELTA_MAX (1U << PAGE_DELTA_BITS)
#define EXTEND_MAX (1ULL << 59)
#define SMALL_MAX (PAGE_TYPE_DATA_MAX * 4U)

struct out_cpu {
	uint8_t *slot;	    /* the page being filled, SLOT_SIZE bytes; NULL before the first */
	uint32_t used;	    /* bytes of data in it */
	bool is_open;	    /* it has a time stamp */
	uint64_t last_ns;   /* of the last event */
	uint64_t lost;	    /* before the page being filled; LOSS_UNKNOWN */
	uint64_t lost_next; /* before the page after it */
	uint64_t slot_number;
	uint64_t first_slot;
	uint64_t pages;
};

struct sink {
	struct trace_sink base;
	struct outfile *out;
	char *path;
	int spool;
	uint64_t slots;
	const struct trace_info *info;
	struct tracedat_records records;
	uint32_t kinds; /* seen among the events */
	struct out_cpu *cpus;
	uint32_t n_cpus;
	uint32_t long_size;
	uint32_t data_offset;
};

static void put(uint8_t *p, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static int spool_failed(const struct sink *s, int code, struct error *e)
{
	return error_set(e, code, "cannot write %s: its temporary file: %s", s->path,
			 strerror(code));
}

/* Beside the target, because there is room for the target there. */
static int open_spool(struct sink *s, struct error *e)
{
	const char *slash = strrchr(s->path, '/'), *tmp = getenv("TMPDIR");
	_cleanup_free_ char *folder = NULL, *name = NULL;

	if (!strcmp(s->path, "-") || !strncmp(s->path, "/dev/", 5))
		folder = strdup(tmp && *tmp ? tmp : "/tmp");
	else
		folder = slash ? strndup(s->path, (size_t)(slash - s->path + 1)) : strdup(".");
	if (!folder || asprintf(&name, "%s/.kiseki-spool-XXXXXX", folder) < 0)
		return spool_failed(s, ENOMEM, e);
	s->spool = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->spool >= 0)
		return 0;
	s->spool = mkostemp(name, O_CLOEXEC);
	if (s->spool < 0)
		return spool_failed(s, errno, e);
	unlink(name);
	return 0;
}

static int begin(struct trace_sink *base, const struct trace_info *info, struct error *e)
{
	struct sink *s = (struct sink *)base;

	s->info = info;
	s->n_cpus = info->cpus;
	s->cpus = calloc(s->n_cpus ? s->n_cpus : 1, sizeof(*s->cpus));
	if (!s->cpus)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", s->path);
	s->long_size = info->dialect.long_size == 4 ? 4 : 8;
	s->data_offset = 8 + s->long_size;
	tracedat_records_init(&s->records, &info->dialect);
	return open_spool(s, e);
}

/* Is there a count of lost events to be stored behind the data? */
static bool stores_count(const struct sink *s, const struct out_cpu *c)
{
	return c->lost && c->lost != LOSS_UNKNOWN && (s->long_size == 8 || c->lost <= UINT32_MAX);
}

static int open_page(struct sink *s, struct out_cpu *c, uint64_t ns, struct error *e)
{
	if (!c->slot) {
		c->slot = malloc(SLOT_SIZE);
		if (!c->slot)
			return error_set(e, ENOMEM, "cannot write %s: out of memory", s->path);
		c->first_slot = c->slot_number = s->slots++;
	}
	memset(c->slot, 0, SLOT_SIZE);
	put(c->slot, ns, 8);
	c->used = 0;
	c->last_ns = ns;
	c->lost = c->lost_next;
	c->lost_next = 0;
	c->is_open = true;
	return 0;
}

static int close_page(struct sink *s, struct out_cpu *c, struct error *e)
{
	uint64_t commit = c->used, next = s->slots++;
	ssize_t n;

	if (c->lost) {
		commit |= PAGE_MISSED;
		if (stores_count(s, c)) {
			commit |= PAGE_MISSED_STORED;
			put(c->slot + s->data_offset + c->used, c->lost, s->long_size);
		}
	}
	put(c->slot + 8, commit, s->long_size);
	put(c->slot + PAGE_SIZE_OUT, next, 8);
	n = pwrite(s->spool, c->slot, SLOT_SIZE, (off_t)(c->slot_number * SLOT_SIZE));
	if (n != SLOT_SIZE)
		return spool_failed(s, n < 0 ? errno : ENOSPC, e);
	c->slot_number = next;
	c->pages++;
	c->is_open = false;
	return 0;
}

static uint32_t page_room(const struct sink *s, const struct out_cpu *c)
{
	uint32_t room = PAGE_SIZE_OUT - s->data_offset - c->used;

	return stores_count(s, c) ? room - s->long_size : room;
}

static void put_word(const struct sink *s, struct out_cpu *c, uint32_t v)
{
	put(c->slot + s->data_offset + c->used, v, 4);
	c->used += 4;
}

/* Bytes of a record on the page, its heads included. */
static uint32_t record_size(size_t len, uint64_t delta)
{
	uint32_t padded = ((uint32_t)len + 3) & ~3U;

	return padded + (padded > SMALL_MAX ? 8 : 4) + (delta >= DELTA_MAX ? 8 : 0);
}

static void put_record(const struct sink *s, struct out_cpu *c, const uint8_t *data, size_t len,
		       uint64_t delta)
{
	uint32_t padded = ((uint32_t)len + 3) & ~3U;

	if (delta >= DELTA_MAX) {
		put_word(s, c, (uint32_t)(delta % DELTA_MAX) << 5 | PAGE_TYPE_TIME_EXTEND);
		put_word(s, c, (uint32_t)(delta >> PAGE_DELTA_BITS));
		delta = 0;
	}
	if (padded > SMALL_MAX) {
		put_word(s, c, (uint32_t)delta << 5);
		put_word(s, c, padded + 4);
	} else {
		put_word(s, c, (uint32_t)delta << 5 | padded / 4);
	}
	memcpy(c->slot + s->data_offset + c->used, data, len);
	c->used += padded;
}

static int event(struct sink *s, struct out_cpu *c, const struct sched_event *ev, struct error *e)
{
	uint64_t ns = clock_event_ns(&s->info->clock, ev);
	uint8_t record[TRACEDAT_RECORD_MAX];
	size_t len = tracedat_records_encode(&s->records, ev, record);
	int r;

	if (record_size(len, 0) > PAGE_SIZE_OUT - s->data_offset - s->long_size)
		return error_set(e, EMSGSIZE,
				 "cannot write %s: a filename of %u bytes fits on no "
				 "page of a trace.dat",
				 s->path, ev->filename_len);
	/* A stamp before the last one is a huge difference, too; a new page starts from anywhere. */
	if (c->is_open && (ns - c->last_ns >= EXTEND_MAX ||
			   record_size(len, ns - c->last_ns) > page_room(s, c))) {
		r = close_page(s, c, e);
		if (r < 0)
			return r;
	}
	if (!c->is_open) {
		r = open_page(s, c, ns, e);
		if (r < 0)
			return r;
	}
	put_record(s, c, record, len, ns - c->last_ns);
	c->last_ns = ns;
	s->kinds |= 1U << ev->kind;
	return 0;
}

static int loss(struct sink *s, struct out_cpu *c, const struct trace_loss *l, struct error *e)
{
	int r;

	if (!l->count)
		return 0;
	if (c->is_open) {
		r = close_page(s, c, e);
		if (r < 0)
			return r;
	}
	if (l->count >= LOSS_UNKNOWN - c->lost_next)
		c->lost_next = LOSS_UNKNOWN;
	else
		c->lost_next += l->count;
	return 0;
}

static int item(struct trace_sink *base, const struct trace_item *it, struct error *e)
{
	struct sink *s = (struct sink *)base;

	if (it->cpu >= s->n_cpus)
		return error_set(e, EINVAL, "cannot write %s: an event of CPU %u, the trace has %u",
				 s->path, it->cpu, s->n_cpus);
	if (it->type == ITEM_LOSS)
		return loss(s, &s->cpus[it->cpu], &it->loss, e);
	return event(s, &s->cpus[it->cpu], &it->event, e);
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
			 s->long_size, s->data_offset, PAGE_SIZE_OUT - s->data_offset);

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
 * name of a bare counter would be wrong. */
static size_t clock_text(const struct trace_clock *c, char text[TRACE_CLOCK_NAME_LEN + 4])
{
	bool is_counter = !strcmp(c->name, "counter") || !strcmp(c->name, "x86-tsc");
	bool is_scaled = c->mult != 1 || c->shift;

	if (!c->name[0])
		return 0;
	return (size_t)snprintf(text, TRACE_CLOCK_NAME_LEN + 4, "[%.*s]\n",
				TRACE_CLOCK_NAME_LEN - 1,
				is_counter && is_scaled ? "local" : c->name) +
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
	put(cpus, s->n_cpus, 4);
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
	write_number(s, s->long_size, 1);
	write_number(s, PAGE_SIZE_OUT, 4);
	write_header_info(s);
	write_number(s, 0, 4); /* ftrace's own events */
	write_number(s, kinds & tasks ? 2 : 1, 4);
	write_system(s, "sched", kinds);
	if (kinds & tasks)
		write_system(s, "task", kinds);
	write_number(s, 0, 4); /* kallsyms */
	write_number(s, 0, 4); /* formats of printk */
	write_cmdlines(s);
	write_number(s, s->n_cpus, 4);
	return write_options(s, e);
}

/* Where each CPU's pages will be; then nothing up to the first page. */
static void write_table(struct sink *s)
{
	char clock[TRACE_CLOCK_NAME_LEN + 4];
	size_t len = clock_text(&s->info->clock, clock);
	static const uint8_t zeros[PAGE_SIZE_OUT];
	uint64_t at, page;
	uint32_t i;

	outfile_write(s->out, "flyrecord", 10);
	at = outfile_offset(s->out) + 16ULL * s->n_cpus + (len ? 8 + len : 0);
	page = (at + PAGE_SIZE_OUT - 1) / PAGE_SIZE_OUT * PAGE_SIZE_OUT;
	for (i = 0; i < s->n_cpus; i++) {
		write_number(s, page, 8);
		write_number(s, s->cpus[i].pages * PAGE_SIZE_OUT, 8);
		page += s->cpus[i].pages * PAGE_SIZE_OUT;
	}
	if (len) {
		write_number(s, len, 8);
		outfile_write(s->out, clock, len);
	}
	outfile_write(s->out, zeros,
		      (PAGE_SIZE_OUT - outfile_offset(s->out) % PAGE_SIZE_OUT) % PAGE_SIZE_OUT);
}

static int copy_pages(struct sink *s, const struct out_cpu *c, struct error *e)
{
	uint8_t slot[SLOT_SIZE];
	uint64_t number = c->first_slot, i;
	unsigned int byte;
	ssize_t n;

	for (i = 0; i < c->pages && !outfile_error(s->out); i++) {
		n = pread(s->spool, slot, SLOT_SIZE, (off_t)(number * SLOT_SIZE));
		if (n != SLOT_SIZE)
			return spool_failed(s, n < 0 ? errno : EIO, e);
		outfile_write(s->out, slot, PAGE_SIZE_OUT);
		for (number = 0, byte = 0; byte < 8; byte++)
			number |= (uint64_t)slot[PAGE_SIZE_OUT + byte] << (8 * byte);
	}
	return 0;
}

/* Writes what the CPU still holds; a loss that no event followed gets an empty page. */
static int finish_cpu(struct sink *s, struct out_cpu *c, struct error *e)
{
	int r = c->is_open ? close_page(s, c, e) : 0;

	if (r == 0 && c->lost_next) {
		r = open_page(s, c, c->last_ns, e);
		if (r == 0)
			r = close_page(s, c, e);
	}
	return r;
}

static int end(struct trace_sink *base, struct error *e)
{
	struct sink *s = (struct sink *)base;
	uint32_t i;
	int r = 0;

	for (i = 0; i < s->n_cpus && r == 0; i++)
		r = finish_cpu(s, &s->cpus[i], e);
	if (r == 0)
		r = write_head(s, e);
	if (r < 0)
		return r;
	write_table(s);
	for (i = 0; i < s->n_cpus && r == 0; i++)
		r = copy_pages(s, &s->cpus[i], e);
	return r < 0 ? r : outfile_commit(s->out, e);
}

static void free_sink(struct trace_sink *base)
{
	struct sink *s = (struct sink *)base;
	uint32_t i;

	for (i = 0; s->cpus && i < s->n_cpus; i++)
		free(s->cpus[i].slot);
	free(s->cpus);
	if (s->spool >= 0)
		close(s->spool);
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
	s->spool = -1;
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
