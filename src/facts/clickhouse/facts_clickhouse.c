/* SPDX-License-Identifier: MIT */
/* facts_clickhouse: see facts_clickhouse.h. Here: opening, and what all operations need. */
#include "facts/clickhouse/facts_clickhouse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "store/clickhouse/clickhouse_schema.h"

int facts_clickhouse_may_write(const struct facts_clickhouse *c, struct error *e)
{
	return c->is_reader ? error_set(e, EROFS, "cannot write facts: they were opened to ask")
			    : 0;
}

uint64_t facts_clickhouse_token(void)
{
	uint64_t token = 0;

	if (getrandom(&token, sizeof(token), GRND_NONBLOCK) != (ssize_t)sizeof(token))
		token = clock_mono_ns() * 0x9e3779b97f4a7c15ULL;
	return token ? token : 1;
}

/* --- questions --- */

int facts_clickhouse_sql_open(struct facts_clickhouse_sql *s, struct error *e)
{
	*s = (struct facts_clickhouse_sql){ 0 };
	s->out = open_memstream(&s->text, &s->len);
	return s->out ? 0 : error_set(e, ENOMEM, "cannot ask for facts: out of memory");
}

int facts_clickhouse_sql_ask(struct facts_clickhouse_sql *s, struct facts_clickhouse *c,
			     const struct clickhouse_ask *a, struct error *e)
{
	struct clickhouse_ask ask = *a;
	int r = ferror(s->out) ? -ENOMEM : 0;

	if (fclose(s->out) || r < 0) {
		free(s->text);
		return error_set(e, ENOMEM, "cannot ask for facts: out of memory");
	}
	ask.sql = s->text;
	r = clickhouse_link_ask(c->link, &ask, e);
	free(s->text);
	return r;
}

static ssize_t take_ages(void *context, const uint8_t *bytes, size_t len)
{
	struct facts_clickhouse_ages *a = context;
	struct byte_reader in;

	if (len < 16)
		return 0;
	reader_init(&in, bytes, len);
	a->minutes_from_s = clickhouse_row_u64(&in);
	a->hours_from_s = clickhouse_row_u64(&in);
	return 16;
}

int facts_clickhouse_get_ages(struct facts_clickhouse *c, struct facts_clickhouse_ages *ret,
			      struct error *e)
{
	const struct clickhouse_ask ask = { .sql = "SELECT max(minutes_to), max(hours_to) "
						   "FROM fact_ages",
					    .take = take_ages,
					    .context = ret };

	*ret = (struct facts_clickhouse_ages){ 0 };
	return clickhouse_link_ask(c->link, &ask, e);
}

int facts_clickhouse_put_ages(struct facts_clickhouse *c, const struct facts_clickhouse_ages *a,
			      struct error *e)
{
	uint8_t row[16];

	put_le64(row, a->minutes_from_s);
	put_le64(row + 8, a->hours_from_s);
	return clickhouse_link_insert(c->link, "fact_ages (minutes_to, hours_to)", row, sizeof(row),
				      e);
}

/* --- opening --- */

static void clickhouse_free(struct facts *f)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);

	fact_texts_free(c->texts);
	clickhouse_link_free(c->link);
	free(c);
}

static const struct facts_ops clickhouse_ops = {
	.put = facts_clickhouse_put,
	.get_carry = facts_clickhouse_get_carry,
	.drop_carry = facts_clickhouse_drop_carry,
	.roll = facts_clickhouse_roll,
	.retain = facts_clickhouse_retain,
	.scan = facts_clickhouse_scan,
	.keys = facts_clickhouse_keys,
	.top = facts_clickhouse_top,
	.tree = facts_clickhouse_tree,
	.trend = facts_clickhouse_trend,
	.label = facts_clickhouse_label,
	.labels = facts_clickhouse_labels,
	.beat = facts_clickhouse_beat,
	.free = clickhouse_free,
};

int facts_clickhouse_open(struct facts **ret, const char *url, bool is_reader, struct error *e)
{
	struct facts_clickhouse *c = calloc(1, sizeof(*c));
	CLEANUP(facts) struct facts *f = (struct facts *)c;
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot open the facts: out of memory");
	c->facts.ops = &clickhouse_ops;
	c->is_reader = is_reader;
	r = clickhouse_url_parse(&c->url, url, e);
	if (r == 0)
		r = clickhouse_link_open(&c->link, &c->url, e);
	if (r == 0)
		r = clickhouse_schema_prepare(c->link, &c->url, is_reader, e);
	if (r == 0)
		r = fact_texts_new(&c->texts, c->link, e);
	if (r < 0)
		return r;
	*ret = take_ptr(f);
	return 0;
}
