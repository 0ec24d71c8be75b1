/* SPDX-License-Identifier: MIT */
/* convert: any trace into any format, whole or in part. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/func_digest.h"
#include "cli/kiseki.h"
#include "cli/reading.h"
#include "command/args.h"
#include "command/command.h"
#include "command/say.h"
#include "convert/formats.h"
#include "convert/func_input.h"
#include "convert/source_bootchart.h"
#include "convert/source_graph_dat.h"
#include "trace/boot_ksk.h"
#include "trace/boot_pack.h"
#include "trace/func_ksk.h"
#include "trace/func_pack.h"
#include "trace/sample_ksk.h"

struct conversion {
	const struct format *format;
	const struct format *holds; /* whose limits apply: the format, or the codec of .ksk */
	const char *path;
	struct format_options options;
	uint64_t dropped;  /* items that the format does not hold whole */
	bool leaves_calls; /* the trace has some that are not written */
	bool leaves_boot;  /* and a boot chart */
	bool leaves_profile;
};

static int choose_format(struct conversion *c, const struct args *a, struct error *e)
{
	const char *name = args_get(a, "format"), *codec = args_get(a, "codec");

	c->path = args_get(a, "output");
	if (!c->path)
		return error_set(e, EINVAL, "cannot convert: no output given; add -o OUT");
	c->format = name ? formats_find(name) : formats_from_path(c->path);
	if (!c->format && name)
		return error_set(e, EINVAL,
				 "cannot convert: unknown format '%s'; see kiseki "
				 "convert --help",
				 name);
	if (!c->format)
		return error_set(e, EINVAL,
				 "cannot convert: the ending of %s names no format; add "
				 "--format",
				 c->path);
	c->holds = c->format;
	c->options.codec = codec;
	if (!codec)
		return 0;
	if (strcmp(c->format->name, "ksk"))
		return error_set(e, EINVAL, "cannot convert: --codec is for ksk, not for %s",
				 c->format->name);
	c->holds = formats_of_codec(codec);
	if (!c->holds)
		return error_set(e, EINVAL,
				 "cannot convert: unknown codec '%s'; it is sched or bsf", codec);
	return 0;
}

static int copy(struct conversion *c, struct reading *r, struct trace_sink *sink, struct error *e)
{
	const struct trace_info *info = &r->source->info;
	struct trace_item item;
	int rc = sink->ops->begin(sink, info, e), more = 1;

	while (rc >= 0 && (more = reading_next(r, &item, e)) > 0) {
		c->dropped += format_drops(c->holds, info, &item);
		rc = sink->ops->item(sink, &item, e);
	}
	if (rc < 0 || more < 0)
		return rc < 0 ? rc : more;
	return sink->ops->end(sink, e);
}

static bool selects(const struct args *a)
{
	return args_has(a, "from") || args_has(a, "to") || args_has(a, "cpu") ||
	       args_has(a, "pid") || args_has(a, "comm") || args_has(a, "event");
}

/* The calls that a .ksk or a trace.dat has beside its events go into a .ksk whole, or not at all. */
static int find_calls(struct conversion *c, const struct reading *r, const struct args *a,
		      struct error *e)
{
	enum recognised format = input_get_format(r->input);
	struct func_source *calls;
	const char *path;
	int rc;

	if (format != RECOGNISED_KSK && format != RECOGNISED_TRACEDAT)
		return 0;
	path = input_get_path(r->input);
	rc = format == RECOGNISED_KSK ? func_ksk_open(path, &calls, e)
				      : source_graph_dat_open(path, &calls, e);
	if (rc == -EOPNOTSUPP) { /* calls without durations */
		c->leaves_calls = true;
		return 0;
	}
	if (rc < 0)
		return rc == -ENODATA ? 0 : rc;
	c->leaves_calls = strcmp(c->format->name, "ksk") || selects(a);
	if (c->leaves_calls)
		func_source_free(calls);
	else
		c->options.calls = calls;
	return 0;
}

/* A boot chart beside the events. */
static int find_boot(struct conversion *c, const struct reading *r, struct error *e)
{
	CLEANUP(boot_source) struct boot_source *boot = NULL;
	int rc;

	if (input_get_format(r->input) != RECOGNISED_KSK)
		return 0;
	rc = boot_ksk_open(input_get_path(r->input), &boot, e);
	c->leaves_boot = rc >= 0;
	return rc == -ENODATA ? 0 : rc;
}

/* Whether the scheduler's events are in the file, too. */
static bool has_events(const struct sample_source *profile)
{
	struct block_reader *r = &sample_ksk_file(profile)->reader;
	uint32_t stream;

	return r->ops->find(r, STREAM_CPU(0), &stream) && stream < STREAM_CPU(TRACE_CPUS_MAX);
}

/* A profile beside the events; or alone, and then there is nothing to convert. */
static int find_profile(struct conversion *c, const struct reading *r, struct error *e)
{
	CLEANUP(sample_source) struct sample_source *profile = NULL;
	int rc;

	if (input_get_format(r->input) != RECOGNISED_KSK)
		return 0;
	rc = sample_ksk_open(input_get_path(r->input), &profile, e);
	if (rc < 0)
		return rc == -ENODATA ? 0 : rc;
	c->leaves_profile = true;
	if (!c->leaves_boot && !c->leaves_calls && !c->options.calls && !has_events(profile))
		return error_set(e, EINVAL,
				 "cannot convert %s: it holds a profile; see kiseki profile export",
				 r->path);
	return 0;
}

/* The record of a process, or a folder of them. */
static int convert_record(const struct conversion *c, const char *path, struct error *e)
{
	struct func_packing p = { 0 };
	struct func_source *calls;
	int rc;

	if (strcmp(c->format->name, "ksk") || c->options.codec)
		return error_set(e, EINVAL,
				 "cannot convert %s: it holds calls, which become .ksk; for other "
				 "formats see kiseki func",
				 path);
	rc = func_input_open(path, &calls, e);
	if (rc < 0)
		return rc;
	rc = func_pack_file(c->path, calls, &p, e);
	func_source_free(calls);
	return rc;
}

static bool is_bootchart(const char *path)
{
	uint8_t head[RECOGNISE_BYTES];
	struct stat st;
	size_t n = 0;
	FILE *f;

	/* A pipe is not opened: that would be seen at its other end. */
	if (stat(path, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return false;
	if (S_ISDIR(st.st_mode))
		return recognise_folder(path) == RECOGNISED_BOOTCHART;
	f = fopen(path, "re");
	if (f) {
		n = fread(head, 1, sizeof(head), f);
		fclose(f);
	}
	return recognise_bytes(head, n) == RECOGNISED_BOOTCHART;
}

/* The archive or folder of a bootchart. */
static int convert_bootchart(const struct conversion *c, const char *path, struct error *e)
{
	CLEANUP(boot_source) struct boot_source *s = NULL;
	struct boot_packing p = { 0 };
	int rc;

	if (strcmp(c->format->name, "ksk") || c->options.codec)
		return error_set(
			e, EINVAL,
			"cannot convert %s: it is a bootchart, which becomes .ksk; for other "
			"formats see kiseki boot",
			path);
	rc = source_bootchart_open(path, &s, e);
	return rc < 0 ? rc : boot_pack_file(c->path, s, &p, e);
}

static int convert(struct conversion *c, struct reading *r, const struct args *a, struct error *e)
{
	struct trace_sink *sink = NULL;
	int rc = reading_open(r, a, a->operands[0], e);

	if (rc >= 0)
		rc = find_calls(c, r, a, e);
	if (rc >= 0)
		rc = find_boot(c, r, e);
	if (rc >= 0)
		rc = find_profile(c, r, e);
	if (rc >= 0)
		rc = format_prepare(c->format, &r->source, &c->options, e);
	if (rc >= 0)
		rc = format_open(c->format, &sink, c->path, &c->options, e);
	if (rc < 0)
		return rc;
	rc = copy(c, r, sink, e);
	sink_free(sink);
	return rc;
}

static int run(const struct args *a)
{
	CLEANUP_READING struct reading reading = { 0 };
	struct conversion c = { 0 };
	struct error e = ERROR_INIT;
	int rc;

	if (choose_format(&c, a, &e) < 0)
		return say_usage(&e);
	if (!strcmp(c.path, "-") && !c.format->text && isatty(STDOUT_FILENO)) {
		error_set(&e, 1, "cannot write %s to a terminal: it is not text", c.format->name);
		return say_failure(&e);
	}
	if (func_digest_is_record(a->operands[0]))
		return convert_record(&c, a->operands[0], &e) < 0 ? say_failure(&e) : EXIT_OK;
	if (is_bootchart(a->operands[0]))
		return convert_bootchart(&c, a->operands[0], &e) < 0 ? say_failure(&e) : EXIT_OK;
	rc = convert(&c, &reading, a, &e);
	func_source_free(c.options.calls);
	if (rc < 0)
		return reading_failure(&reading, &e);
	if (c.leaves_calls)
		say_note("the calls of the trace were left out; see kiseki func");
	if (c.leaves_boot)
		say_note("the boot chart of the trace was left out; see kiseki boot export");
	if (c.leaves_profile)
		say_note("the profile of the trace was left out; see kiseki profile export");
	if (clock_is_ticks(&reading.source->info.clock) && c.holds->shows_ns)
		say_note("%s calls the ticks of the clock %s nanoseconds, but nobody knows how "
			 "long they are; --clock-hz says how many there are in a second",
			 c.holds->name, reading.source->info.clock.name);
	if (c.dropped)
		say_note("%s; %" PRIu64 " items lost something by that", c.holds->cannot_hold,
			 c.dropped);
	/* Records of calls are among those that the scheduler's reader does not know. */
	if (reading.source->info.skipped && !c.options.calls)
		say_note("%" PRIu64 " events of other kinds than the scheduler's were left out",
			 reading.source->info.skipped);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where to write it; - is standard output", NULL },
	{ 'f', "format", "FORMAT", "the format; without it, the ending of OUT decides",
	  "ksk ftrace json ndjson xml ctf trace.dat perfetto chrome csv" },
	{ 0, "codec", "CODEC", "how a .ksk is encoded: sched (default) or bsf", "sched bsf" },
	READING_EVENT_OPTIONS,
	READING_CLOCK_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "A recording of trace-cmd in a tenth of its size:",
	  "kiseki convert trace.dat -o trace.ksk" },
	{ "And back:", "kiseki convert trace.ksk -o back.dat" },
	{ "Two seconds of one CPU for the Perfetto UI:",
	  "kiseki convert trace.ksk --from +10 --to +12 --cpu 1 -o part.pftrace" },
	{ "The calls of a process, as small as they can be:",
	  "kiseki convert editor.4711 -o editor.ksk" },
	{ "What a bootchart has recorded, for kiseki boot and the collector:",
	  "kiseki convert bootchart.tgz -o boot.ksk" },
	{ "Keep what the kernel says while it says it:",
	  "cat /sys/kernel/tracing/trace_pipe | kiseki convert - -o now.ksk" },
	{ NULL, NULL },
};

const struct command command_convert = {
	.name = "convert",
	.summary = "turn a trace into another format",
	.usage = "IN -o OUT [--format FORMAT] [OPTION...]",
	.description =
		"Reads a trace in any known format, which is told by its content, and writes it in "
		"another. The formats, with the endings that choose them: ksk (.ksk), ftrace "
		"(.txt .ftrace), json (.json), ndjson (.ndjson .jsonl), xml (.xml), ctf (.ctf or a "
		"trailing /), trace.dat (.dat), perfetto (.pftrace .perfetto-trace), chrome "
		"(.trace.json .chrome.json), csv (.csv).\n\n"
		"If the output cannot hold something that was in the input, a note says what. The "
		"output appears whole or not at all.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
