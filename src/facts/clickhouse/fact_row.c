/* SPDX-License-Identifier: MIT */
/* fact_row: see fact_row.h. */
#include "facts/clickhouse/fact_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "facts/fact_pack.h"

#define ROOM 512U /* of a row without lists and bytes */

/* --- writing --- */

static void put_head(struct clickhouse_rows *rows, const struct fact_set *s,
		     const struct fact_row_place *p)
{
	uint64_t all[FACT_VALUES];

	fact_set_totals(s, all);
	clickhouse_rows_u8(rows, s->key.kind + p->kind_more);
	clickhouse_rows_u32(rows, s->key.length_s);
	clickhouse_rows_u64(rows, s->key.start_s);
	clickhouse_rows_put(rows, s->key.device.bytes, 16);
	clickhouse_rows_put(rows, s->key.run.bytes, 16);
	clickhouse_rows_u64(rows, s->version);
	clickhouse_rows_u64(rows, s->covered_ns);
	clickhouse_rows_u64(rows, s->events);
	clickhouse_rows_u64(rows, s->lost);
	clickhouse_rows_u64(rows, s->lost_places);
	clickhouse_rows_u64(rows, all[0]);
	clickhouse_rows_u64(rows, all[1]);
	clickhouse_rows_day(rows, s->key.start_s * CLOCK_NS_PER_S);
	clickhouse_rows_u64(rows, p->rank);
	clickhouse_rows_u64(rows, p->id);
	clickhouse_rows_u8(rows, p->is_closed);
	clickhouse_rows_u64(rows, p->made_of);
}

static void put_count(struct clickhouse_rows *rows, size_t n)
{
	rows->len = (size_t)(varint_put(rows->data + rows->len, n) - rows->data);
}

/* One of the columns of numbers: own parts or totals, of one value. */
struct column {
	const struct fact_flat_row *rows;
	size_t n, value;
	bool is_total;
};

static void put_column(struct clickhouse_rows *rows, const struct column *c)
{
	size_t i;

	put_count(rows, c->n + 1);
	clickhouse_rows_u64(rows, !c->is_total && c->value == 0);
	for (i = 0; i < c->n; i++)
		clickhouse_rows_u64(rows, c->is_total ? c->rows[i].total[c->value]
						      : c->rows[i].self[c->value]);
}

static int put_list(struct clickhouse_rows *rows, const struct fact_flat *flat, size_t by,
		    const struct fact_hashes *h)
{
	struct column c = { .rows = flat->rows[by], .n = flat->n[by] };
	size_t i;

	if (clickhouse_rows_reserve(rows, (c.n + 1) * 40 + 64) < 0)
		return -ENOMEM;
	put_count(rows, c.n + 1);
	clickhouse_rows_u64(rows, 0);
	for (i = 0; i < c.n; i++)
		clickhouse_rows_u64(rows, h->list[c.rows[i].number]);
	for (i = 0; i < 2 * FACT_VALUES; i++) {
		c.is_total = i >= FACT_VALUES;
		c.value = i % FACT_VALUES;
		put_column(rows, &c);
	}
	return 0;
}

static int put_lists(struct clickhouse_rows *rows, const struct fact_set *s,
		     const struct fact_hashes *h)
{
	CLEANUP_FACT_FLAT struct fact_flat flat = { 0 };
	size_t by;
	int r = fact_flat_init(&flat, s, &h->numbers);

	for (by = 0; r >= 0 && by < FACTS_BYS; by++)
		r = put_list(rows, &flat, by, h);
	return r < 0 ? r : 0;
}

static int put_names(struct clickhouse_rows *rows, const struct fact_hashes *h)
{
	size_t i;

	if (clickhouse_rows_reserve(rows, h->n * 8 + 16) < 0)
		return -ENOMEM;
	put_count(rows, h->n);
	for (i = 0; i < h->n; i++)
		clickhouse_rows_u64(rows, h->list[i]);
	return 0;
}

static int put_bytes(struct clickhouse_rows *rows, uint8_t *bytes, size_t len)
{
	int r = clickhouse_rows_reserve(rows, len + 16);

	if (r == 0)
		clickhouse_rows_string(rows, bytes, len);
	free(bytes);
	return r;
}

static int put_body(struct clickhouse_rows *rows, const struct fact_set *s,
		    const struct fact_hashes *h)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = put_names(rows, h);

	if (r >= 0 && s->tree)
		r = fact_tree_encode(s, h->numbers.functions, &bytes, &len);
	if (r >= 0)
		r = put_bytes(rows, bytes, len);
	bytes = NULL;
	len = 0;
	if (r >= 0 && s->n_tasks)
		r = fact_tasks_encode(s, &bytes, &len);
	if (r >= 0)
		r = put_bytes(rows, bytes, len);
	bytes = NULL;
	len = 0;
	if (r >= 0 && s->n_objects)
		r = fact_objects_encode(s, &bytes, &len);
	return r < 0 ? r : put_bytes(rows, bytes, len);
}

int fact_row_encode(struct clickhouse_rows *rows, const struct fact_set *s,
		    const struct fact_hashes *h, const struct fact_row_place *p)
{
	int r = clickhouse_rows_reserve(rows, ROOM);

	if (r < 0)
		return r;
	put_head(rows, s, p);
	r = put_lists(rows, s, h);
	return r < 0 ? r : put_body(rows, s, h);
}

/* --- reading --- */

bool fact_row_head(struct byte_reader *in, struct facts_head *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->key.kind = clickhouse_row_u8(in);
	ret->key.length_s = clickhouse_row_u32(in);
	ret->key.start_s = clickhouse_row_u64(in);
	ret->key.device = clickhouse_row_id(in);
	ret->key.run = clickhouse_row_id(in);
	ret->version = clickhouse_row_u64(in);
	ret->covered_ns = clickhouse_row_u64(in);
	ret->events = clickhouse_row_u64(in);
	ret->lost = clickhouse_row_u64(in);
	ret->lost_places = clickhouse_row_u64(in);
	ret->values[0] = clickhouse_row_u64(in);
	ret->values[1] = clickhouse_row_u64(in);
	return !in->bad;
}

bool fact_row_body(struct byte_reader *in, struct fact_row_body *ret)
{
	uint64_t n = reader_varint(in);

	if (in->bad || n > (uint64_t)(in->end - in->at) / 8) {
		in->bad = true;
		return false;
	}
	ret->n_names = (size_t)n;
	ret->names = reader_bytes(in, (size_t)n * 8);
	ret->tree = clickhouse_row_string(in, &ret->tree_len);
	ret->tasks = clickhouse_row_string(in, &ret->tasks_len);
	ret->objects = clickhouse_row_string(in, &ret->objects_len);
	return !in->bad;
}

/* The hashes that the tree has, and no others: objects' are in the list, too. */
static int load_names(const struct fact_tree_reader *t, const struct fact_row_body *b,
		      struct fact_texts *texts, uint64_t *hashes, struct error *e)
{
	size_t i;

	for (i = 0; i < t->n_numbers; i++) {
		if (t->numbers[i] >= b->n_names)
			return -EBADMSG;
		hashes[i] = get_le64(b->names + 8 * (size_t)t->numbers[i]);
	}
	return fact_texts_load(texts, hashes, t->n_numbers, e);
}

int fact_row_add_tree(struct fact_set *s, const struct fact_row_body *b, struct fact_texts *texts,
		      struct error *e)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	_cleanup_free_ uint64_t *hashes = NULL;
	_cleanup_free_ uint32_t *keys = NULL;
	const struct fact_text *text;
	size_t i;
	int r = fact_tree_open(&t, b->tree, b->tree_len);

	if (r < 0)
		return r;
	hashes = calloc(t.n_numbers + 1, sizeof(*hashes));
	keys = calloc(t.n_numbers + 1, sizeof(*keys));
	if (!hashes || !keys)
		return -ENOMEM;
	r = load_names(&t, b, texts, hashes, e);
	for (i = 0; r >= 0 && i < t.n_numbers; i++) {
		r = fact_texts_get(texts, hashes[i], &text, e);
		if (r >= 0)
			r = functions_find_label(&s->functions, text->name, text->object, &keys[i]);
	}
	return r < 0 ? r : fact_tree_add(&t, s->tree, keys);
}

static int decode_body(struct fact_set *s, const struct fact_row_body *b, struct fact_texts *t,
		       struct error *e)
{
	int r = 0;

	if (b->tree_len)
		r = s->tree ? fact_row_add_tree(s, b, t, e) : -EBADMSG;
	if (r >= 0 && b->tasks_len)
		r = fact_tasks_decode(s, b->tasks, b->tasks_len);
	if (r >= 0 && b->objects_len)
		r = fact_objects_decode(s, b->objects, b->objects_len);
	return r;
}

int fact_row_decode(struct fact_set *ret, const struct facts_head *h, const struct fact_row_body *b,
		    struct fact_texts *t, struct error *e)
{
	struct error why = ERROR_INIT;
	int r;

	if (h->key.kind >= FACT_KINDS)
		return error_set(e, EBADMSG, "a row of facts is of kind %u", h->key.kind);
	r = fact_set_init(ret, &h->key);
	if (r < 0)
		return error_set(e, -r, "cannot read facts: %s", strerror(-r));
	ret->version = h->version;
	ret->covered_ns = h->covered_ns;
	ret->events = h->events;
	ret->lost = h->lost;
	ret->lost_places = h->lost_places;
	r = decode_body(ret, b, t, &why);
	if (r >= 0)
		return 0;
	fact_set_done(ret);
	return error_set(e, -r, "cannot read the facts of %llu: %s",
			 (unsigned long long)h->key.start_s,
			 r == -EBADMSG ? "they are damaged"
			 : why.text[0] ? why.text
				       : strerror(-r));
}
