/* SPDX-License-Identifier: MIT */
/* vm_tree: see vm_tree.h. */
#include "analysis/vm_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/vm_exit.h"

int vm_tree_init(struct vm_tree *t, const struct vm_tree_options *o)
{
	memset(t, 0, sizeof(*t));
	t->o = *o;
	functions_init(&t->functions);
	return profile_tree_new(&t->tree, PROFILE_VALUES);
}

void vm_tree_done(struct vm_tree *t)
{
	profile_tree_free(t->tree);
	functions_done(&t->functions);
	memset(t, 0, sizeof(*t));
}

/* --- names --- */

static const struct vm_vcpu *vcpu_of(const struct vm_tree *t, uint32_t vcpu)
{
	return vm_time_get(vm_report_time(t->o.report), vcpu);
}

const char *vm_tree_machine(const struct vm_tree *t, uint32_t vcpu, char text[VM_TREE_NAME_LEN])
{
	int32_t vm = vcpu_of(t, vcpu)->pid;
	const char *name = sample_spaces_comm(t->o.source->spaces, vm, UINT64_MAX);
	char padded[SCHED_COMM_LEN], clean[COMM_TEXT_LEN];

	if (!name) {
		snprintf(text, VM_TREE_NAME_LEN, "VM %" PRId32, vm);
		return text;
	}
	sched_comm_set(padded, name, strlen(name));
	snprintf(text, VM_TREE_NAME_LEN, "VM %" PRId32 " %s", vm, comm_format(padded, clean));
	return text;
}

const char *vm_tree_vcpu(const struct vm_tree *t, uint32_t vcpu, char text[VM_TREE_NAME_LEN])
{
	const struct vm_vcpu *v = vcpu_of(t, vcpu);

	/* One that has no number, or whose thread came again, is told by its thread. */
	if (v->number < 0)
		snprintf(text, VM_TREE_NAME_LEN, "vcpu ? (%" PRId32 ")", v->tid);
	else
		snprintf(text, VM_TREE_NAME_LEN, "vcpu %" PRId32 " (%" PRId32 ")", v->number,
			 v->tid);
	return text;
}

const char *vm_tree_exit(const struct vm_tree *t, const struct vm_cell *c,
			 char text[VM_TREE_NAME_LEN])
{
	char name[VM_EXIT_NAME_LEN] = "[not known why]";

	if (c->has_reason)
		vm_exit_format(name, (enum sample_exits)t->o.source->sampling.exits, c->reason,
			       c->detail);
	snprintf(text, VM_TREE_NAME_LEN, c->ours ? "%s, by sampling" : "%s", name);
	return text;
}

/* A thread is known to run a virtual CPU when it has been in its guest: that holds for what it took before, too. */
static int32_t vcpu_number(const struct vm_tree *t, const struct sample_task *task)
{
	const struct vm_time *time = vm_report_time(t->o.report);
	int32_t number = task->vcpu;
	uint32_t i;

	for (i = 0; number < 0 && i < vm_time_count(time); i++)
		if (vm_time_get(time, i)->tid == task->tid &&
		    vm_time_get(time, i)->pid == task->pid)
			number = vm_time_get(time, i)->number;
	return number;
}

const char *vm_tree_culprit(const struct vm_tree *t, const struct vm_cell *c,
			    char text[VM_TREE_NAME_LEN])
{
	const struct sample_task *by = &c->culprit;
	char name[COMM_TEXT_LEN];
	int32_t number;

	if (by->tid < 0)
		snprintf(text, VM_TREE_NAME_LEN, "[not known by whom]");
	else if (by->tid == 0)
		snprintf(text, VM_TREE_NAME_LEN, "[the CPU was idle]");
	else if ((number = vcpu_number(t, by)) >= 0)
		snprintf(text, VM_TREE_NAME_LEN, "vcpu %" PRId32 " of VM %" PRId32, number,
			 by->pid);
	else
		snprintf(text, VM_TREE_NAME_LEN, "%s (%" PRId32 ")", comm_format(by->comm, name),
			 by->tid);
	return text;
}

/* --- paths --- */

/* A path that grows; what failed stays failed. */
struct path {
	struct vm_tree *t;
	struct vm_path *to;
	int r;
};

static void add(struct path *p, const char *name, const char *object)
{
	if (p->r >= 0 && p->to->n == VM_TREE_DEPTH_MAX)
		p->r = -E2BIG;
	if (p->r >= 0)
		p->r = functions_find_label(&p->t->functions, name, object,
					    &p->to->keys[p->to->n++]);
}

static void add_groups(struct path *p, const struct vm_cell *c)
{
	const struct vm_shape *s = &p->t->o.shape;
	const char *host = p->t->o.source->info.device;
	char text[VM_TREE_NAME_LEN];

	if (s->groups) {
		add(p, *host ? host : "host", "host");
		add(p, vm_tree_machine(p->t, c->vcpu, text), "machine");
	}
	if (s->vcpus)
		add(p, vm_tree_vcpu(p->t, c->vcpu, text), "vcpu");
}

static bool is_somebodys(const struct vm_cell *c)
{
	return c->kind == VM_GUEST || c->kind == VM_KERNEL || c->kind == VM_OUTSIDE ||
	       c->kind == VM_STEAL || c->kind == VM_WAITING;
}

static void add_process(struct path *p, const struct vm_cell *c)
{
	const struct vm_names *names = p->t->o.names;

	if (!is_somebodys(c))
		return;
	add(p, c->level < VM_BY_PROCESS ? "[nobody's]" : vm_names_process(names, c->place.process),
	    "process");
	if (!p->t->o.shape.threads || c->level < VM_BY_PROCESS)
		return;
	add(p, c->level < VM_BY_THREAD ? "[nobody's]" : vm_names_thread(names, c->place.thread),
	    "thread");
}

static void add_function(struct path *p, const struct vm_cell *c)
{
	const struct function *f;

	if (c->level < VM_BY_FUNCTION)
		return;
	f = vm_names_function(p->t->o.names, c->place.function);
	add(p, f->name, f->object);
}

static void add_guest(struct path *p, const struct vm_cell *c)
{
	const struct function *f;

	if (c->level < VM_BY_FUNCTION) {
		add(p, "[not sampled]", "note");
		return;
	}
	f = vm_names_function(p->t->o.names, c->place.function);
	add(p, vm_names_is_kernel(p->t->o.names, c->place.function) ? "kernel" : "user", "mode");
	add(p, *f->object ? f->object : "[unknown]", "object");
	add_function(p, c);
}

static void add_stack(struct path *p, const struct vm_cell *c)
{
	const struct profile_tree *stacks = vm_cells_stacks(vm_report_cells(p->t->o.report));
	const struct functions *functions = profile_names_functions(p->t->o.host);
	uint32_t keys[SAMPLE_CHAIN_MAX], n = 0, node;
	const struct function *f;

	for (node = c->stack; node && n < SAMPLE_CHAIN_MAX;
	     node = profile_tree_get(stacks, node)->parent)
		keys[n++] = profile_tree_get(stacks, node)->key;
	while (n) {
		f = functions_get(functions, keys[--n]);
		add(p, f->name, f->object);
	}
}

static void add_rest(struct path *p, const struct vm_cell *c)
{
	char text[VM_TREE_NAME_LEN];

	switch (c->kind) {
	case VM_KERNEL:
	case VM_OUTSIDE:
		add(p, vm_tree_exit(p->t, c, text), "exit");
		add_stack(p, c);
		if (!c->stack && !p->t->o.shape.is_moment)
			add(p, "[not sampled]", "note");
		break;
	case VM_STEAL:
	case VM_WAITING:
		add(p, vm_tree_culprit(p->t, c, text), "culprit");
		break;
	default:
		break;
	}
}

int vm_tree_path(struct vm_tree *t, const struct vm_cell *cell, struct vm_path *ret)
{
	struct path p = { t, ret, 0 };
	bool is_guest = cell->kind == VM_GUEST;
	char bracketed[VM_TREE_NAME_LEN];

	ret->n = 0;
	add_groups(&p, cell);
	if (t->o.shape.is_struck) {
		add_function(&p, cell);
		/* Readers of such stacks know functions by their names alone. */
		snprintf(bracketed, sizeof(bracketed), "[%s]", vm_class_words[cell->kind]);
		if (!is_guest || cell->level < VM_BY_FUNCTION)
			add(&p, bracketed, "class");
	} else {
		add_process(&p, cell);
		add(&p, vm_class_words[cell->kind], "class");
		if (is_guest)
			add_guest(&p, cell);
	}
	add_rest(&p, cell);
	return p.r;
}

/* --- the tree --- */

int vm_tree_find(struct vm_tree *t, const struct vm_cell *cell, uint32_t *ret)
{
	struct vm_path path = { .n = 0 };
	uint32_t node = 0;
	size_t i;
	int r = vm_tree_path(t, cell, &path);

	for (i = 0; i < path.n && r >= 0; i++)
		r = profile_tree_find(t->tree, node, path.keys[i], &node);
	*ret = node;
	return r;
}

int vm_tree_fill(struct vm_tree *t)
{
	const struct vm_cells *cells = vm_report_cells(t->o.report);
	size_t n = vm_cells_count(cells), i;
	uint32_t node;
	int r = 0;

	for (i = 0; i < n && r >= 0; i++) {
		const struct vm_cell *c = vm_cells_get(cells, i);
		uint64_t values[PROFILE_VALUES] = { c->samples, c->ns };

		if (!c->ns && !c->samples)
			continue;
		r = vm_tree_find(t, c, &node);
		if (r >= 0)
			profile_tree_add(t->tree, node, values);
	}
	return r < 0 ? r
		     : profile_tree_sort(t->tree, PROFILE_WEIGHT, functions_compare, &t->functions);
}
