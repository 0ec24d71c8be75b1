/* SPDX-License-Identifier: MIT */
/* func_place: see func_place.h. */
#include "cli/func_place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/func_remote.h"
#include "command/say.h"
#include "command/value.h"
#include "convert/func_input.h"
#include "store/store_check.h"
#include "trace/func_ksk.h"
#include "trace/func_sched.h"
#include "trace/func_store.h"

static const char *option(const struct args *a, const char *name)
{
	const struct cli_option *o = a->command->options;
	size_t i;

	for (i = 0; o && o[i].name; i++)
		if (!strcmp(o[i].name, name))
			return a->values[i];
	return NULL;
}

static bool has_option(const struct args *a, const char *name)
{
	const struct cli_option *o = a->command->options;

	for (; o && o->name; o++)
		if (!strcmp(o->name, name))
			return true;
	return false;
}

bool func_place_wants_sched(const struct func_place *p)
{
	return !option(p->args, "no-sched") && !option(p->args, "sched");
}

int func_place_join(struct func_place *p, struct func_source *calls, struct trace_source *sched,
		    struct error *e)
{
	int r = func_sched_new(calls, sched, &p->source, e);

	if (r == -EXDEV)
		say_note("run %u, the scheduler's of the same time, is not joined: its clock has "
			 "nothing in common with that of the calls",
			 p->sched_run);
	else if (r >= 0)
		say_note("joined with run %u, the scheduler's of the same time; --no-sched leaves "
			 "it "
			 "out",
			 p->sched_run);
	return r;
}

/* --- a store --- */

/* The latest run of programs, and the run of the scheduler that shares most time with one. */
struct search {
	struct store_run calls, sched;
};

static int take_calls(void *context, const struct store_run *r)
{
	struct search *s = context;

	if (!r->threads || !r->blocks)
		return 0;
	s->calls = *r;
	return 1;
}

static int find_calls(struct func_place *p, struct search *s, const char *path, struct error *e)
{
	const char *text = option(p->args, "run");
	uint64_t number = 0;
	int r;

	if (text && value_number(&number, text, UINT32_MAX) < 0)
		return error_set(e, EINVAL, "cannot take --run %s: it is not a number", text);
	r = text ? store_get_run(p->store, (uint32_t)number, &s->calls, e)
		 : store_runs(p->store, NULL, take_calls, s, e);
	if (r < 0)
		return error_prefix(e, r, "cannot read %s", path);
	if (!s->calls.threads)
		return error_set(e, ENODATA, "cannot read %s: %s no calls", path,
				 text ? "that run has" : "its runs have");
	return 0;
}

static int join_run(struct func_place *p, const struct search *s, struct error *e)
{
	struct func_source *calls = take_ptr(p->source);
	struct trace_source *sched = NULL;
	int r = func_store_open_sched(p->store, s->sched.number, calls, &sched, e);

	if (r < 0) {
		func_source_free(calls);
		return r;
	}
	p->sched_run = s->sched.number;
	r = func_place_join(p, calls, sched, e);
	return r == -EXDEV ? func_ksk_open_run(p->store, s->calls.number, &p->source, e) : r;
}

static int open_store(struct func_place *p, const char *path, struct error *e)
{
	const struct store_options o = { .read_only = true };
	struct search s = { .calls = { .number = 0 } };
	int r = store_open(&p->store, path, &o, e);

	if (r >= 0)
		r = find_calls(p, &s, path, e);
	if (r >= 0)
		r = func_ksk_open_run(p->store, s.calls.number, &p->source, e);
	p->run = s.calls.number;
	if (r < 0 || s.calls.split || !func_place_wants_sched(p))
		return r;
	r = func_store_find_sched(p->store, &s.calls, &s.sched, e);
	return r < 0 || !s.sched.number ? r : join_run(p, &s, e);
}

/* --- all --- */

/* What cannot be a device's name is not asked of anybody. */
static bool is_remote(const struct args *a, const char *name)
{
	return has_option(a, "server") && !strchr(name, '/') && strcmp(name, "-") != 0;
}

int func_place_open(struct func_place *p, const struct args *a, const char *name, struct error *e)
{
	struct error missing = ERROR_INIT;
	struct stat st;
	int r;

	p->args = a;
	if (store_is_place(name) && has_option(a, "run"))
		return open_store(p, name, e);
	if (option(a, "run"))
		return error_set(e, EINVAL, "cannot take --run: %s is not the folder of a store",
				 name);
	if (!stat(name, &st) || errno != ENOENT || !is_remote(a, name))
		return func_input_open(name, &p->source, e);
	r = func_remote_open(p, name, &missing);
	if (r >= 0)
		return r;
	return error_set(e, r, "cannot read %s: there is no such file, and of the collector: %s",
			 name, missing.text);
}

void func_place_close(struct func_place *p)
{
	func_source_free(p->source);
	input_free(p->sched);
	store_free(p->store);
	memset(p, 0, sizeof(*p));
}
