/* SPDX-License-Identifier: MIT */
/* boot_records: see boot_records.h. */
#include "cli/boot_records.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/client.h"
#include "cli/device_json.h"
#include "command/value.h"
#include "convert/input.h"
#include "convert/source_bootchart.h"
#include "store/store_check.h"
#include "trace/boot_ksk.h"

int boot_records_open_file(const char *path, struct boot_source **ret, struct error *e)
{
	CLEANUP(input) struct input *input = NULL;
	int r = source_bootchart_open(path, ret, e);

	if (r != -ENODATA)
		return r;
	/* Whatever it is otherwise, the reader of traces knows best what to say of it. */
	r = input_open(&input, path, e);
	if (r < 0)
		return r;
	r = input_get_format(input) == RECOGNISED_KSK ? boot_ksk_open(input_get_path(input), ret, e)
						      : -ENODATA;
	if (r == -ENODATA)
		return error_set(e, ENODATA, "cannot read %s: it has no boot chart", path);
	return r < 0 ? input_error(path, r, e) : 0;
}

/* --- a store --- */

static int take_boot(void *context, const struct store_run *run)
{
	struct store_run *ret = context;

	if (!run->has_boot || !run->blocks)
		return 0;
	*ret = *run;
	return 1;
}

static int open_store(struct boot_records *r, const struct args *a, const char *path,
		      struct error *e)
{
	const struct store_options o = { .read_only = true };
	const char *text = args_get(a, "run");
	struct store_run run = { .number = 0 };
	uint64_t number = 0;
	int rc;

	if (text && value_number(&number, text, UINT32_MAX) < 0)
		return error_set(e, EINVAL, "cannot take --run %s: it is not a number", text);
	rc = store_open(&r->store, path, &o, e);
	if (rc >= 0)
		rc = text ? store_get_run(r->store, (uint32_t)number, &run, e)
			  : store_runs(r->store, NULL, take_boot, &run, e);
	if (rc < 0)
		return error_prefix(e, rc, "cannot read %s", path);
	if (!run.has_boot)
		return error_set(e, ENODATA, "cannot read %s: %s no boot chart", path,
				 text ? "that run has" : "its runs have");
	return boot_ksk_open_run(r->store, run.number, &r->source, e);
}

/* --- a collector --- */

static int open_remote(struct boot_records *r, const struct args *a, const char *name,
		       struct error *e)
{
	static const struct remote_run_kind kind = { .kind = "boot", .what = "boots" };
	struct client *client = NULL;
	json_t *run = NULL;
	struct url u;
	int rc = client_open(&client, a, e);

	if (rc >= 0)
		rc = remote_run_find(client, name, &kind, &run, e);
	if (rc >= 0)
		rc = remote_run_folder_open(&r->folder, e);
	if (rc >= 0) {
		remote_run_push_export(&u, (uint32_t)device_json_count(run, "run"));
		rc = remote_run_download(client, &u, r->folder.path, e);
	}
	if (rc >= 0)
		rc = boot_ksk_open(r->folder.path, &r->source, e);
	if (rc == -ENODATA)
		rc = error_set(e, ENODATA, "that run has no boot chart");
	json_decref(run);
	client_free(client);
	return rc;
}

/* --- all --- */

int boot_records_open(struct boot_records *r, const struct args *a, const char *name,
		      struct error *e)
{
	struct error missing = ERROR_INIT;
	struct stat st;
	int rc;

	memset(r, 0, sizeof(*r));
	if (store_is_place(name))
		return open_store(r, a, name, e);
	if (args_has(a, "run"))
		return error_set(e, EINVAL, "cannot take --run: %s is not the folder of a store",
				 name);
	if (!stat(name, &st) || errno != ENOENT || strchr(name, '/') || !strcmp(name, "-"))
		return boot_records_open_file(name, &r->source, e);
	rc = open_remote(r, a, name, &missing);
	if (rc >= 0)
		return rc;
	return error_set(e, rc, "cannot read %s: there is no such file, and of the collector: %s",
			 name, missing.text);
}

void boot_records_close(struct boot_records *r)
{
	boot_source_free(r->source);
	store_free(r->store);
	remote_run_folder_close(&r->folder);
	memset(r, 0, sizeof(*r));
}
