/* SPDX-License-Identifier: MIT */
/*
 * func_pprof: the merged calls as a gzipped protocol buffer of pprof (profile.proto), for `pprof`, and
 * whatever else reads it. One sample for each path: number of calls, local time, and, where records of the
 * scheduler were there, its parts. The default is local time.
 *
 * A function is one location without an address; its object is a mapping.
 */
#include <errno.h>
#include <string.h>

#include "analysis/call_tree.h"
#include "convert/func_export.h"
#include "convert/pprof.h"

#define SCRATCH 256U
#define SAMPLE_ROOM (CALL_DEPTH_MAX * 5U + 256U) /* ids below 2^22 take four bytes */

struct func_pprof {
	const struct call_walk *w;
	const struct call_tree *tree;
	struct pprof file;
	bool split;
	uint8_t *sample; /* SAMPLE_ROOM bytes */
};

/* --- the tables --- */

static int put_types(struct func_pprof *p)
{
	uint64_t calls, count, time, ns, part;
	const struct pprof_word words[] = {
		{ "calls", &calls }, { "count", &count }, { "time", &time }, { "nanoseconds", &ns }
	};
	int r = pprof_intern_all(&p->file, words, 4), i;

	if (r >= 0)
		r = pprof_put_type(&p->file, PPROF_SAMPLE_TYPE, calls, count);
	if (r >= 0)
		r = pprof_put_type(&p->file, PPROF_SAMPLE_TYPE, time, ns);
	for (i = 0; p->split && r >= 0 && i < CALL_PARTS; i++) {
		r = pprof_intern(&p->file, call_part_words[i], &part);
		if (r >= 0)
			r = pprof_put_type(&p->file, PPROF_SAMPLE_TYPE, part, ns);
	}
	return r;
}

static int put_functions(struct func_pprof *p)
{
	size_t n = call_names_count(p->w->names);
	uint32_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < n; i++)
		r = pprof_put_plain(&p->file, (uint64_t)i + 1, call_names_get(p->w->names, i));
	return r;
}

/* --- samples --- */

static int put_sample(struct func_pprof *p, const struct call_node *nodes,
		      const struct call_node *n)
{
	struct proto m = { .data = p->sample, .room = SAMPLE_ROOM };
	size_t sample = proto_begin(&m, PPROF_SAMPLE, 4);
	const struct call_node *up;
	int i;

	for (up = n; up->function != CALL_NODE_NONE; up = &nodes[up->parent])
		proto_uint(&m, 1, up->function + 1);
	proto_uint(&m, 2, n->calls);
	proto_uint(&m, 2, call_split_sum(&n->local));
	for (i = 0; p->split && i < CALL_PARTS; i++)
		proto_uint(&m, 2, n->local.ns[i]);
	proto_end(&m, sample, 4);
	return pprof_put(&p->file, &m);
}

static int put_samples(struct func_pprof *p)
{
	const struct call_node *nodes;
	size_t n, i;
	int r = 0;

	nodes = call_tree_get(p->tree, &n);
	for (i = 1; r >= 0 && i < n; i++)
		r = put_sample(p, nodes, &nodes[i]);
	return r;
}

static int put_end(struct func_pprof *p)
{
	const struct call_totals *t = call_tree_totals(p->tree);
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	uint64_t time;
	int r = pprof_intern(&p->file, "time", &time);

	if (r < 0)
		return r;
	proto_uint(&m, PPROF_DURATION, t->to_ns - t->from_ns);
	proto_uint(&m, PPROF_DEFAULT_TYPE, time);
	r = pprof_put(&p->file, &m);
	return r < 0 ? r : pprof_finish(&p->file);
}

static int put_profile(struct func_pprof *p)
{
	int r = put_types(p);

	if (r >= 0)
		r = put_samples(p);
	if (r >= 0)
		r = put_functions(p);
	return r < 0 ? r : put_end(p);
}

int func_pprof_write(const struct call_walk *w, struct outfile *out, struct error *e)
{
	CLEANUP(call_tree) struct call_tree *t = NULL;
	struct func_pprof p = { .w = w };
	int r = call_tree_new(&t, w, e);

	if (r < 0)
		return r;
	p.tree = t;
	p.split = call_tree_totals(t)->os_threads > 0 && call_tree_totals(t)->kernel_known;
	p.sample = malloc(SAMPLE_ROOM);
	if (!p.sample || pprof_init(&p.file, out) < 0) {
		free(p.sample);
		return error_set(e, ENOMEM, "cannot write the profile: out of memory");
	}
	r = put_profile(&p);
	pprof_done(&p.file);
	free(p.sample);
	if (r < 0)
		return error_set(e, -r, "cannot write the profile: %s", strerror(-r));
	return outfile_check(out, e);
}
