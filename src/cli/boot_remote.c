/* SPDX-License-Identifier: MIT */
/* boot_remote: see boot_remote.h. */
#include "cli/boot_remote.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/boot_run.h"
#include "base/when.h"
#include "cli/boot_join.h"
#include "cli/device_json.h"
#include "cli/remote_run.h"
#include "convert/input.h"
#include "trace/boot_ksk.h"

/* So much is fetched whole. */
#define WHOLE_BYTES (64U << 20)

struct remote {
	struct client *client;
	struct remote_run_folder folder;
	json_t *run;
};

static void done(struct remote *r)
{
	json_decref(r->run);
	remote_run_folder_close(&r->folder);
	client_free(r->client);
}

static int open_boot(struct remote *r, struct boot **ret, struct error *e)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	uint32_t number = (uint32_t)device_json_count(r->run, "run");
	struct url u;
	int rc;

	remote_run_push_export(&u, number);
	rc = remote_run_download(r->client, &u, r->folder.path, e);
	if (rc >= 0)
		rc = boot_ksk_open(r->folder.path, &source, e);
	if (rc == -ENODATA)
		return error_set(e, ENODATA, "run %u has no boot chart", number);
	return rc < 0 ? rc : boot_new(ret, source, e);
}

/* Of a long run only the time of the boot: it may be of days. Else all of it, and also where the device alone
 * knows the real time, which was then set anew: the collector asks for real times. */
static void push_span(struct url *u, const struct boot *b, uint64_t bytes)
{
	char from[WHEN_MAX], to[WHEN_MAX];
	uint64_t off = (uint64_t)b->realtime_ns;

	if (b->realtime_ns <= 0 || bytes <= WHOLE_BYTES || (!b->is_measured && b->n_realtimes > 1))
		return;
	url_push_param(u, "from", when_format(boot_run_from(b) + off, from));
	url_push_param(u, "to", when_format(boot_run_to(b) + off, to));
}

static int join(struct remote *r, struct boot *b, struct error *e)
{
	CLEANUP(input) struct input *input = NULL;
	struct trace_source *source;
	struct remote_run_sched sched = { 0 };
	struct url u;
	int rc = remote_run_find_sched(r->client, r->run, BOOT_RUN_APART_NS, &sched, e);

	if (rc < 0 || !sched.run)
		return rc;
	remote_run_push_export(&u, sched.run);
	push_span(&u, b, sched.bytes);
	rc = remote_run_download(r->client, &u, r->folder.path, e);
	if (rc >= 0)
		rc = input_open(&input, r->folder.path, e);
	if (rc < 0)
		return rc;
	source = input_take_source(input);
	rc = boot_join_run(b, source, sched.run, e);
	source_free(source);
	return rc;
}

int boot_remote_open(struct boot **ret, const struct args *a, const char *name, bool with_sched,
		     struct error *e)
{
	static const struct remote_run_kind kind = { .kind = "boot", .what = "boots" };
	__attribute__((cleanup(done))) struct remote r = { .folder = { .folder = "" } };
	CLEANUP(boot) struct boot *b = NULL;
	int rc = client_open(&r.client, a, e);

	if (rc >= 0)
		rc = remote_run_find(r.client, name, &kind, &r.run, e);
	if (rc >= 0)
		rc = remote_run_folder_open(&r.folder, e);
	if (rc >= 0)
		rc = open_boot(&r, &b, e);
	if (rc >= 0 && with_sched)
		rc = join(&r, b, e);
	if (rc < 0)
		return rc;
	*ret = take_ptr(b);
	return 0;
}
