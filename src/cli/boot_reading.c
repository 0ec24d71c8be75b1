/* SPDX-License-Identifier: MIT */
/* boot_reading: see boot_reading.h. */
#include "cli/boot_reading.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/boot_exact.h"
#include "analysis/boot_run.h"
#include "cli/boot_join.h"
#include "cli/boot_remote.h"
#include "command/say.h"
#include "command/value.h"
#include "convert/input.h"
#include "convert/source_bootchart.h"
#include "store/store_check.h"
#include "trace/boot_ksk.h"

static bool wants_sched(const struct args *a)
{
	return !args_has(a, "sampled") && !args_has(a, "sched");
}

/* --- a file --- */

/* Nothing but a trace of the scheduler. */
static int open_sched(struct boot **ret, struct input *input, const char *path, struct error *e)
{
	struct trace_source *sched = input_take_source(input);
	int r = boot_new_from_sched(ret, sched, e);

	source_free(sched);
	return r < 0 ? input_error(path, r, e) : r;
}

/* A .ksk may have the scheduler's events beside the boot's, or alone. */
static int open_trace(struct boot **ret, const struct args *a, const char *path, struct error *e)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	CLEANUP(input) struct input *input = NULL;
	int r = input_open(&input, path, e);

	if (r < 0)
		return r;
	if (input_get_format(input) != RECOGNISED_KSK)
		return open_sched(ret, input, path, e);
	r = boot_ksk_open(path, &source, e);
	if (r == -ENODATA)
		return open_sched(ret, input, path, e);
	if (r >= 0)
		r = boot_new(ret, source, e);
	if (r < 0)
		return input_error(path, r, e);
	return wants_sched(a) ? boot_join_file(*ret, path, e) : 0;
}

static int open_file(struct boot **ret, const struct args *a, const char *path, struct error *e)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	int r = source_bootchart_open(path, &source, e);

	if (r == -ENODATA)
		return open_trace(ret, a, path, e);
	if (r >= 0)
		r = boot_new(ret, source, e);
	return r < 0 ? input_error(path, r, e) : 0;
}

/* What comes down a pipe is copied to a file first. */
static int open_path(struct boot **ret, const struct args *a, const char *path, struct error *e)
{
	CLEANUP(input) struct input *input = NULL;
	int r;

	if (strcmp(path, "-") != 0)
		return open_file(ret, a, path, e);
	r = input_open(&input, path, e);
	return r < 0 ? r : open_file(ret, a, input_get_path(input), e);
}

/* --- a store --- */

static int take_boot(void *context, const struct store_run *r)
{
	struct store_run *found = context;

	if (!r->has_boot || !r->blocks)
		return 0;
	*found = *r;
	return 1;
}

static int find_boot(struct store *store, struct store_run *ret, const struct args *a,
		     const char *path, struct error *e)
{
	const char *text = args_get(a, "run");
	uint64_t number = 0;
	int r;

	if (text && value_number(&number, text, UINT32_MAX) < 0)
		return error_set(e, EINVAL, "cannot take --run %s: it is not a number", text);
	r = text ? store_get_run(store, (uint32_t)number, ret, e)
		 : store_runs(store, NULL, take_boot, ret, e);
	if (r < 0)
		return error_prefix(e, r, "cannot read %s", path);
	if (!ret->has_boot)
		return error_set(e, ENODATA, "cannot read %s: %s no boot chart", path,
				 text ? "that run has" : "its runs have");
	return 0;
}

/* What became of the scheduler's run of the same time. */
static void say_join(const struct boot_run *run)
{
	if (run->sched && run->has_common_clock)
		say_note("exact by run %u, the scheduler's of the same time; --sampled leaves it "
			 "out",
			 run->sched);
	else if (run->sched)
		say_note("run %u, the scheduler's of the same time, is left out: its clock has "
			 "nothing in common with that of the boot",
			 run->sched);
}

static int open_store(struct boot **ret, const struct args *a, const char *path, struct error *e)
{
	const struct store_options o = { .read_only = true };
	CLEANUP(store) struct store *store = NULL;
	struct store_run found = { .number = 0 };
	struct boot_run run;
	int r = store_open(&store, path, &o, e);

	if (r >= 0)
		r = find_boot(store, &found, a, path, e);
	if (r >= 0)
		r = boot_run_open(&run, store, &found, wants_sched(a), e);
	if (r < 0)
		return r;
	say_join(&run);
	*ret = run.boot;
	return 0;
}

/* --- all --- */

static int open_any(struct boot **ret, const struct args *a, const char *name, struct error *e)
{
	struct error missing = ERROR_INIT;
	struct stat st;
	int r;

	if (store_is_place(name))
		return open_store(ret, a, name, e);
	if (args_has(a, "run"))
		return error_set(e, EINVAL, "cannot take --run: %s is not the folder of a store",
				 name);
	if (!stat(name, &st) || errno != ENOENT || strchr(name, '/') || !strcmp(name, "-"))
		return open_path(ret, a, name, e);
	r = boot_remote_open(ret, a, name, wants_sched(a), &missing);
	if (r >= 0)
		return r;
	return error_set(e, -r, "cannot read %s: there is no such file, and of the collector: %s",
			 name, missing.text);
}

int boot_reading_open(struct boot **ret, const struct args *a, const char *name)
{
	CLEANUP(boot) struct boot *b = NULL;
	struct error e = ERROR_INIT;
	int r = open_any(&b, a, name, &e);

	if (r >= 0 && args_has(a, "sched") && !args_has(a, "sampled"))
		r = boot_join_file(b, args_get(a, "sched"), &e);
	if (r < 0)
		return say_failure(&e);
	*ret = take_ptr(b);
	return EXIT_OK;
}
