/* SPDX-License-Identifier: MIT */
/*
 * facts_clickhouse: see facts_clickhouse.h. Here: hours of minutes, and what is removed when it is old.
 *
 * An hour is made of the minutes that are there, and says of which rows. If another one comes meanwhile, the hour is not up to date, and
 * is made again; if two make it at the same time, both are right, or the next look finds the one that is not.
 *
 * What is too old is first said to be (fact_ages), and from then on is in no answer; whole days go when all of them is too old.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "facts/clickhouse/facts_fleet.h"
#include "facts/clickhouse/facts_put.h"
#include "facts/clickhouse/facts_read.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_schema.h"

#define DAY_S 86400U
#define RECENT_S (2 * DAY_S) /* that every look goes through */
#define FULL_ROLLS 60U	     /* each that is a multiple of this goes through all */
#define HOURS_AT_ONCE 16U
#define DAYS_MAX 65536U

/* --- hours --- */

static int add_minutes(struct facts_clickhouse *c, const struct facts_stale *s,
		       struct fact_set *sum, struct error *e)
{
	_cleanup_free_ struct facts_read *read = calloc(1, sizeof(*read));
	size_t i, at;
	int r = read ? 0 : error_set(e, ENOMEM, "cannot make an hour: out of memory");

	for (at = 0; r == 0 && at < s->minutes.n; at += FACTS_READ_AT_ONCE) {
		r = facts_read_init(read, c, &s->minutes, at, e);
		if (r == 0 && read->damaged)
			r = -EBADMSG;
		for (i = 0; r == 0 && i < read->n; i++)
			if (fact_set_add(sum, &read->sets[i]) < 0)
				r = error_set(e, ENOMEM, "cannot make an hour: out of memory");
		facts_read_done(read);
	}
	return r;
}

static int roll_hour(struct facts_clickhouse *c, const struct facts_stale *s,
		     struct clickhouse_rows *rows, struct error *e)
{
	CLEANUP_FACT_SET struct fact_set sum = { 0 };
	struct fact_row_place place = { .rank = s->rank, .id = facts_clickhouse_token() };
	size_t i;
	int r;

	if (fact_set_init(&sum, &s->hour) < 0)
		return error_set(e, ENOMEM, "cannot make an hour: out of memory");
	for (i = 0; i < s->minutes.n; i++)
		place.made_of += s->minutes.rows[i].id;
	r = add_minutes(c, s, &sum, e);
	return r < 0 ? r : facts_put_encode(c, rows, &sum, &place, e);
}

/* Minutes that were replaced meanwhile make their hour wait for the next time; damaged ones as long as they are. */
static int roll_some(struct facts_clickhouse *c, const struct facts_stale *list, size_t n,
		     struct error *damage, struct error *e)
{
	struct clickhouse_rows rows = { 0 };
	size_t i;
	int r = 0, one;

	for (i = 0; r == 0 && i < n; i++) {
		one = roll_hour(c, &list[i], &rows, e);
		if (one == -EBADMSG && !damage->text[0] && e)
			*damage = *e;
		if (one < 0 && one != -EBADMSG && one != -EAGAIN)
			r = one;
	}
	if (r == 0 && rows.len)
		r = facts_put_insert(c, &rows, e);
	clickhouse_rows_done(&rows);
	return r;
}

int facts_clickhouse_roll(struct facts *f, uint64_t to_s, struct error *e)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);
	CLEANUP_FACTS_STALE struct facts_stale_list list = { 0 };
	struct error damage = ERROR_INIT, why = ERROR_INIT;
	bool is_full = atomic_fetch_add(&c->rolls, 1) % FULL_ROLLS == 0;
	uint64_t from_s = is_full || to_s < RECENT_S ? 0 : to_s - RECENT_S;
	size_t i;
	int r = facts_clickhouse_may_write(c, e);

	if (r == 0)
		r = facts_plan_stale(c, from_s, to_s, &list, e);
	for (i = 0; r == 0 && i < list.n; i += HOURS_AT_ONCE) {
		r = roll_some(c, list.list + i, MIN(list.n - i, (size_t)HOURS_AT_ONCE), &damage,
			      &why);
		if (r < 0)
			error_set(e, -r, "%s", why.text);
	}
	if (r == 0)
		r = facts_fleet_make(c, from_s, to_s, e);
	if (r == 0 && damage.text[0])
		r = error_set(e, EBADMSG, "%s", damage.text);
	return r;
}

/* --- what is old --- */

struct days {
	struct {
		uint32_t length_s, day;
	} * list;
	size_t n, room;
};

static ssize_t take_days(void *context, const uint8_t *bytes, size_t len)
{
	struct days *d = context;
	const uint8_t *at = bytes;
	uint32_t length_s, day;
	struct byte_reader in;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0) {
		length_s = clickhouse_row_u32(&in);
		day = clickhouse_row_u32(&in);
		if (in.bad)
			break;
		at = in.at;
		r = array_grow(&d->list, d->n, &d->room, sizeof(*d->list), DAYS_MAX);
		if (r < 0)
			break;
		d->list[d->n].length_s = length_s;
		d->list[d->n++].day = day;
	}
	return r < 0 ? r : at - bytes;
}

static int drop_day(struct facts_clickhouse *c, uint32_t length_s, uint32_t day, struct error *e)
{
	time_t seconds = (time_t)day * DAY_S;
	char text[16], sql[256];
	struct tm t;
	uint32_t i;
	int r = 0;

	if (!gmtime_r(&seconds, &t) || !strftime(text, sizeof(text), "%Y-%m-%d", &t))
		return error_set(e, ERANGE, "cannot remove day %u: there is none", day);
	snprintf(sql, sizeof(sql), "ALTER TABLE %s.facts%s DROP PARTITION (%u, '%s')",
		 c->url.database, clickhouse_schema_suffix(&c->url), length_s, text);
	for (i = 0; i < c->url.n_servers && r == 0; i++)
		r = clickhouse_link_tell(c->link, i, sql, e);
	return r;
}

static int drop_days(struct facts_clickhouse *c, const struct facts_clickhouse_ages *a,
		     struct error *e)
{
	struct days days = { 0 };
	struct clickhouse_ask ask = { .take = take_days, .context = &days };
	struct facts_clickhouse_sql sql;
	size_t i;
	int r = facts_clickhouse_sql_open(&sql, e);

	if (r < 0)
		return r;
	fprintf(sql.out,
		"SELECT length, toUInt32(day) FROM facts WHERE (length = 60 AND day < toDate(%u)) "
		"OR "
		"(length = 3600 AND day < toDate(%u)) GROUP BY length, day",
		(unsigned int)(a->minutes_from_s / DAY_S), (unsigned int)(a->hours_from_s / DAY_S));
	r = facts_clickhouse_sql_ask(&sql, c, &ask, e);
	for (i = 0; r == 0 && i < days.n; i++)
		r = drop_day(c, days.list[i].length_s, days.list[i].day, e);
	free(days.list);
	return r;
}

int facts_clickhouse_retain(struct facts *f, const struct facts_ages *a, struct error *e)
{
	struct facts_clickhouse *c = facts_clickhouse_get(f);
	CLEANUP_FACTS_STALE struct facts_stale_list list = { 0 };
	uint64_t minutes_to_s = MAX(a->minutes_to_s, a->hours_to_s) / FACT_HOUR_S * FACT_HOUR_S;
	struct facts_clickhouse_ages ages, now;
	size_t i;
	int r = facts_clickhouse_may_write(c, e);

	if (r == 0 && minutes_to_s)
		r = facts_clickhouse_get_ages(c, &ages, e);
	if (r < 0 || !minutes_to_s)
		return r;
	r = facts_plan_stale(c, 0, minutes_to_s, &list, e);
	for (i = 0; i < list.n; i++) /* minutes stay until their hour is made */
		minutes_to_s = MIN(minutes_to_s, list.list[i].hour.start_s);
	now.minutes_from_s = MAX(minutes_to_s, ages.minutes_from_s);
	now.hours_from_s = MAX(a->hours_to_s / FACT_HOUR_S * FACT_HOUR_S, ages.hours_from_s);
	if (r == 0 && memcmp(&now, &ages, sizeof(now)))
		r = facts_clickhouse_put_ages(c, &now, e);
	return r < 0 ? r : drop_days(c, &now, e);
}
