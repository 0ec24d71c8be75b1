/* SPDX-License-Identifier: MIT */
/*
 * func_chrome: the calls as complete slices ("X") of Chrome's trace event format, for chrome://tracing,
 * Perfetto's UI and many others. A slice is written when its call ends, so nothing is kept; the readers put
 * them in order. Times are microseconds with three decimals. The parts of local time are arguments.
 */
#include <inttypes.h>
#include <string.h>

#include "base/decimal.h"
#include "convert/func_export.h"
#include "convert/func_json.h"
#include "trace/comm.h"

struct chrome {
	const struct call_walk *w;
	struct outfile *out;
	const char *comma;
};

#define PART_ROOM 512U /* what is written at a time, names apart */

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static void put_args(struct chrome *c, const struct call_at *at)
{
	const struct call_split *local = &at->call->local;
	uint64_t sum = call_split_sum(local);
	char *start = outfile_reserve(c->out, PART_ROOM), *p;
	int i;

	p = decimal_put_u64(put_text(start, ",\"args\":{\"local_ns\":"), sum);
	for (i = 0; i < CALL_PARTS; i++) {
		if (local->ns[CALL_UNKNOWN] == sum || !local->ns[i])
			continue;
		p = put_text(put_text(p, ",\""), call_part_words[i]);
		p = decimal_put_u64(put_text(p, "_ns\":"), local->ns[i]);
	}
	if (at->end != CALL_RETURNED)
		p = put_text(put_text(put_text(p, ",\"end\":\""), call_end_words[at->end]), "\"");
	p = put_text(p, "}}");
	outfile_advance(c->out, (size_t)(p - start));
}

static int end(void *data, const struct call_at *at)
{
	struct chrome *c = data;
	const struct func_thread *t = &c->w->source->threads[at->thread];
	char *start = outfile_reserve(c->out, PART_ROOM), *p;

	p = put_text(put_text(start, c->comma), "\n{\"ph\":\"X\",\"pid\":");
	p = decimal_put_i64(p, c->w->source->processes[t->process].pid);
	p = decimal_put_i64(put_text(p, ",\"tid\":"), t->tid);
	p = decimal_put_milli(put_text(p, ",\"ts\":"), at->call->begin_ns);
	p = decimal_put_milli(put_text(p, ",\"dur\":"), at->ns - at->call->begin_ns);
	p = put_text(p, ",\"name\":");
	outfile_advance(c->out, (size_t)(p - start));
	c->comma = ",";
	func_json_text(c->out, call_names_get(c->w->names, at->call->function)->name);
	put_args(c, at);
	return outfile_error(c->out);
}

static const struct call_listener listener = { .end = end };

static void put_names(struct chrome *c)
{
	const struct func_source *s = c->w->source;
	char comm[COMM_TEXT_LEN];
	uint32_t i;

	for (i = 0; i < s->n_processes; i++) {
		outfile_printf(c->out,
			       "%s\n{\"ph\":\"M\",\"pid\":%" PRId32
			       ",\"name\":\"process_name\",\"args\":{\"name\":",
			       c->comma, s->processes[i].pid);
		func_json_text(c->out, s->processes[i].command);
		outfile_printf(c->out, "}}");
		c->comma = ",";
	}
	for (i = 0; i < s->n_threads; i++) {
		if (!call_select_has(c->w->select, s, i))
			continue;
		outfile_printf(c->out,
			       "%s\n{\"ph\":\"M\",\"pid\":%" PRId32 ",\"tid\":%" PRId32
			       ",\"name\":\"thread_name\",\"args\":{\"name\":",
			       c->comma, s->processes[s->threads[i].process].pid,
			       s->threads[i].tid);
		func_json_text(c->out, comm_format(s->threads[i].comm, comm));
		outfile_printf(c->out, "}}");
		c->comma = ",";
	}
}

int func_chrome_write(const struct call_walk *w, struct outfile *out, struct error *e)
{
	struct chrome c = { .w = w, .out = out, .comma = "" };
	struct call_walk mine = *w;
	struct call_totals totals;
	int r;

	mine.listener = &listener;
	mine.data = &c;
	outfile_printf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	put_names(&c);
	r = call_walk_run(&mine, &totals, e);
	if (r < 0)
		return r;
	outfile_printf(out,
		       "\n],\"otherData\":{\"lost_events\":%" PRIu64 ",\"losses\":%" PRIu64 "}}\n",
		       totals.lost, totals.losses);
	return outfile_check(out, e);
}
