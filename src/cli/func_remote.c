/* SPDX-License-Identifier: MIT */
/* func_remote: see func_remote.h. */
#include "cli/func_remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/when.h"
#include "cli/device_json.h"
#include "cli/remote_run.h"
#include "trace/func_ksk.h"
#include "trace/func_store.h"

/* What func_sched.h makes records of. */
#define SCHED_EVENTS "switch,waking,wakeup_new,exit"

static int open_calls(struct client *c, const struct remote_run_folder *w, uint32_t run,
		      struct func_source **ret, struct error *e)
{
	struct url u;
	int r;

	remote_run_push_export(&u, run);
	r = remote_run_download(c, &u, w->path, e);
	return r < 0 ? r : func_ksk_open(w->path, ret, e);
}

/* --- beside the scheduler --- */

/* Only the time of the calls, where that is known: a trace of the scheduler may be of days. */
static void push_span(struct url *u, const struct func_source *calls)
{
	char from[WHEN_MAX], to[WHEN_MAX];
	struct func_store_span s;
	uint64_t off = (uint64_t)calls->clock.realtime_off_ns;

	if (!calls->clock.has_realtime || func_store_get_span(calls, &s) <= 0)
		return;
	url_push_param(u, "from", when_format(s.from_ns + off, from));
	url_push_param(u, "to", when_format(s.to_ns + off, to));
}

static int open_sched(struct func_place *p, struct client *c, const struct remote_run_folder *w,
		      struct error *e)
{
	struct url u;
	int r;

	remote_run_push_export(&u, p->sched_run);
	url_push_param(&u, "event", SCHED_EVENTS);
	push_span(&u, p->source);
	r = remote_run_download(c, &u, w->path, e);
	return r < 0 ? r : input_open(&p->sched, w->path, e);
}

static int join(struct func_place *p, struct client *c, const struct remote_run_folder *w,
		const json_t *calls, struct error *e)
{
	struct remote_run_sched sched = { 0 };
	int r = remote_run_find_sched(c, calls, 0, &sched, e);

	p->sched_run = sched.run;
	if (r < 0 || !p->sched_run)
		return r;
	r = open_sched(p, c, w, e);
	if (r >= 0)
		r = func_place_join(p, take_ptr(p->source), input_take_source(p->sched), e);
	return r == -EXDEV ? open_calls(c, w, p->run, &p->source, e) : r;
}

static int open_run(struct func_place *p, struct client *c, const struct remote_run_folder *w,
		    const json_t *calls, struct error *e)
{
	int r;

	p->run = (uint32_t)device_json_count(calls, "run");
	if (!device_json_count(calls, "threads"))
		return error_set(e, ENODATA, "run %u has no calls", p->run);
	r = open_calls(c, w, p->run, &p->source, e);
	if (r < 0 || json_is_true(json_object_get(calls, "split")) || !func_place_wants_sched(p))
		return r;
	return join(p, c, w, calls, e);
}

int func_remote_open(struct func_place *p, const char *name, struct error *e)
{
	static const struct remote_run_kind kind = { .kind = "func", .what = "programs" };
	CLEANUP(client) struct client *c = NULL;
	struct remote_run_folder w = { .folder = "" };
	json_t *calls = NULL;
	int r = client_open(&c, p->args, e);

	if (r >= 0)
		r = remote_run_find(c, name, &kind, &calls, e);
	if (r >= 0)
		r = remote_run_folder_open(&w, e);
	if (r >= 0)
		r = open_run(p, c, &w, calls, e);
	remote_run_folder_close(&w);
	json_decref(calls);
	return r;
}
