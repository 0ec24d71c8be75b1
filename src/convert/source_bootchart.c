/* SPDX-License-Identifier: MIT */
/*
 * source_bootchart: see source_bootchart.h.
 *
 * The logs are read side by side, always the one whose next block is the earliest, so that records come in
 * order; at the same time the machine's come before those of processes. Nothing is made before it is asked for but
 * what the source has to know first: the interval, the real time, how many CPUs there are.
 */
#include "convert/source_bootchart.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/boot_child.h"
#include "convert/bootchart_records.h"
#include "trace/pidmap.h"

#define SECOND_NS 1000000000LL
#define YEAR_2200 7258118400ULL /* a time that the machine was started after is none */

enum log { STAT, DISKS, MEMORY, MESSAGES, PROCESSES, LOGS };

struct log_reader {
	struct text_scan at;
	struct bootchart_block block;
	bool has_block;
};

struct source_bootchart {
	struct boot_source source;
	struct bootchart_archive archive;
	struct bootchart_facts facts;
	struct bootchart_records records;
	struct log_reader logs[LOGS];
	size_t next; /* of the records */
	bool is_begun, is_over;
	bool has_taskstats;
	char interval[40]; /* a fact */
	char missing[3][128];
};

/* --- the logs --- */

/* "[    1.234567] text" */
static bool next_message(struct text_scan *s, struct bootchart_block *ret)
{
	struct text_span line;
	struct text_scan l;
	uint64_t seconds, part;
	const char *digits;

	while (bootchart_log_line(s, &line)) {
		l = (struct text_scan){ line.text, line.text + line.len };
		if (!SCAN(&l, "["))
			continue;
		scan_spaces(&l, NULL);
		if (!scan_u64(&l, &seconds) || seconds > BOOTCHART_TIME_MAX / 1000 ||
		    !SCAN(&l, "."))
			continue;
		digits = l.at;
		if (!scan_u64(&l, &part) || l.at - digits != 6 || !SCAN(&l, "] "))
			continue;
		/* In microseconds, unlike a log's. */
		ret->time = seconds * 1000000 + part;
		ret->body = l;
		return true;
	}
	return false;
}

static void read_log(struct source_bootchart *s, enum log i)
{
	struct log_reader *l = &s->logs[i];

	l->has_block = i == MESSAGES ? next_message(&l->at, &l->block)
				     : bootchart_log_next(&l->at, &l->block, &s->records.bad);
}

static uint64_t tick_of(const struct source_bootchart *s, unsigned int i)
{
	return s->logs[i].block.time * (i == MESSAGES ? 1000 : BOOTCHART_TIME_NS);
}

/* The log whose block is next; LOGS: there is none. */
static unsigned int earliest(const struct source_bootchart *s)
{
	unsigned int i, found = LOGS;

	for (i = 0; i < LOGS; i++)
		if (s->logs[i].has_block && (found == LOGS || tick_of(s, i) < tick_of(s, found)))
			found = i;
	return found;
}

static void open_log(struct source_bootchart *s, enum log i, enum bootchart_file file)
{
	const char *data = s->archive.file[file].data;

	s->logs[i].has_block = false;
	if (!data)
		return;
	s->logs[i].at = (struct text_scan){ data, data + s->archive.file[file].len };
	read_log(s, i);
}

static void open_logs(struct source_bootchart *s)
{
	open_log(s, STAT, BOOTCHART_STAT);
	open_log(s, DISKS, BOOTCHART_DISKSTATS);
	open_log(s, MEMORY, BOOTCHART_MEMINFO);
	open_log(s, MESSAGES, BOOTCHART_DMESG);
	open_log(s, PROCESSES, s->has_taskstats ? BOOTCHART_TASKSTATS : BOOTCHART_PS);
}

/* --- records --- */

static struct text_span span_of(const char *text)
{
	return (struct text_span){ text, strlen(text) };
}

static int make_facts(struct source_bootchart *s)
{
	struct bootchart_records *r = &s->records;
	unsigned int first = earliest(s);
	uint64_t tick = first == LOGS ? 0 : tick_of(s, first);
	size_t i;
	int res = 0;

	for (i = 0; i < s->facts.n_facts && res >= 0; i++)
		res = bootchart_records_mark(r, BOOT_MARK_FACT, tick, span_of(s->facts.facts[i]));
	if (res >= 0 && s->interval[0])
		res = bootchart_records_mark(r, BOOT_MARK_FACT, tick, span_of(s->interval));
	if (res >= 0 && s->has_taskstats)
		res = bootchart_records_mark(
			r, BOOT_MARK_MISSING, tick,
			span_of("taskstats.log has no ends of processes, and no states but "
				"what their times say"));
	return res;
}

/* What the archive has, and the chart does not. */
static int make_missing(struct source_bootchart *s)
{
	struct bootchart_records *r = &s->records;
	const struct bootchart_known *k;
	uint64_t unseen = 0;
	size_t i, n = 0;
	int res = 0;

	for (i = 0; i < pidmap_count(s->facts.known); i++) {
		k = pidmap_at(s->facts.known, i);
		unseen += !k->is_seen;
	}
	if (unseen)
		snprintf(s->missing[n++], sizeof(s->missing[0]),
			 "%" PRIu64 " processes are known by number only: they lived between two "
			 "looks",
			 unseen);
	if (r->bad)
		snprintf(s->missing[n++], sizeof(s->missing[0]),
			 "%" PRIu64 " lines of the archive could not be read", r->bad);
	if (s->archive.is_cut)
		snprintf(s->missing[n++], sizeof(s->missing[0]), "the archive ends too early");
	for (i = 0; i < n && res >= 0; i++)
		res = bootchart_records_mark(r, BOOT_MARK_MISSING, r->tick, span_of(s->missing[i]));
	return res;
}

static int make_block(struct source_bootchart *s, unsigned int i)
{
	struct bootchart_records *r = &s->records;
	struct bootchart_block *b = &s->logs[i].block;
	struct text_span text = { b->body.at, scan_left(&b->body) };
	int res;

	switch (i) {
	case STAT:
		res = bootchart_records_stat(r, b);
		break;
	case DISKS:
		res = bootchart_records_disks(r, b);
		break;
	case MEMORY:
		res = bootchart_records_memory(r, b);
		break;
	case MESSAGES:
		res = bootchart_records_mark(r, BOOT_MARK_KERNEL, tick_of(s, i), text);
		break;
	default:
		res = s->has_taskstats ? bootchart_records_taskstats(r, b)
				       : bootchart_records_processes(r, b);
		break;
	}
	read_log(s, i);
	return res;
}

/* Makes some more records; none when all are made. */
static int make(struct source_bootchart *s)
{
	unsigned int i;

	s->records.n = s->next = 0;
	if (!s->is_begun) {
		s->is_begun = true;
		return make_facts(s);
	}
	i = earliest(s);
	if (i < LOGS)
		return make_block(s, i);
	s->is_over = true;
	return make_missing(s);
}

static int bootchart_next(struct boot_source *source, struct boot_item *ret, struct error *e)
{
	struct source_bootchart *s = (struct source_bootchart *)source;
	int r = 0;

	while (s->next == s->records.n && !s->is_over && r >= 0)
		r = make(s);
	if (r < 0) {
		s->is_over = true;
		s->records.n = s->next = 0;
		return error_set(e, r, "cannot read the bootchart: %s", strerror(-r));
	}
	if (s->next == s->records.n)
		return 0;
	memset(ret, 0, sizeof(*ret));
	ret->type = ITEM_EVENT;
	ret->event = s->records.list[s->next++];
	return 1;
}

/* --- opening --- */

/* How far blocks with processes are apart, and of taskstats, where each is told of last. */
static int look_ahead(struct source_bootchart *s)
{
	struct text_scan log = s->logs[PROCESSES].at;
	struct bootchart_block b = s->logs[PROCESSES].block;
	uint64_t n = 0, first = b.time, last = b.time, bad = 0;
	struct bootchart_process row;
	struct text_span line;
	int r = 0;

	for (; s->logs[PROCESSES].has_block && r >= 0; n++) {
		last = b.time;
		while (s->has_taskstats && r >= 0 && bootchart_log_line(&b.body, &line))
			if (bootchart_log_parse_taskstats(line, &row))
				r = bootchart_records_set_last(&s->records, row.pid, n);
		if (!bootchart_log_next(&log, &b, &bad))
			break;
	}
	if (n && last > first)
		snprintf(s->interval, sizeof(s->interval), "interval_ns=%" PRIu64,
			 (uint64_t)((last - first) * BOOTCHART_TIME_NS / n));
	return r;
}

/* CPUs and the real time of the start, from the first block of proc_stat.log. */
static void look_at_stat(struct source_bootchart *s)
{
	struct trace_info *info = &s->source.info;
	struct text_scan body = s->logs[STAT].block.body, l;
	struct text_span line;
	uint64_t n;

	while (s->logs[STAT].has_block && bootchart_log_line(&body, &line)) {
		l = (struct text_scan){ line.text, line.text + line.len };
		if (SCAN(&l, "cpu") && scan_u64(&l, &n) && n < BOOTCHART_CPUS_MAX &&
		    n + 1 > info->cpus)
			info->cpus = (uint32_t)n + 1;
		l.at = line.text;
		if (SCAN(&l, "btime ") && scan_u64(&l, &n) && n < YEAR_2200) {
			info->clock.has_realtime = true;
			info->clock.realtime_off_ns = (int64_t)n * SECOND_NS;
			info->clock.realtime_err_ns = SECOND_NS;
		}
	}
}

static int begin(struct source_bootchart *s)
{
	size_t i;
	int r;

	bootchart_records_done(&s->records);
	s->next = 0;
	s->is_begun = s->is_over = false;
	for (i = 0; i < pidmap_count(s->facts.known); i++)
		((struct bootchart_known *)pidmap_at(s->facts.known, i))->is_seen = false;
	r = bootchart_records_init(&s->records, &s->facts);
	if (r < 0)
		return r;
	open_logs(s);
	return look_ahead(s);
}

static int bootchart_rewind(struct boot_source *source, struct error *e)
{
	int r = begin((struct source_bootchart *)source);

	return r < 0 ? error_set(e, r, "cannot read the bootchart: %s", strerror(-r)) : 0;
}

static void bootchart_free(struct boot_source *source)
{
	struct source_bootchart *s = (struct source_bootchart *)source;

	bootchart_records_done(&s->records);
	bootchart_facts_done(&s->facts);
	bootchart_archive_done(&s->archive);
	info_done(&source->info);
	free(s);
}

static const struct boot_source_ops ops = {
	.next = bootchart_next,
	.rewind = bootchart_rewind,
	.free = bootchart_free,
};

/* Takes the archive. */
static int open_archive(struct bootchart_archive *a, struct boot_source **ret, struct error *e)
{
	struct source_bootchart *s = calloc(1, sizeof(*s));
	int r;

	if (!s || info_init(&s->source.info) < 0) {
		free(s);
		bootchart_archive_done(a);
		return error_set(e, ENOMEM, "cannot read the bootchart: %s", strerror(ENOMEM));
	}
	s->source.ops = &ops;
	s->archive = *a;
	s->source.is_cut = a->is_cut;
	/* What the logs count is the uptime: CLOCK_MONOTONIC, unless the machine has slept. */
	memcpy(s->source.info.clock.name, "mono", 5);
	s->has_taskstats = !a->file[BOOTCHART_PS].data && a->file[BOOTCHART_TASKSTATS].data;
	r = bootchart_facts_init(&s->facts, &s->archive, &s->source.info, e);
	if (r >= 0)
		r = bootchart_rewind(&s->source, e);
	if (r < 0) {
		bootchart_free(&s->source);
		return r;
	}
	look_at_stat(s);
	*ret = &s->source;
	return 0;
}

/* In a process of its own. */
static int open_job(const struct boot_child_job *job, struct boot_source **ret, struct error *e)
{
	struct bootchart_archive a;
	int r = bootchart_archive_read(&a, job->fd, job->path, e);

	return r < 0 ? r : open_archive(&a, ret, e);
}

int source_bootchart_open(const char *path, struct boot_source **ret, struct error *e)
{
	struct boot_child_job job = { .open = open_job, .path = path };
	struct stat st;

	job.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (job.fd < 0 || fstat(job.fd, &st) < 0) {
		int r = error_set(e, errno, "cannot read %s: %s", path, strerror(errno));

		if (job.fd >= 0)
			close(job.fd);
		return r;
	}
	job.is_folder = S_ISDIR(st.st_mode);
	return boot_child_open(ret, &job, e);
}

int source_bootchart_open_memory(const uint8_t *data, size_t len, struct boot_source **ret,
				 struct error *e)
{
	struct bootchart_archive a;
	int r = bootchart_archive_parse(&a, data, len, e);

	return r < 0 ? r : open_archive(&a, ret, e);
}
