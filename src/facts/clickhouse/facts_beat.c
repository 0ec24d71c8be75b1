/* SPDX-License-Identifier: MIT */
/*
 * facts_clickhouse: see facts_clickhouse.h. Here: who works (docs/format/clickhouse.md, section 6).
 *
 * Times are those of the server that answers, so clocks of members do not matter. First it is asked, then told: what is told has the
 * moment of the answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "facts/clickhouse/facts_clickhouse.h"

struct beating {
	struct facts_member *list;
	size_t n;
	uint64_t now_s;
};

static void read_name(struct byte_reader *in, char out[FACTS_MEMBER_NAME_MAX])
{
	size_t len, i;
	const uint8_t *text = clickhouse_row_string(in, &len);

	if (in->bad)
		return;
	len = len < FACTS_MEMBER_NAME_MAX ? len : FACTS_MEMBER_NAME_MAX - 1;
	for (i = 0; i < len; i++)
		out[i] = text[i] < ' ' || text[i] > '~' ? '?' : (char)text[i];
	out[len] = '\0';
}

static bool read_member(struct byte_reader *in, struct facts_member *m)
{
	memset(m, 0, sizeof(*m));
	m->token = clickhouse_row_u64(in);
	m->since_s = clickhouse_row_u64(in);
	read_name(in, m->name);
	m->works = clickhouse_row_u8(in);
	m->watches = clickhouse_row_u8(in);
	m->threads = clickhouse_row_u32(in);
	m->minutes = clickhouse_row_u64(in);
	m->waiting = clickhouse_row_u64(in);
	m->behind_s = clickhouse_row_u64(in);
	return !in->bad;
}

static ssize_t take_members(void *context, const uint8_t *bytes, size_t len)
{
	struct beating *b = context;
	const uint8_t *at = bytes;
	struct facts_member m;
	struct byte_reader in;

	reader_init(&in, bytes, len);
	while (read_member(&in, &m)) {
		at = in.at;
		if (b->n < FACTS_MEMBERS_MAX)
			b->list[b->n++] = m;
	}
	return at - bytes;
}

static ssize_t take_now(void *context, const uint8_t *bytes, size_t len)
{
	struct beating *b = context;

	if (len < 8)
		return 0;
	b->now_s = get_le64(bytes);
	return 8;
}

static int ask_members(struct facts_clickhouse *c, struct beating *b, struct error *e)
{
	const struct clickhouse_ask now = { .sql = "SELECT toUInt64(toUnixTimestamp(now()))",
					    .take = take_now,
					    .context = b };
	struct clickhouse_ask ask = { .take = take_members, .context = b };
	struct facts_clickhouse_sql sql;
	int r = clickhouse_link_ask(c->link, &now, e);

	if (r == 0)
		r = facts_clickhouse_sql_open(&sql, e);
	if (r < 0)
		return r;
	fprintf(sql.out,
		"SELECT token, argMax(since, beat), argMax(name, beat), argMax(works, beat) AS w, "
		"argMax(watches, beat) AS v, argMax(threads, beat), argMax(minutes, beat), "
		"argMax(waiting, beat), argMax(behind, beat) FROM members WHERE beat + %u >= "
		"%" PRIu64 " GROUP BY token HAVING w OR v",
		FACTS_MEMBER_GONE_S, b->now_s);
	return facts_clickhouse_sql_ask(&sql, c, &ask, e);
}

static int insert_member(struct facts_clickhouse *c, const struct facts_member *m, uint64_t now_s,
			 struct error *e)
{
	struct clickhouse_rows rows = { 0 };
	int r = clickhouse_rows_reserve(&rows, 256);

	if (r < 0)
		return error_set(e, ENOMEM, "cannot say who works: out of memory");
	clickhouse_rows_u64(&rows, m->token);
	clickhouse_rows_u64(&rows, now_s);
	clickhouse_rows_u64(&rows, m->since_s);
	clickhouse_rows_string(&rows, m->name, strlen(m->name));
	clickhouse_rows_u8(&rows, m->works);
	clickhouse_rows_u8(&rows, m->watches);
	clickhouse_rows_u32(&rows, m->threads);
	clickhouse_rows_u64(&rows, m->minutes);
	clickhouse_rows_u64(&rows, m->waiting);
	clickhouse_rows_u64(&rows, m->behind_s);
	r = clickhouse_link_insert(c->link,
				   "members (token, beat, since, name, works, watches, threads, "
				   "minutes, waiting, behind)",
				   rows.data, rows.len, e);
	clickhouse_rows_done(&rows);
	return r;
}

/* In the same second the one that goes counts after the one that was there. */
static uint64_t beat_of(const struct facts_member *me, uint64_t now_s)
{
	return me->works || me->watches ? now_s : now_s + 1;
}

int facts_clickhouse_beat(struct facts *f, const struct facts_member *me, facts_member_fn fn,
			  void *context, struct error *e)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);
	struct beating b = { .list = calloc(FACTS_MEMBERS_MAX, sizeof(*b.list)) };
	struct facts_member now = *me;
	size_t i;
	int r = b.list ? facts_clickhouse_may_write(c, e) : -ENOMEM;

	if (r == 0)
		r = ask_members(c, &b, e);
	if (!now.since_s)
		now.since_s = b.now_s;
	if (r == 0)
		r = insert_member(c, &now, beat_of(&now, b.now_s), e);
	/* Of two that come at once, one sees the other at least. */
	if (r == 0 && !me->since_s) {
		b.n = 0;
		r = ask_members(c, &b, e);
	}
	if (r == 0 && (now.works || now.watches))
		r = fn(context, &now);
	for (i = 0; r == 0 && i < b.n; i++)
		if (b.list[i].token != me->token)
			r = fn(context, &b.list[i]);
	free(b.list);
	return r;
}
