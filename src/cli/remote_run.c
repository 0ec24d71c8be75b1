/* SPDX-License-Identifier: MIT */
/* remote_run: see remote_run.h. */
#include "cli/remote_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "base/when.h"
#include "cli/device_json.h"

#define RUNS_LOOKED_AT "1000"

/* --- files --- */

int remote_run_folder_open(struct remote_run_folder *f, struct error *e)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(f->folder, sizeof(f->folder), "%.200s/kiseki-run-XXXXXX",
		 tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(f->folder)) {
		f->folder[0] = 0;
		return error_set(e, errno, "no folder for it can be made: %s", strerror(errno));
	}
	snprintf(f->path, sizeof(f->path), "%s/run.ksk", f->folder);
	return 0;
}

void remote_run_folder_close(struct remote_run_folder *f)
{
	if (!f->folder[0])
		return;
	unlink(f->path);
	rmdir(f->folder);
	f->folder[0] = 0;
}

static int take(void *context, const char *bytes, size_t len, struct error *e)
{
	outfile_write(context, bytes, len);
	return outfile_check(context, e);
}

int remote_run_download(struct client *c, const struct url *u, const char *path, struct error *e)
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

void remote_run_push_export(struct url *u, uint32_t run)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", run);
	url_init(u, "/api/v1/runs");
	url_push(u, number);
	url_push(u, "export");
	url_push_param(u, "format", "ksk");
}

/* --- which run --- */

static bool is_number(const char *text)
{
	return strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

int remote_run_find(struct client *c, const char *name, const struct remote_run_kind *k,
		    json_t **ret, struct error *e)
{
	json_t *answer = NULL, *list;
	struct url u;
	int r;

	url_init(&u, is_number(name) ? "/api/v1/runs" : "/api/v1/devices");
	url_push(&u, name);
	if (is_number(name))
		return client_get_json(c, &u, ret, e);
	url_push(&u, "runs");
	url_push_param(&u, "kind", k->kind);
	url_push_param(&u, "limit", "1");
	r = client_get_json(c, &u, &answer, e);
	if (r < 0)
		return r;
	list = json_object_get(answer, "runs");
	*ret = json_incref(json_array_get(list, 0));
	json_decref(answer);
	return *ret ? 0 : error_set(e, ENODATA, "%s has no run of its %s", name, k->what);
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

/* How long blocks of two runs of the same boot came together; negative: so long apart. INT64_MIN: they have nothing in
 * common. */
static int64_t get_shared(const json_t *a, const json_t *b)
{
	struct span x, y;
	uint64_t from, to;

	if (strcmp(device_json_text(a, "boot"), device_json_text(b, "boot")) != 0 ||
	    !get_span(a, &x) || !get_span(b, &y))
		return INT64_MIN;
	from = x.from_ns > y.from_ns ? x.from_ns : y.from_ns;
	to = x.to_ns < y.to_ns ? x.to_ns : y.to_ns;
	return (int64_t)(to - from);
}

int remote_run_find_sched(struct client *c, const json_t *run, uint64_t apart_ns,
			  struct remote_run_sched *ret, struct error *e)
{
	int64_t most = -(int64_t)apart_ns - 1, shared;
	json_t *answer = NULL;
	const json_t *list, *each;
	struct url u;
	size_t i;
	int r;

	url_init(&u, "/api/v1/devices");
	url_push(&u, device_json_text(run, "device_id"));
	url_push(&u, "runs");
	url_push_param(&u, "kind", "sched");
	url_push_param(&u, "limit", RUNS_LOOKED_AT);
	r = client_get_json(c, &u, &answer, e);
	list = json_object_get(answer, "runs");
	for (i = 0; r >= 0 && i < json_array_size(list); i++) {
		each = json_array_get(list, i);
		shared =
			json_array_size(json_object_get(each, "kinds")) ? get_shared(run, each) : 0;
		if (shared > most) {
			most = shared;
			ret->run = (uint32_t)device_json_count(each, "run");
			ret->bytes = device_json_count(each, "bytes");
		}
	}
	json_decref(answer);
	return r;
}
