/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_runs: the runs that a process has met, and how their states go on
 * (clickhouse_parts.h). The lock is held in all of it.
 */
#include <errno.h>
#include <string.h>

#include "store/clickhouse/clickhouse_parts.h"
#include "store/log_view.h"
#include "store/shown_runs.h"

static bool is_id(const void *entry, const void *key)
{
	return !memcmp(&((const struct clickhouse_run *)entry)->ids.run, key, 16);
}

static bool is_number(const void *entry, const void *key)
{
	return ((const struct clickhouse_alias *)entry)->number == *(const uint32_t *)key;
}

struct clickhouse_run *clickhouse_runs_find(struct clickhouse_store *s, const struct message_id *id)
{
	return hashtable_get(&s->by_id, hashtable_hash_id(id->bytes), is_id, id);
}

struct clickhouse_run *clickhouse_runs_get(struct clickhouse_store *s, uint32_t number)
{
	struct clickhouse_alias *a =
		hashtable_get(&s->by_number, hashtable_hash_number(number), is_number, &number);

	return a ? a->run : NULL;
}

static int add_number(struct clickhouse_store *s, uint32_t number, struct clickhouse_run *run)
{
	struct clickhouse_alias *a;
	int r;

	if (clickhouse_runs_get(s, number))
		return 0;
	a = malloc(sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = (struct clickhouse_alias){ .number = number, .run = run };
	r = hashtable_add(&s->by_number, hashtable_hash_number(number), a);
	if (r < 0) {
		free(a);
		return r;
	}
	if (!run->number || number < run->number)
		run->number = number;
	return 0;
}

int clickhouse_runs_add(struct clickhouse_store *s, const struct store_run_ids *ids,
			uint32_t number, struct clickhouse_run **ret)
{
	struct clickhouse_run *run = clickhouse_runs_find(s, &ids->run);
	int r;

	if (!run) {
		run = calloc(1, sizeof(*run));
		if (!run)
			return -ENOMEM;
		run->ids = *ids;
		r = hashtable_add(&s->by_id, hashtable_hash_id(ids->run.bytes), run);
		if (r < 0) {
			free(run);
			return r;
		}
	}
	*ret = run;
	return add_number(s, number, run);
}

void clickhouse_runs_done(struct clickhouse_store *s)
{
	struct clickhouse_run *run;
	size_t at = 0;
	void *p;

	while ((run = hashtable_next(&s->by_id, &at))) {
		run_state_done(&run->in);
		run_state_done(&run->shown);
		run_state_done(&run->put);
		cuts_done(&run->cuts);
		free(run);
	}
	for (at = 0; (p = hashtable_next(&s->by_number, &at));)
		free(p);
	for (at = 0; (p = hashtable_next(&s->arrivals, &at));)
		free(p);
	hashtable_done(&s->by_id);
	hashtable_done(&s->by_number);
	hashtable_done(&s->arrivals);
	free(s->touched);
}

void clickhouse_runs_facts(const struct clickhouse_run *run, struct store_run *ret)
{
	const struct shown_run shown = { .number = run->number,
					 .ids = run->ids,
					 .in_totals = run->in.totals,
					 .cuts = run->cuts };

	shown_run_facts(&shown, &run->shown, NULL, ret);
}

/* --- what comes to a state --- */

/* What is left of a segment whose beginning went with its day (cuts.h). */
static void follow_cut(struct cuts *cuts, const struct run_state *state, const struct block *b)
{
	const struct stream_state *t = run_state_stream(state, b->stream);
	size_t i;

	for (i = 0; i < cuts->n; i++) {
		struct cut *c = &cuts->list[i];

		if (c->stream != b->stream || !c->open)
			continue;
		c->open = !(b->flags & BLOCK_KEY);
		if (!c->open) {
			c->to_tick = b->first_tick > t->until ? b->first_tick : t->until;
		} else if (t && !t->gap && t->next_sequence == b->sequence) {
			c->events += b->events;
			c->to_tick = t->until;
		}
	}
}

int clickhouse_state_take(struct run_state *state, struct cuts *cuts,
			  const struct run_losses *losses, const struct clickhouse_header *h)
{
	int r;

	if (run_state_check(state, &h->block, NULL) != STORE_TAKEN)
		return 0; /* it is there, or no collector has put it there */
	if (cuts)
		follow_cut(cuts, state, &h->block);
	r = run_state_take(state, &h->block, h->came_ns, losses);
	if (r < 0)
		return r;
	/* The rows come stream by stream, not in the order of their arrival. */
	if (h->came_ns < state->first_ns)
		state->first_ns = h->came_ns;
	state->has_guests |= h->has_guests;
	return 0;
}

int clickhouse_run_take(struct clickhouse_run *run, const struct clickhouse_header *h)
{
	int r = clickhouse_state_take(&run->shown, &run->cuts, NULL, h);

	return r < 0 || !run->has_put ? r : clickhouse_state_take(&run->put, NULL, NULL, h);
}

void clickhouse_state_note(struct run_state *state, const struct run_losses *losses,
			   const struct clickhouse_record *n, const uint8_t *body)
{
	struct store_clock clock;
	struct message_end m;

	switch (n->kind) {
	case NOTE_END:
		if (end_decode(&m, body, n->len) == WIRE_OK &&
		    run_state_check_end(state, &m, NULL) == STORE_TAKEN)
			run_state_end(state, &m, n->came_ns, losses);
		break;
	case NOTE_CLOSE:
		run_state_close(state, losses);
		break;
	case NOTE_CLOCK:
		if (log_clock_decode(&clock, body, n->len) == 0)
			run_state_set_clock(state, &clock);
		break;
	default:
		break;
	}
}
