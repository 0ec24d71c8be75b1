/* SPDX-License-Identifier: MIT */
/*
 * fact_build_vm: a minute of virtual machines as the tree of vm_tree.h: host ; machine ; process ; class ; ...
 *
 * Numbers of processes and of VMMs mean nothing in the next hour, so labels go without them: a machine is what its VMM is called, a
 * process of a guest its name, and all processes of which only a page table is known are one.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/vm_tree.h"
#include "facts/fact_build.h"
#include "facts/fact_tree.h"
#include "trace/sample_ksk.h"

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

struct reading {
	const struct fact_build *build;
	struct fact_window window;
	struct sample_source *source;
	struct vm_names *names;
	struct profile_names *host;
	struct vm_report *report;
};

static int open_names(struct reading *r, struct error *e)
{
	const struct vm_names_options o = { .source = r->source,
					    .guests = r->source->guests,
					    .symbols = r->build->symbols };
	int rc = profile_names_new(&r->host, r->source, r->build->host, e);

	return rc < 0 ? rc : vm_names_new(&r->names, &o, e);
}

static int run_report(struct reading *r, struct error *e)
{
	const struct vm_report_options o = { .source = r->source,
					     .names = r->names,
					     .host = r->host,
					     .from_ns = r->window.from_ns,
					     .to_ns = r->window.to_ns,
					     .with_cells = true,
					     .step = r->build->step,
					     .step_data = r->build->step_data };

	return vm_report_new(&r->report, &o, e);
}

static int give(struct reading *r, struct fact_set *set, struct error *e)
{
	const struct vm_tree_options o = { .report = r->report,
					   .names = r->names,
					   .host = r->host,
					   .source = r->source,
					   .shape = { .groups = true } };
	const struct vm_losses *losses = vm_report_losses(r->report);
	struct vm_tree tree;
	struct vm_sums sums;
	int rc;

	vm_report_sum(r->report, 0, &sums);
	set->covered_ns = vm_sums_wall(&sums);
	set->events = vm_report_events(r->report);
	set->lost = losses->events;
	set->lost_places = losses->uncounted;
	rc = vm_tree_init(&tree, &o);
	if (rc >= 0)
		rc = vm_tree_fill(&tree);
	if (rc >= 0)
		rc = copy_tree(&tree, set);
	vm_tree_done(&tree);
	if (rc < 0)
		return error_set(e, -rc, "cannot keep a minute of run %u", r->build->run);
	return set->covered_ns || set->lost || set->lost_places ? 0 : -ENODATA;
}

int fact_build_vm(const struct fact_build *b, struct fact_set *set, struct error *e)
{
	struct reading r = { .build = b };
	int rc;

	if (!fact_build_window(b, &set->key, &r.window))
		return -ENODATA;
	rc = sample_ksk_open_part(b->store, b->run, &r.window.range, &r.source, e);
	if (rc >= 0)
		rc = open_names(&r, e);
	if (rc >= 0)
		rc = run_report(&r, e);
	if (rc >= 0)
		rc = give(&r, set, e);
	vm_report_free(r.report);
	vm_names_free(r.names);
	profile_names_free(r.host);
	sample_source_free(r.source);
	return rc;
}
