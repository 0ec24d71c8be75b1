/* SPDX-License-Identifier: MIT */
/* boot export: a boot for other tools, or as a file of its own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/memfile.h"
#include "base/outfile.h"
#include "chart/boot_json.h"
#include "cli/boot_reading.h"
#include "cli/boot_records.h"
#include "cli/kiseki.h"
#include "command/command.h"
#include "command/say.h"
#include "convert/sink_bootchart.h"
#include "trace/boot_pack.h"

enum form { BOOTCHART, KSK, JSON, FORMS };

static const struct {
	const char *name;
	const char *ends[3];
} forms[FORMS] = {
	[BOOTCHART] = { "bootchart", { ".tgz", ".tar.gz", NULL } },
	[KSK] = { "ksk", { ".ksk", NULL } },
	[JSON] = { "json", { ".json", NULL } },
};

static int choose(const struct args *a, enum form *ret, struct error *e)
{
	const char *name = args_get(a, "format"), *path = args_get(a, "output");
	unsigned int i, k;

	if (!path)
		return error_set(e, EINVAL, "cannot export: no output given; add -o OUT");
	for (i = 0; i < FORMS; i++) {
		*ret = (enum form)i;
		if (name && !strcmp(name, forms[i].name))
			return 0;
		for (k = 0; !name && forms[i].ends[k]; k++)
			if (ending_fits(path, forms[i].ends[k]))
				return 0;
	}
	if (name)
		return error_set(e, EINVAL,
				 "cannot export: unknown format '%s'; it is bootchart, ksk or json",
				 name);
	if (ending_fits(path, ".svg") || ending_fits(path, ".html"))
		return error_set(e, EINVAL,
				 "cannot export %s: pictures are made by kiseki boot "
				 "chart",
				 path);
	return error_set(e, EINVAL, "cannot export: the ending of %s names no format; add --format",
			 path);
}

/* What writes to a stream goes to memory first: a file appears whole, or not at all. */
static int write_text(const char *path, const char *text, size_t len, struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, path, e);

	if (r < 0)
		return r;
	outfile_write(out, text, len);
	return outfile_commit(out, e);
}

static int export_bootchart(struct boot_source *s, const char *path, struct error *e)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *f = memfile_open(&text, &len);
	int r;

	if (!f)
		return error_set(e, ENOMEM, "cannot write %s: %s", path, strerror(ENOMEM));
	r = sink_bootchart_write(f, s, e);
	if (fclose(f) && r >= 0)
		r = error_set(e, ENOMEM, "cannot write %s: %s", path, strerror(ENOMEM));
	return r < 0 ? r : write_text(path, text, len, e);
}

static int export_records(const struct args *a, enum form form, struct error *e)
{
	CLEANUP_BOOT_RECORDS struct boot_records records = { .source = NULL };
	const char *path = args_get(a, "output");
	struct boot_packing packing = { .block_bytes = 0 };
	int r = boot_records_open(&records, a, a->operands[0], e);

	if (r < 0)
		return r;
	return form == KSK ? boot_pack_file(path, records.source, &packing, e)
			   : export_bootchart(records.source, path, e);
}

static int export_json(const struct args *a)
{
	CLEANUP(boot) struct boot *b = NULL;
	_cleanup_free_ char *text = NULL;
	struct error e = ERROR_INIT;
	size_t len = 0;
	FILE *f;
	int r = boot_reading_open(&b, a, a->operands[0]);

	if (r)
		return r;
	f = memfile_open(&text, &len);
	r = f ? boot_json_write(f, b, &e) : error_set(&e, ENOMEM, "%s", strerror(ENOMEM));
	if (f && fclose(f) && r >= 0)
		r = error_set(&e, ENOMEM, "%s", strerror(ENOMEM));
	if (r >= 0)
		r = write_text(args_get(a, "output"), text, len, &e);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static int run(const struct args *a)
{
	struct error e = ERROR_INIT;
	enum form form = JSON;

	if (choose(a, &form, &e) < 0)
		return say_usage(&e);
	if (!strcmp(args_get(a, "output"), "-") && form != JSON && isatty(STDOUT_FILENO)) {
		error_set(&e, 1, "cannot write %s to a terminal: it is not text", forms[form].name);
		return say_failure(&e);
	}
	if (form == JSON)
		return export_json(a);
	return export_records(a, form, &e) < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where to write it; - is standard output", NULL },
	{ 'f', "format", "FORMAT", "the format; without it, the ending of OUT decides",
	  "bootchart ksk json" },
	BOOT_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "For pybootchartgui:", "kiseki boot export boot.ksk -o bootchart.tgz" },
	{ "What busybox's bootchartd has recorded, a tenth of its size:",
	  "kiseki boot export bootlog.tgz -o boot.ksk" },
	{ "Everything about the latest boot of a device, for a script:",
	  "kiseki boot export board-7 -o boot.json" },
	{ NULL, NULL },
};

const struct command command_boot_export = {
	.name = "export",
	.summary = "write a boot in another format",
	.usage = "FILE|DEVICE|RUN -o OUT [--format FORMAT] [OPTION...]",
	.description =
		"The formats, with the endings that choose them: bootchart (.tgz .tar.gz), the "
		"archive "
		"of bootchart2, busybox and Android, with times to a hundredth of a second and a "
		"look at all processes for each that the recording has; ksk (.ksk), the records "
		"as they are; json (.json), everything that is known about the boot, with "
		"exact states where the scheduler's events of the same time are there.\n\n"
		"FILE is what kiseki boot report takes. The output appears whole or not at all.",
	.options = options,
	.examples = examples,
	.parent = &command_boot,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
