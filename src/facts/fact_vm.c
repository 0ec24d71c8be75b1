/* SPDX-License-Identifier: MIT */
/*
 * fact_vm: see fact_vm.h. What is kept is the tree of vm_tree.h: host ; machine ; process ; class ; ...
 *
 * Numbers of processes and of VMMs mean nothing in the next hour, so labels go without them: a machine is what its VMM is called, a
 * process of a guest its name, and all processes of which only a page table is known are one.
 */
#include "facts/fact_vm.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/vm_tree.h"
#include "facts/fact_tree.h"

/* "nginx (812)", "nginx (812#2)" is nginx. */
static void cut_number(char *text)
{
	char *at = strrchr(text, '(');

	if (at && at > text + 1 && at[-1] == ' ' && isdigit((unsigned char)at[1]) &&
	    text[strlen(text) - 1] == ')')
		at[-1] = '\0';
}

/* "VM 400 db" is db: what its VMM is called. */
static void name_machine(const struct sample_source *source, const char *number,
			 char text[VM_TREE_NAME_LEN])
{
	int32_t vm = (int32_t)strtol(number, NULL, 10);
	const char *name = sample_spaces_comm(source->spaces, vm, UINT64_MAX);
	char padded[SCHED_COMM_LEN], clean[COMM_TEXT_LEN];

	if (!name) {
		snprintf(text, VM_TREE_NAME_LEN, "[unnamed]");
		return;
	}
	sched_comm_set(padded, name, strlen(name));
	snprintf(text, VM_TREE_NAME_LEN, "%s", comm_format(padded, clean));
}

/* What stands for a label in facts. */
static void rename_label(const struct sample_source *source, const struct function *f,
			 char text[VM_TREE_NAME_LEN])
{
	const char *of = strstr(f->name, " of VM ");

	snprintf(text, VM_TREE_NAME_LEN, "%s", f->name);
	if (!strcmp(f->object, "machine") && !strncmp(f->name, "VM ", 3))
		name_machine(source, f->name + 3, text);
	else if (!strcmp(f->object, "culprit") && !strncmp(f->name, "vcpu ", 5) && of)
		name_machine(source, of + 7, text);
	else if (!strcmp(f->object, "process") && !strncmp(text, "space 0x", 8))
		snprintf(text, VM_TREE_NAME_LEN, "[unnamed]");
	else if (fact_is_group(f))
		cut_number(text);
}

static int copy_tree(const struct vm_tree *from, struct fact_set *set)
{
	_cleanup_free_ uint32_t *keys = calloc(from->functions.n + 1, sizeof(*keys));
	char text[VM_TREE_NAME_LEN];
	const struct function *f;
	uint32_t i;
	int r = keys ? 0 : -ENOMEM;

	for (i = 0; r >= 0 && i < from->functions.n; i++) {
		f = functions_get(&from->functions, i);
		rename_label(from->o.source, f, text);
		r = functions_find_label(&set->functions, text, f->object, &keys[i]);
	}
	return r < 0 ? r : fact_set_add_nodes(set, from->tree, keys);
}

/* --- a minute --- */

struct fact_vm {
	const struct fact_build *build;
	const struct fact_window *window;
	struct sample_source *source;
	struct vm_names *names;
	struct profile_names *host;
	struct vm_report *report;
	struct error *error;
};

void fact_vm_free(struct fact_vm *v)
{
	if (!v)
		return;
	vm_report_free(v->report);
	vm_names_free(v->names);
	profile_names_free(v->host);
	free(v);
}

static int open_names(struct fact_vm *v)
{
	const struct vm_names_options o = { .source = v->source,
					    .guests = v->source->guests,
					    .symbols = v->build->symbols };
	int r = profile_names_new(&v->host, v->source, v->build->host, v->error);

	return r < 0 ? r : vm_names_new(&v->names, &o, v->error);
}

static int open_report(struct fact_vm *v)
{
	const struct vm_report_options o = { .source = v->source,
					     .names = v->names,
					     .host = v->host,
					     .from_ns = v->window->from_ns,
					     .to_ns = v->window->to_ns,
					     .with_cells = true,
					     .cells_only = true };

	return vm_report_begin(&v->report, &o, v->error);
}

int fact_vm_new(struct fact_vm **ret, const struct fact_build *b, struct sample_source *source,
		const struct fact_window *window, struct error *e)
{
	CLEANUP(fact_vm) struct fact_vm *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return error_set(e, ENOMEM, "cannot work out a minute: out of memory");
	v->build = b;
	v->window = window;
	v->source = source;
	v->error = e;
	r = open_names(v);
	if (r >= 0)
		r = open_report(v);
	if (r < 0)
		return r;
	*ret = take_ptr(v);
	return 0;
}

int fact_vm_put(struct fact_vm *v, const struct sample_item *item)
{
	int r = vm_report_put(v->report, item);

	return r < 0 ? vm_report_explain(v->report, r, v->error) : 0;
}

static int give_tree(struct fact_vm *v, struct fact_set *set)
{
	const struct vm_tree_options o = { .report = v->report,
					   .names = v->names,
					   .host = v->host,
					   .source = v->source,
					   .shape = { .groups = true } };
	struct vm_tree tree;
	int r = vm_tree_init(&tree, &o);

	if (r >= 0)
		r = vm_tree_fill(&tree);
	if (r >= 0)
		r = copy_tree(&tree, set);
	vm_tree_done(&tree);
	return r;
}

int fact_vm_give(struct fact_vm *v, struct fact_set *set)
{
	const struct vm_losses *losses = vm_report_losses(v->report);
	struct vm_sums sums;
	int r = vm_report_end(v->report, v->error);

	if (r < 0)
		return r;
	vm_report_sum(v->report, 0, &sums);
	set->covered_ns = vm_sums_wall(&sums);
	set->events = vm_report_events(v->report);
	set->lost = losses->events;
	set->lost_places = losses->uncounted;
	r = give_tree(v, set);
	if (r < 0)
		return error_set(v->error, -r, "cannot keep a minute of run %u", v->build->run);
	return set->covered_ns || set->lost || set->lost_places ? 0 : -ENODATA;
}
