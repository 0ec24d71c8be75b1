/* SPDX-License-Identifier: MIT */
/*
 * func_speedscope: the calls as speedscope.app reads them: one "evented" profile for each thread, with
 * an opening and a closing event for each call.
 *
 * The format wants all events of a thread together, so the source is read once for each thread that
 * has calls, and nothing is kept. Frames are functions; they stand at the end of the file, when all are known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert/func_export.h"
#include "convert/func_json.h"
#include "convert/speedscope.h"
#include "trace/comm.h"

struct speedscope {
	const struct call_walk *w;
	struct outfile *out;
	uint64_t base_ns; /* all times count from the source's first item */
	uint64_t from_ns, to_ns;
	bool any; /* of this thread */
	uint32_t profiles;
};

static void put_event(struct speedscope *s, char type, const struct call_at *at)
{
	outfile_printf(s->out, "%s\n{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
		       s->any ? "," : "", type, at->call->function, at->ns - s->base_ns);
	s->any = true;
}

static void put_head(struct speedscope *s, uint32_t thread)
{
	const struct func_source *source = s->w->source;
	const struct func_thread *t = &source->threads[thread];
	char comm[COMM_TEXT_LEN], name[COMM_TEXT_LEN + 64];

	snprintf(name, sizeof(name), "%s (pid %" PRId32 ", tid %" PRId32 ")",
		 comm_format(t->comm, comm), source->processes[t->process].pid, t->tid);
	outfile_printf(s->out, "%s{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":",
		       s->profiles++ ? ",\n" : "");
	func_json_text(s->out, name);
	outfile_printf(s->out, ",\"events\":[");
}

static int begin(void *data, const struct call_at *at)
{
	struct speedscope *s = data;

	if (!s->any) {
		s->from_ns = at->ns;
		put_head(s, at->thread);
	}
	put_event(s, 'O', at);
	return outfile_error(s->out);
}

static int end(void *data, const struct call_at *at)
{
	struct speedscope *s = data;

	s->to_ns = at->ns;
	put_event(s, 'C', at);
	return outfile_error(s->out);
}

static const struct call_listener listener = { .begin = begin, .end = end };

static int put_thread(struct speedscope *s, uint32_t thread, struct error *e)
{
	struct call_select one = s->w->select ? *s->w->select : (struct call_select){ 0 };
	struct call_walk mine = *s->w;
	struct call_totals totals;
	int r;

	if (!call_select_has(s->w->select, s->w->source, thread))
		return 0;
	one.one = true;
	one.thread = thread;
	mine.select = &one;
	mine.listener = &listener;
	mine.data = s;
	s->any = false;
	r = mine.source->ops->rewind(mine.source, e);
	if (r >= 0)
		r = call_walk_run(&mine, &totals, e);
	if (r >= 0 && s->any)
		outfile_printf(s->out, "\n],\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64 "}",
			       s->from_ns - s->base_ns, s->to_ns - s->base_ns);
	return r;
}

static void put_frames(struct speedscope *s)
{
	uint32_t i;

	outfile_printf(s->out, "],\n\"shared\":{\"frames\":[");
	for (i = 0; i < call_names_count(s->w->names); i++)
		speedscope_put_frame(s->out, call_names_get(s->w->names, i), i == 0);
	outfile_printf(s->out, "\n]}}\n");
}

/* The source's first moment. A stamp that goes back behind it counts as that moment in its stack. */
static int find_base(struct speedscope *s, struct error *e)
{
	struct func_source *source = s->w->source;
	struct func_item item;
	int r = source->ops->next(source, &item, e);

	if (r > 0)
		s->base_ns = clock_ns(&source->clock, item.type == FUNC_ITEM_EVENT
							      ? item.event.tick
							      : item.loss.from_tick);
	return r;
}

int func_speedscope_write(const struct call_walk *w, struct outfile *out, struct error *e)
{
	struct speedscope s = { .w = w, .out = out };
	uint32_t i;
	int r = find_base(&s, e);

	if (r < 0)
		return r;
	speedscope_put_head(out);
	outfile_printf(out, "\"profiles\":[");
	for (i = 0; r >= 0 && i < w->source->n_threads; i++)
		r = put_thread(&s, i, e);
	if (r < 0)
		return r;
	put_frames(&s);
	return outfile_check(out, e);
}
