/* SPDX-License-Identifier: MIT */
/* speedscope: see speedscope.h. */
#include "convert/speedscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "convert/func_json.h"

struct writer {
	const struct stack_series *s;
	struct outfile *out;
	uint32_t *path; /* room for the deepest stack */
};

void speedscope_put_head(struct outfile *out)
{
	outfile_printf(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			    "\n\"exporter\":\"kiseki\",\"activeProfileIndex\":0,");
}

void speedscope_put_frame(struct outfile *out, const struct function *f, bool is_first)
{
	outfile_printf(out, "%s\n{\"name\":", is_first ? "" : ",");
	func_json_text(out, f->name);
	if (*f->object) {
		outfile_printf(out, ",\"file\":");
		func_json_text(out, f->object);
	}
	outfile_printf(out, "}");
}

static void put_stack(const struct writer *w, uint32_t node)
{
	const struct profile_tree *t = w->s->list->tree;
	uint32_t n = 0;

	for (; node; node = profile_tree_get(t, node)->parent)
		w->path[n++] = profile_tree_get(t, node)->key;
	while (n) {
		outfile_printf(w->out, "%" PRIu32, w->path[--n]);
		outfile_write(w->out, ",", n ? 1 : 0);
	}
}

static uint64_t weight_of(const struct writer *w, const struct profile_entry *e)
{
	return w->s->is_weighted ? e->weight : 1;
}

static void put_thread(const struct writer *w, size_t from, size_t n)
{
	const struct profile_entry *e = &w->s->list->entries[from];
	struct stack_thread thread;
	uint64_t sum = 0;
	size_t i;

	w->s->thread(w->s->data, e->thread, &thread);
	outfile_printf(w->out, "%s\n{\"type\":\"sampled\",\"name\":", from ? "," : "");
	func_json_text(w->out, thread.title);
	outfile_printf(w->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		       w->s->is_weighted && w->s->is_time ? "nanoseconds" : "none");
	for (i = 0; i < n; i++) {
		outfile_printf(w->out, i ? ",[" : "[");
		put_stack(w, e[i].node);
		outfile_printf(w->out, "]");
	}
	outfile_printf(w->out, "],\n\"weights\":[");
	for (i = 0; i < n; i++) {
		sum += weight_of(w, &e[i]);
		outfile_printf(w->out, "%s%" PRIu64, i ? "," : "", weight_of(w, &e[i]));
	}
	outfile_printf(w->out, "],\"endValue\":%" PRIu64 "}", sum);
}

int speedscope_write(const struct stack_series *s, struct outfile *out, struct error *e)
{
	_cleanup_free_ uint32_t *path =
		calloc(profile_tree_depth(s->list->tree) + 1, sizeof(*path));
	const struct writer w = { s, out, path };
	size_t at, n;
	uint32_t i;

	if (!path)
		return error_set(e, ENOMEM, "cannot write the profile: out of memory");
	speedscope_put_head(out);
	outfile_printf(out, "\n\"shared\":{\"frames\":[");
	for (i = 0; i < s->functions->n; i++)
		speedscope_put_frame(out, functions_get(s->functions, i), i == 0);
	outfile_printf(out, "\n]},\n\"profiles\":[");
	for (at = 0; at < s->list->n; at += n) {
		n = profile_list_span(s->list, at);
		put_thread(&w, at, n);
	}
	outfile_printf(out, "\n]}\n");
	return outfile_check(out, e);
}
