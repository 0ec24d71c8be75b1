/* SPDX-License-Identifier: MIT */
/*
 * facts_put: see facts_put.h; and sets and carries that are written.
 *
 * Order: names, then sets, then the carry. Whoever dies in between has put sets that he does not remember; he makes them again, and the
 * same rows take the place of the first. A carry is never there without its sets.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/clock.h"
#include "facts/clickhouse/fact_row.h"
#include "facts/clickhouse/facts_clickhouse.h"
#include "facts/clickhouse/facts_put.h"
#include "store/array.h"

#define INSERT_BYTES (32U << 20)
#define OLD_MAX (1U << 22)
#define AGAIN_BITS 24U /* of a rank: how often the version was put */
#define AGAIN_MAX ((1U << AGAIN_BITS) - 1)
#define VERSION_MAX ((1ULL << (64 - AGAIN_BITS)) - 1)

/* What is there of the hours that a batch is about. */
struct old {
	struct fact_key key;
	uint64_t rank, version;
	bool is_closed;
};

struct olds {
	struct old *list; /* by key */
	size_t n, room;
};

static int compare_keys(const struct fact_key *x, const struct fact_key *y)
{
	int r = memcmp(&x->device, &y->device, sizeof(x->device));

	if (!r)
		r = memcmp(&x->run, &y->run, sizeof(x->run));
	if (!r && x->start_s != y->start_s)
		r = x->start_s < y->start_s ? -1 : 1;
	if (!r && x->length_s != y->length_s)
		r = x->length_s < y->length_s ? -1 : 1;
	return r ? r : (x->kind > y->kind) - (x->kind < y->kind);
}

static int compare_olds(const void *a, const void *b)
{
	return compare_keys(&((const struct old *)a)->key, &((const struct old *)b)->key);
}

static const struct old *find(const struct olds *o, const struct fact_key *key)
{
	struct old like = { .key = *key };

	return o->n ? bsearch(&like, o->list, o->n, sizeof(like), compare_olds) : NULL;
}

static bool read_old(struct byte_reader *in, struct old *o)
{
	memset(o, 0, sizeof(*o));
	o->key.kind = clickhouse_row_u8(in);
	o->key.length_s = clickhouse_row_u32(in);
	o->key.start_s = clickhouse_row_u64(in);
	o->key.device = clickhouse_row_id(in);
	o->key.run = clickhouse_row_id(in);
	o->rank = clickhouse_row_u64(in);
	o->version = clickhouse_row_u64(in);
	o->is_closed = clickhouse_row_u8(in);
	return !in->bad;
}

static ssize_t take_olds(void *context, const uint8_t *bytes, size_t len)
{
	struct olds *o = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct old old;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0 && read_old(&in, &old)) {
		at = in.at;
		r = array_grow(&o->list, o->n, &o->room, sizeof(*o->list), OLD_MAX);
		if (r == 0)
			o->list[o->n++] = old;
	}
	return r < 0 ? r : at - bytes;
}

/* The hours that sets are about, and their devices. */
struct extent {
	struct clickhouse_rows devices;
	uint64_t from_s, to_s;
};

static int measure(struct extent *x, const struct facts_batch *b)
{
	const struct fact_key *k, *before = NULL;
	size_t i;

	if (clickhouse_rows_reserve(&x->devices, 16 * b->n_sets) < 0)
		return -ENOMEM;
	for (i = 0; i < b->n_sets; i++, before = k) {
		k = &b->sets[i]->key;
		if (!before || memcmp(&k->device, &before->device, 16))
			clickhouse_rows_put(&x->devices, k->device.bytes, 16);
		x->from_s = MIN(x->from_s, k->start_s / FACT_HOUR_S * FACT_HOUR_S);
		x->to_s = MAX(x->to_s, k->start_s);
	}
	return 0;
}

static int ask_olds(struct facts_clickhouse *c, const struct extent *x, struct olds *ret,
		    struct error *e)
{
	const struct clickhouse_list list = { .type = "FixedString(16)",
					      .rows = x->devices.data,
					      .len = x->devices.len };
	struct clickhouse_ask ask = { .take = take_olds, .context = ret, .list = &list };
	struct facts_clickhouse_sql sql;
	int r = facts_clickhouse_sql_open(&sql, e);

	if (r < 0)
		return r;
	fprintf(sql.out,
		"SELECT kind, length, start, device, run, max(rank), argMax(version, rank), "
		"argMax(closed, rank) FROM facts WHERE device GLOBAL IN listed AND "
		"day >= toDate(%u) AND day <= toDate(%u) AND start >= %" PRIu64
		" AND start <= %" PRIu64 " GROUP BY kind, length, start, device, run",
		(unsigned int)(x->from_s / 86400), (unsigned int)(x->to_s / 86400), x->from_s,
		x->to_s);
	r = facts_clickhouse_sql_ask(&sql, c, &ask, e);
	if (r == 0 && ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), compare_olds);
	return r;
}

static int load_olds(struct facts_clickhouse *c, const struct facts_batch *list, size_t n,
		     struct olds *ret, struct error *e)
{
	struct extent x = { .from_s = UINT64_MAX };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++)
		r = measure(&x, &list[i]);
	if (r < 0)
		error_set(e, ENOMEM, "cannot put facts: out of memory");
	else if (x.devices.len)
		r = ask_olds(c, &x, ret, e);
	clickhouse_rows_done(&x.devices);
	return r;
}

/* --- one set --- */

/* A higher version is above every lower one; of the same the one that was put later. */
static uint64_t rank_minute(const struct fact_set *s, const struct old *old)
{
	uint64_t again = 0;

	if (old && old->version == s->version)
		again = MIN((old->rank & AGAIN_MAX) + 1, (uint64_t)AGAIN_MAX);
	return MIN(s->version, VERSION_MAX) << AGAIN_BITS | again;
}

int facts_put_encode(struct facts_clickhouse *c, struct clickhouse_rows *rows,
		     const struct fact_set *s, const struct fact_row_place *p, struct error *e)
{
	CLEANUP_FACT_HASHES struct fact_hashes hashes = { 0 };
	int r = fact_texts_put_set(c->texts, s, &hashes, e);

	if (r < 0)
		return r;
	if (fact_row_encode(rows, s, &hashes, p) < 0)
		return error_set(e, ENOMEM, "cannot put facts: out of memory");
	if (rows->len > FACTS_PUT_BYTES_MAX)
		return error_set(e, E2BIG, "cannot put facts: more than %u bytes at once",
				 FACTS_PUT_BYTES_MAX);
	return 0;
}

int facts_put_insert(struct facts_clickhouse *c, const struct clickhouse_rows *rows,
		     struct error *e)
{
	int r = fact_texts_flush(c->texts, e);

	if (r == 0 && rows->len)
		r = clickhouse_link_insert(c->link, "facts (" FACT_ROW_COLUMNS ")", rows->data,
					   rows->len, e);
	return r;
}

struct putting {
	struct facts_clickhouse *c;
	struct olds olds;
	struct facts_clickhouse_ages ages;
	struct clickhouse_rows rows;
};

static int put_set(struct putting *p, struct facts_batch *b, const struct fact_set *s,
		   struct error *e)
{
	struct fact_row_place place = { .id = facts_clickhouse_token() };
	const struct old *old = find(&p->olds, &s->key), *hour;
	struct fact_key key = s->key;

	if (old && old->version > s->version)
		return 0;
	if (s->key.length_s == FACT_HOUR_S) { /* as such: its minutes are not here */
		place.rank = old ? old->rank + 1 : 1;
		place.is_closed = true;
		return facts_put_encode(p->c, &p->rows, s, &place, e);
	}
	key.length_s = FACT_HOUR_S;
	key.start_s -= key.start_s % FACT_HOUR_S;
	hour = find(&p->olds, &key);
	if ((hour && hour->is_closed) || s->key.start_s < p->ages.minutes_from_s) {
		b->n_late++;
		return 0;
	}
	place.rank = rank_minute(s, old);
	return facts_put_encode(p->c, &p->rows, s, &place, e);
}

/* What has become large goes at once: sets may be there before others of their batch. */
static int put_batch(struct putting *p, struct facts_batch *b, struct error *e)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < b->n_sets; i++) {
		r = put_set(p, b, b->sets[i], e);
		if (r < 0 || p->rows.len < INSERT_BYTES)
			continue;
		r = facts_put_insert(p->c, &p->rows, e);
		p->rows.len = 0;
	}
	return r;
}

static int put_sets(struct facts_clickhouse *c, struct facts_batch *list, size_t n, struct error *e)
{
	struct putting p = { .c = c };
	size_t i;
	int r = facts_clickhouse_get_ages(c, &p.ages, e);

	if (r == 0)
		r = load_olds(c, list, n, &p.olds, e);
	for (i = 0; r == 0 && i < n; i++)
		r = put_batch(&p, &list[i], e);
	if (r == 0)
		r = facts_put_insert(c, &p.rows, e);
	clickhouse_rows_done(&p.rows);
	free(p.olds.list);
	return r;
}

/* --- carries --- */

static int put_carries(struct facts_clickhouse *c, const struct facts_batch *list, size_t n,
		       struct error *e)
{
	struct clickhouse_rows rows = { 0 };
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < n; i++) {
		if (!list[i].run)
			continue;
		r = clickhouse_rows_reserve(&rows, list[i].carry_len + 64);
		if (r < 0) {
			error_set(e, ENOMEM, "cannot put facts: out of memory");
			break;
		}
		clickhouse_rows_put(&rows, list[i].run->bytes, 16);
		clickhouse_rows_u64(&rows, clock_real_ns());
		clickhouse_rows_string(&rows, list[i].carry, list[i].carry_len);
	}
	if (r == 0 && rows.len)
		r = clickhouse_link_insert(c->link, "fact_carries (run, made, carry)", rows.data,
					   rows.len, e);
	clickhouse_rows_done(&rows);
	return r;
}

int facts_clickhouse_put(struct facts *f, struct facts_batch *list, size_t n, struct error *e)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);
	size_t n_sets = 0, i;
	int r = facts_clickhouse_may_write(c, e);

	for (i = 0; i < n; i++)
		n_sets += list[i].n_sets;
	if (r == 0 && n_sets)
		r = put_sets(c, list, n, e);
	return r < 0 ? r : put_carries(c, list, n, e);
}

/* An empty one is none. */
int facts_clickhouse_drop_carry(struct facts *f, const struct message_id *run, struct error *e)
{
	struct facts_batch b = { .run = run };

	return facts_clickhouse_put(f, &b, 1, e);
}

struct carry {
	uint8_t *bytes;
	size_t len;
};

static ssize_t take_carry(void *context, const uint8_t *bytes, size_t len)
{
	struct carry *c = context;
	struct byte_reader in;
	const uint8_t *carry;
	size_t n;

	reader_init(&in, bytes, len);
	carry = clickhouse_row_string(&in, &n);
	if (in.bad)
		return 0;
	if (n > FACTS_CARRY_MAX || c->bytes)
		return -EBADMSG;
	c->bytes = malloc(n + 1);
	if (!c->bytes)
		return -ENOMEM;
	if (n)
		memcpy(c->bytes, carry, n);
	c->len = n;
	return in.at - bytes;
}

int facts_clickhouse_get_carry(struct facts *f, const struct message_id *run, uint8_t **ret,
			       size_t *ret_len, struct error *e)
{
	const struct clickhouse_list list = { .type = "FixedString(16)",
					      .rows = run->bytes,
					      .len = sizeof(run->bytes) };
	struct carry carry = { 0 };
	const struct clickhouse_ask ask = {
		.sql = "SELECT carry FROM fact_carries WHERE run GLOBAL "
		       "IN listed ORDER BY made DESC LIMIT 1",
		.take = take_carry,
		.context = &carry,
		.list = &list
	};
	int r = clickhouse_link_ask(facts_clickhouse_get(f)->link, &ask, e);

	if (r == 0 && !carry.len)
		r = error_set(e, ENOENT, "nothing is remembered of the run");
	if (r < 0) {
		free(carry.bytes);
		return r;
	}
	*ret = carry.bytes;
	*ret_len = carry.len;
	return 0;
}
