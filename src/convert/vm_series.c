/* SPDX-License-Identifier: MIT */
/* vm_series: see vm_series.h. */
#include "convert/vm_series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe(const void *data, uint32_t thread, struct stack_thread *ret)
{
	const struct vm_tree *t = data;
	const struct vm_vcpu *v = vm_time_get(vm_report_time(t->o.report), thread);

	memset(ret, 0, sizeof(*ret));
	vm_tree_machine(t, thread, ret->process);
	vm_tree_vcpu(t, thread, ret->name);
	snprintf(ret->title, sizeof(ret->title), "%s, %s", ret->process, ret->name);
	ret->pid = v->pid;
	ret->tid = v->tid;
	ret->is_main = vm_time_is_first(vm_report_time(t->o.report), thread);
}

/* The first span of a virtual CPU, or of those behind it. */
static size_t first_span(const struct vm_cell_span *spans, size_t n, uint32_t vcpu)
{
	size_t from = 0, middle;

	while (from < n) {
		middle = from + (n - from) / 2;
		if (spans[middle].vcpu < vcpu)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

static void describe_marker(const void *data, const struct stack_marker *m,
			    char text[STACK_THREAD_TEXT])
{
	const struct vm_tree *t = data;
	const struct vm_cell *c = vm_cells_get(vm_report_cells(t->o.report), m->number);

	_Static_assert(VM_TREE_NAME_LEN <= STACK_THREAD_TEXT, "names of a tree fit");
	text[0] = '\0';
	if (c->kind == VM_KERNEL || c->kind == VM_OUTSIDE)
		vm_tree_exit(t, c, text);
	if (c->kind == VM_STEAL || c->kind == VM_WAITING)
		vm_tree_culprit(t, c, text);
}

static bool next_marker(const void *data, uint32_t thread, size_t *at, struct stack_marker *ret)
{
	const struct vm_tree *t = data;
	const struct vm_cells *cells = vm_report_cells(t->o.report);
	const struct vm_cell *c;
	size_t n;
	const struct vm_cell_span *spans = vm_cells_spans(cells, &n);
	size_t i = *at ? *at : first_span(spans, n, thread);

	for (; i < n && spans[i].vcpu == thread; i++) {
		c = vm_cells_get(cells, spans[i].cell);
		if (c->kind == VM_GUEST)
			continue;
		*ret = (struct stack_marker){ c->kind, spans[i].from_ns, spans[i].to_ns,
					      c->number };
		*at = i + 1;
		return true;
	}
	return false;
}

/* Nodes of cells, as they come. */
static int fill(struct vm_series *s)
{
	const struct vm_cells *cells = vm_report_cells(s->tree.o.report);
	size_t n, i;
	const struct vm_cell_span *spans = vm_cells_spans(cells, &n);
	_cleanup_free_ uint32_t *nodes = calloc(vm_cells_count(cells) + 1, sizeof(*nodes));
	int r = 0;

	s->list.entries = calloc(n + 1, sizeof(*s->list.entries));
	if (!nodes || !s->list.entries)
		return -ENOMEM;
	s->list.totals.from_ns = n ? UINT64_MAX : 0;
	for (i = 0; i < n && r >= 0; i++) {
		uint32_t *node = &nodes[spans[i].cell];

		if (!*node)
			r = vm_tree_find(&s->tree, vm_cells_get(cells, spans[i].cell), node);
		s->list.entries[s->list.n++] =
			(struct profile_entry){ .ns = spans[i].from_ns,
						.weight = spans[i].to_ns - spans[i].from_ns,
						.node = *node,
						.thread = spans[i].vcpu,
						.order = (uint32_t)i };
		if (spans[i].from_ns < s->list.totals.from_ns)
			s->list.totals.from_ns = spans[i].from_ns;
	}
	s->list.tree = s->tree.tree;
	return r;
}

int vm_series_init(struct vm_series *s, const struct vm_tree_options *o, struct error *e)
{
	struct vm_tree_options mine = *o;
	int r;

	memset(s, 0, sizeof(*s));
	mine.shape = (struct vm_shape){ .is_moment = true };
	r = vm_tree_init(&s->tree, &mine);
	if (r >= 0)
		r = fill(s);
	if (r < 0) {
		vm_series_done(s);
		return error_set(e, -r, "cannot list the time of virtual CPUs: %s", strerror(-r));
	}
	s->series = (struct stack_series){ .list = &s->list,
					   .functions = &s->tree.functions,
					   .source = o->source,
					   .is_weighted = true,
					   .is_time = true,
					   .thread = describe,
					   .marker = next_marker,
					   .describe = describe_marker,
					   .words = vm_class_words,
					   .n_words = VM_CLASSES,
					   .data = &s->tree };
	return 0;
}

void vm_series_done(struct vm_series *s)
{
	free(s->list.entries);
	vm_tree_done(&s->tree);
	memset(s, 0, sizeof(*s));
}
