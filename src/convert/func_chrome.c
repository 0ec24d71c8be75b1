/* SPDX-License-Identifier: MIT */
/*
 * func_chrome: the calls as complete slices ("X") of Chrome's trace event format, for chrome://tracing,
 * Perfetto's UI and many others. A slice is written when its call ends, so nothing is kept; the readers put
 * them in order. Times are microseconds with three decimals. The parts of local time are arguments.
 */
#include <inttypes.h>
#include <string.h>

#include "convert/func_export.h"
#include "convert/func_json.h"
#include "trace/comm.h"

struct chrome {
	const struct call_walk *w;
	struct outfile *out;
	const char *comma;
};

static void put_args(struct chrome *c, const struct call_at *at)
{
	const struct call_split *local = &at->call->local;
	uint64_t sum = call_split_sum(local);
	int i;

	outfile_printf(c->out, ",\"args\":{\"local_ns\":%" PRIu64, sum);
	for (i = 0; i < CALL_PARTS; i++)
		if (local->ns[CALL_UNKNOWN] < sum && local->ns[i])
			outfile_printf(c->out, ",\"%s_ns\":%" PRIu64, call_part_words[i],
				       local->ns[i]);
	if (at->end != CALL_RETURNED)
		outfile_printf(c->out, ",\"end\":\"%s\"", call_end_words[at->end]);
	outfile_printf(c->out, "}}");
}

static int end(void *data, const struct call_at *at)
{
	struct chrome *c = data;
	const struct func_thread *t = &c->w->source->threads[at->thread];
	uint64_t from = at->call->begin_ns, length = at->ns - from;

	outfile_printf(c->out,
		       "%s\n{\"ph\":\"X\",\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"ts\":%" PRIu64
		       ".%03" PRIu64 ",\"dur\":%" PRIu64 ".%03" PRIu64 ",\"name\":",
		       c->comma, c->w->source->processes[t->process].pid, t->tid, from / 1000,
		       from % 1000, length / 1000, length % 1000);
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
