/* SPDX-License-Identifier: MIT */
/* facts_read: see facts_read.h; and sets, heads and trees that are asked for. */
#include "facts/clickhouse/facts_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "facts/clickhouse/fact_row.h"
#include "facts/clickhouse/facts_fleet.h"
#include "facts/fact_pack.h"

#define TRIES 5 /* that a plan is made again, because rows of it were replaced */

struct reading {
	struct facts_read *read;
	struct facts_clickhouse *c;
	size_t left;
	struct error *e;
};

typedef int (*take_row)(void *context, const struct facts_head *h, const struct fact_row_body *b);

void facts_read_done(struct facts_read *r)
{
	while (r->n)
		fact_set_done(&r->sets[--r->n]);
}

/* Of each whole row that came: what a function makes of it. As many as were asked for, at most. */
static ssize_t take_rows(const uint8_t *bytes, size_t len, size_t *left, take_row take,
			 void *context)
{
	const uint8_t *at = bytes;
	struct fact_row_body b;
	struct byte_reader in;
	struct facts_head h;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0 && fact_row_head(&in, &h) && fact_row_body(&in, &b)) {
		at = in.at;
		if (!*left)
			return -EBADMSG;
		--*left;
		r = take(context, &h, &b);
	}
	return r < 0 ? r : at - bytes;
}

static int take_set(void *context, const struct facts_head *h, const struct fact_row_body *b)
{
	struct reading *g = context;
	int r = fact_row_decode(&g->read->sets[g->read->n], h, b, g->c->texts, g->e);

	g->read->n += r == 0;
	g->read->damaged += r == -EBADMSG;
	return r == -EBADMSG ? 0 : r;
}

static ssize_t take_sets(void *context, const uint8_t *bytes, size_t len)
{
	struct reading *g = context;

	return take_rows(bytes, len, &g->left, take_set, g);
}

int facts_read_init(struct facts_read *r, struct facts_clickhouse *c, const struct facts_plan *p,
		    size_t from, struct error *e)
{
	struct facts_plan_part part = { .plan = p, .from = from, .is_careful = true };
	struct reading g = { .read = r, .c = c, .e = e };
	struct facts_plan_words w = {
		.select = FACT_ROW_HEAD ", " FACT_ROW_BODY,
		.columns = FACT_ROW_HEAD ", " FACT_ROW_BODY,
		.join = "",
		.tail = "ORDER BY start, id",
	};
	struct clickhouse_ask ask = { .take = take_sets, .context = &g };
	int code;

	r->n = 0;
	part.n = MIN(p->n - from, (size_t)FACTS_READ_AT_ONCE);
	g.left = part.n;
	code = facts_plan_ask(&part, c, &w, &ask, e);
	if (code == 0 && g.left)
		code = error_set(e, EAGAIN, "cannot read facts: they were replaced meanwhile");
	if (code < 0)
		facts_read_done(r);
	return code;
}

/* --- one by one --- */

static int scan(struct facts_clickhouse *c, const struct facts_plan *p, facts_set_fn fn,
		void *context, struct error *e)
{
	_cleanup_free_ struct facts_read *read = calloc(1, sizeof(*read));
	size_t at, i;
	int r = read ? 0 : error_set(e, ENOMEM, "cannot read facts: out of memory");

	for (at = 0; r == 0 && at < p->n; at += FACTS_READ_AT_ONCE) {
		r = facts_read_init(read, c, p, at, e);
		if (r == -EAGAIN && at) /* some were given: it cannot begin again */
			r = -EIO;
		if (r == 0 && read->damaged)
			r = -EBADMSG;
		for (i = 0; r == 0 && i < read->n; i++)
			r = fn(context, &read->sets[i]);
		facts_read_done(read);
	}
	return r;
}

int facts_clickhouse_scan(struct facts *f, const struct facts_query *q, facts_set_fn fn,
			  void *context, struct error *e)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);
	struct facts_plan p;
	int i, r = -EAGAIN;

	for (i = 0; i < TRIES && r == -EAGAIN; i++) {
		r = facts_plan_init(&p, c, q, e);
		if (r < 0)
			return r;
		r = scan(c, &p, fn, context, e);
		facts_plan_done(&p);
	}
	return r;
}

/* --- heads --- */

struct heads {
	struct facts_head *list;
	size_t n, room;
};

static ssize_t take_heads(void *context, const uint8_t *bytes, size_t len)
{
	struct heads *l = context;
	const uint8_t *at = bytes;
	struct byte_reader in;

	reader_init(&in, bytes, len);
	while (l->n < l->room && fact_row_head(&in, &l->list[l->n])) {
		at = in.at;
		l->n++;
	}
	return at - bytes;
}

static int read_heads(struct facts_clickhouse *c, const struct facts_query *q, struct heads *ret,
		      struct error *e)
{
	static const struct facts_plan_words words = { .select = FACT_ROW_HEAD,
						       .columns = FACT_ROW_HEAD,
						       .join = "",
						       .tail = "ORDER BY start, id" };
	CLEANUP_FACTS_PLAN struct facts_plan p = { 0 };
	struct facts_plan_part part = { .plan = &p, .is_careful = true };
	struct clickhouse_ask ask = { .take = take_heads, .context = ret };
	int r = facts_plan_init(&p, c, q, e);

	if (r < 0)
		return r;
	free(ret->list);
	ret->n = 0;
	ret->room = part.n = p.n;
	ret->list = calloc(p.n + 1, sizeof(*ret->list));
	if (!ret->list)
		return error_set(e, ENOMEM, "cannot read facts: out of memory");
	r = facts_plan_ask(&part, c, &words, &ask, e);
	if (r == 0 && ret->n < p.n)
		r = error_set(e, EAGAIN, "cannot read facts: they were replaced meanwhile");
	return r;
}

int facts_clickhouse_keys(struct facts *f, const struct facts_query *q, facts_head_fn fn,
			  void *context, struct error *e)
{
	struct heads heads = { 0 };
	size_t at;
	int i, r = -EAGAIN;

	for (i = 0; i < TRIES && r == -EAGAIN; i++)
		r = read_heads(facts_clickhouse_get(f), q, &heads, e);
	for (at = 0; r == 0 && at < heads.n; at++)
		r = fn(context, &heads.list[at]);
	free(heads.list);
	return r;
}

/* --- trees --- */

#define TREES_AT_ONCE 256U

struct adding {
	struct facts_clickhouse *c;
	struct fact_set *to;
	struct facts_basis *basis;
	size_t left;
	struct error *e;
};

/* A tree that turns out to be damaged half-way stays with its first half: it is checked before it counts. */
static int check_tree(const struct fact_row_body *b)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	struct fact_tree_node n;
	int r = fact_tree_open(&t, b->tree, b->tree_len);

	while (r >= 0 && fact_tree_next(&t, &n))
		;
	return r < 0 ? r : t.r.bad ? -EBADMSG : 0;
}

static int add_tree(void *context, const struct facts_head *h, const struct fact_row_body *b)
{
	struct adding *g = context;
	int r = b->tree_len ? check_tree(b) : 0;

	if (r == 0 && b->tree_len)
		r = fact_row_add_tree(g->to, b, g->c->texts, g->e);
	if (r == 0)
		facts_basis_add(g->basis, h);
	if (r == -EBADMSG) {
		g->basis->damaged++;
		r = 0;
	}
	return r;
}

static ssize_t take_trees(void *context, const uint8_t *bytes, size_t len)
{
	struct adding *g = context;

	return take_rows(bytes, len, &g->left, add_tree, g);
}

static int add_trees(struct adding *g, struct facts_plan *p, struct error *e)
{
	static const struct facts_plan_words words = {
		.select = FACT_ROW_HEAD ", names, tree, '', ''",
		.columns = FACT_ROW_HEAD ", names, tree",
		.join = "",
		.tail = "",
	};
	struct facts_plan_part part = { .plan = p, .is_careful = true };
	const struct clickhouse_ask ask = { .take = take_trees, .context = g };
	int r = 0;

	facts_plan_sort_devices(p);
	for (; r == 0 && part.from < p->n; part.from += part.n) {
		part.n = g->left = MIN(p->n - part.from, (size_t)TREES_AT_ONCE);
		r = facts_plan_ask(&part, g->c, &words, &ask, e);
		if (r == 0 && g->left)
			r = error_set(e, EAGAIN,
				      "cannot sum facts up: they were replaced meanwhile");
	}
	return r;
}

int facts_read_tree(struct facts_clickhouse *c, struct facts_plan *p, struct fact_set *to,
		    struct facts_basis *b, struct error *e)
{
	struct adding adding = { .c = c, .to = to, .basis = b, .e = e };
	int r;

	memset(b, 0, sizeof(*b));
	r = add_trees(&adding, p, e);
	b->devices = p->devices;
	b->sets += p->summed;
	b->hours += p->summed;
	to->version = to->events = b->events;
	to->covered_ns = b->covered_ns;
	to->lost = b->lost;
	to->lost_places = b->lost_places;
	return r;
}

static int make_tree(struct facts_clickhouse *c, const struct facts_query *q, struct fact_set *ret,
		     struct facts_basis *b, struct error *e)
{
	const struct fact_key key = { .kind = q->kind, .start_s = q->from_s };
	CLEANUP_FACTS_PLAN struct facts_plan p = { 0 };
	int r = facts_fleet_plan(&p, c, q, e);

	if (r < 0)
		return r;
	if (fact_set_init(ret, &key) < 0)
		return error_set(e, ENOMEM, "cannot sum facts up: out of memory");
	r = facts_read_tree(c, &p, ret, b, e);
	if (r < 0)
		fact_set_done(ret);
	return r;
}

/* A sum that is damaged is none: the rows that it stands for may be whole. */
int facts_clickhouse_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
			  struct facts_basis *ret_basis, struct error *e)
{
	struct facts_query mine = *q;
	int i, r = -EAGAIN;

	for (i = 0; i < TRIES && r == -EAGAIN; i++) {
		r = make_tree(facts_clickhouse_get(f), &mine, ret, ret_basis, e);
		if (r == 0 && ret_basis->damaged && mine.all_devices && !mine.no_sums) {
			fact_set_done(ret);
			mine.no_sums = true;
			r = -EAGAIN;
		}
	}
	return r;
}
