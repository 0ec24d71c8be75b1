/* SPDX-License-Identifier: MIT */
/* boot chart: a boot as a page, a picture, or a document. */
#include "chart/boot_chart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/boot_moment.h"
#include "base/when.h"
#include "chart/boot_layout.h"
#include "cli/boot_picture.h"
#include "cli/boot_reading.h"
#include "cli/kiseki.h"
#include "command/say.h"
#include "command/value.h"

/* Those that need no boot. */
static int read_options(struct boot_chart_options *o, const struct args *a, struct error *e)
{
	uint64_t width = 0;

	o->kernel = args_has(a, "kernel");
	o->path = args_has(a, "path");
	if (args_has(a, "min") && when_parse_length(args_get(a, "min"), &o->min_ns, e) < 0)
		return error_prefix(e, EINVAL, "cannot take --min");
	if (args_has(a, "width") &&
	    (value_number(&width, args_get(a, "width"), BOOT_LAYOUT_WIDTH_MAX) < 0 || !width))
		return error_set(e, EINVAL, "cannot take --width %s: it is 1 to %u pixels",
				 args_get(a, "width"), BOOT_LAYOUT_WIDTH_MAX);
	o->width = (uint32_t)width;
	if (!args_has(a, "output"))
		return error_set(e, EINVAL, "cannot draw the chart: no output given; add -o FILE");
	if (args_has(a, "open") && !strcmp(args_get(a, "output"), "-"))
		return error_set(e, EINVAL, "cannot open standard output: give -o a file");
	return 0;
}

static int get_moment(const struct args *a, const char *name, const struct boot *b,
		      struct boot_moment *ret, struct error *e)
{
	const char *text = args_get(a, name);
	int r;

	if (!text || !*text)
		return 0;
	r = boot_moment_parse(text, b, ret, e);
	return r < 0 ? error_prefix(e, -r, "cannot take --%s", name) : 0;
}

/* Those that are moments of it. */
static int read_moments(struct boot_chart_options *o, const struct args *a, const struct boot *b,
			struct error *e)
{
	struct boot_moment from = { 0 }, to = { 0 }, path = { .process = BOOT_NONE };
	int r = get_moment(a, "from", b, &from, e);

	if (r >= 0)
		r = get_moment(a, "to", b, &to, e);
	if (r >= 0)
		r = get_moment(a, "path", b, &path, e);
	if (r < 0)
		return r;
	o->from_ns = from.ns;
	o->to_ns = to.ns;
	o->path_ns = path.ns;
	o->path_of = path.process == BOOT_NONE ? 0 : path.process + 1;
	if (o->from_ns >= b->to_ns || (o->to_ns && o->to_ns <= (from.ns ? from.ns : b->from_ns)))
		return error_set(e, EINVAL, "cannot draw the chart: nothing is between %s and %s",
				 args_has(a, "from") ? args_get(a, "from") : "its start",
				 args_has(a, "to") ? args_get(a, "to") : "its end");
	return 0;
}

/* As the desktop does it; what that prints is not ours. */
static int open_file(const char *path, struct error *e)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		execlp("xdg-open", "xdg-open", path, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return error_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return error_set(e, ENOENT, "cannot open %s: xdg-open %s", path,
				 WIFEXITED(status) && WEXITSTATUS(status) == 127
					 ? "is not installed"
					 : "failed");
	return 0;
}

static int run(const struct args *a)
{
	struct boot_chart_options o = { 0 };
	CLEANUP(boot) struct boot *b = NULL;
	struct error e = ERROR_INIT;
	int r;

	if (read_options(&o, a, &e) < 0)
		return say_usage(&e);
	r = boot_reading_open(&b, a, a->operands[0]);
	if (r != EXIT_OK)
		return r;
	r = read_moments(&o, a, b, &e);
	if (r >= 0)
		r = boot_picture_write(args_get(a, "output"), b, &o, &e);
	if (r == -EINVAL)
		return say_usage(&e);
	if (r >= 0 && args_has(a, "open"))
		r = open_file(args_get(a, "output"), &e);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "FILE",
	  "where to draw it: .html, .svg or .json; - is a page on standard output", NULL },
	{ 0, "from", "MOMENT",
	  "only from here: a time (12.5, +300ms), a process, or a text of a mark", NULL },
	{ 0, "to", "MOMENT", "only up to here", NULL },
	{ 0, "min", "TIME", "draw processes that lived shorter in the row of their parent (0)",
	  NULL },
	{ 'k', "kernel", NULL, "kernel threads, too", NULL },
	{ 0, "width", "PIXELS", "of the SVG; without it, as wide as the time wants", NULL },
	{ 0, "path", "[=MOMENT]", "show the critical path to the target, or to this moment", NULL },
	{ 0, "open", NULL, "open it, too", NULL },
	BOOT_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "A page to look around in:", "kiseki boot chart boot.ksk -o boot.html" },
	{ "A picture for a ticket, with what the target had to wait for:",
	  "kiseki boot chart boot.ksk --path --min 20ms -o boot.svg" },
	{ "The latest boot of a device of the collector:",
	  "kiseki boot chart board-7 -o boot.html --open" },
	{ NULL, NULL },
};

const struct command command_boot_chart = {
	.name = "chart",
	.summary = "draw a boot: a page, a picture or JSON",
	.usage = "FILE|DEVICE|RUN -o FILE [--path[=MOMENT]] [OPTION...]",
	.description =
		"The page (.html) needs nothing else, no network and no other file: zoom, hover, "
		"search, fold, and the critical path to any moment. The picture (.svg) has no "
		"script. Both have a row for each process from its start to its end, below those "
		"of the CPUs, disks, memory and pressure, and a legend that explains every mark. "
		"JSON (.json) has all that was recorded (docs/format/boot-json.md).\n\n"
		"FILE is whatever `kiseki boot report` takes.",
	.options = options,
	.examples = examples,
	.parent = &command_boot,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
