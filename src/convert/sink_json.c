/* SPDX-License-Identifier: MIT */
/*
 * sink_json: the trace as one JSON document, or as newline-delimited JSON (docs/format/json.md,
 * docs/format/trace.schema.json).
 *
 * Both carry the same objects: the trace's own description, its events and losses in order, the
 * tasks, and totals. Every object says its "kind". The document nests them; in the line form each
 * is a line. Tasks come last because a text input knows them all only at its end. Nothing is kept
 * in memory but two counters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "convert/escape.h"
#include "convert/fields.h"
#include "convert/item_json.h"
#include "convert/sink.h"
#include "trace/word.h"

struct sink_json {
	struct trace_sink sink;
	const struct trace_info *info;
	struct outfile *out;
	bool lines; /* newline-delimited */
	uint64_t events;
	uint64_t losses;
};

static void write_text(struct outfile *out, const char *text)
{
	outfile_write(out, text, strlen(text));
}

static void write_string(struct outfile *out, const char *text, size_t len)
{
	char *start = outfile_reserve(out, TRACE_STRING_MAX * ESCAPE_GROWTH + 2);
	char *p = start;

	if (len > TRACE_STRING_MAX)
		len = TRACE_STRING_MAX;
	*p++ = '"';
	p = escape_put(p, text, len, ESCAPE_JSON);
	*p++ = '"';
	outfile_advance(out, (size_t)(p - start));
}

static void write_member(struct outfile *out, const char *name, const char *value)
{
	outfile_printf(out, ",\"%s\":", name);
	write_string(out, value, strlen(value));
}

static void write_clock(struct outfile *out, const struct trace_clock *c)
{
	write_text(out, ",\"clock\":{\"name\":");
	write_string(out, c->name, strnlen(c->name, sizeof(c->name)));
	outfile_printf(out,
		       ",\"mult\":%" PRIu32 ",\"shift\":%" PRIu32 ",\"base_ns\":%" PRIu64
		       ",\"digits\":%" PRIu32,
		       c->mult, c->shift, c->base_ns, c->print_digits);
	if (clock_is_ticks(c))
		write_text(out, ",\"unit\":\"ticks\"");
	if (c->has_realtime)
		outfile_printf(out, ",\"realtime_off_ns\":%" PRId64 ",\"realtime_err_ns\":%" PRIu64,
			       c->realtime_off_ns, c->realtime_err_ns);
	write_text(out, "}");
}

static void write_dialect(struct outfile *out, const struct sched_dialect *d)
{
	const char *comma = "";
	uint32_t i;

	write_text(out, ",\"recorded\":[");
	for (i = 0; i < SCHED_KINDS; i++) {
		if (!(d->kinds >> i & 1))
			continue;
		outfile_printf(out, "%s\"%s\"", comma, word_kind(i));
		comma = ",";
	}
	outfile_printf(out, "],\"long_size\":%u,\"features\":[", d->long_size);
	comma = "";
	for (i = 0; word_feature(i); i++) {
		if (!(d->features >> i & 1))
			continue;
		outfile_printf(out, "%s\"%s\"", comma, word_feature(i));
		comma = ",";
	}
	write_text(out, "]");
}

static int json_begin(struct trace_sink *s, const struct trace_info *info, struct error *e)
{
	struct sink_json *j = (struct sink_json *)s;

	j->info = info;
	write_text(j->out, "{\"kind\":\"trace\",\"format\":\"kiseki\",\"version\":1");
	write_member(j->out, "device", info->device);
	write_member(j->out, "kernel", info->kernel);
	write_member(j->out, "machine", info->machine);
	write_member(j->out, "origin", info->origin);
	outfile_printf(j->out, ",\"cpus\":%" PRIu32, info->cpus);
	write_clock(j->out, &info->clock);
	write_dialect(j->out, &info->dialect);
	write_text(j->out, j->lines ? "}\n" : ",\n\"events\":[\n");
	return outfile_check(j->out, e);
}

static int json_item(struct trace_sink *s, const struct trace_item *item, struct error *e)
{
	struct sink_json *j = (struct sink_json *)s;
	char *start, *p;

	start = outfile_reserve(j->out, fields_room(item));
	p = start;
	if (!j->lines && j->events + j->losses) {
		*p++ = ',';
		*p++ = '\n';
	}
	p = item_put_json(p, item, j->info);
	if (j->lines)
		*p++ = '\n';
	outfile_advance(j->out, (size_t)(p - start));
	j->events += item->type == ITEM_EVENT;
	j->losses += item->type == ITEM_LOSS;
	return outfile_check(j->out, e);
}

static void write_task(struct sink_json *j, const struct trace_task *t, bool first)
{
	if (!j->lines)
		write_text(j->out, first ? "\n" : ",\n");
	outfile_printf(j->out, "{\"kind\":\"task\",\"pid\":%" PRId32, t->pid);
	if (t->tgid != -1)
		outfile_printf(j->out, ",\"tgid\":%" PRId32, t->tgid);
	write_text(j->out, ",\"comm\":");
	write_string(j->out, t->comm, comm_length(t->comm));
	write_text(j->out, j->lines ? "}\n" : "}");
}

static int json_end(struct trace_sink *s, struct error *e)
{
	struct sink_json *j = (struct sink_json *)s;
	size_t i;

	if (!j->lines)
		write_text(j->out, "\n],\n\"tasks\":[");
	for (i = 0; i < j->info->n_tasks; i++)
		write_task(j, &j->info->tasks[i], i == 0);
	if (!j->lines)
		write_text(j->out, "\n],\n\"totals\":");
	outfile_printf(j->out,
		       "{\"kind\":\"totals\",\"events\":%" PRIu64 ",\"losses\":%" PRIu64
		       ",\"skipped\":%" PRIu64 "}%s\n",
		       j->events, j->losses, j->info->skipped, j->lines ? "" : "}");
	return outfile_commit(j->out, e);
}

static void json_free(struct trace_sink *s)
{
	struct sink_json *j = (struct sink_json *)s;

	outfile_free(j->out);
	free(j);
}

static const struct trace_sink_ops json_ops = {
	.begin = json_begin,
	.item = json_item,
	.end = json_end,
	.free = json_free,
};

static int json_new(struct trace_sink **ret, const char *path, bool lines, struct error *e)
{
	struct sink_json *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	j->sink.ops = &json_ops;
	j->lines = lines;
	r = outfile_open(&j->out, path, e);
	if (r < 0) {
		free(j);
		return r;
	}
	*ret = &j->sink;
	return 0;
}

int sink_json_new(struct trace_sink **ret, const char *path, struct error *e)
{
	return json_new(ret, path, false, e);
}

int sink_ndjson_new(struct trace_sink **ret, const char *path, struct error *e)
{
	return json_new(ret, path, true, e);
}
