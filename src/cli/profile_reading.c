/* SPDX-License-Identifier: MIT */
/* profile_reading: see profile_reading.h. */
#include "cli/profile_reading.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/profile_remote.h"
#include "cli/symbol_tables.h"
#include "command/say.h"
#include "command/value.h"
#include "store/store_check.h"
#include "symbol/object_reader.h"
#include "trace/filter_parse.h"
#include "trace/sample_ksk.h"

#define PROBLEMS_SHOWN 3U /* a whole machine has hundreds of objects */

/* --- where it is --- */

static int take_profile(void *context, const struct store_run *run)
{
	struct store_run *ret = context;

	if (!run->samplers || !run->blocks)
		return 0;
	*ret = *run;
	return 1;
}

static int take_machines(void *context, const struct store_run *run)
{
	return run->has_guests ? take_profile(context, run) : 0;
}

static int open_store(struct profile_reading *r, const struct args *a, struct error *e)
{
	const struct store_options o = { .read_only = true };
	const char *text = args_get(a, "run");
	struct store_run run = { .number = 0 };
	uint64_t number = 0;
	int rc;

	if (text && value_number(&number, text, UINT32_MAX) < 0)
		return error_set(e, EINVAL, "cannot take --run %s: it is not a number", text);
	rc = store_open(&r->store, r->path, &o, e);
	if (rc >= 0)
		rc = text ? store_get_run(r->store, (uint32_t)number, &run, e)
			  : store_runs(r->store, NULL,
				       r->wants_machines ? take_machines : take_profile, &run, e);
	if (rc < 0)
		return error_prefix(e, rc, "cannot read %s", r->path);
	if (!run.samplers)
		return error_set(e, ENODATA, "cannot read %s: %s no profile", r->path,
				 text ? "that run has" : "its runs have");
	return sample_ksk_open_run(r->store, run.number, &r->source, e);
}

/* Whatever else it is, what it can be used for is said. */
static int open_file(struct profile_reading *r, struct error *e)
{
	int rc = input_open(&r->input, r->path, e);

	if (rc < 0)
		return rc;
	if (input_get_format(r->input) != RECOGNISED_KSK)
		return error_set(e, ENODATA, "cannot read %s: it is %s and holds no profile",
				 r->path, recognise_name(input_get_format(r->input)));
	rc = sample_ksk_open(input_get_path(r->input), &r->source, e);
	if (rc == -ENODATA)
		return error_set(e, ENODATA, "cannot read %s: it holds no profile", r->path);
	return rc;
}

/* What is no file is a run of the collector. */
static int open_other(struct profile_reading *r, const struct args *a, struct error *e)
{
	struct error missing = ERROR_INIT;
	struct stat st;
	int rc;

	if (!stat(r->path, &st) || errno != ENOENT || strchr(r->path, '/') || !strcmp(r->path, "-"))
		return open_file(r, e);
	rc = profile_remote_open(&r->source, a, r->path, r->wants_machines, &missing);
	return rc < 0 ? error_set(e, -rc,
				  "cannot read %s: there is no such file, and of the collector: %s",
				  r->path, missing.text)
		      : 0;
}

static int open_source(struct profile_reading *r, const struct args *a, struct error *e)
{
	if (store_is_place(r->path))
		return open_store(r, a, e);
	if (args_has(a, "run")) {
		r->misused = true;
		return error_set(e, EINVAL, "cannot take --run: %s is not the folder of a store",
				 r->path);
	}
	return open_other(r, a, e);
}

/* --- names --- */

static int split_folders(struct profile_reading *r, const char *list, struct error *e)
{
	char *at, *folder;
	size_t n = 0;

	if (!list)
		return 0;
	r->folders_text = at = strdup(list);
	if (!at)
		return error_set(e, ENOMEM, "cannot take --symbols: out of memory");
	while ((folder = strsep(&at, ":"))) {
		if (!*folder)
			continue;
		if (n == PROFILE_READING_FOLDERS_MAX)
			return error_set(e, E2BIG, "cannot take --symbols: more than %u folders",
					 PROFILE_READING_FOLDERS_MAX);
		r->folders[n++] = folder;
	}
	return 0;
}

static int open_names(struct profile_reading *r, const struct args *a, struct error *e)
{
	struct symbols_options o = { .sysroot = args_get(a, "sysroot"),
				     .folders = r->folders,
				     .kallsyms = args_get(a, "kallsyms"),
				     .mangled = args_has(a, "mangled"),
				     .cache = symbol_tables_folder() };
	int rc = split_folders(r, args_get(a, "symbols"), e);

	if (rc >= 0)
		rc = symbols_new(&o, &r->symbols, e);
	return rc < 0 ? rc : profile_names_new(&r->names, r->source, r->symbols, e);
}

/* --- what is wanted --- */

static int parse_option(struct profile_reading *r, const struct args *a, const char *name,
			struct error *e)
{
	const char *text = args_get(a, name);
	int rc = 0;

	if (!text)
		return 0;
	if (!strcmp(name, "cpu"))
		rc = filter_parse_cpus(&r->filter, text, e);
	else if (!strcmp(name, "mode"))
		rc = profile_modes_parse(&r->select.modes, text, e);
	else
		rc = filter_parse_time(strcmp(name, "from") ? &r->filter.to : &r->filter.from, text,
				       e);
	if (rc < 0) {
		r->misused = true;
		return error_prefix(e, rc, "cannot take --%s", name);
	}
	return 0;
}

/* When the first item is: times may be counted from there. */
static int find_start(struct profile_reading *r, uint64_t *ret_ns, struct error *e)
{
	struct sample_item item = { .type = ITEM_LOSS };
	int rc = r->source->ops->next(r->source, &item, e);

	if (rc < 0)
		return rc;
	*ret_ns = rc ? clock_ns(&r->source->info.clock,
				item.type == ITEM_EVENT ? item.event.tick : item.loss.from_tick)
		     : 0;
	return r->source->ops->rewind(r->source, e);
}

static int select_samples(struct profile_reading *r, const struct args *a, struct error *e)
{
	static const char *const names[] = { "from", "to", "cpu", "mode" };
	size_t n_names = r->is_whole ? 2 : sizeof(names) / sizeof(names[0]);
	struct profile_select *s = &r->select;
	uint64_t start_ns = 0;
	size_t i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < n_names; i++)
		rc = parse_option(r, a, names[i], e);
	if (rc >= 0 && (r->filter.from.relative || r->filter.to.relative))
		rc = find_start(r, &start_ns, e);
	if (rc < 0)
		return rc;
	if (!r->is_whole) {
		s->processes = args_get(a, "process");
		s->threads = args_get(a, "thread");
		r->value = args_has(a, "samples") ? PROFILE_SAMPLES : PROFILE_WEIGHT;
	}
	s->cpus = r->filter.cpus_given ? r->filter.cpus : NULL;
	if (r->filter.from.given)
		s->from_ns = r->filter.from.ns + (r->filter.from.relative ? start_ns : 0);
	if (r->filter.to.given) {
		s->to_ns = r->filter.to.ns + (r->filter.to.relative ? start_ns : 0);
		s->to_ns +=
			!s->to_ns; /* 0 is no end: before the first moment there is nothing either way */
	}
	return 0;
}

/* --- all --- */

static int step(void *data)
{
	progress_step(data);
	return 0;
}

int profile_reading_open(struct profile_reading *r, const struct args *a, const char *path,
			 struct error *e)
{
	int rc;

	r->path = path;
	filter_init(&r->filter);
	/* Before there is a connection or a thread, which it would have, too. */
	rc = object_reader_start(OBJECT_READER_THIS_MACHINE, e);
	if (rc >= 0)
		rc = open_source(r, a, e);
	if (rc >= 0)
		rc = select_samples(r, a, e);
	if (rc >= 0)
		rc = open_names(r, a, e);
	if (rc < 0)
		return rc;
	profile_tasks_init(&r->tasks, r->source);
	progress_init_samples(&r->progress, r->source, "reading");
	r->walk = (struct profile_walk){ .source = r->source,
					 .names = r->names,
					 .tasks = &r->tasks,
					 .select = &r->select,
					 .step = step,
					 .step_data = &r->progress };
	return 0;
}

int profile_reading_rewind(struct profile_reading *r, struct error *e)
{
	return r->source->ops->rewind(r->source, e);
}

int profile_reading_failure(struct profile_reading *r, const struct error *e)
{
	progress_done(&r->progress);
	return r->misused ? say_usage(e) : say_failure(e);
}

void profile_reading_warn(struct profile_reading *r)
{
	const char *problem;
	size_t i;

	progress_done(&r->progress);
	for (i = 0; r->symbols && (problem = symbols_get_problem(r->symbols, i)); i++)
		if (i < PROBLEMS_SHOWN)
			say_note("%s", problem);
	if (i > PROBLEMS_SHOWN)
		say_note("%zu more objects have functions without names (docs/symbols.md)",
			 i - PROBLEMS_SHOWN);
}

void profile_reading_close(struct profile_reading *r)
{
	progress_done(&r->progress);
	profile_tasks_done(&r->tasks);
	profile_names_free(r->names);
	symbols_free(r->symbols);
	sample_source_free(r->source);
	store_free(r->store);
	input_free(r->input);
	filter_done(&r->filter);
	free(r->folders_text);
	memset(r, 0, sizeof(*r));
}
