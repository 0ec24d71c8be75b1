/* SPDX-License-Identifier: MIT */
/*
 * boot_json: see boot_json.h. docs/format/boot-json.md is the specification.
 *
 * There may be millions of spans, so it is written as it is read and no document is built. Spans and points are
 * columns: one array for each number, and none for a number that is the same everywhere.
 */
#include "chart/boot_json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "chart/boot_text.h"

#define VERSION 1

/* One letter for each state, in the order of enum boot_state. */
static const char letters[BOOT_STATES + 1] = "RWDSTZU";

static const char *const mark_words[BOOT_MARK_TYPES] = {
	"kernel", "phase", "target", "stop", "clock", "missing", "fact",
};

static void put_word(FILE *f, const char *name, const char *text)
{
	fprintf(f, ",\"%s\":", name);
	boot_text_put_json(f, text);
}

static void put_number(FILE *f, const char *name, uint64_t value)
{
	fprintf(f, ",\"%s\":%" PRIu64, name, value);
}

static void put_flag(FILE *f, const char *name, bool value)
{
	fprintf(f, ",\"%s\":%s", name, value ? "true" : "false");
}

static int64_t index_or_none(uint32_t process)
{
	return process == BOOT_NONE ? -1 : (int64_t)process;
}

/* --- a process --- */

/* A column of the spans. */
enum column { SHARE, WHOM, WHERE, COLUMNS };

static int64_t whom_of(const struct boot_span *s)
{
	return s->whom == BOOT_INTERRUPT ? -2 : index_or_none(s->whom);
}

static int64_t cell(const struct boot_span *s, enum column c)
{
	return c == SHARE ? s->share : c == WHOM ? whom_of(s) : (int64_t)s->where;
}

static void put_column(FILE *f, const struct boot_process *p, enum column c)
{
	static const char *const names[COLUMNS] = { "share", "whom", "where" };
	int64_t same = c == WHOM ? -1 : 0;
	size_t i;

	for (i = 0; i < p->n_spans && cell(&p->spans[i], c) == same; i++)
		;
	if (i == p->n_spans)
		return;
	fprintf(f, ",\"%s\":[", names[c]);
	for (i = 0; i < p->n_spans; i++)
		fprintf(f, "%s%" PRId64, i ? "," : "", cell(&p->spans[i], c));
	fputc(']', f);
}

static void put_spans(FILE *f, const struct boot_process *p)
{
	size_t i;

	fputs(",\"spans\":{\"state\":\"", f);
	for (i = 0; i < p->n_spans; i++)
		fputc(letters[p->spans[i].state < BOOT_STATES ? p->spans[i].state : BOOT_UNKNOWN],
		      f);
	fputs("\",\"length_ns\":[", f);
	for (i = 0; i < p->n_spans; i++)
		fprintf(f, "%s%" PRIu64, i ? "," : "", p->spans[i].to_ns - p->spans[i].from_ns);
	fputc(']', f);
	put_column(f, p, SHARE);
	put_column(f, p, WHOM);
	put_column(f, p, WHERE);
	fputc('}', f);
}

static void put_names(FILE *f, const struct boot_process *p)
{
	size_t i;

	fputs(",\"names\":[", f);
	for (i = 0; i < p->n_names; i++) {
		fprintf(f, "%s{\"from_ns\":%" PRIu64, i ? "," : "", p->names[i].from_ns);
		put_word(f, "comm", p->names[i].comm);
		put_word(f, "args", p->names[i].args);
		fputc('}', f);
	}
	fputc(']', f);
}

static void put_account(FILE *f, const struct boot_account *a)
{
	fprintf(f, ",\"account\":{\"is_complete\":%s", a->is_complete ? "true" : "false");
	put_number(f, "user_ns", a->user_ns);
	put_number(f, "system_ns", a->system_ns);
	put_number(f, "waited_ns", a->waited_ns);
	put_number(f, "disk_ns", a->disk_ns);
	put_number(f, "swap_ns", a->swap_ns);
	put_number(f, "read_bytes", a->read_bytes);
	put_number(f, "written_bytes", a->written_bytes);
	put_number(f, "rss_kib", a->rss_kib);
	put_number(f, "faults", a->faults);
	fputc('}', f);
}

static void put_process(FILE *f, const struct boot_process *p)
{
	int i;

	fprintf(f, "{\"pid\":%" PRId32 ",\"parent_pid\":%" PRId32 ",\"parent\":%" PRId64, p->pid,
		p->parent_pid, index_or_none(p->parent));
	put_number(f, "depth", p->depth);
	put_number(f, "from_ns", p->from_ns);
	put_number(f, "to_ns", p->to_ns);
	put_number(f, "before_ns", p->before_ns);
	put_number(f, "from_error_ns", p->from_error_ns);
	put_number(f, "to_error_ns", p->to_error_ns);
	put_flag(f, "is_kernel", p->is_kernel);
	put_flag(f, "is_self", p->is_self);
	put_flag(f, "is_alive", p->is_alive);
	put_flag(f, "was_there", p->was_there);
	fprintf(f, ",\"exit_code\":%" PRId32, p->exit_code);
	put_number(f, "threads", p->threads);
	put_number(f, "cpu_ns", boot_process_cpu(p));
	fputs(",\"state_ns\":[", f);
	for (i = 0; i < BOOT_STATES; i++)
		fprintf(f, "%s%" PRIu64, i ? "," : "", p->state_ns[i]);
	fputc(']', f);
	put_account(f, &p->account);
	put_names(f, p);
	put_spans(f, p);
	fputc('}', f);
}

/* --- the machine --- */

/* A column of rows that are structs: `at` is the member's offset in the first of them. */
struct rows {
	const void *first;
	size_t size, n;
};

static void put_rows(FILE *f, const struct rows *r, const char *name, size_t at, bool is_wide)
{
	const char *from;
	uint32_t narrow;
	uint64_t wide;
	size_t i;

	fprintf(f, "\"%s\":[", name);
	for (i = 0; i < r->n; i++) {
		from = (const char *)r->first + i * r->size + at;
		if (is_wide) {
			memcpy(&wide, from, sizeof(wide));
		} else {
			memcpy(&narrow, from, sizeof(narrow));
			wide = narrow;
		}
		fprintf(f, "%s%" PRIu64, i ? "," : "", wide);
	}
	fputc(']', f);
}

#define POINT(member) offsetof(struct boot_point, member)

static void put_points(FILE *f, const struct boot *b)
{
	static const struct {
		const char *name;
		size_t at;
		bool is_wide;
	} columns[] = {
		{ "ns", POINT(ns), true },
		{ "user_ns", POINT(user_ns), true },
		{ "system_ns", POINT(system_ns), true },
		{ "iowait_ns", POINT(iowait_ns), true },
		{ "idle_ns", POINT(idle_ns), true },
		{ "irq_ns", POINT(irq_ns), true },
		{ "steal_ns", POINT(steal_ns), true },
		{ "runnable", POINT(runnable), false },
		{ "blocked", POINT(blocked), false },
		{ "memory_used_kib", POINT(memory_used_kib), true },
		{ "memory_cached_kib", POINT(memory_cached_kib), true },
		{ "memory_free_kib", POINT(memory_free_kib), true },
		{ "swap_used_kib", POINT(swap_used_kib), true },
		{ "cpu_some_ns", POINT(some_ns[BOOT_RESOURCE_CPU]), true },
		{ "cpu_full_ns", POINT(full_ns[BOOT_RESOURCE_CPU]), true },
		{ "io_some_ns", POINT(some_ns[BOOT_RESOURCE_IO]), true },
		{ "io_full_ns", POINT(full_ns[BOOT_RESOURCE_IO]), true },
		{ "memory_some_ns", POINT(some_ns[BOOT_RESOURCE_MEMORY]), true },
		{ "memory_full_ns", POINT(full_ns[BOOT_RESOURCE_MEMORY]), true },
		{ "irq_some_ns", POINT(some_ns[BOOT_RESOURCE_IRQ]), true },
		{ "irq_full_ns", POINT(full_ns[BOOT_RESOURCE_IRQ]), true },
	};
	struct rows rows = { b->points, sizeof(*b->points), b->n_points };
	size_t i;

	fputs(",\n\"points\":{", f);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (i)
			fputc(',', f);
		put_rows(f, &rows, columns[i].name, columns[i].at, columns[i].is_wide);
	}
	fputc('}', f);
}

static void put_disk(FILE *f, const struct boot_disk *d)
{
	struct rows rows = { d->points, sizeof(*d->points), d->n_points };

	fputs("{\"name\":", f);
	boot_text_put_json(f, d->name);
	put_flag(f, "is_part", d->is_part);
	fputs(",\"points\":{", f);
	put_rows(f, &rows, "ns", offsetof(struct boot_disk_point, ns), true);
	fputc(',', f);
	put_rows(f, &rows, "read_bytes", offsetof(struct boot_disk_point, read_bytes), true);
	fputc(',', f);
	put_rows(f, &rows, "written_bytes", offsetof(struct boot_disk_point, written_bytes), true);
	fputc(',', f);
	put_rows(f, &rows, "busy_ns", offsetof(struct boot_disk_point, busy_ns), true);
	fputs("}}", f);
}

static void put_mark(FILE *f, const struct boot_mark *m)
{
	fprintf(f, "{\"ns\":%" PRIu64 ",\"type\":\"%s\",\"level\":%u,\"process\":%" PRId64, m->ns,
		m->type < BOOT_MARK_TYPES ? mark_words[m->type] : "other", m->level,
		index_or_none(m->process));
	put_word(f, "text", m->text);
	fputc('}', f);
}

/* --- all --- */

static void put_head(FILE *f, const struct boot *b)
{
	int i;

	fprintf(f, "{\"format\":\"kiseki-boot\",\"version\":%d", VERSION);
	put_word(f, "device", b->device);
	put_word(f, "kernel", b->kernel);
	put_word(f, "machine", b->machine);
	put_word(f, "origin", b->origin);
	put_word(f, "command_line", b->command_line);
	put_word(f, "release", b->release);
	put_number(f, "cpus", b->cpus);
	put_number(f, "from_ns", b->from_ns);
	put_number(f, "to_ns", b->to_ns);
	put_number(f, "interval_ns", b->interval_ns);
	put_number(f, "target_ns", b->target_ns);
	put_word(f, "target", b->target);
	fprintf(f, ",\"realtime_ns\":%" PRId64, b->realtime_ns);
	put_flag(f, "is_exact", b->is_exact);
	put_flag(f, "tells_interrupts", b->tells_interrupts);
	put_flag(f, "is_cut", b->is_cut);
	put_flag(f, "has_events", b->has_events);
	fputs(",\n\"states\":{", f);
	for (i = 0; i < BOOT_STATES; i++)
		fprintf(f, "%s\"%c\":\"%s\"", i ? "," : "", letters[i], boot_state_words[i]);
	fputc('}', f);
}

static void put_tail(FILE *f, const struct boot *b)
{
	size_t i;

	fputs(",\n\"disks\":[", f);
	for (i = 0; i < b->n_disks; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_disk(f, &b->disks[i]);
	}
	fputs("],\n\"marks\":[", f);
	for (i = 0; i < b->n_marks; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_mark(f, &b->marks[i]);
	}
	fputs("],\n\"gaps\":[", f);
	for (i = 0; i < b->n_gaps; i++) {
		fprintf(f, "%s{\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64, i ? ",\n" : "\n",
			b->gaps[i].from_ns, b->gaps[i].to_ns);
		put_word(f, "why", b->gaps[i].why);
		fputc('}', f);
	}
	fputs("],\n\"texts\":[", f);
	for (i = 0; i < b->n_texts; i++) {
		if (i)
			fputc(',', f);
		boot_text_put_json(f, b->texts[i]);
	}
	fputs("]}\n", f);
}

int boot_json_write(FILE *f, const struct boot *b, struct error *e)
{
	size_t i;

	put_head(f, b);
	fputs(",\n\"processes\":[", f);
	for (i = 0; i < b->n_processes && !ferror(f); i++) {
		fputs(i ? ",\n" : "\n", f);
		put_process(f, &b->processes[i]);
	}
	fputc(']', f);
	put_points(f, b);
	put_tail(f, b);
	if (ferror(f))
		return error_set(e, EIO, "cannot write the chart: %s",
				 strerror(errno ? errno : EIO));
	return 0;
}
