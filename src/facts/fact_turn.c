/* SPDX-License-Identifier: MIT */
/* fact_turn: see fact_turn.h. */
#include "facts/fact_turn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "trace/info_meta.h"

#define LAG_NS (5 * CLOCK_NS_PER_S) /* one stream may be behind the others, */
#define QUIET_NS                                                                                   \
	(15 * CLOCK_NS_PER_S) /* and all may be silent, before a minute is taken for whole */

void fact_turn_done(struct fact_turn *t)
{
	size_t i;

	for (i = 0; i < t->n_jobs; i++)
		fact_set_done(&t->jobs[i].set);
	free(t->jobs);
	free(t->sets);
	free(t->carry);
	t->jobs = NULL;
	t->sets = NULL;
	t->carry = NULL;
	t->n_jobs = 0;
}

/* --- the look --- */

/* What cannot be read is begun anew: facts are replaced by the same ones. */
static int load(struct fact_turn *t, struct error *e)
{
	struct fact_run *s = t->state;
	_cleanup_free_ uint8_t *carry = NULL;
	size_t len = 0;
	int r;

	if (s->is_loaded)
		return 0;
	r = facts_get_carry(t->facts, &t->run.id, &carry, &len, e);
	if (r >= 0)
		r = fact_frontier_decode(&s->frontier, carry, len);
	if (r < 0 && r != -ENOENT && r != -EBADMSG)
		return r;
	s->is_loaded = true;
	return 0;
}

static int read_clock(struct fact_run *s, struct block_reader *r, struct error *e)
{
	struct trace_info info;
	int rc;

	if (s->has_clock)
		return 0;
	if (info_init(&info) < 0)
		return error_set(e, ENOMEM, "cannot read run %u: out of memory", s->number);
	rc = info_read(&info, r, e);
	if (rc >= 0) {
		s->clock = info.clock;
		s->has_clock = true;
	}
	info_done(&info);
	return rc;
}

/* The first tick of any stream of samples or of the scheduler. */
static bool first_tick(struct block_reader *r, uint64_t *ret)
{
	uint64_t place, at, least = UINT64_MAX;
	uint32_t from = STREAM_CPU(0), stream;
	struct block b;

	while (from < STREAM_FUNC_FIRST && r->ops->find(r, from, &stream)) {
		place = 0;
		if (fact_frontier_follows(stream) &&
		    r->ops->next(r, stream, &place, &b, &at) == 1 && b.flags & BLOCK_KEY &&
		    b.first_tick < least)
			least = b.first_tick;
		from = stream + 1;
	}
	*ret = least;
	return least != UINT64_MAX;
}

/* By what the store measured; else its first event came when its first block did. */
static void find_off(struct fact_turn *t, struct block_reader *r)
{
	struct fact_frontier *f = &t->state->frontier;
	struct store_clock c;
	uint64_t tick;

	if (f->has_off)
		return;
	if (store_get_clock(t->store, t->run.number, &c) >= 0) {
		f->off_ns = c.off_ns;
	} else {
		if (!first_tick(r, &tick))
			return;
		f->off_ns = (int64_t)(t->run.first_ns - clock_ns(&t->state->clock, tick));
	}
	f->has_off = true;
}

static int look(struct fact_turn *t, struct error *e)
{
	struct fact_run *s = t->state;
	const struct store_range range = { fact_frontier_from(&s->frontier), UINT64_MAX };
	struct block_reader *reader = NULL;
	int r = store_reader_open(&reader, t->store, t->run.number, &range, e);

	if (r < 0)
		return r;
	r = read_clock(s, reader, e);
	if (r >= 0)
		find_off(t, reader);
	if (r >= 0 && s->frontier.has_off) {
		r = fact_frontier_look(&s->frontier, reader, &s->clock);
		if (r >= 0 && t->run.ended && !s->frontier.is_ended)
			r = fact_frontier_want_ends(&s->frontier, &s->clock);
		if (r == -E2BIG)
			r = 0; /* more streams or minutes than any run has: the rest of it has no facts */
		if (r < 0)
			error_set(e, -r, "cannot look at run %u: %s", s->number, strerror(-r));
	}
	reader->ops->free(reader);
	if (r >= 0) {
		s->frontier.bytes = t->run.bytes;
		s->frontier.is_ended = t->run.ended;
	}
	return r;
}

/* --- the jobs --- */

static bool is_ripe(const struct fact_turn *t, uint64_t minute_s)
{
	uint64_t end_ns = (minute_s + FACT_MINUTE_S) * CLOCK_NS_PER_S, least_ns, most_ns;

	if (t->all || t->run.ended)
		return true;
	if (!fact_frontier_span(&t->state->frontier, &t->state->clock, &least_ns, &most_ns))
		return false;
	return least_ns >= end_ns || most_ns >= end_ns + LAG_NS ||
	       (t->now_ns >= end_ns && t->now_ns - t->run.last_ns >= QUIET_NS);
}

static int add_job(struct fact_turn *t, uint64_t minute_s, enum fact_kind kind)
{
	struct fact_job *j = &t->jobs[t->n_jobs];
	const struct fact_key key = { .device = t->run.device,
				      .run = t->run.id,
				      .kind = (uint8_t)kind,
				      .length_s = FACT_MINUTE_S,
				      .start_s = minute_s };

	memset(j, 0, sizeof(*j));
	j->build = (struct fact_build){ .store = t->store,
					.run = t->run.number,
					.clock = &t->state->clock,
					.told = t->state->told,
					.off_ns = t->state->frontier.off_ns };
	/* What is made of the same records is made together. */
	j->is_beside = kind == FACT_PROFILE && t->n_jobs && j[-1].set.key.kind == FACT_VM &&
		       j[-1].set.key.start_s == minute_s;
	t->n_jobs++; /* is freed with the others, also if this fails */
	return fact_set_init(&j->set, &key);
}

static int add_jobs(struct fact_turn *t, uint64_t minute_s)
{
	int r = 0;

	t->minutes++;
	if (t->run.samplers && t->run.has_guests)
		r = add_job(t, minute_s, FACT_VM);
	if (r >= 0 && t->run.samplers)
		r = add_job(t, minute_s, FACT_PROFILE);
	if (r >= 0 && t->run.cpus)
		r = add_job(t, minute_s, FACT_SCHED);
	return r;
}

/* The oldest minute. What cannot be told here fails again where it is needed, and is said there. */
static void begin_with(struct fact_turn *t, uint64_t minute_s)
{
	t->oldest_s = minute_s;
	fact_run_tell(t->state, t->store, minute_s);
}

int fact_turn_begin(struct fact_turn *t, struct error *e)
{
	const struct fact_frontier *f = &t->state->frontier;
	int r = load(t, e);
	size_t i;

	if (r >= 0 && (f->bytes != t->run.bytes || f->is_ended != t->run.ended ||
		       (f->n_minutes && !t->state->has_clock)))
		r = look(t, e);
	if (r < 0)
		return r;
	t->jobs = calloc((size_t)FACT_TURN_MINUTES * FACT_KINDS, sizeof(*t->jobs));
	if (!t->jobs)
		return error_set(e, ENOMEM, "cannot work out run %u: out of memory", t->run.number);
	for (i = 0; i < f->n_minutes && r >= 0; i++) {
		if (!is_ripe(t, f->minutes[i]))
			continue;
		if (!t->oldest_s)
			begin_with(t, f->minutes[i]);
		if (t->minutes == FACT_TURN_MINUTES) {
			t->has_more = true;
			break;
		}
		r = add_jobs(t, f->minutes[i]);
	}
	return r < 0 ? error_set(e, -r, "cannot work out run %u: out of memory", t->run.number) : 0;
}

/* --- the end --- */

/* Minutes of which a job failed wait for the next turn. */
static int settle(struct fact_turn *t, struct error *e)
{
	struct fact_frontier *f = &t->state->frontier;
	const struct fact_job *j;
	uint64_t before_s = 0;
	int r = 0;

	for (j = t->jobs; j < t->jobs + t->n_jobs; j++) {
		t->work_ns += j->ns;
		t->events += j->set.events;
		t->again += j->set.key.start_s != before_s && j->set.key.start_s < f->done_to_s;
		before_s = j->set.key.start_s;
		fact_frontier_settle(f, before_s);
	}
	for (j = t->jobs; j < t->jobs + t->n_jobs; j++) {
		if (j->result >= 0 || j->result == -ENODATA)
			continue;
		fact_frontier_want(f, j->set.key.start_s);
		t->has_more = false;
		r = j->result;
		*e = j->error;
	}
	return r;
}

static int make_batch(struct fact_turn *t, struct error *e)
{
	struct facts_batch *b = &t->batch;
	size_t i;

	t->sets = calloc(t->n_jobs + 1, sizeof(*t->sets));
	if (!t->sets || fact_frontier_encode(&t->state->frontier, &t->carry, &b->carry_len) < 0)
		return error_set(e, ENOMEM, "cannot keep facts: out of memory");
	b->sets = t->sets;
	b->run = &t->run.id;
	b->carry = t->carry;
	for (i = 0; i < t->n_jobs; i++)
		if (t->jobs[i].result >= 0)
			t->sets[b->n_sets++] = &t->jobs[i].set;
	return 0;
}

/* Nothing was put: all of it waits for the next turn. */
static void give_up(struct fact_turn *t)
{
	size_t i;

	t->has_more = false;
	for (i = 0; i < t->n_jobs; i++)
		fact_frontier_want(&t->state->frontier, t->jobs[i].set.key.start_s);
}

int fact_turn_settle(struct fact_turn *t, struct error *e)
{
	int r = settle(t, e), rc = make_batch(t, e);

	if (rc >= 0)
		return r;
	t->batch = (struct facts_batch){ 0 };
	give_up(t);
	return rc;
}

void fact_turn_end(struct fact_turn *t, int result)
{
	if (result < 0) {
		give_up(t);
		return;
	}
	t->late = t->batch.n_late;
	t->put = t->batch.n_sets - t->batch.n_late;
}
