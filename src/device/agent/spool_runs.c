/* SPDX-License-Identifier: MIT */
/*
 * spool_runs: which runs the spool has entries of, and which of them are not over; see spool.h.
 *
 * A run's row is written where no mark leads to, and the mark that names its number makes it true. A
 * row is free again when nothing of its run is left.
 */
#include <errno.h>

#include "device/agent/spool_ring.h"

#define ROWS_KEPT 2U /* rows of runs that calls leave to events */

struct memory_run *spool_find_run(const struct spool *s, uint32_t number)
{
	struct memory_run *run = memory_get_head(s->memory)->runs;
	uint32_t i;

	for (i = 0; number && i < MESSAGE_RUNS_MAX; i++)
		if (run[i].number == number &&
		    run[i].crc == memory_crc(&run[i], offsetof(struct memory_run, crc)))
			return &run[i];
	return NULL;
}

static bool is_current(const struct spool *s, uint32_t number)
{
	return (number == ring_last(s, SPOOL_EVENTS) && ring_state(s, SPOOL_EVENTS)) ||
	       (number == ring_last(s, SPOOL_CALLS) && ring_state(s, SPOOL_CALLS)) ||
	       (number == ring_last(s, SPOOL_BESIDE) && ring_state(s, SPOOL_BESIDE));
}

static bool get_config(const struct spool *s, const struct memory_run *run,
		       struct message_config *ret)
{
	const uint8_t *config = memory_get_head(s->memory)->config[run->number & 1];
	struct byte_reader r;

	if (run->config_len > MEMORY_CONFIG_MAX ||
	    run->config_crc != memory_crc(config, run->config_len))
		return false;
	reader_init(&r, config, run->config_len);
	return config_decode(ret, &r) == WIRE_OK;
}

bool spool_get_current(const struct spool *s, enum spool_kind kind, struct spool_run *ret)
{
	const struct memory_run *run = spool_find_run(s, ring_last(s, kind));

	if (ring_state(s, kind) == MEMORY_IDLE || !run || ring_kind(run) != kind)
		return false;
	memset(ret, 0, sizeof(*ret));
	if (kind == SPOOL_EVENTS && !get_config(s, run, &ret->config))
		return false;
	ret->number = run->number;
	ret->kind = (uint8_t)kind;
	ret->is_described = ring_state(s, kind) == MEMORY_TRACING;
	ret->origin = (uint8_t)run->origin;
	memcpy(ret->id.bytes, run->id, sizeof(run->id));
	return true;
}

/* A row whose run nobody asks for any more. Programs that come and go make many runs of calls, which
 * must not keep events from being traced. */
static struct memory_run *find_free_row(struct spool *s, uint8_t kind)
{
	struct memory_run *rows = memory_get_head(s->memory)->runs, *found = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < MESSAGE_RUNS_MAX; i++) {
		if (spool_find_run(s, rows[i].number) &&
		    (s->runs[i].entries || is_current(s, rows[i].number)))
			continue;
		found = &rows[i];
		n++;
	}
	return n > (kind == SPOOL_CALLS ? ROWS_KEPT : 0) ? found : NULL;
}

static struct memory_run *make_free_row(struct spool *s, uint8_t kind, struct error *e)
{
	struct memory_run *row = find_free_row(s, kind);
	uint64_t tail = s->mark.tail;

	for (; !row && s->policy == POLICY_FLIGHT && spool_used(s); row = find_free_row(s, kind))
		spool_pop(s);
	if (s->mark.tail != tail)
		spool_publish(s);
	if (!row)
		error_set(e, ENOSPC,
			  "cannot begin a run: the collector still lacks blocks of %u others",
			  MESSAGE_RUNS_MAX - (kind == SPOOL_CALLS ? ROWS_KEPT : 0));
	return row;
}

/* Behind those of all kinds. A configuration lies where the number says, and the last one's must
 * stay until this run is published: so theirs are odd and even in turn. */
static uint32_t next_number(const struct spool *s, uint8_t kind)
{
	uint32_t events = ring_last(s, SPOOL_EVENTS), calls = ring_last(s, SPOOL_CALLS);
	uint32_t beside = ring_last(s, SPOOL_BESIDE), most = events > calls ? events : calls;
	uint32_t next = (most > beside ? most : beside) + 1;

	return kind == SPOOL_EVENTS && (next & 1) == (events & 1) ? next + 1 : next;
}

static int put_config(struct spool *s, struct memory_run *row, const struct message_config *c,
		      struct error *e)
{
	uint8_t *config = memory_get_head(s->memory)->config[row->number & 1];
	struct byte_writer w;

	writer_init(&w, config, MEMORY_CONFIG_MAX);
	config_encode(&w, c);
	if (w.full)
		return error_set(e, E2BIG, "cannot begin a run: its configuration is too large");
	row->config_len = (uint32_t)writer_len(&w);
	row->config_crc = memory_crc(config, row->config_len);
	return 0;
}

int spool_start_run(struct spool *s, struct spool_run *run, struct error *e)
{
	const struct memory_head *h = memory_get_head(s->memory);
	bool is_calls = run->kind == SPOOL_CALLS, is_beside = run->kind == SPOOL_BESIDE;
	struct memory_run row, *to;
	int r = 0;

	if (is_calls && !s->func_rows)
		return error_set(e, EOPNOTSUPP,
				 "cannot begin a run of calls: the spool has no "
				 "room for its threads");
	if (is_beside && !s->has_beside)
		return error_set(e, EOPNOTSUPP,
				 "cannot begin a run beside the agent's: the spool was not made "
				 "for one");
	to = make_free_row(s, run->kind, e);
	if (!to)
		return -ENOSPC;
	memset(&row, 0, sizeof(row));
	row.number = next_number(s, run->kind);
	row.origin = is_calls ? MEMORY_ORIGIN_FUNC : is_beside ? MEMORY_ORIGIN_BESIDE : run->origin;
	memcpy(row.id, run->id.bytes, sizeof(row.id));
	if (is_calls)
		r = memory_clear_func_rows(s->memory, e);
	else if (!is_beside)
		r = put_config(s, &row, &run->config, e);
	if (r < 0)
		return r;
	row.crc = memory_crc(&row, offsetof(struct memory_run, crc));
	*to = row;
	memset(s->runs[to - h->runs].collector, 0, ring_rows(s) * sizeof(uint64_t));
	s->runs[to - h->runs].entries = 0;
	s->runs[to - h->runs].next_meta = 0;
	if (is_calls)
		s->mark.func = row.number << 2;
	else if (is_beside)
		s->beside = row.number << 2;
	else
		s->mark.run = row.number;
	ring_set_state(s, run->kind, MEMORY_STARTING);
	s->mark.sequence++;
	spool_publish(s);
	run->number = row.number;
	return 0;
}

void spool_set_described(struct spool *s, enum spool_kind kind)
{
	ring_set_state(s, kind, MEMORY_TRACING);
	spool_publish(s);
}

void spool_abandon(struct spool *s, enum spool_kind kind)
{
	ring_set_state(s, kind, MEMORY_IDLE);
	spool_publish(s);
}

uint32_t spool_get_runs(const struct spool *s, uint32_t numbers[MESSAGE_RUNS_MAX])
{
	const struct memory_run *rows = memory_get_head(s->memory)->runs;
	uint32_t i, j, n = 0;

	for (i = 0; i < MESSAGE_RUNS_MAX; i++) {
		if (spool_find_run(s, rows[i].number) != &rows[i] ||
		    (!s->runs[i].entries && !is_current(s, rows[i].number)))
			continue;
		for (j = n++; j && numbers[j - 1] > rows[i].number; j--)
			numbers[j] = numbers[j - 1];
		numbers[j] = rows[i].number;
	}
	return n;
}

const struct message_id *spool_get_run(const struct spool *s, uint32_t number)
{
	const struct memory_run *run = spool_find_run(s, number);

	return run ? (const struct message_id *)run->id : NULL;
}
