/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_commit: the batch to the server, and then before the readers' eyes.
 *
 * A batch is up to four inserts: runs and devices before blocks, notes behind them, so that nobody
 * finds a block of a run that is not there, nor an END without the blocks before it. One that failed
 * stays and is sent again; what of it was inserted already, or was although it failed, are the same
 * rows again, which count once.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"

#define SAVE_BLOCKS 256U /* that may have to be read again when the run is loaded */
#define SHOW_AT_ONCE 256U

static const char *const tables[PARTS] = {
	[PART_RUNS] = "runs (number, device, run, boot, made)",
	[PART_DEVICES] = "devices (device, name, kernel, machine, agent, cpus, seen, told)",
	[PART_BLOCKS] = "blocks (" CLICKHOUSE_BLOCK_COLUMNS ")",
	[PART_NOTES] = "notes (device, run, kind, came, body)",
};

static int insert_batch(struct clickhouse_store *s, struct clickhouse_batch *b, struct error *e)
{
	int i, r = 0;

	for (i = 0; i < PARTS && r == 0; i++) {
		const struct clickhouse_rows *rows = &b->parts[i];

		if (!rows->len || b->done[i])
			continue;
		r = clickhouse_link_insert(s->link, tables[i], rows->data, rows->len, e);
		b->done[i] = r == 0;
	}
	return r;
}

/* --- what readers see --- */

static void touch(struct clickhouse_store *s, struct clickhouse_run *run)
{
	if (run->touched || array_grow(&s->touched, s->n_touched, &s->room_touched,
				       sizeof(*s->touched), CLICKHOUSE_RUNS_MAX) < 0)
		return;
	run->touched = true;
	s->touched[s->n_touched++] = run;
}

static int show_record(struct clickhouse_store *s, const struct clickhouse_batch *b,
		       const struct clickhouse_record *record)
{
	struct clickhouse_header h = { .came_ns = record->came_ns };
	struct clickhouse_run *run = record->run;

	run->known = true;
	touch(s, run);
	if (!run->loaded)
		return 0; /* whoever asks for it reads it all */
	if (record->kind) {
		clickhouse_state_note(&run->shown, NULL, record,
				      b->parts[PART_NOTES].data + record->at);
		return 0;
	}
	if (block_peek(b->parts[PART_BLOCKS].data + record->at, record->len, &h.block) != WIRE_OK)
		return -EBADMSG;
	return clickhouse_state_take(&run->shown, &run->cuts, NULL, &h);
}

static int show_batch(struct clickhouse_store *s, const struct clickhouse_batch *b, struct error *e)
{
	size_t i = 0, n;
	int r = 0;

	while (i < b->n && r == 0) {
		pthread_mutex_lock(&s->lock);
		for (n = 0; n < SHOW_AT_ONCE && i < b->n && r == 0; n++)
			r = show_record(s, b, &b->records[i++]);
		pthread_mutex_unlock(&s->lock);
	}
	return r < 0 ? error_set(e, r, "cannot show what was stored: %s", strerror(-r)) : 0;
}

/* --- batches --- */

static bool take_batch(struct clickhouse_store *s)
{
	pthread_mutex_lock(&s->lock);
	if (clickhouse_batch_len(s->filling)) {
		s->pending = s->filling;
		s->filling = take_ptr(s->spare);
	}
	pthread_mutex_unlock(&s->lock);
	return s->pending;
}

static void finish_batch(struct clickhouse_store *s)
{
	struct clickhouse_batch *b = take_ptr(s->pending);
	int i;

	pthread_mutex_lock(&s->lock);
	s->waiting -= clickhouse_batch_len(b);
	if (b->puts)
		s->durable = b->puts;
	s->version++;
	pthread_cond_broadcast(&s->committed);
	pthread_mutex_unlock(&s->lock);
	for (i = 0; i < PARTS; i++) {
		b->parts[i].len = 0;
		b->done[i] = false;
	}
	b->n = 0;
	b->puts = 0;
	s->spare = b;
}

static int commit_pending(struct clickhouse_store *s, struct error *e)
{
	int r = insert_batch(s, s->pending, e);

	if (r == 0)
		r = show_batch(s, s->pending, e);
	if (r == 0)
		finish_batch(s);
	return r;
}

static ssize_t take_nothing(void *context, const uint8_t *bytes, size_t len)
{
	(void)context;
	(void)bytes;
	return (ssize_t)len;
}

/* A device was told to wait for the server: does it answer? */
static int try_server(struct clickhouse_store *s, struct error *e)
{
	const struct clickhouse_ask a = { .sql = "SELECT max(version) FROM versions",
					  .take = take_nothing };
	bool wanted;
	int r;

	pthread_mutex_lock(&s->lock);
	wanted = s->wants_commit;
	pthread_mutex_unlock(&s->lock);
	r = wanted ? clickhouse_link_ask(s->link, &a, e) : 0;
	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	s->wants_commit = false;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int clickhouse_commit(struct store *store, uint64_t *ret_durable, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	int r = s->options.read_only ? error_set(e, EROFS, "the store is open for reading only")
				     : 0;

	/* One that failed before comes first; then what has come since. */
	if (r == 0 && s->pending)
		r = commit_pending(s, e);
	if (r == 0 && take_batch(s))
		r = commit_pending(s, e);
	if (r == 0)
		r = try_server(s, e);
	if (ret_durable)
		*ret_durable = s->durable;
	return r;
}

/* --- states that save work --- */

/* The run's state as a row of `notes`, if it has come far enough; the lock is held. */
static int save_run(struct clickhouse_run *run, uint32_t least, struct clickhouse_rows *rows)
{
	uint64_t blocks = run->shown.totals.blocks;
	bool over = run->shown.ended || run->shown.closed;
	_cleanup_free_ uint8_t *state = NULL;
	size_t room = RUN_STATE_ROOM(run->shown.n), len;

	if (!run->loaded || run->cut_ns || !blocks || blocks == run->saved_blocks ||
	    (!over && blocks - run->saved_blocks < least))
		return 0;
	state = malloc(room);
	if (!state || clickhouse_rows_reserve(rows, room + 64) < 0)
		return -ENOMEM;
	len = run_state_encode(&run->shown, state);
	clickhouse_rows_put(rows, run->ids.device.bytes, 16);
	clickhouse_rows_put(rows, run->ids.run.bytes, 16);
	clickhouse_rows_u8(rows, NOTE_STATE);
	clickhouse_rows_u64(rows, clock_real_ns());
	clickhouse_rows_string(rows, state, len);
	run->saved_blocks = blocks;
	return 0;
}

/* Of those that were touched since the last time. */
static int save_runs(struct clickhouse_store *s, uint32_t least, struct clickhouse_rows *rows)
{
	size_t i, kept = 0;
	int r = 0;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->n_touched; i++) {
		struct clickhouse_run *run = s->touched[i];

		if (r == 0)
			r = save_run(run, least, rows);
		run->touched = r < 0 || run->saved_blocks != run->shown.totals.blocks;
		if (run->touched)
			s->touched[kept++] = run;
	}
	s->n_touched = kept;
	pthread_mutex_unlock(&s->lock);
	return r;
}

int clickhouse_commit_states(struct clickhouse_store *s, uint32_t least, struct error *e)
{
	struct clickhouse_rows rows = { 0 };
	int r;

	pthread_mutex_lock(&s->keep_lock);
	r = save_runs(s, least, &rows);
	if (r < 0)
		error_set(e, r, "cannot save the states of runs: out of memory");
	else if (rows.len)
		r = clickhouse_link_insert(s->link, tables[PART_NOTES], rows.data, rows.len, e);
	clickhouse_rows_done(&rows);
	pthread_mutex_unlock(&s->keep_lock);
	return r;
}

int clickhouse_settle(struct store *store, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);

	return s->options.read_only ? 0 : clickhouse_commit_states(s, SAVE_BLOCKS, e);
}
