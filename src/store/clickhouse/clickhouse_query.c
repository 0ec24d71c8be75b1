/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_query: what readers ask of the store (store.h). What this process has inserted is seen
 * at once, what others have inserted CLICKHOUSE_LOOK_MS later at most.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/condition.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"
#include "store/clickhouse/clickhouse_schema.h"

#define LEDGER_MAX (1U << 26) /* rows of one run */

/* --- devices --- */

struct devices {
	struct store_device *rows;
	size_t n, room;
};

static ssize_t take_devices(void *context, const uint8_t *bytes, size_t len)
{
	struct devices *l = context;
	const uint8_t *at = bytes;
	struct store_device d;
	struct byte_reader in;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0) {
		memset(&d, 0, sizeof(d));
		d.id = clickhouse_row_id(&in);
		clickhouse_row_name(&in, d.name);
		clickhouse_row_name(&in, d.kernel);
		clickhouse_row_name(&in, d.machine);
		clickhouse_row_name(&in, d.agent);
		d.cpus = clickhouse_row_u32(&in);
		d.seen_ns = clickhouse_row_u64(&in);
		if (in.bad)
			break;
		at = in.at;
		r = array_grow(&l->rows, l->n, &l->room, sizeof(*l->rows), CLICKHOUSE_DEVICES_MAX);
		if (r == 0)
			l->rows[l->n++] = d;
	}
	return r < 0 ? r : at - bytes;
}

int clickhouse_devices(struct store *store, store_device_fn fn, void *context, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct devices l = { 0 };
	const struct clickhouse_ask a = {
		.sql = "SELECT device, name, kernel, machine, agent, cpus, seen FROM devices "
		       "ORDER BY told DESC LIMIT 1 BY device",
		.take = take_devices,
		.context = &l,
	};
	size_t i;
	int r = clickhouse_link_ask(s->link, &a, e);

	for (i = 0; i < l.n && r == 0; i++)
		r = fn(context, &l.rows[i]);
	free(l.rows);
	return r;
}

/* --- runs --- */

/* One that is in the tables; looked at again if that is long ago. */
static int find_run(struct clickhouse_store *s, uint32_t number, struct clickhouse_run **ret,
		    struct error *e)
{
	int r = clickhouse_load_number(s, number, ret, e);
	bool late = false;

	if (r == 0) {
		pthread_mutex_lock(&s->lock);
		late = (*ret)->known && (!(*ret)->loaded || (!(*ret)->shown.ended &&
							     clock_mono_ms() - (*ret)->looked_ms >=
								     CLICKHOUSE_LOOK_MS));
		pthread_mutex_unlock(&s->lock);
	}
	if (r == 0 && late)
		r = clickhouse_load_run(s, *ret, e);
	if (r == 0 && (!(*ret)->known || (*ret)->gone))
		r = -ENOENT;
	if (r == -ENOENT)
		error_set(e, ENOENT, "there is no run %u", number);
	return r;
}

int clickhouse_get_run(struct store *store, uint32_t number, struct store_run *ret, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_run *run;
	int r = find_run(s, number, &run, e);

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	clickhouse_runs_facts(run, ret);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int clickhouse_runs(struct store *store, const struct message_id *device, store_run_fn fn,
		    void *context, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	_cleanup_free_ struct store_run *rows = NULL;
	const struct clickhouse_run *run;
	size_t n = 0, at = 0, i;
	int r = clickhouse_load_all(s, e);

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	rows = calloc(s->by_id.n + 1, sizeof(*rows));
	while (rows && (run = hashtable_next(&s->by_id, &at)))
		if (run->known && !run->gone &&
		    (!device || !memcmp(&run->ids.device, device, sizeof(*device))))
			clickhouse_runs_facts(run, &rows[n++]);
	pthread_mutex_unlock(&s->lock);
	if (!rows)
		return error_set(e, ENOMEM, "cannot list the runs: out of memory");
	qsort(rows, n, sizeof(*rows), store_latest_first);
	for (i = 0; i < n && r == 0; i++)
		r = fn(context, &rows[i]);
	return r;
}

int clickhouse_get_clock(struct store *store, uint32_t number, struct store_clock *ret)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_run *run;
	int r = find_run(s, number, &run, NULL);

	if (r < 0)
		return r == -ENOENT ? r : -EAGAIN;
	pthread_mutex_lock(&s->lock);
	r = run->shown.has_clock ? 0 : -ENOENT;
	if (r == 0) {
		*ret = run->shown.clock;
		ret->run = number;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* What is durable counts: the device forgets what is below. */
size_t clickhouse_next_sequences(struct store *store, uint32_t number, struct message_resume *rows,
				 size_t n)
{
	struct clickhouse_store *s = clickhouse_get(store);
	const struct clickhouse_run *run;
	size_t i, all = 0;

	pthread_mutex_lock(&s->lock);
	run = clickhouse_runs_get(s, number);
	if (run && run->known) {
		all = run->shown.n;
		for (i = 0; i < all && i < n; i++)
			rows[i] = (struct message_resume){
				.stream = run->shown.streams[i].stream,
				.next_sequence = run->shown.streams[i].next_sequence
			};
	}
	pthread_mutex_unlock(&s->lock);
	return all;
}

/* --- the ledger --- */

struct ledger_row {
	struct store_loss loss;
	uint64_t came_ns; /* what it was found in */
	size_t place;
};

struct ledger {
	struct ledger_row *rows;
	size_t n, room;
	uint32_t run;
	uint64_t came_ns; /* of what is being looked at */
	int error;
};

/* As they were found by whoever took the blocks when they came. */
static int by_arrival(const void *a, const void *b)
{
	const struct ledger_row *x = a, *y = b;

	if (x->came_ns != y->came_ns)
		return (x->came_ns > y->came_ns) - (x->came_ns < y->came_ns);
	return (x->place > y->place) - (x->place < y->place);
}

static void push_row(void *context, const struct store_loss *row)
{
	struct ledger *l = context;
	int r = array_grow(&l->rows, l->n, &l->room, sizeof(*l->rows), LEDGER_MAX);

	if (r < 0) {
		l->error = r;
		return;
	}
	l->rows[l->n] = (struct ledger_row){ .loss = *row, .came_ns = l->came_ns, .place = l->n };
	l->rows[l->n++].loss.run = l->run;
}

/* It is nowhere written down: the run is gone through from its beginning, and all that is lost on the
 * way is a row. */
static int list_ledger(struct clickhouse_store *s, const struct clickhouse_run *run,
		       struct ledger *l, struct error *e)
{
	const struct run_losses losses = { .add = push_row, .context = l };
	struct cuts cuts = { 0 };
	struct run_state state = { 0 };
	struct clickhouse_replay p = { .run = run,
				       .state = &state,
				       .cuts = &cuts,
				       .losses = &losses,
				       .where = "",
				       .came_ns = &l->came_ns };
	uint8_t *in;
	int r;

	pthread_mutex_lock(&s->lock);
	in = malloc(RUN_STATE_ROOM(run->in.n));
	r = in ? cuts_init(&cuts, in, run_state_encode(&run->in, in)) : -ENOMEM;
	if (r == 0)
		r = run_state_dup(&state, &run->in);
	if (r == 0)
		run_state_list_sums(&state, &losses);
	pthread_mutex_unlock(&s->lock);
	if (r == 0)
		r = clickhouse_load_replay(s, &p, e);
	if (r == 0) {
		l->came_ns = 0;
		cuts_list(&cuts, NULL, &losses);
		l->came_ns = UINT64_MAX;
		run_state_list_open(&state, &losses);
		r = l->error;
	}
	if (l->n)
		qsort(l->rows, l->n, sizeof(*l->rows), by_arrival);
	cuts_done(&cuts);
	run_state_done(&state);
	free(in);
	return r;
}

int clickhouse_ledger(struct store *store, uint32_t number, store_loss_fn fn, void *context,
		      struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct ledger l = { .run = number };
	struct clickhouse_run *run;
	size_t i;
	int r = find_run(s, number, &run, e);

	if (r < 0)
		return r;
	r = list_ledger(s, run, &l, e);
	if (r == -ENOMEM || r == -E2BIG)
		error_set(e, r, "cannot list the ledger of run %u: %s", number, strerror(-r));
	for (i = 0; i < l.n && r == 0; i++)
		r = fn(context, &l.rows[i].loss);
	free(l.rows);
	return r;
}

/* --- the rest --- */

void clickhouse_wait(struct store *store, uint64_t *version, unsigned int timeout_ms)
{
	struct clickhouse_store *s = clickhouse_get(store);
	uint64_t until_ms = clock_mono_ms() + timeout_ms;

	pthread_mutex_lock(&s->lock);
	while (s->version <= *version)
		if (!condition_wait(&s->committed, &s->lock, until_ms))
			break;
	*version = s->version;
	pthread_mutex_unlock(&s->lock);
}

static ssize_t take_number(void *context, const uint8_t *bytes, size_t len)
{
	struct byte_reader in;
	uint64_t v;

	reader_init(&in, bytes, len);
	v = clickhouse_row_u64(&in);
	if (in.bad)
		return 0;
	*(uint64_t *)context = v;
	return 8;
}

/* Of the server that is asked, of its tables. How much is free only newer releases tell. */
void clickhouse_space(struct store *store, uint64_t *ret_used, uint64_t *ret_free)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_ask a = { .take = take_number, .context = ret_used };
	char sql[256];

	*ret_used = *ret_free = 0;
	snprintf(sql, sizeof(sql),
		 "SELECT toUInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND "
		 "database = '%s'",
		 s->url.database);
	a.sql = sql;
	clickhouse_link_ask(s->link, &a, NULL);
	a.context = ret_free;
	a.sql = "SELECT toUInt64(sum(free_space)) FROM system.disks";
	if (!s->without_disks)
		s->without_disks = clickhouse_link_ask(s->link, &a, NULL) == -ENOENT;
}
