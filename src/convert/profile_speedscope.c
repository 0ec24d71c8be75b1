/* SPDX-License-Identifier: MIT */
/*
 * profile_speedscope: a profile as speedscope.app reads it: one "sampled" profile for each thread, with the stack of each
 * sample, outermost first, and what it stands for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/profile_list.h"
#include "convert/func_json.h"
#include "convert/profile_export.h"

struct speedscope {
	const struct profile_walk *w;
	const struct profile_export_options *o;
	struct profile_list list;
	struct outfile *out;
};

static void put_frames(struct speedscope *s)
{
	const struct functions *functions = profile_names_functions(s->w->names);
	const struct function *f;
	uint32_t i;

	outfile_printf(s->out, "\"shared\":{\"frames\":[");
	for (i = 0; i < functions->n; i++) {
		f = functions_get(functions, i);
		outfile_printf(s->out, "%s\n{\"name\":", i ? "," : "");
		func_json_text(s->out, f->name);
		if (*f->object) {
			outfile_printf(s->out, ",\"file\":");
			func_json_text(s->out, f->object);
		}
		outfile_printf(s->out, "}");
	}
	outfile_printf(s->out, "\n]}");
}

static void put_stack(struct speedscope *s, uint32_t node)
{
	uint32_t path[PROFILE_FRAMES_MAX], depth = profile_tree_get(s->list.tree, node)->depth, i;

	for (i = depth; i > 0; i--) {
		path[i - 1] = profile_tree_get(s->list.tree, node)->key;
		node = profile_tree_get(s->list.tree, node)->parent;
	}
	for (i = 0; i < depth; i++)
		outfile_printf(s->out, "%s%" PRIu32, i ? "," : "", path[i]);
}

static uint64_t weight_of(const struct speedscope *s, const struct profile_entry *e)
{
	return s->o->value == PROFILE_SAMPLES ? 1 : e->weight;
}

static void put_thread(struct speedscope *s, size_t from, size_t n)
{
	const struct profile_entry *e = &s->list.entries[from];
	const struct profile_tasks *tasks = s->w->tasks;
	char process[PROFILE_TASK_TEXT], thread[PROFILE_TASK_TEXT], name[2 * PROFILE_TASK_TEXT + 4];
	bool is_time = s->o->value == PROFILE_WEIGHT &&
		       s->w->source->sampling.method != SAMPLE_CYCLES;
	uint64_t sum = 0;
	size_t i;

	profile_process_format(profile_tasks_process(tasks, e->thread), true, process);
	profile_thread_format(tasks->threads[e->thread], true, thread);
	snprintf(name, sizeof(name), "%s, %s", process, thread);
	outfile_printf(s->out, "%s\n{\"type\":\"sampled\",\"name\":", from ? "," : "");
	func_json_text(s->out, name);
	outfile_printf(s->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		       is_time ? "nanoseconds" : "none");
	for (i = 0; i < n; i++) {
		outfile_printf(s->out, i ? ",[" : "[");
		put_stack(s, e[i].node);
		outfile_printf(s->out, "]");
	}
	outfile_printf(s->out, "],\n\"weights\":[");
	for (i = 0; i < n; i++) {
		sum += weight_of(s, &e[i]);
		outfile_printf(s->out, "%s%" PRIu64, i ? "," : "", weight_of(s, &e[i]));
	}
	outfile_printf(s->out, "],\"endValue\":%" PRIu64 "}", sum);
}

int profile_speedscope_write(const struct profile_walk *w, const struct profile_export_options *o,
			     struct outfile *out, struct error *e)
{
	struct speedscope s = { .w = w, .o = o, .out = out };
	size_t at, n;
	int r = profile_list_init(&s.list, w, false, e);

	if (r < 0)
		return r;
	outfile_printf(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			    "\n\"exporter\":\"kiseki\",\"activeProfileIndex\":0,\n");
	put_frames(&s);
	outfile_printf(out, ",\n\"profiles\":[");
	for (at = 0; at < s.list.n; at += n) {
		n = profile_list_span(&s.list, at);
		put_thread(&s, at, n);
	}
	outfile_printf(out, "\n]}\n");
	profile_list_done(&s.list);
	return outfile_check(out, e);
}
