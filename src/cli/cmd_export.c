/* SPDX-License-Identifier: MIT */
/* export: a part of what a collector holds of a device, as a file of any format. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/outfile.h"
#include "base/when.h"
#include "cli/client.h"
#include "cli/device_json.h"
#include "cli/kiseki.h"
#include "cli/signals.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/say.h"
#include "convert/formats.h"

#define TURN_MS 200
#define APPEARS_MS 1000

struct download {
	struct outfile *out;
	int signals;
	uint64_t start_ms;
	uint64_t bytes;
	bool shown;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), len = strlen(end);

	return n >= len && !strcmp(text + n - len, end);
}

/* --- what to ask for --- */

static const struct format *choose_format(const struct args *a, struct error *e)
{
	const char *name = args_get(a, "format"), *path = args_get(a, "output");
	const struct format *f;

	if (!path) {
		error_set(e, EINVAL, "cannot export: no output given; add -o OUT");
		return NULL;
	}
	f = name		      ? formats_find(name)
	    : ends_with(path, ".tar") ? formats_find("ctf")
				      : formats_from_path(path);
	if (!f)
		error_set(e, EINVAL, "cannot export: %s names no format; see kiseki export --help",
			  name ? name : path);
	if (f && !strcmp(f->name, "ctf") && strcmp(path, "-") && !ends_with(path, ".tar")) {
		error_set(e, EINVAL,
			  "cannot export to %s: a folder of CTF comes as an archive; "
			  "write -o NAME.ctf.tar, or export a .ksk and convert it",
			  path);
		return NULL;
	}
	return f;
}

/* Points in time are the person's, whose zone the server does not know; lengths after the run's
 * begin ("+5s") are the server's to find. */
static int push_time(struct url *u, const struct args *a, const char *name, struct error *e)
{
	const char *text = args_get(a, name);
	char iso[WHEN_MAX];
	uint64_t ns;
	int r;

	if (!text || *text == '+') {
		url_push_param(u, name, text);
		return 0;
	}
	r = when_parse(text, clock_real_ns(), &ns, e);
	if (r < 0)
		return r;
	url_push_param(u, name, when_format(ns, iso));
	return 0;
}

static int make_url(struct url *u, const struct args *a, struct error *e)
{
	static const char *const passed[] = { "cpu", "pid", "comm", "event", "kind" };
	const struct format *f = choose_format(a, e);
	size_t i;
	int r;

	if (!f)
		return -EINVAL;
	url_init(u, args_has(a, "run") ? "/api/v1/runs" : "/api/v1/devices");
	url_push(u, args_has(a, "run") ? args_get(a, "run") : a->operands[0]);
	url_push(u, "export");
	url_push_param(u, "format", f->name);
	r = push_time(u, a, "from", e);
	if (r >= 0)
		r = push_time(u, a, "to", e);
	for (i = 0; r >= 0 && i < sizeof(passed) / sizeof(passed[0]); i++)
		url_push_param(u, passed[i], args_get(a, passed[i]));
	return r;
}

/* --- the transfer --- */

static int take(void *context, const char *bytes, size_t len, struct error *e)
{
	struct download *d = context;

	outfile_write(d->out, bytes, len);
	d->bytes += len;
	return outfile_check(d->out, e);
}

static void draw(struct download *d)
{
	uint64_t ms = clock_mono_ns() / 1000000 - d->start_ms;
	char size[UNITS_LEN], speed[UNITS_LEN];

	if (ms < APPEARS_MS || !isatty(STDERR_FILENO))
		return;
	d->shown = true;
	fprintf(stderr, "\rexporting  %s  %s/s\033[K", units_bytes(d->bytes, size),
		units_bytes(d->bytes * 1000 / ms, speed));
}

static int turn(void *context, struct error *e)
{
	struct download *d = context;
	int s;

	draw(d);
	while ((s = signals_next(d->signals)))
		if (signals_is_end(s))
			return error_set(e, EINTR, "cannot export: interrupted, nothing is kept");
	return 0;
}

static int download(struct client *c, const struct url *u, const char *path, struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	CLEANUP_SIGNALS int signals = signals_open(e);
	struct download d = { .signals = signals };
	struct client_watch w = { .context = &d, .take = take, .turn = turn, .turn_ms = TURN_MS };
	int r;

	if (signals < 0)
		return signals;
	r = outfile_open(&out, path, e);
	if (r < 0)
		return r;
	d.out = out;
	d.start_ms = clock_mono_ns() / 1000000;
	w.fds[w.n_fds++] = signals;
	r = client_stream(c, u, &w, e);
	if (d.shown)
		fputs("\r\033[K", stderr);
	return r < 0 ? r : outfile_commit(out, e);
}

/* Who names both means a run of this device. */
static int check_device(struct client *c, const struct args *a, struct error *e)
{
	const char *number = args_get(a, "run");
	json_t *one = NULL;
	struct url u;
	int r;

	url_init(&u, "/api/v1/runs");
	url_push(&u, number);
	r = client_get_json(c, &u, &one, e);
	if (r >= 0 && strcmp(device_json_text(one, "device"), a->operands[0]) != 0 &&
	    strcasecmp(device_json_text(one, "device_id"), a->operands[0]) != 0)
		r = error_set(e, EINVAL, "cannot export: run %s is of device %s, not of %s", number,
			      device_json_text(one, "device"), a->operands[0]);
	json_decref(one);
	return r;
}

static int run(const struct args *a)
{
	CLEANUP(client) struct client *c = NULL;
	const char *path = args_get(a, "output");
	struct error e = ERROR_INIT;
	struct url u;

	if (!a->n_operands && !args_has(a, "run")) {
		error_set(&e, EINVAL, "cannot export: name a device, or a run with --run");
		return say_usage(&e);
	}
	if (make_url(&u, a, &e) < 0 || client_open(&c, a, &e) < 0)
		return say_usage(&e);
	if (a->n_operands && args_has(a, "run") && check_device(c, a, &e) < 0)
		return say_failure(&e);
	if (!strcmp(path, "-") && isatty(STDOUT_FILENO) && !choose_format(a, &e)->text) {
		error_set(&e, EINVAL, "cannot export to a terminal: it is not text");
		return say_failure(&e);
	}
	if (download(c, &u, path, &e) < 0)
		return say_failure(&e);
	if (*client_note(c))
		say_note("%s", client_note(c));
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where to write it; - is standard output", NULL },
	{ 'f', "format", "FORMAT", "the format; without it, the ending of OUT decides",
	  "ksk ftrace json ndjson xml ctf trace.dat perfetto chrome csv" },
	{ 0, "from", "TIME", "from this time on: -5m, 10:02:30, 2026-11-15T10:02:30Z, +5s", NULL },
	{ 0, "to", "TIME", "before this time", NULL },
	{ 0, "run", "RUN", "of this run instead of the device's latest", NULL },
	{ 0, "kind", "KIND",
	  "the latest run of this kind: sched, func (programs), boot, profile, vm",
	  "sched func boot profile vm" },
	{ 0, "cpu", "LIST", "only these CPUs: 0,2-3", NULL },
	{ 0, "pid", "LIST", "only events of these tasks; 123@797.5: who had it then", NULL },
	{ 0, "comm", "GLOB", "only events of tasks with such names", NULL },
	{ 0, "event", "LIST", "only these kinds of events", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The last five minutes for the Perfetto UI:",
	  "kiseki export board-7 --from -5m -o now.pftrace" },
	{ "Two seconds around a moment, as the kernel would print it:",
	  "kiseki export board-7 --from 10:02:29 --to 10:02:31 -o incident.txt" },
	{ NULL, NULL },
};

const struct command command_export = {
	.name = "export",
	.summary = "write a part of a device's recording to a file",
	.usage = "DEVICE|[DEVICE] --run RUN -o OUT [--from TIME] [--to TIME]",
	.description =
		"Times are points in time: now, -5m (before now), 10:02:30 (the last time that "
		"clocks showed it), 2026-11-15 10:02:30, with Z or +01:00 behind it for another "
		"zone, "
		"@1763200000.5; or +5s, after the recording's begin. Formats and endings are those "
		"of kiseki convert; CTF comes as an archive (.ctf.tar). The output appears whole "
		"or not at all.\n\n"
		"A run of programs is exported whole; of its formats (kiseki func export) those "
		"that this command has are written without names of functions. So is a boot chart, "
		"as .ksk.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = 1,
	.run = run,
};
