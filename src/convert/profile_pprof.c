/* SPDX-License-Identifier: MIT */
/*
 * profile_pprof: a profile as a gzipped protocol buffer of pprof (profile.proto): one sample for each stack of addresses,
 * with how many there were and what they stand for; the default is the latter.
 *
 * A process maps an object where it likes, so there are no addresses that would be right for all: each object has a
 * mapping of its own, 4 GiB wide and one behind the other, in which an address is its place in the object's file. The
 * kernel's are those it had. Build-ids are there where the device knew them. Process and thread are labels of a sample, so stacks are merged within a thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_list.h"
#include "convert/pprof.h"
#include "convert/profile_export.h"

#define SCRATCH 256U
#define SAMPLE_ROOM (PROFILE_FRAMES_MAX * 6U + 256U)
#define MAPPINGS_MAX 65536U
#define WIDTH_BITS 32U

struct writer {
	const struct profile_walk *w;
	const struct profile_export_options *o;
	struct profile_list list;
	struct pprof file;
	const struct sample_mapping **mappings; /* one of each object */
	size_t n_mappings, room_mappings;
	uint32_t *mapping_of; /* of a function: the mapping's id, 0: none */
	uint64_t kernel_from, kernel_to;
};

/* --- objects --- */

static bool is_same_object(const struct sample_mapping *a, const struct sample_mapping *b)
{
	return a->build_id_len == b->build_id_len && !strcmp(a->path, b->path) &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static int add_mapping(struct writer *x, const struct sample_mapping *m, uint32_t *ret)
{
	size_t i;

	for (i = 0; i < x->n_mappings; i++)
		if (is_same_object(x->mappings[i], m))
			break;
	if (i == x->n_mappings) {
		if (x->n_mappings == MAPPINGS_MAX)
			return -E2BIG;
		if (x->n_mappings == x->room_mappings) {
			size_t room = x->room_mappings ? 2 * x->room_mappings : 64;
			void *grown = realloc(x->mappings, room * sizeof(*x->mappings));

			if (!grown)
				return -ENOMEM;
			x->mappings = grown;
			x->room_mappings = room;
		}
		x->mappings[x->n_mappings++] = m;
	}
	*ret = (uint32_t)i + 1;
	return 0;
}

/* Programs name the profile after the first mapping, so that is the object with the most samples that is
 * no library; the kernel comes last. */
static bool is_program(const struct sample_mapping *m)
{
	return m->path[0] == '/' && !strstr(m->path, ".so");
}

static int put_main_first(struct writer *x)
{
	uint64_t *weights = calloc(x->n_mappings + 1, sizeof(*weights));
	const struct profile_node *node;
	const struct profile_place *p;
	const struct sample_mapping *m;
	size_t best = 0, i;
	uint32_t id;

	if (!weights)
		return -ENOMEM;
	for (i = 0; i < x->list.n; i++) {
		if (!x->list.entries[i].node)
			continue;
		node = profile_tree_get(x->list.tree, x->list.entries[i].node);
		p = profile_names_get(x->w->names, (uint32_t)node->key);
		weights[p->kernel ? 0 : x->mapping_of[p->function]]++;
	}
	for (i = 1; i <= x->n_mappings; i++)
		if (is_program(x->mappings[i - 1]) && (!best || weights[i] > weights[best]))
			best = i;
	free(weights);
	if (best <= 1)
		return 0;
	m = x->mappings[0];
	x->mappings[0] = x->mappings[best - 1];
	x->mappings[best - 1] = m;
	for (i = 0; i < profile_names_functions(x->w->names)->n; i++) {
		id = x->mapping_of[i];
		x->mapping_of[i] = id == 1 ? (uint32_t)best : id == best ? 1 : id;
	}
	return 0;
}

/* Of all places: which object each function is in, and from where to where the kernel reaches. */
static int find_mappings(struct writer *x)
{
	size_t n = profile_names_places(x->w->names), i;
	const struct profile_place *p;
	int r = 0;

	x->mapping_of = calloc(profile_names_functions(x->w->names)->n + 1, sizeof(uint32_t));
	if (!x->mapping_of)
		return -ENOMEM;
	x->kernel_from = UINT64_MAX;
	for (i = 0; r >= 0 && i < n; i++) {
		p = profile_names_get(x->w->names, (uint32_t)i);
		if (p->kernel) {
			x->mapping_of[p->function] = 0; /* put_location() */
			x->kernel_from = p->at < x->kernel_from ? p->at : x->kernel_from;
			x->kernel_to = p->at > x->kernel_to ? p->at : x->kernel_to;
		} else if (p->mapping && !x->mapping_of[p->function]) {
			r = add_mapping(x, p->mapping, &x->mapping_of[p->function]);
		}
	}
	return r;
}

struct range {
	uint64_t from, to;
};

static int put_mapping(struct writer *x, uint64_t id, const struct range *range, const char *path,
		       const char *build_id)
{
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	uint64_t file, build = 0;
	size_t mark;
	int r = pprof_intern(&x->file, path, &file);

	if (r >= 0)
		r = pprof_intern(&x->file, build_id, &build);
	if (r < 0)
		return r;
	mark = proto_begin(&m, PPROF_MAPPING, 1);
	proto_uint(&m, 1, id);
	proto_uint(&m, 2, range->from);
	proto_uint(&m, 3, range->to);
	proto_uint(&m, 5, file);
	proto_uint(&m, 6, build);
	proto_uint(&m, 7, 1);
	proto_end(&m, mark, 1);
	return pprof_put(&x->file, &m);
}

static int put_mappings(struct writer *x)
{
	struct range range;
	char id[2 * SAMPLE_BUILD_ID_MAX + 1];
	const struct sample_mapping *m;
	size_t i;
	uint8_t k;
	int r = 0;

	for (i = 0; r >= 0 && i < x->n_mappings; i++) {
		m = x->mappings[i];
		id[0] = '\0';
		for (k = 0; k < m->build_id_len; k++)
			snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
		range.from = (uint64_t)(i + 1) << WIDTH_BITS;
		range.to = (uint64_t)(i + 2) << WIDTH_BITS;
		r = put_mapping(x, i + 1, &range, m->path, id);
	}
	range = (struct range){ x->kernel_from, x->kernel_to + 1 };
	if (r >= 0 && x->kernel_to)
		r = put_mapping(x, x->n_mappings + 1, &range, "[kernel.kallsyms]", "");
	return r;
}

/* --- locations and functions --- */

static int put_location(struct writer *x, uint32_t place)
{
	const struct profile_place *p = profile_names_get(x->w->names, place);
	uint64_t mapping = p->kernel ? x->n_mappings + 1 : x->mapping_of[p->function];
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	const char *file;
	uint32_t line = 0;
	size_t mark, row;

	if (x->o->lines)
		profile_names_line(x->w->names, place, &file, &line);
	mark = proto_begin(&m, PPROF_LOCATION, 1);
	proto_uint(&m, 1, (uint64_t)place + 1);
	if (mapping) {
		proto_uint(&m, 2, mapping);
		proto_uint(&m, 3, p->kernel ? p->at : (mapping << WIDTH_BITS) + p->at);
	}
	row = proto_begin(&m, 4, 1);
	proto_uint(&m, 1, (uint64_t)p->function + 1);
	if (line)
		proto_uint(&m, 2, line);
	proto_end(&m, row, 1);
	proto_end(&m, mark, 1);
	return pprof_put(&x->file, &m);
}

/* The file of a function is that of any of its places. */
static int find_files(struct writer *x, const char **files)
{
	size_t n = profile_names_places(x->w->names), i;
	uint32_t line, function;
	const char *file;

	for (i = 0; x->o->lines && i < n; i++) {
		function = profile_names_get(x->w->names, (uint32_t)i)->function;
		if (!files[function] &&
		    profile_names_line(x->w->names, (uint32_t)i, &file, &line) > 0)
			files[function] = file;
	}
	return 0;
}

static int put_function(struct writer *x, uint32_t i, const char *path)
{
	const struct function *f = functions_get(profile_names_functions(x->w->names), i);
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	uint64_t name, file = 0;
	size_t mark;
	int r = pprof_intern(&x->file, f->name, &name);

	if (r >= 0 && path)
		r = pprof_intern(&x->file, path, &file);
	if (r < 0)
		return r;
	mark = proto_begin(&m, PPROF_FUNCTION, 1);
	proto_uint(&m, 1, (uint64_t)i + 1);
	proto_uint(&m, 2, name);
	proto_uint(&m, 3, name);
	proto_uint(&m, 4, file);
	proto_end(&m, mark, 1);
	return pprof_put(&x->file, &m);
}

static int put_tables(struct writer *x)
{
	size_t functions = profile_names_functions(x->w->names)->n;
	size_t places = profile_names_places(x->w->names);
	_cleanup_free_ const char **files = calloc(functions + 1, sizeof(*files));
	uint32_t i;
	int r = files ? find_files(x, files) : -ENOMEM;

	if (r >= 0)
		r = put_mappings(x);
	for (i = 0; r >= 0 && i < places; i++)
		r = put_location(x, i);
	for (i = 0; r >= 0 && i < functions; i++)
		r = put_function(x, i, files[i]);
	return r;
}

/* --- samples --- */

/* Numbers of the strings that every sample needs. */
struct words {
	uint64_t process, thread, pid, tid, samples, count, weight, unit;
};

static int put_sample(struct writer *x, const struct profile_entry *e, const uint64_t *values,
		      const struct words *words)
{
	const struct profile_process *p = profile_tasks_process(x->w->tasks, e->thread);
	const struct profile_thread *t = x->w->tasks->threads[e->thread];
	uint8_t bytes[SAMPLE_ROOM];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	uint64_t process, thread;
	uint32_t node = e->node;
	size_t mark;
	int r = pprof_intern(&x->file, p->name, &process);

	if (r >= 0)
		r = pprof_intern(&x->file, t->name, &thread);
	if (r < 0)
		return r;
	mark = proto_begin(&m, PPROF_SAMPLE, 4);
	for (; node; node = profile_tree_get(x->list.tree, node)->parent)
		proto_uint(&m, 1, (uint64_t)profile_tree_get(x->list.tree, node)->key + 1);
	proto_uint(&m, 2, values[PROFILE_SAMPLES]);
	proto_uint(&m, 2, values[PROFILE_WEIGHT]);
	pprof_add_label(&m, words->process, process, 0);
	pprof_add_label(&m, words->thread, thread, 0);
	pprof_add_label(&m, words->pid, 0, p->pid);
	pprof_add_label(&m, words->tid, 0, t->tid);
	proto_end(&m, mark, 4);
	return pprof_put(&x->file, &m);
}

static int compare(const void *a, const void *b)
{
	const struct profile_entry *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static int put_samples(struct writer *x, const struct words *words)
{
	struct profile_list *l = &x->list;
	uint64_t values[PROFILE_VALUES];
	size_t i, k;
	int r = 0;

	if (l->n)
		qsort(l->entries, l->n, sizeof(*l->entries), compare);
	for (i = 0; r >= 0 && i < l->n; i = k) {
		memset(values, 0, sizeof(values));
		for (k = i; k < l->n && !compare(&l->entries[i], &l->entries[k]); k++) {
			values[PROFILE_SAMPLES]++;
			values[PROFILE_WEIGHT] += l->entries[k].weight;
		}
		r = put_sample(x, &l->entries[i], values, words);
	}
	return r;
}

/* --- all of it --- */

static int find_words(struct writer *x, struct words *w)
{
	bool cycles = x->w->source->sampling.method == SAMPLE_CYCLES;
	const struct pprof_word list[] = {
		{ "process", &w->process },
		{ "thread", &w->thread },
		{ "pid", &w->pid },
		{ "tid", &w->tid },
		{ "samples", &w->samples },
		{ "count", &w->count },
		{ cycles ? "cycles" : "cpu", &w->weight },
		{ cycles ? "count" : "nanoseconds", &w->unit },
	};

	return pprof_intern_all(&x->file, list, sizeof(list) / sizeof(list[0]));
}

static int put_end(struct writer *x, const struct words *words)
{
	const struct profile_totals *t = &x->list.totals;
	const struct trace_clock *c = &x->w->source->info.clock;
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	int r = pprof_put_type(&x->file, PPROF_PERIOD_TYPE, words->weight, words->unit);

	if (c->has_realtime)
		proto_int(&m, PPROF_TIME, (int64_t)(t->from_ns + (uint64_t)c->realtime_off_ns));
	proto_uint(&m, PPROF_DURATION, t->to_ns - t->from_ns);
	proto_uint(&m, PPROF_PERIOD, x->w->source->sampling.period);
	proto_uint(&m, PPROF_DEFAULT_TYPE,
		   x->o->value == PROFILE_SAMPLES ? words->samples : words->weight);
	if (r >= 0)
		r = pprof_put(&x->file, &m);
	return r < 0 ? r : pprof_finish(&x->file);
}

static int put_profile(struct writer *x)
{
	struct words words;
	int r = find_words(x, &words);

	if (r >= 0)
		r = pprof_put_type(&x->file, PPROF_SAMPLE_TYPE, words.samples, words.count);
	if (r >= 0)
		r = pprof_put_type(&x->file, PPROF_SAMPLE_TYPE, words.weight, words.unit);
	if (r >= 0)
		r = put_samples(x, &words);
	if (r >= 0)
		r = find_mappings(x);
	if (r >= 0)
		r = put_main_first(x);
	if (r >= 0)
		r = put_tables(x);
	return r < 0 ? r : put_end(x, &words);
}

static void writer_done(struct writer *x)
{
	profile_list_done(&x->list);
	free(x->mappings);
	free(x->mapping_of);
	pprof_done(&x->file);
}

int profile_pprof_write(const struct profile_walk *w, const struct profile_export_options *o,
			struct outfile *out, struct error *e)
{
	struct writer x = { .w = w, .o = o };
	int r;

	if (pprof_init(&x.file, out) < 0)
		return error_set(e, ENOMEM, "cannot write the profile: out of memory");
	r = profile_list_init(&x.list, w, true, e);
	if (r >= 0) {
		r = put_profile(&x);
		if (r < 0)
			error_set(e, -r, "cannot write the profile: %s", strerror(-r));
	}
	writer_done(&x);
	return r < 0 ? r : outfile_check(out, e);
}
