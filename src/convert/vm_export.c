/* SPDX-License-Identifier: MIT */
/* vm_export: the time of virtual machines in the formats of profiles (profile_export.h); pprof has a file of its own. */
#include <errno.h>
#include <string.h>

#include "analysis/vm_json.h"
#include "convert/firefox.h"
#include "convert/folded.h"
#include "convert/func_json.h"
#include "convert/profile_export.h"
#include "convert/speedscope.h"
#include "convert/vm_series.h"

static int fill(struct vm_tree *t, const struct vm_tree_options *o, struct error *e)
{
	struct vm_tree_options mine = *o;
	int r;

	mine.shape.groups = true;
	r = vm_tree_init(t, &mine);
	if (r >= 0)
		r = vm_tree_fill(t);
	return r < 0 ? error_set(e, -r, "cannot make the tree of machines: %s", strerror(-r)) : 0;
}

int vm_folded_write(const struct vm_tree_options *o, struct outfile *out, struct error *e)
{
	CLEANUP_VM_TREE struct vm_tree t = { 0 };
	int r = fill(&t, o, e);

	return r < 0 ? r : folded_write(t.tree, &t.functions, PROFILE_WEIGHT, out, e);
}

int vm_speedscope_write(const struct vm_tree_options *o, struct outfile *out, struct error *e)
{
	CLEANUP_VM_SERIES struct vm_series s;
	int r = vm_series_init(&s, o, e);

	return r < 0 ? r : speedscope_write(&s.series, out, e);
}

int vm_firefox_write(const struct vm_tree_options *o, struct outfile *out, struct error *e)
{
	CLEANUP_VM_SERIES struct vm_series s;
	int r = vm_series_init(&s, o, e);

	return r < 0 ? r : firefox_write(&s.series, out, e);
}

/* The tree, and all that reports say. */
int vm_json_write(const struct vm_tree_options *o, struct outfile *out, struct error *e)
{
	const struct vm_json j = {
		.report = o->report, .names = o->names, .host = o->host, .source = o->source
	};
	CLEANUP_VM_TREE struct vm_tree t = { 0 };
	json_t *document;
	int r = fill(&t, o, e);

	if (r < 0)
		return r;
	document = vm_tree_json(&t, NULL);
	if (document) {
		json_object_update_new(document, vm_steal_json(&j));
		json_object_set_new(document, "process", vm_correct_json(&j, VM_BY_PROCESS));
		json_object_set_new(document, "thread", vm_correct_json(&j, VM_BY_THREAD));
		json_object_set_new(document, "function", vm_correct_json(&j, VM_BY_FUNCTION));
	}
	return func_json_document(out, document, e);
}
