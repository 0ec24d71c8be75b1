/* SPDX-License-Identifier: MIT */
/* profile_digest: see profile_digest.h. */
#include "cli/profile_digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/jsonout.h"
#include "cli/units.h"
#include "command/say.h"
#include "trace/word.h"

static const char *const kind_names[SAMPLE_KINDS] = {
	[SAMPLE_TAKEN] = "sample", [SAMPLE_SWITCH] = "switch", [SAMPLE_WAKE] = "wake",
	[SAMPLE_ENTRY] = "entry",  [SAMPLE_EXIT] = "exit",     [SAMPLE_OUTSIDE] = "outside",
	[SAMPLE_POLL] = "poll",
};

static const char *const mode_names[SAMPLE_MODES] = {
	[SAMPLE_IDLE] = "idle",
	[SAMPLE_KERNEL] = "kernel",
	[SAMPLE_USER] = "user",
	[SAMPLE_GUEST_KERNEL] = "guest_kernel",
	[SAMPLE_GUEST_USER] = "guest_user",
};

static const char *const collector_names[] = { "perf", "module", "bpf" };
static const char *const method_names[] = { "cpu-clock", "cycles", "timer" };

static const char *word_of(const char *const *names, size_t n, uint8_t number)
{
	return number < n ? names[number] : "unknown";
}

static const char *collector_of(const struct profile_digest *d)
{
	return word_of(collector_names, 3, d->source->sampling.collector);
}

static const char *method_of(const struct profile_digest *d)
{
	return word_of(method_names, 3, d->source->sampling.method);
}

void profile_digest_done(struct profile_digest *d)
{
	sample_source_free(d->source);
	memset(d, 0, sizeof(*d));
}

static void start_gaps(struct profile_digest *d)
{
	uint64_t from = 0, to = UINT64_MAX;

	sample_pace_span(&d->source->pace, &from, &to);
	sample_gaps_init(&d->gaps, &d->source->pace, from, to);
}

int profile_digest_open_ksk(struct profile_digest *d, const char *path, struct error *e)
{
	struct sample_item item;
	int r = sample_ksk_open(path, &d->source, e);

	if (r == -ENODATA)
		return 1;
	if (r < 0)
		return r;
	start_gaps(d);
	while ((r = d->source->ops->next(d->source, &item, e)) == 1) {
		if (item.type == ITEM_LOSS) {
			sample_gaps_add(&d->gaps, item.cpu, item.loss.from_tick, item.loss.to_tick);
			d->losses[item.loss.cause]++;
			continue;
		}
		d->kinds[item.event.kind]++;
		if (item.event.kind == SAMPLE_TAKEN)
			d->modes[item.event.mode]++;
	}
	return r;
}

/* Of all CPUs; ticks are those of the first and the last record. */
static struct sample_totals sum(const struct profile_digest *d)
{
	struct sample_totals all = { .first_tick = UINT64_MAX };
	const struct sample_totals *t;
	size_t i;
	uint32_t c;

	for (i = 0; i < sample_ksk_cpus(d->source); i++) {
		t = sample_ksk_totals(d->source, i);
		all.blocks += t->blocks;
		all.segments += t->segments;
		all.bytes += t->bytes;
		all.events += t->events;
		if (t->events && t->first_tick < all.first_tick)
			all.first_tick = t->first_tick;
		if (t->last_tick > all.last_tick)
			all.last_tick = t->last_tick;
		for (c = 0; c < LOSS_CAUSES; c++) {
			loss_tally_add(&all.lost, c, t->lost.lost[c]);
			if (t->lost.some[c])
				loss_tally_add(&all.lost, c, LOSS_UNKNOWN);
		}
	}
	return all;
}

static void print_losses(const struct profile_digest *d, const struct loss_tally *lost)
{
	bool any = false;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (!d->losses[i])
			continue;
		any = true;
		printf("%slost      %s: %" PRIu64 " records%s in %" PRIu64 " gap%s%s\n",
		       say_style(stdout, STYLE_BAD), word_cause(i), lost->lost[i],
		       lost->some[i] ? " and an unknown number more" : "", d->losses[i],
		       d->losses[i] == 1 ? "" : "s", say_style(stdout, STYLE_PLAIN));
	}
	if (!any)
		puts("lost      no records");
}

/* What is not covered, in ns of the source's clock; the time from its beginning to its end. */
struct uncovered {
	uint64_t total, planned, lost;
};

static struct uncovered measure(const struct profile_digest *d, const struct sample_totals *t)
{
	const struct trace_clock *c = &d->source->info.clock;
	uint64_t from = t->first_tick, to = t->last_tick, cpus = sample_ksk_cpus(d->source);
	uint64_t lost = d->gaps.ticks / (cpus ? cpus : 1), planned;

	if (!sample_pace_span(&d->source->pace, &from, &to) && !t->events)
		return (struct uncovered){ .total = 0 };
	planned = sample_pace_paused(&d->source->pace, from, to);
	return (struct uncovered){
		.total = clock_ns(c, to) - clock_ns(c, from),
		.planned = clock_ns(c, from + planned) - clock_ns(c, from),
		.lost = clock_ns(c, from + lost) - clock_ns(c, from),
	};
}

static void print_uncovered(const struct uncovered *u)
{
	char a[3][UNITS_LEN];

	printf("uncovered %s%% of %s", units_percent(u->lost, u->total, a[0]),
	       units_duration(u->total, a[1]));
	if (u->planned)
		printf("; planned pauses %s", units_duration(u->planned, a[2]));
	putchar('\n');
}

static json_t *uncovered_json(const struct uncovered *u)
{
	return json_pack("{so so so so}", "total_ns", jsonout_count(u->total), "planned_ns",
			 jsonout_count(u->planned), "lost_ns", jsonout_count(u->lost), "ratio",
			 json_real(u->total ? (double)u->lost / (double)u->total : 0));
}

void profile_digest_print_info(const struct profile_digest *d)
{
	const struct sample_totals t = sum(d);
	const struct uncovered u = measure(d, &t);
	const struct trace_clock *c = &d->source->info.clock;
	uint64_t first = clock_ns(c, t.first_tick), last = clock_ns(c, t.last_tick);
	char a[UNITS_LEN], b[UNITS_LEN], span[UNITS_LEN];
	uint32_t i;

	if (t.events)
		printf("profile   from %s to %s s (%s)%s, on %zu CPUs\n", units_moment(first, a),
		       units_moment(last, b), units_duration(last - first, span),
		       d->source->is_cut ? ", its end is missing" : "", sample_ksk_cpus(d->source));
	printf("sampled   by %s, %s, one every %" PRIu64 " %s\n", collector_of(d), method_of(d),
	       d->source->sampling.period,
	       d->source->sampling.method == SAMPLE_CYCLES ? "cycles" : "ns");
	printf("records   %" PRIu64 "\n", t.events);
	for (i = 0; i < SAMPLE_KINDS; i++)
		if (d->kinds[i])
			printf("          %-12s %10" PRIu64 "\n", kind_names[i], d->kinds[i]);
	for (i = 0; i < SAMPLE_MODES; i++)
		if (d->modes[i])
			printf("          of these %-12s %10" PRIu64 "\n", mode_names[i],
			       d->modes[i]);
	if (t.events)
		printf("          %.2f bits per record\n", 8 * (double)t.bytes / (double)t.events);
	print_losses(d, &t.lost);
	print_uncovered(&u);
}

void profile_digest_print_check(const struct profile_digest *d)
{
	const struct sample_totals all = sum(d), *t;
	size_t i;

	printf("%sprofile  CPU    records  blocks segments       bytes%s\n",
	       say_style(stdout, STYLE_HEAD), say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < sample_ksk_cpus(d->source); i++) {
		t = sample_ksk_totals(d->source, i);
		printf("%12" PRIu32 " %10" PRIu64 " %7" PRIu64 " %8" PRIu64 " %11" PRIu64 "\n",
		       sample_ksk_cpu(d->source, i), t->events, t->blocks, t->segments, t->bytes);
	}
	putchar('\n');
	print_losses(d, &all.lost);
}

json_t *profile_digest_json(const struct profile_digest *d)
{
	const struct sample_totals t = sum(d);
	const struct uncovered u = measure(d, &t);
	const struct trace_clock *c = &d->source->info.clock;
	json_t *kinds = json_object(), *modes = json_object(), *ledger = json_object();
	uint32_t i;

	for (i = 0; i < SAMPLE_KINDS; i++)
		json_object_set_new(kinds, kind_names[i], jsonout_count(d->kinds[i]));
	for (i = 0; i < SAMPLE_MODES; i++)
		json_object_set_new(modes, mode_names[i], jsonout_count(d->modes[i]));
	for (i = 0; i < LOSS_CAUSES; i++)
		json_object_set_new(ledger, word_cause(i),
				    json_pack("{so so sb}", "losses", jsonout_count(d->losses[i]),
					      "lost", jsonout_count(t.lost.lost[i]), "more",
					      t.lost.some[i]));
	return json_pack("{so so so ss ss so so so so so so sb so so}", "records",
			 jsonout_count(t.events), "from_ns",
			 t.events ? jsonout_count(clock_ns(c, t.first_tick)) : json_null(), "to_ns",
			 t.events ? jsonout_count(clock_ns(c, t.last_tick)) : json_null(),
			 "collector", collector_of(d), "method", method_of(d), "period",
			 jsonout_count(d->source->sampling.period), "blocks",
			 jsonout_count(t.blocks), "segments", jsonout_count(t.segments), "bytes",
			 jsonout_count(t.bytes), "kinds", kinds, "modes", modes, "cut",
			 d->source->is_cut, "ledger", ledger, "uncovered", uncovered_json(&u));
}
