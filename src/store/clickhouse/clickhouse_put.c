/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_put: the ingest's side (clickhouse_parts.h): what is taken, what is refused, and the rows
 * that wait for the next commit.
 *
 * The server is asked here only when a device arrives with its runs, or begins a new one: what the
 * tables have of a run is then brought into its state, for the device may come from another
 * collector. While the server cannot answer, the device is told to wait (-EAGAIN).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hex.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"
#include "store/log_view.h"

#define RECORDS_MAX (1U << 24)
#define RUN_ROOM (4U + 3 * 16 + 8)
#define DEVICE_ROOM (16U + 4 * (STORE_NAME_MAX + VARINT_MAX) + 20)
#define NOTE_ROOM (32U + 1 + 8 + VARINT_MAX)
#define CLAIMS_MOST 16U /* until a number is taken to be nobody else's */

struct clickhouse_batch *clickhouse_batch_new(void)
{
	return calloc(1, sizeof(struct clickhouse_batch));
}

void clickhouse_batch_free(struct clickhouse_batch *b)
{
	int i;

	if (!b)
		return;
	for (i = 0; i < PARTS; i++)
		clickhouse_rows_done(&b->parts[i]);
	free(b->records);
	free(b);
}

size_t clickhouse_batch_len(const struct clickhouse_batch *b)
{
	size_t len = 0;
	int i;

	for (i = 0; i < PARTS; i++)
		len += b->parts[i].len;
	return len;
}

static int unlock(struct clickhouse_store *s, int r)
{
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* Room for a row in a part, and for the run's own row before it; -EAGAIN at the batch's ceiling. */
static int reserve(struct clickhouse_store *s, int part, size_t len, struct error *e)
{
	struct clickhouse_batch *b = s->filling;

	if (s->waiting + len + RUN_ROOM > s->options.batch_bytes)
		return error_set(e, EAGAIN, "%llu bytes wait to be written",
				 (unsigned long long)s->waiting);
	if (clickhouse_rows_reserve(&b->parts[part], len) < 0 ||
	    clickhouse_rows_reserve(&b->parts[PART_RUNS], RUN_ROOM) < 0 ||
	    array_grow(&b->records, b->n, &b->room, sizeof(*b->records), RECORDS_MAX) < 0)
		return error_set(e, ENOMEM, "no memory for what waits to be written");
	return 0;
}

/* The run's own row, before the first of what it has. There is room. */
static void declare(struct clickhouse_store *s, struct clickhouse_run *run, uint64_t now_ns)
{
	struct clickhouse_rows *r = &s->filling->parts[PART_RUNS];

	if (run->declared)
		return;
	clickhouse_rows_u32(r, run->number);
	clickhouse_rows_put(r, run->ids.device.bytes, 16);
	clickhouse_rows_put(r, run->ids.run.bytes, 16);
	clickhouse_rows_put(r, run->ids.boot.bytes, 16);
	clickhouse_rows_u64(r, now_ns);
	run->declared = true;
	s->waiting += RUN_ROOM;
}

static void add_record(struct clickhouse_store *s, struct clickhouse_record record)
{
	struct clickhouse_batch *b = s->filling;

	b->records[b->n++] = record;
}

int clickhouse_put_note(struct clickhouse_store *s, struct clickhouse_run *run,
			enum clickhouse_kind kind, const struct message_text *body, struct error *e)
{
	struct clickhouse_rows *rows = &s->filling->parts[PART_NOTES];
	size_t before = rows->len;
	uint64_t now_ns = clock_real_ns();
	int r = reserve(s, PART_NOTES, NOTE_ROOM + body->len, e);

	if (r < 0)
		return r;
	declare(s, run, now_ns);
	clickhouse_rows_put(rows, run->ids.device.bytes, 16);
	clickhouse_rows_put(rows, run->ids.run.bytes, 16);
	clickhouse_rows_u8(rows, (uint8_t)kind);
	clickhouse_rows_u64(rows, now_ns);
	clickhouse_rows_string(rows, body->at, body->len);
	s->waiting += rows->len - before;
	add_record(s, (struct clickhouse_record){ .run = run,
						  .came_ns = now_ns,
						  .kind = (uint8_t)kind,
						  .at = rows->len - body->len,
						  .len = body->len });
	return 0;
}

/* --- devices --- */

static bool is_device(const void *entry, const void *key)
{
	return !memcmp(&((const struct clickhouse_arrival *)entry)->device, key, 16);
}

static int get_arrival(struct clickhouse_store *s, const struct message_id *id,
		       struct clickhouse_arrival **ret)
{
	uint64_t hash = hashtable_hash_id(id->bytes);
	struct clickhouse_arrival *a = hashtable_get(&s->arrivals, hash, is_device, id);
	int r;

	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		a->device = *id;
		r = hashtable_add(&s->arrivals, hash, a);
		if (r < 0) {
			free(a);
			return r;
		}
	}
	*ret = a;
	return 0;
}

static void put_device_row(struct clickhouse_rows *r, const struct store_device *d)
{
	clickhouse_rows_put(r, d->id.bytes, 16);
	clickhouse_rows_string(r, d->name, strlen(d->name));
	clickhouse_rows_string(r, d->kernel, strlen(d->kernel));
	clickhouse_rows_string(r, d->machine, strlen(d->machine));
	clickhouse_rows_string(r, d->agent, strlen(d->agent));
	clickhouse_rows_u32(r, d->cpus);
	clickhouse_rows_u64(r, d->seen_ns);
	clickhouse_rows_u64(r, clock_real_ns());
}

int clickhouse_device(struct store *store, const struct store_device *d, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_rows *rows;
	struct clickhouse_arrival *a;
	size_t before;
	int r;

	pthread_mutex_lock(&s->lock);
	rows = &s->filling->parts[PART_DEVICES];
	before = rows->len;
	r = get_arrival(s, &d->id, &a);
	if (r < 0)
		return unlock(s, error_set(e, r, "cannot note a device: %s", strerror(-r)));
	a->count++; /* its runs may have gone on elsewhere */
	r = reserve(s, PART_DEVICES, DEVICE_ROOM, e);
	if (r == 0) {
		put_device_row(rows, d);
		s->waiting += rows->len - before;
	}
	return unlock(s, r);
}

/* --- runs --- */

static ssize_t take_pair(void *context, const uint8_t *bytes, size_t len)
{
	uint64_t *pair = context;
	struct byte_reader in;

	reader_init(&in, bytes, len);
	pair[0] = clickhouse_row_u64(&in);
	pair[1] = clickhouse_row_u64(&in);
	return in.bad ? 0 : 16;
}

static int ask_pair(struct clickhouse_store *s, const char *sql, uint64_t pair[2], struct error *e)
{
	const struct clickhouse_ask a = { .sql = sql, .take = take_pair, .context = pair };

	pair[0] = pair[1] = 0;
	return clickhouse_link_ask(s->link, &a, e);
}

static uint64_t get_random(void)
{
	uint64_t v = 0;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		v = clock_real_ns();
	return v;
}

static int insert_claim(struct clickhouse_store *s, uint32_t number, uint64_t token,
			struct error *e)
{
	uint8_t row[12];

	put_le32(row, number);
	put_le64(row + 4, token);
	return clickhouse_link_insert(s->link, "claims (number, token)", row, sizeof(row), e);
}

/* A number that nobody else has: it is claimed, and then looked whether somebody else claimed it, too.
 * Of two who did at the same time, the one whose look came later sees the other's claim, and perhaps
 * both do: who sees one takes another number. Nobody takes a number that another one has looked at
 * and found to be his alone, for his claim was there before. */
static int claim_number(struct clickhouse_store *s, uint32_t *ret, struct error *e)
{
	uint64_t pair[2], token = get_random(), number = 0;
	char sql[160];
	uint32_t i;
	int r;

	r = ask_pair(s, "SELECT toUInt64(max(number)), toUInt64(0) FROM claims", pair, e);
	number = pair[0];
	for (i = 0; i < CLAIMS_MOST && r == 0; i++) {
		number += 1 + (i ? get_random() % (16ULL << i) : 0);
		if (number > UINT32_MAX)
			return error_set(e, ERANGE, "there are no more numbers for runs");
		r = insert_claim(s, (uint32_t)number, token, e);
		snprintf(sql, sizeof(sql),
			 "SELECT toUInt64(uniqExact(token)), toUInt64(min(token)) FROM claims "
			 "WHERE number = %" PRIu64,
			 number);
		if (r == 0)
			r = ask_pair(s, sql, pair, e);
		if (r == 0 && pair[0] == 1 && pair[1] == token) {
			*ret = (uint32_t)number;
			return 0;
		}
	}
	return r < 0 ? r : error_set(e, EAGAIN, "too many collectors number runs at once");
}

static int new_run(struct clickhouse_store *s, const struct store_run_ids *ids,
		   struct clickhouse_run **ret, struct error *e)
{
	uint32_t number = 0;
	int r = claim_number(s, &number, e);

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	r = clickhouse_runs_add(s, ids, number, ret);
	if (r == 0)
		(*ret)->loaded = true;
	return unlock(s, r < 0 ? error_set(e, r, "cannot take a run: %s", strerror(-r)) : 0);
}

struct closing {
	struct clickhouse_store *store;
	struct error *e;
};

/* Runs of earlier boots get no END any more. What their kernels' rings held is lost. */
static ssize_t take_open(void *context, const uint8_t *bytes, size_t len)
{
	struct closing *c = context;
	const struct message_text nothing = { "", 0 };
	const uint8_t *at = bytes;
	struct clickhouse_run *run;
	struct store_run_ids ids;
	struct byte_reader in;
	uint32_t number;
	int r = 0;

	reader_init(&in, bytes, len);
	pthread_mutex_lock(&c->store->lock);
	while (r == 0) {
		number = clickhouse_row_u32(&in);
		ids.device = clickhouse_row_id(&in);
		ids.run = clickhouse_row_id(&in);
		ids.boot = clickhouse_row_id(&in);
		if (in.bad)
			break;
		at = in.at;
		r = clickhouse_runs_add(c->store, &ids, number, &run);
		if (r < 0)
			break;
		run->known = run->declared = true;
		r = clickhouse_put_note(c->store, run, NOTE_CLOSE, &nothing, c->e);
		if (r == 0 && run->has_put)
			run_state_close(&run->put, NULL);
	}
	return unlock(c->store, r) < 0 ? r : at - bytes;
}

static int close_others(struct clickhouse_store *s, const struct store_run_ids *ids,
			struct error *e)
{
	struct closing closing = { s, e };
	char sql[512], device[33], boot[33];
	struct clickhouse_ask a = { .sql = sql, .take = take_open, .context = &closing };

	hex_format(ids->device.bytes, 16, device);
	hex_format(ids->boot.bytes, 16, boot);
	snprintf(sql, sizeof(sql),
		 "SELECT number, device, run, boot FROM runs WHERE device = unhex('%s') AND "
		 "boot != unhex('%s') AND run GLOBAL NOT IN (SELECT run FROM notes WHERE "
		 "device = unhex('%s') AND kind IN (%d, %d, %d)) ORDER BY number LIMIT 1 BY run",
		 device, boot, device, NOTE_END, NOTE_CLOSE, NOTE_GONE);
	return clickhouse_link_ask(s->link, &a, e);
}

/* The state that what is put is checked against; the lock is held. */
static int get_put(struct clickhouse_run *run)
{
	int r = run->has_put ? 0 : run_state_dup(&run->put, &run->shown);

	run->has_put = r == 0;
	return r;
}

/* Brings the run to what the tables have; *ret NULL if there is none. */
static int meet_run(struct clickhouse_store *s, const struct store_run_ids *ids,
		    struct clickhouse_run **ret, struct error *e)
{
	int r;

	pthread_mutex_lock(&s->lock);
	*ret = clickhouse_runs_find(s, &ids->run);
	pthread_mutex_unlock(&s->lock);
	r = *ret ? 0 : clickhouse_load_id(s, &ids->run, ret, e);
	if (r < 0 && r != -ENOENT)
		return r;
	if (*ret && memcmp(&(*ret)->ids.device, &ids->device, sizeof(ids->device)))
		return error_set(e, EPROTO, "run %u belongs to another device", (*ret)->number);
	if (*ret && (*ret)->known)
		r = clickhouse_load_run(s, *ret, e);
	else
		r = *ret ? 0 : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	return *ret && !memcmp(&(*ret)->ids.boot, &ids->boot, sizeof(ids->boot))
		       ? close_others(s, ids, e)
		       : 0;
}

static int make_run(struct clickhouse_store *s, const struct store_run_ids *ids,
		    struct clickhouse_run **ret, struct error *e)
{
	int r = close_others(s, ids, e);

	return r < 0 ? r : new_run(s, ids, ret, e);
}

/* Whether the run was met since its device arrived. */
static bool is_met(struct clickhouse_store *s, const struct store_run_ids *ids,
		   uint32_t *ret_number, uint32_t *ret_arrival)
{
	struct clickhouse_arrival *a =
		hashtable_get(&s->arrivals, hashtable_hash_id(ids->device.bytes), is_device,
			      &ids->device);
	struct clickhouse_run *run = clickhouse_runs_find(s, &ids->run);

	*ret_arrival = a ? a->count : 0;
	if (!run || !run->checked || run->arrival != *ret_arrival)
		return false;
	*ret_number = run->number;
	return !memcmp(&run->ids.device, &ids->device, sizeof(ids->device));
}

static int take_run(struct store *store, const struct store_run_ids *ids, bool make,
		    uint32_t *ret_number, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_run *run = NULL;
	uint32_t arrival;
	bool met, waits;
	int r;

	pthread_mutex_lock(&s->lock);
	met = is_met(s, ids, ret_number, &arrival);
	waits = s->wants_commit;
	pthread_mutex_unlock(&s->lock);
	if (met)
		return 0;
	if (waits) /* or each device would wait for the same silence, one after the other */
		return error_set(e, EAGAIN, "ClickHouse does not answer");
	r = meet_run(s, ids, &run, e);
	if (r == 0 && !run && make)
		r = make_run(s, ids, &run, e);
	pthread_mutex_lock(&s->lock);
	if (r == 0 && run)
		r = get_put(run);
	if (r == 0 && !run) {
		*ret_number = 0;
	} else if (r == 0) {
		run->checked = true;
		run->arrival = arrival;
		*ret_number = run->number;
	} else if (r != -EPROTO && r != -ENOMEM && r != -ERANGE) {
		s->wants_commit = true;
		r = -EAGAIN;
	}
	return unlock(s, r);
}

int clickhouse_take_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
			struct error *e)
{
	return take_run(store, ids, true, ret_number, e);
}

int clickhouse_find_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
			struct error *e)
{
	return take_run(store, ids, false, ret_number, e);
}

/* --- blocks and ends --- */

/* The run, which must have been met; the lock is held afterwards. */
static int lock_run(struct clickhouse_store *s, uint32_t number, struct clickhouse_run **ret,
		    struct error *e)
{
	int r = clickhouse_load_number(s, number, ret, e);

	if (r == 0 && !(*ret)->loaded)
		r = clickhouse_load_run(s, *ret, e);
	if (r == -ENOENT)
		error_set(e, ENOENT, "run %u: there is none", number);
	else if (r < 0)
		r = -EAGAIN;
	pthread_mutex_lock(&s->lock);
	return r < 0 ? r : get_put(*ret);
}

/* No event of the stream before the block is later; of a KEY block, where its segment begins. */
static uint64_t get_key_tick(const struct run_state *state, const struct block *b)
{
	const struct stream_state *t = run_state_stream(state, b->stream);
	uint64_t until = t ? t->until : 0;

	return b->flags & BLOCK_KEY && b->first_tick > until ? b->first_tick : until;
}

static int put_block(struct clickhouse_store *s, struct clickhouse_run *run, const struct block *b,
		     const uint8_t *bytes, struct error *e)
{
	struct clickhouse_rows *rows = &s->filling->parts[PART_BLOCKS];
	struct clickhouse_block row = { .device = &run->ids.device,
					.run = &run->ids.run,
					.header = { .block = *b, .came_ns = clock_real_ns() },
					.key_tick = get_key_tick(&run->put, b),
					.bytes = bytes };
	struct clickhouse_record record = { .run = run, .came_ns = row.header.came_ns };
	size_t before = rows->len;
	int r = run_state_check(&run->put, b, e);

	if (r != STORE_TAKEN)
		return r;
	r = reserve(s, PART_BLOCKS, CLICKHOUSE_BLOCK_ROOM + b->len, e);
	if (r == 0)
		r = run_state_take(&run->put, b, row.header.came_ns, NULL);
	if (r < 0)
		return r == -EAGAIN ? r : error_set(e, r, "cannot take a block: %s", strerror(-r));
	declare(s, run, row.header.came_ns);
	row.header.has_guests = run->put.has_guests;
	record.at = clickhouse_rows_block(rows, &row);
	record.len = b->len;
	add_record(s, record);
	s->waiting += rows->len - before;
	s->filling->puts = ++s->puts;
	return STORE_TAKEN;
}

int clickhouse_put(struct store *store, uint32_t number, const struct block *b,
		   const uint8_t *bytes, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_run *run;
	int r = lock_run(s, number, &run, e);

	return unlock(s, r < 0 ? r : put_block(s, run, b, bytes, e));
}

static int put_end(struct clickhouse_store *s, struct clickhouse_run *run,
		   const struct message_end *m, struct error *e)
{
	_cleanup_free_ uint8_t *body = NULL;
	struct message_text text;
	size_t len = 0;
	int r = run_state_check_end(&run->put, m, e);

	if (r != STORE_TAKEN)
		return r;
	r = log_end_encode(m, &body, &len);
	text = (struct message_text){ .at = (const char *)body, .len = (uint32_t)len };
	if (r == 0)
		r = clickhouse_put_note(s, run, NOTE_END, &text, e);
	if (r == 0)
		r = run_state_end(&run->put, m, clock_real_ns(), NULL);
	if (r < 0)
		return r == -EAGAIN ? r : error_set(e, r, "cannot end a run: %s", strerror(-r));
	s->filling->puts = ++s->puts;
	return STORE_TAKEN;
}

int clickhouse_end(struct store *store, uint32_t number, const struct message_end *m,
		   struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct clickhouse_run *run;
	int r = lock_run(s, number, &run, e);

	return unlock(s, r < 0 ? r : put_end(s, run, m, e));
}

int clickhouse_note(struct store *store, const struct store_clock *c, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	uint8_t body[3 * VARINT_MAX];
	struct message_text text = { .at = (const char *)body };
	struct clickhouse_run *run;
	int r = lock_run(s, c->run, &run, e);

	if (r < 0 || !run_state_is_better_clock(&run->put, c))
		return unlock(s, r);
	text.len = (uint32_t)log_clock_encode(body, c);
	r = clickhouse_put_note(s, run, NOTE_CLOCK, &text, e);
	if (r == 0)
		run_state_set_clock(&run->put, c);
	return unlock(s, r);
}

uint64_t clickhouse_puts(const struct store *store)
{
	return atomic_load(&((const struct clickhouse_store *)store)->puts);
}

uint64_t clickhouse_waiting(const struct store *store)
{
	return atomic_load(&((const struct clickhouse_store *)store)->waiting);
}
