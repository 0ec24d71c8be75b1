/* SPDX-License-Identifier: MIT */
/* profile_walk: see profile_walk.h. */
#include "analysis/profile_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/call_select.h"
#include "trace/sample_gaps.h"

struct profile_pass {
	const struct profile_walk *w;
	struct profile_totals *totals;
	uint64_t cpus[TRACE_CPUS_MAX / 64];	      /* that have records */
	uint64_t known[TRACE_CPUS_MAX / 64], n_known; /* the same, at whatever time */
	struct sample_gaps gaps;		      /* in the time that is asked for */
	uint32_t places[PROFILE_FRAMES_MAX];
	size_t n;
	struct sample_span span; /* in which they are what they are */
};

const char *profile_walk_unit(const struct sample_source *s)
{
	return s->sampling.method == SAMPLE_CYCLES ? "cycles" : "ns";
}

int profile_modes_parse(uint32_t *ret, const char *text, struct error *e)
{
	static const struct {
		const char *word;
		uint32_t modes;
	} words[] = {
		{ "user", 1U << SAMPLE_USER },
		{ "kernel", 1U << SAMPLE_KERNEL },
		{ "guest", 1U << SAMPLE_GUEST_KERNEL | 1U << SAMPLE_GUEST_USER },
		{ "idle", 1U << SAMPLE_IDLE },
	};
	size_t len, i;

	*ret = 0;
	for (; text; text = text[len] ? text + len + 1 : NULL) {
		len = strcspn(text, ",");
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == len && !memcmp(words[i].word, text, len))
				break;
		if (i == sizeof(words) / sizeof(words[0]))
			return error_set(e, EINVAL, "'%.*s' is none of user, kernel, guest, idle",
					 (int)len, text);
		*ret |= words[i].modes;
	}
	return 0;
}

static bool has_bit(const uint64_t *bits, uint32_t n)
{
	return n < TRACE_CPUS_MAX && bits[n / 64] >> n % 64 & 1;
}

/* Whether it was not there. */
static bool add_bit(uint64_t *bits, uint32_t n)
{
	if (n >= TRACE_CPUS_MAX || has_bit(bits, n))
		return false;
	bits[n / 64] |= 1ULL << n % 64;
	return true;
}

static bool is_in_time(const struct profile_select *s, uint64_t from_ns, uint64_t to_ns)
{
	return !s || (to_ns >= s->from_ns && (!s->to_ns || from_ns < s->to_ns));
}

static bool is_cpu(const struct profile_select *s, uint32_t cpu)
{
	return !s || !s->cpus || has_bit(s->cpus, cpu);
}

static bool is_task(const struct profile_pass *x, uint32_t thread)
{
	const struct profile_select *s = x->w->select;
	const struct profile_process *p = profile_tasks_process(x->w->tasks, thread);
	const struct profile_thread *t = x->w->tasks->threads[thread];

	if (!s)
		return true;
	if (s->processes && !call_select_fits(s->processes, p->pid, p->name))
		return false;
	return !s->threads || call_select_fits(s->threads, t->tid, t->name);
}

static bool is_mode(const struct profile_select *s, uint8_t mode)
{
	uint32_t modes = s && s->modes ? s->modes : ~(1U << SAMPLE_IDLE);

	return modes >> mode & 1;
}

int profile_walk_label(const struct profile_walk *w, uint8_t mode, uint32_t *ret)
{
	const char *name = mode == SAMPLE_GUEST_KERNEL ? "[guest kernel]" : "[guest user]";

	return profile_names_label(w->names, name, name, ret);
}

static int add_label(struct profile_pass *x, const char *name)
{
	return profile_names_label(x->w->names, name, name, &x->places[x->n++]);
}

static int name_places(struct profile_pass *x, const struct sample_event *ev)
{
	uint32_t n = (uint32_t)ev->n_kernel + ev->n_user, i;
	int r = 0;

	x->n = 0;
	x->span = (struct sample_span)SAMPLE_SPAN_ALL;
	if (ev->mode == SAMPLE_GUEST_KERNEL || ev->mode == SAMPLE_GUEST_USER)
		r = profile_walk_label(x->w, ev->mode, &x->places[x->n++]);
	for (i = 0; r >= 0 && i < n && i < SAMPLE_CHAIN_MAX; i++)
		r = profile_names_find_frame(x->w->names, ev, i, &x->places[x->n++], &x->span);
	if (r >= 0 && !x->n)
		r = add_label(x, ev->mode == SAMPLE_USER   ? "[unknown]"
				 : ev->mode == SAMPLE_IDLE ? "[idle]"
							   : "[kernel]");
	return r;
}

static int give(struct profile_pass *x, const struct sample_item *item, uint64_t ns,
		uint32_t thread)
{
	const struct sample_event *ev = &item->event;
	struct profile_totals *t = x->totals;
	struct profile_sample s = { .tick = ev->tick,
				    .ns = ns,
				    .cpu = item->cpu,
				    .thread = thread,
				    .mode = ev->mode,
				    .values = { 1, ev->weight } };
	int known = x->w->again ? x->w->again(x->w->data, ev, thread) : 0;
	int r = known ? known : name_places(x, ev);

	if (r < 0)
		return r;
	t->values[PROFILE_SAMPLES]++;
	t->values[PROFILE_WEIGHT] += ev->weight;
	t->modes[ev->mode]++;
	if (known)
		return 0;
	s.places = x->places;
	s.n = x->n;
	s.event = ev;
	s.span = x->span;
	return x->w->sample ? x->w->sample(x->w->data, &s) : 0;
}

static int take_sample(struct profile_pass *x, const struct sample_item *item, uint64_t ns)
{
	const struct profile_select *select = x->w->select;
	const struct sample_event *ev = &item->event;
	struct profile_totals *t = x->totals;
	uint32_t thread;
	int r = profile_tasks_find(x->w->tasks, ev, &thread);

	if (r < 0)
		return r;
	if (ev->mode == SAMPLE_IDLE && !(select && (select->processes || select->threads))) {
		t->idle[PROFILE_SAMPLES]++;
		t->idle[PROFILE_WEIGHT] += ev->weight;
	}
	if (!is_mode(select, ev->mode) || !is_task(x, thread)) {
		t->left_out += ev->mode != SAMPLE_IDLE;
		return 0;
	}
	return give(x, item, ns, thread);
}

static int take_event(struct profile_pass *x, const struct sample_item *item)
{
	const struct profile_select *select = x->w->select;
	struct profile_totals *t = x->totals;
	uint64_t ns = clock_ns(&x->w->source->info.clock, item->event.tick);

	if (select && select->is_part && !is_in_time(select, ns, ns))
		return 0;
	if (!is_in_time(select, ns, ns) || !is_cpu(select, item->cpu)) {
		t->left_out += item->event.kind == SAMPLE_TAKEN && item->event.mode != SAMPLE_IDLE;
		return 0;
	}
	if (!t->from_ns || ns < t->from_ns)
		t->from_ns = ns;
	if (ns > t->to_ns)
		t->to_ns = ns;
	t->cpus += add_bit(x->cpus, item->cpu);
	if (item->event.kind != SAMPLE_TAKEN) {
		t->others++;
		return 0;
	}
	return take_sample(x, item, ns);
}

/* --- what is not covered --- */

/* From when to when it was to be sampled, as far as somebody asks. */
static void set_span(struct profile_pass *x)
{
	const struct profile_select *s = x->w->select;
	const struct trace_clock *c = &x->w->source->info.clock;
	uint64_t from = 0, to = UINT64_MAX;

	x->totals->has_pace = sample_pace_span(&x->w->source->pace, &from, &to);
	if (s && s->from_ns && clock_tick_at(c, s->from_ns) > from)
		from = clock_tick_at(c, s->from_ns);
	if (s && s->to_ns && clock_tick_at(c, s->to_ns) < to)
		to = clock_tick_at(c, s->to_ns);
	sample_gaps_init(&x->gaps, &x->w->source->pace, from, to);
}

static uint64_t length_ns(const struct profile_pass *x, uint64_t ticks)
{
	const struct trace_clock *c = &x->w->source->info.clock;

	return clock_ns(c, x->gaps.from + ticks) - clock_ns(c, x->gaps.from);
}

/* Without rows that say more, it lasts from the first record to the last. A part of the time does not begin
 * before the recording does. */
static void measure(struct profile_pass *x)
{
	const struct sample_pace *p = &x->w->source->pace;
	const struct trace_clock *c = &x->w->source->info.clock;
	struct profile_totals *t = x->totals;
	uint64_t from, to;

	if (!t->has_pace) {
		x->gaps.from = clock_tick_at(c, t->from_ns);
		x->gaps.to = clock_tick_at(c, t->to_ns);
	}
	from = x->gaps.from;
	to = x->gaps.to;
	if (from >= to)
		return;
	t->span_ns = length_ns(x, to - from);
	t->planned_ns = length_ns(x, sample_pace_paused(p, from, to));
	t->uncovered_ns = length_ns(x, x->gaps.ticks / (x->n_known ? x->n_known : 1));
	if (!sample_pace_periods(p, from, to, &t->least_period, &t->most_period))
		t->least_period = t->most_period = 0;
}

static void take_loss(struct profile_pass *x, const struct sample_item *item)
{
	const struct trace_clock *c = &x->w->source->info.clock;
	struct profile_totals *t = x->totals;

	if (!is_cpu(x->w->select, item->cpu) ||
	    !is_in_time(x->w->select, clock_ns(c, item->loss.from_tick),
			clock_ns(c, item->loss.to_tick)))
		return;
	sample_gaps_add(&x->gaps, item->cpu, item->loss.from_tick, item->loss.to_tick);
	t->losses++;
	if (item->loss.count == LOSS_UNKNOWN)
		t->lost_unknown++;
	else
		t->lost += item->loss.count;
}

/* --- all --- */

int profile_pass_new(struct profile_pass **ret, const struct profile_walk *w,
		     struct profile_totals *totals)
{
	struct profile_pass *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->w = w;
	x->totals = totals;
	memset(totals, 0, sizeof(*totals));
	set_span(x);
	*ret = x;
	return 0;
}

int profile_pass_put(struct profile_pass *x, const struct sample_item *item)
{
	if (is_cpu(x->w->select, item->cpu))
		x->n_known += add_bit(x->known, item->cpu);
	if (item->type == ITEM_EVENT)
		return take_event(x, item);
	take_loss(x, item);
	return 0;
}

void profile_pass_end(struct profile_pass *x)
{
	measure(x);
}

void profile_pass_free(struct profile_pass *x)
{
	free(x);
}

int profile_walk_explain(int failed, struct error *e)
{
	if (failed == -E2BIG)
		return error_set(e, E2BIG,
				 "cannot read the profile: more than %u functions, places "
				 "or threads",
				 FUNCTIONS_MAX);
	return error_set(e, -failed, "cannot read the profile: %s", strerror(-failed));
}

int profile_walk_run(const struct profile_walk *w, struct profile_totals *ret, struct error *e)
{
	CLEANUP(profile_pass) struct profile_pass *x = NULL;
	struct sample_item item;
	int r, done = profile_pass_new(&x, w, ret);

	if (done < 0)
		return profile_walk_explain(done, e);
	while ((r = w->source->ops->next(w->source, &item, e)) == 1) {
		done = profile_pass_put(x, &item);
		if (done >= 0 && w->step)
			done = w->step(w->step_data);
		if (done < 0) {
			r = profile_walk_explain(done, e);
			break;
		}
	}
	profile_pass_end(x);
	return r;
}
