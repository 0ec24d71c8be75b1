/* SPDX-License-Identifier: MIT */
/* profile_remote: see profile_remote.h. */
#include "cli/profile_remote.h"

#include <errno.h>

#include "cli/device_json.h"
#include "cli/remote_run.h"
#include "trace/sample_ksk.h"

static int open_run(struct sample_source **ret, struct client *c, const json_t *run,
		    struct error *e)
{
	uint32_t number = (uint32_t)device_json_count(run, "run");
	struct remote_run_folder folder = { .folder = "" };
	struct url u;
	int r = remote_run_folder_open(&folder, e);

	if (r < 0)
		return r;
	remote_run_push_export(&u, number);
	r = remote_run_download(c, &u, folder.path, e);
	if (r >= 0)
		r = sample_ksk_open(folder.path, ret, e);
	if (r == -ENODATA)
		r = error_set(e, ENODATA, "run %u has no profile", number);
	remote_run_folder_close(&folder);
	return r;
}

int profile_remote_open(struct sample_source **ret, const struct args *a, const char *name,
			bool wants_machines, struct error *e)
{
	const struct remote_run_kind kind = {
		.kind = wants_machines ? "vm" : "profile",
		.what = wants_machines ? "virtual machines" : "profiles",
	};
	CLEANUP(client) struct client *c = NULL;
	json_t *run = NULL;
	int r = client_open(&c, a, e);

	if (r >= 0)
		r = remote_run_find(c, name, &kind, &run, e);
	if (r >= 0)
		r = open_run(ret, c, run, e);
	json_decref(run);
	return r;
}
