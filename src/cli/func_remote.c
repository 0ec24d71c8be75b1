/* SPDX-License-Identifier: MIT */
/* func_remote: see func_remote.h. */
#include "cli/func_remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/outfile.h"
#include "base/when.h"
#include "cli/device_json.h"
#include "trace/func_ksk.h"

#define RUNS_LOOKED_AT "1000"
#define PATH_ROOM 256U
/* What func_sched.h makes records of. */
#define SCHED_EVENTS "switch,waking,wakeup_new,exit"

/* --- files --- */

struct work {
	char folder[PATH_ROOM];
	char path[PATH_ROOM + 16];
};

static int make_folder(struct work *w, struct error *e)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(w->folder, sizeof(w->folder), "%.200s/kiseki-calls-XXXXXX",
		 tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(w->folder)) {
		w->folder[0] = 0;
		return error_set(e, errno, "no folder for them can be made: %s", strerror(errno));
	}
	snprintf(w->path, sizeof(w->path), "%s/run.ksk", w->folder);
	return 0;
}

static void remove_folder(struct work *w)
{
	if (!w->folder[0])
		return;
	unlink(w->path);
	rmdir(w->folder);
}

static int take(void *context, const char *bytes, size_t len, struct error *e)
{
	outfile_write(context, bytes, len);
	return outfile_check(context, e);
}

static int download(struct client *c, const struct url *u, const char *path, struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	struct client_watch w = { .take = take };
	int r = outfile_open(&out, path, e);

	if (r < 0)
		return r;
	w.context = out;
	r = client_stream(c, u, &w, e);
	return r < 0 ? r : outfile_commit(out, e);
}

static void push_export(struct url *u, uint32_t run)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", run);
	url_init(u, "/api/v1/runs");
	url_push(u, number);
	url_push(u, "export");
	url_push_param(u, "format", "ksk");
}

static int open_calls(struct client *c, const struct work *w, uint32_t run,
		      struct func_source **ret, struct error *e)
{
	struct url u;
	int r;

	push_export(&u, run);
	r = download(c, &u, w->path, e);
	return r < 0 ? r : func_ksk_open(w->path, ret, e);
}

/* --- which run --- */

static bool is_number(const char *text)
{
	return strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

/* The run as the collector describes it; to be dropped. */
static int find_run(struct client *c, const char *name, json_t **ret, struct error *e)
{
	json_t *answer = NULL, *list;
	struct url u;
	int r;

	url_init(&u, is_number(name) ? "/api/v1/runs" : "/api/v1/devices");
	url_push(&u, name);
	if (is_number(name))
		return client_get_json(c, &u, ret, e);
	url_push(&u, "runs");
	url_push_param(&u, "kind", "func");
	url_push_param(&u, "limit", "1");
	r = client_get_json(c, &u, &answer, e);
	if (r < 0)
		return r;
	list = json_object_get(answer, "runs");
	*ret = json_incref(json_array_get(list, 0));
	json_decref(answer);
	return *ret ? 0 : error_set(e, ENODATA, "%s has no run of its programs", name);
}

struct span {
	uint64_t from_ns, to_ns;
};

/* When its blocks came. */
static bool get_span(const json_t *run, struct span *ret)
{
	return when_parse(device_json_text(run, "first"), 0, &ret->from_ns, NULL) >= 0 &&
	       when_parse(device_json_text(run, "last"), 0, &ret->to_ns, NULL) >= 0;
}

/* How long two runs of the same boot were there together; 0: not at all. */
static uint64_t get_shared(const json_t *calls, const json_t *run)
{
	struct span a, b;
	uint64_t from, to;

	if (strcmp(device_json_text(calls, "boot"), device_json_text(run, "boot")) != 0 ||
	    !get_span(calls, &a) || !get_span(run, &b))
		return 0;
	from = a.from_ns > b.from_ns ? a.from_ns : b.from_ns;
	to = a.to_ns < b.to_ns ? a.to_ns : b.to_ns;
	return to < from ? 0 : to - from + 1;
}

/* 0: there is none. */
static int find_sched(struct client *c, const json_t *calls, uint32_t *ret, struct error *e)
{
	uint64_t most = 0, shared;
	json_t *answer = NULL;
	const json_t *list;
	struct url u;
	size_t i;
	int r;

	url_init(&u, "/api/v1/devices");
	url_push(&u, device_json_text(calls, "device_id"));
	url_push(&u, "runs");
	url_push_param(&u, "kind", "sched");
	url_push_param(&u, "limit", RUNS_LOOKED_AT);
	r = client_get_json(c, &u, &answer, e);
	list = json_object_get(answer, "runs");
	for (i = 0; r >= 0 && i < json_array_size(list); i++) {
		const json_t *run = json_array_get(list, i);

		shared =
			json_array_size(json_object_get(run, "kinds")) ? get_shared(calls, run) : 0;
		if (shared > most) {
			most = shared;
			*ret = (uint32_t)device_json_count(run, "run");
		}
	}
	json_decref(answer);
	return r;
}

/* --- beside the scheduler --- */

/* Only the time of the calls, where that is known: a trace of the scheduler may be of days. */
static void push_span(struct url *u, const struct func_source *calls)
{
	char from[WHEN_MAX], to[WHEN_MAX];
	struct func_place_span s;
	uint64_t off = (uint64_t)calls->clock.realtime_off_ns;

	if (!calls->clock.has_realtime || !func_place_get_span(calls, &s))
		return;
	url_push_param(u, "from", when_format(s.from_ns + off, from));
	url_push_param(u, "to", when_format(s.to_ns + off, to));
}

static int open_sched(struct func_place *p, struct client *c, const struct work *w, struct error *e)
{
	struct url u;
	int r;

	push_export(&u, p->sched_run);
	url_push_param(&u, "event", SCHED_EVENTS);
	push_span(&u, p->source);
	r = download(c, &u, w->path, e);
	return r < 0 ? r : input_open(&p->sched, w->path, e);
}

static int join(struct func_place *p, struct client *c, const struct work *w, const json_t *calls,
		struct error *e)
{
	int r = find_sched(c, calls, &p->sched_run, e);

	if (r < 0 || !p->sched_run)
		return r;
	r = open_sched(p, c, w, e);
	if (r >= 0)
		r = func_place_join(p, take_ptr(p->source), input_take_source(p->sched), e);
	return r == -EXDEV ? open_calls(c, w, p->run, &p->source, e) : r;
}

static int open_run(struct func_place *p, struct client *c, const struct work *w,
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
	CLEANUP(client) struct client *c = NULL;
	struct work w = { .folder = "" };
	json_t *calls = NULL;
	int r = client_open(&c, p->args, e);

	if (r >= 0)
		r = find_run(c, name, &calls, e);
	if (r >= 0)
		r = make_folder(&w, e);
	if (r >= 0)
		r = open_run(p, c, &w, calls, e);
	remove_folder(&w);
	json_decref(calls);
	return r;
}
