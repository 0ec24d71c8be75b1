/* SPDX-License-Identifier: MIT */
/*
 * vm_slices_json: the document of vm_slices (docs/format/vm-slices.md).
 *
 * Rows are numbers by the hundred thousand, so they are printed as they are; what has words in it is jansson's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/json_value.h"
#include "analysis/json_whole.h"
#include "analysis/vm_slices.h"
#include "base/memfile.h"

/* What a lane's rows are like. */
struct shape {
	bool has_class; /* spans have class and CPU, not only a task */
	uint32_t kinds; /* of a pile */
};

/* An object that is not closed: more follows in it. */
static int print_open(FILE *f, json_t *value)
{
	char *text = json_whole_text(value, JSON_COMPACT);

	if (!text)
		return -ENOMEM;
	text[strlen(text) - 1] = 0;
	fputs(text, f);
	free(text);
	return 0;
}

/* Numbers in the tables of the document. */
static int find_what(struct vm_slices *s, const struct shape *shape, const struct vm_span *span,
		     int32_t *ret)
{
	struct vm_legend *l = vm_slices_legend(s);

	if (!shape->has_class || span->kind == VM_STEAL || span->kind == VM_WAITING)
		return vm_legend_show(&l->tasks, span->what, ret);
	return vm_legend_show(span->kind == VM_GUEST ? &l->places : &l->exits, span->what, ret);
}

static int print_spans(FILE *f, struct vm_slices *s, const struct vm_lane *l,
		       const struct shape *shape)
{
	uint64_t from = vm_slices_get_options(s)->from_ns;
	int32_t what;
	size_t i;
	int r;

	for (i = 0; i < l->n_spans; i++) {
		const struct vm_span *p = &l->spans[i];

		r = find_what(s, shape, p, &what);
		if (r < 0)
			return r;
		fprintf(f, "%s[%" PRIu64 ",%" PRIu64, i ? "," : "", p->from_ns - from,
			p->to_ns - p->from_ns);
		if (shape->has_class)
			fprintf(f, ",%" PRId32 ",%" PRId32, p->kind, p->cpu);
		fprintf(f, ",%" PRId32 "]", what);
	}
	return 0;
}

static void print_piles(FILE *f, struct vm_slices *s, const struct vm_lane *l,
			const struct shape *shape)
{
	uint64_t from = vm_slices_get_options(s)->from_ns;
	uint32_t k;
	size_t i;

	for (i = 0; i < l->n_piles; i++) {
		const struct vm_pile *p = &l->piles[i];

		fprintf(f, "%s[%" PRIu64 ",%" PRIu64, i ? "," : "", p->from_ns - from,
			p->to_ns - p->from_ns);
		for (k = 0; k < shape->kinds; k++)
			fprintf(f, ",%" PRIu64, p->ns[k]);
		fputs("]", f);
	}
}

static int print_lane(FILE *f, struct vm_slices *s, const struct vm_lane *l,
		      const struct shape *shape)
{
	int r;

	fprintf(f, ",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 ",\"spans\":[", l->from_ns,
		l->to_ns);
	r = print_spans(f, s, l, shape);
	fputs("],\"merged\":[", f);
	print_piles(f, s, l, shape);
	fputs("]}", f);
	return r;
}

static int print_vcpus(FILE *f, struct vm_slices *s)
{
	static const struct shape shape = { true, VM_CLASSES };
	const struct sample_spaces *spaces = vm_slices_get_options(s)->source->spaces;
	const struct vm_time *t = vm_slices_time(s);
	const char *between = "", *name;
	uint32_t i;
	int r = 0;

	fputs(",\"vcpus\":[", f);
	for (i = 0; r == 0 && i < vm_time_count(t); i++) {
		const struct vm_vcpu *v = vm_time_get(t, i);
		const struct vm_lane *l = vm_slices_vcpu(s, i);

		if (!l)
			continue;
		name = sample_spaces_comm(spaces, v->pid, v->first_tick);
		fputs(between, f);
		between = ",";
		r = print_open(f, json_pack("{si so si si so sb}", "vm", (int)v->pid, "name",
					    name ? json_value_text(name) : json_null(), "vcpu",
					    (int)v->number, "tid", (int)v->tid, "comm",
					    json_value_comm(v->comm), "ended", (int)v->is_gone));
		if (r == 0)
			r = print_lane(f, s, l, &shape);
	}
	fputs("]", f);
	return r;
}

static int print_cpus(FILE *f, struct vm_slices *s)
{
	static const struct shape shape = { false, VM_OWNERS };
	const char *between = "";
	uint32_t i;
	int r = 0;

	fputs(",\"cpus\":[", f);
	for (i = 0; r == 0 && i < vm_slices_cpus(s); i++) {
		const struct vm_lane *l = vm_slices_cpu(s, i);

		if (!l)
			continue;
		fprintf(f, "%s{\"cpu\":%" PRIu32, between, i);
		between = ",";
		r = print_lane(f, s, l, &shape);
	}
	fputs("]", f);
	return r;
}

/* --- what the numbers stand for --- */

static json_t *place_json(const struct vm_names *n, const struct vm_place *p)
{
	const struct function *f = vm_names_function(n, p->function);

	return json_pack("{si so so so so sb}", "vm", (int)vm_names_vm(n, p->process), "process",
			 json_value_text(vm_names_process(n, p->process)), "thread",
			 json_value_text(vm_names_thread(n, p->thread)), "function",
			 json_value_text(f->name), "object", json_value_text(f->object), "kernel",
			 (int)vm_names_is_kernel(n, p->function));
}

static json_t *task_json(const struct sample_task *t)
{
	return json_pack("{si si so so}", "tid", (int)t->tid, "pid", (int)t->pid, "comm",
			 json_value_comm(t->comm), "vcpu",
			 t->vcpu >= 0 ? json_integer(t->vcpu) : json_null());
}

static json_t *legend_json(struct vm_slices *s)
{
	const struct vm_names *names = vm_slices_get_options(s)->names;
	const struct vm_legend *l = vm_slices_legend(s);
	json_t *places = json_array(), *exits = json_array(), *tasks = json_array();
	size_t i;

	for (i = 0; i < l->places.n_shown; i++)
		json_array_append_new(places, place_json(names, &l->places.shown[i]->place));
	for (i = 0; i < l->exits.n_shown; i++)
		json_array_append_new(exits, json_string(l->exits.shown[i]->exit));
	for (i = 0; i < l->tasks.n_shown; i++)
		json_array_append_new(tasks, task_json(&l->tasks.shown[i]->task));
	return json_pack("{so so so}", "places", places, "exits", exits, "tasks", tasks);
}

static json_t *words_json(const char *const *words, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_string(words[i]));
	return list;
}

static json_t *head_json(const struct vm_slices *s, const struct vm_slices_about *about)
{
	const struct vm_slices_options *o = vm_slices_get_options(s);

	return json_pack("{so so so so sb so so}", "run", json_value_count(about->run), "from_ns",
			 json_value_count(o->from_ns), "to_ns", json_value_count(o->to_ns),
			 "min_ns", json_value_count(vm_slices_min_ns(s)), "final",
			 (int)about->is_final, "classes", words_json(vm_class_words, VM_CLASSES),
			 "kinds", words_json(vm_owner_words, VM_OWNERS));
}

/* --- all --- */

/* Rows come first: they decide what is in the tables. */
static int print_document(FILE *f, struct vm_slices *s, const struct vm_slices_about *about)
{
	char *legend;
	int r = print_open(f, head_json(s, about));

	if (r == 0)
		r = print_vcpus(f, s);
	if (r == 0)
		r = print_cpus(f, s);
	if (r < 0)
		return r;
	legend = json_whole_text(legend_json(s), JSON_COMPACT);
	if (!legend)
		return -ENOMEM;
	fprintf(f, ",%s\n", legend + 1);
	free(legend);
	return ferror(f) ? -ENOMEM : 0;
}

int vm_slices_format(struct vm_slices *s, const struct vm_slices_about *about, char **ret,
		     size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = memfile_open(&text, &len);
	int r = f ? print_document(f, s, about) : -ENOMEM;

	if (f && fclose(f) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0) {
		free(text);
		return r;
	}
	*ret = text;
	*ret_len = len;
	return 0;
}
