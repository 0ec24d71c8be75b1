/* SPDX-License-Identifier: MIT */
/* vm_reading: see vm_reading.h. */
#include "cli/vm_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbol_tables.h"
#include "command/value.h"

/* "FILE", or "VM=FILE". */
static int add_kallsyms(struct vm_reading *r, char *text, struct error *e)
{
	struct vm_kallsyms *k = &r->kallsyms[r->n_kallsyms];
	char *path = strchr(text, '=');
	uint64_t vm = 0;

	if (r->n_kallsyms == VM_READING_KALLSYMS_MAX)
		return error_set(e, E2BIG, "cannot take --guest-kallsyms: more than %u files",
				 VM_READING_KALLSYMS_MAX);
	if (path) {
		*path++ = '\0';
		if (value_number(&vm, text, INT32_MAX) < 0 || !vm)
			return error_set(
				e, EINVAL,
				"cannot take --guest-kallsyms: '%s' is not the pid of a VMM", text);
	}
	k->vm = (int32_t)vm;
	k->path = path ? path : text;
	r->n_kallsyms++;
	return 0;
}

static int split_kallsyms(struct vm_reading *r, const char *list, struct error *e)
{
	char *at, *text;
	int rc = 0;

	if (!list)
		return 0;
	r->kallsyms_text = at = strdup(list);
	if (!at)
		return error_set(e, ENOMEM, "cannot take --guest-kallsyms: out of memory");
	while (rc >= 0 && (text = strsep(&at, ",")))
		if (*text)
			rc = add_kallsyms(r, text, e);
	r->in.misused = rc < 0;
	return rc;
}

static int open_names(struct vm_reading *r, const struct args *a, struct error *e)
{
	struct vm_names_options o = { .source = r->in.source,
				      .guests = r->in.source->guests,
				      .symbols = { .folders = r->in.folders,
						   .mangled = args_has(a, "mangled"),
						   .cache = symbol_tables_folder() },
				      .kallsyms = r->kallsyms,
				      .n_kallsyms = r->n_kallsyms };

	return vm_names_new(&r->names, &o, e);
}

static int run_report(struct vm_reading *r, struct error *e)
{
	struct vm_report_options o = { .source = r->in.source,
				       .names = r->names,
				       .host = r->in.names,
				       .from_ns = r->in.select.from_ns,
				       .to_ns = r->in.select.to_ns,
				       .with_cells = r->with_cells,
				       .with_spans = r->with_spans,
				       .step = r->in.walk.step,
				       .step_data = r->in.walk.step_data };
	int rc = vm_report_new(&r->report, &o, e);

	return rc == -ENODATA ? error_prefix(e, rc, "cannot read %s", r->in.path) : rc;
}

int vm_reading_open(struct vm_reading *r, const struct args *a, struct error *e)
{
	int rc = split_kallsyms(r, args_get(a, "guest-kallsyms"), e);

	r->in.is_whole = r->in.wants_machines = true;
	if (rc >= 0)
		rc = profile_reading_open(&r->in, a, a->operands[0], e);
	if (rc >= 0)
		rc = open_names(r, a, e);
	if (rc >= 0)
		rc = run_report(r, e);
	if (rc < 0)
		return rc;
	r->json = (struct vm_json){
		.report = r->report, .names = r->names, .host = r->in.names, .source = r->in.source
	};
	r->tree = (struct vm_tree_options){
		.report = r->report, .names = r->names, .host = r->in.names, .source = r->in.source
	};
	if (r->with_cells)
		r->tree.shape = (struct vm_shape){ .groups = true,
						   .vcpus = args_has(a, "vcpus"),
						   .threads = args_has(a, "threads") };
	profile_reading_warn(&r->in);
	return 0;
}

int vm_reading_failure(struct vm_reading *r, const struct error *e)
{
	return profile_reading_failure(&r->in, e);
}

void vm_reading_close(struct vm_reading *r)
{
	vm_report_free(r->report);
	vm_names_free(r->names);
	free(r->kallsyms_text);
	profile_reading_close(&r->in);
}
