/* SPDX-License-Identifier: MIT */
/* func_reading: see func_reading.h. */
#include "cli/func_reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/when.h"
#include "cli/symbol_tables.h"
#include "command/say.h"
#include "symbol/object_reader.h"
#include "trace/func_sched.h"

static const char *option(const struct args *a, const char *name)
{
	const struct cli_option *o = a->command->options;
	size_t i;

	for (i = 0; o && o[i].name; i++)
		if (!strcmp(o[i].name, name))
			return a->values[i];
	return NULL;
}

static int split_folders(struct func_reading *r, const char *list, struct error *e)
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
		if (n == FUNC_READING_FOLDERS_MAX)
			return error_set(e, E2BIG, "cannot take --symbols: more than %u folders",
					 FUNC_READING_FOLDERS_MAX);
		r->folders[n++] = folder;
	}
	return 0;
}

static int open_symbols(struct func_reading *r, const struct args *a, struct error *e)
{
	struct symbols_options o = { .sysroot = option(a, "sysroot"),
				     .folders = r->folders,
				     .kallsyms = option(a, "kallsyms"),
				     .mangled = r->mangled || option(a, "mangled"),
				     .cache = symbol_tables_folder() };
	int rc = split_folders(r, option(a, "symbols"), e);

	return rc < 0 ? rc : symbols_new(&o, &r->symbols, e);
}

/* The scheduler's trace beside the calls: the one that was given, or the one that `func run --sched` put
 * into the folder. */
static int join_sched(struct func_reading *r, const struct args *a, struct error *e)
{
	const char *path = option(a, "sched");
	struct func_source *joined = NULL;
	struct trace_source *sched;
	struct input *input = NULL;
	char beside[4096];
	int rc;

	snprintf(beside, sizeof(beside), "%s/" FUNC_READING_SCHED, r->path);
	if ((!path || !*path) && !access(beside, R_OK)) /* a switch has no argument */
		path = beside;
	if (!path || !*path)
		return 0;
	rc = input_open(&input, path, e);
	if (rc < 0)
		return rc;
	sched = input_take_source(input);
	r->sched = input;
	rc = func_sched_new(take_ptr(r->source), sched, &joined, e);
	r->source = joined;
	return rc;
}

static int step(void *data)
{
	progress_step(data);
	return 0;
}

int func_reading_open(struct func_reading *r, const struct args *a, const char *path,
		      struct error *e)
{
	int rc;

	r->path = path;
	/* Before there is a connection or a thread, which it would have, too. */
	rc = object_reader_start(OBJECT_READER_THIS_MACHINE, e);
	if (rc >= 0)
		rc = func_place_open(&r->place, a, path, e);
	r->source = take_ptr(r->place.source);
	if (rc >= 0)
		rc = join_sched(r, a, e);
	if (rc >= 0)
		rc = open_symbols(r, a, e);
	if (rc >= 0)
		rc = call_names_new(&r->names, r->source, r->symbols, e);
	if (rc < 0)
		return rc;
	r->select.processes = option(a, "process");
	r->select.threads = option(a, "thread");
	progress_init_calls(&r->progress, r->source, "reading");
	r->walk.source = r->source;
	r->walk.names = r->names;
	r->walk.select = &r->select;
	r->walk.step = step;
	r->walk.step_data = &r->progress;
	return 0;
}

int func_reading_failure(struct func_reading *r, const struct error *e)
{
	progress_done(&r->progress);
	return say_failure(e);
}

void func_reading_warn(struct func_reading *r)
{
	const char *problem;
	size_t i;

	progress_done(&r->progress);
	if (!r->symbols)
		return;
	for (i = 0; (problem = symbols_get_problem(r->symbols, i)); i++)
		say_note("%s", problem);
}

void func_reading_close(struct func_reading *r)
{
	progress_done(&r->progress);
	call_names_free(r->names);
	symbols_free(r->symbols);
	func_source_free(r->source);
	func_place_close(&r->place);
	input_free(r->sched);
	free(r->folders_text);
	memset(r, 0, sizeof(*r));
}

int func_reading_length(const struct args *a, const char *name, uint64_t *ret_ns, struct error *e)
{
	const char *text = args_get(a, name);

	*ret_ns = 0;
	if (!text)
		return 0;
	if (when_parse_length(text, ret_ns, e) < 0)
		return error_prefix(e, EINVAL, "cannot take --%s", name);
	return 0;
}
