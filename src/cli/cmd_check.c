/* SPDX-License-Identifier: MIT */
/* check: is a trace whole? Exit 1 if any of its bytes is damaged; losses are no damage. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/digest.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/store_report.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/command.h"
#include "command/say.h"

static uint64_t stream_lost(const struct summary_stream *t, bool *ret_more)
{
	uint64_t lost = 0;
	int i;

	*ret_more = false;
	for (i = 0; i < LOSS_CAUSES; i++) {
		lost += t->lost[i];
		*ret_more = *ret_more || t->uncounted[i];
	}
	return lost;
}

static void print_stream(const struct summary_stream *t, const struct trace_clock *clock)
{
	char a[UNITS_LEN] = "-", b[UNITS_LEN] = "-", per_event[32] = "-";
	uint64_t lost;
	bool more;

	lost = stream_lost(t, &more);
	if (t->events) {
		units_clock_moment(clock, clock_ns(clock, t->first_tick), a);
		units_clock_moment(clock, clock_ns(clock, t->last_tick), b);
	}
	if (t->bytes && t->events)
		snprintf(per_event, sizeof(per_event), "%.2f",
			 (double)t->bytes / (double)t->events);
	printf("%4" PRIu32 " %10" PRIu64 " %7" PRIu64 " %8" PRIu64 " %11" PRIu64
	       " %7s %16s %16s %9" PRIu64 "%s\n",
	       t->cpu, t->events, t->blocks, t->segments, t->bytes, per_event, a, b, lost,
	       more ? "+" : "");
}

/* What is in the file beside the events of the scheduler. */
struct others {
	struct func_digest calls;
	struct boot_digest boot;
	struct profile_digest profile;
};

static void others_done(struct others *o)
{
	func_digest_done(&o->calls);
	boot_digest_done(&o->boot);
	profile_digest_done(&o->profile);
}

static int read_others(const struct reading *r, struct others *o, struct error *e)
{
	int rc = digest_read_calls(r, &o->calls, e);

	if (rc >= 0)
		rc = digest_read_boot(r, &o->boot, e);
	return rc < 0 ? rc : digest_read_profile(r, &o->profile, e);
}

static void print_others(const struct others *o)
{
	if (o->calls.source) {
		putchar('\n');
		func_digest_print_check(&o->calls);
	}
	if (o->boot.source) {
		putchar('\n');
		boot_digest_print_check(&o->boot);
	}
	if (o->profile.source) {
		putchar('\n');
		profile_digest_print_check(&o->profile);
	}
}

static void print_check(const struct reading *r, const struct trace_summary *s,
			const struct others *others)
{
	uint32_t i;
	size_t k;

	printf("%s: %s", r->path, recognise_name(input_get_format(r->input)));
	if (s->version)
		printf(" version %" PRIu32 ", codec %s", s->version, digest_codec(s));
	printf(", %" PRIu64 " events\n\n%s CPU     events  blocks segments       bytes B/event"
	       "            first             last      lost%s\n",
	       s->events, say_style(stdout, STYLE_HEAD), say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < s->n_streams; i++)
		if (s->streams[i].used)
			print_stream(&s->streams[i], &r->source->info.clock);
	putchar('\n');
	digest_print_ledger(s);
	print_others(others);
	for (k = 0; k < s->n_damage; k++)
		printf("%sdamage    offset %" PRIu64 ", %" PRIu64 " bytes: %s%s\n",
		       say_style(stdout, STYLE_BAD), s->damage[k].offset, s->damage[k].bytes,
		       s->damage[k].what, say_style(stdout, STYLE_PLAIN));
	if (s->damaged_places > s->n_damage)
		printf("damage    ... and %" PRIu64 " more places\n",
		       s->damaged_places - s->n_damage);
	if (!summary_is_damaged(s))
		printf("damage    %snone%s\n", say_style(stdout, STYLE_GOOD),
		       say_style(stdout, STYLE_PLAIN));
}

static json_t *streams_json(const struct reading *r, const struct trace_summary *s)
{
	const struct trace_clock *clock = &r->source->info.clock;
	json_t *list = json_array();
	uint32_t i;
	bool more;

	for (i = 0; i < s->n_streams; i++) {
		const struct summary_stream *t = &s->streams[i];
		uint64_t lost = stream_lost(t, &more);

		if (!t->used)
			continue;
		json_array_append_new(
			list,
			json_pack("{so so so so so so so so so}", "cpu", jsonout_count(t->cpu),
				  "events", jsonout_count(t->events), "blocks",
				  jsonout_count(t->blocks), "segments", jsonout_count(t->segments),
				  "bytes", jsonout_count(t->bytes), "first_ns",
				  t->events ? jsonout_count(clock_ns(clock, t->first_tick))
					    : json_null(),
				  "last_ns",
				  t->events ? jsonout_count(clock_ns(clock, t->last_tick))
					    : json_null(),
				  "lost", jsonout_count(lost), "lost_more", json_boolean(more)));
	}
	return list;
}

static json_t *damage_json(const struct trace_summary *s)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < s->n_damage; i++)
		json_array_append_new(list, json_pack("{so so so}", "offset",
						      jsonout_count(s->damage[i].offset), "bytes",
						      jsonout_count(s->damage[i].bytes), "what",
						      jsonout_text(s->damage[i].what)));
	return list;
}

static json_t *check_json(const struct reading *r, const struct trace_summary *s,
			  const struct others *others)
{
	json_t *object =
		json_pack("{so so ss so so so so so so so so}", "file", jsonout_text(r->path),
			  "format", json_string(recognise_name(input_get_format(r->input))), "unit",
			  clock_is_ticks(&r->source->info.clock) ? "ticks" : "ns", "version",
			  jsonout_count(s->version), "ok", json_boolean(!summary_is_damaged(s)),
			  "events", jsonout_count(s->events), "streams", streams_json(r, s),
			  "ledger", digest_ledger_json(s), "damage", damage_json(s),
			  "damaged_places", jsonout_count(s->damaged_places), "damaged_bytes",
			  jsonout_count(s->damaged_bytes));

	if (others->calls.source)
		json_object_set_new(object, "functions", func_digest_json(&others->calls, true));
	if (others->boot.source)
		json_object_set_new(object, "boot", boot_digest_json(&others->boot));
	if (others->profile.source)
		json_object_set_new(object, "profile", profile_digest_json(&others->profile));
	return object;
}

static int run(const struct args *a)
{
	CLEANUP_READING struct reading r = { 0 };
	__attribute__((cleanup(others_done))) struct others others = { .calls = { 0 } };
	struct trace_summary s;
	struct error e = ERROR_INIT;
	int status = EXIT_OK;

	if (store_report_wants(a->operands[0]))
		return store_report_run(a, a->operands[0], true);
	if (func_digest_is_record(a->operands[0]))
		return func_digest_run(a, a->operands[0], true);
	summary_init(&s);
	if (reading_open(&r, a, a->operands[0], &e) < 0 ||
	    input_verify(r.input, r.source, &e) < 0 || digest_read(&r, &s, NULL, &e) < 0 ||
	    read_others(&r, &others, &e) < 0) {
		status = reading_failure(&r, &e);
	} else {
		if (args_has(a, "json"))
			status = jsonout_print(check_json(&r, &s, &others));
		else
			print_check(&r, &s, &others);
		if (summary_is_damaged(&s))
			status = EXIT_FAILED;
	}
	summary_done(&s);
	return status;
}

static const struct cli_option options[] = {
	READING_CLOCK_OPTION,
	{ 0, "json", NULL, "print JSON", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Keep a file only if it is whole:", "kiseki check trace.ksk || echo damaged" },
	{ NULL, NULL },
};

const struct command command_check = {
	.name = "check",
	.summary = "test a trace for damage and show its ledger",
	.usage = "FILE|FOLDER [--clock-hz N] [--json]",
	.description =
		"Reads all of a trace, or of a collector's folder, and counts it, per CPU, and "
		"calls "
		"per thread, and the records of a boot chart and of a profile. Lost "
		"events are in the ledger, by "
		"cause: ring (the kernel's buffer was overwritten), buffer and spool (the device "
		"had no room), damage (bytes are torn or flipped), store (the collector could not "
		"keep them). Damaged places are listed, and then the exit status is 1. In a "
		"collector's folder this includes databases that cannot be made again from its "
		"log.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
