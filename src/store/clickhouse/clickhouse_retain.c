/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_retain: the oldest days go when there is too much or they are too old
 * (docs/format/clickhouse.md, section 4).
 *
 * What must not go with them is inserted first: of each run that lives on its state before the days
 * that stay, and its description, for nothing decodes without it. Every step can be done again, and by
 * two collectors at once.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"
#include "store/clickhouse/clickhouse_schema.h"

#define DAY_NS (86400ULL * CLOCK_NS_PER_S)
#define DAYS_MAX 65536U

struct day {
	uint32_t day;
	uint64_t bytes;
};

struct days {
	struct day *list; /* the latest first */
	size_t n, room;
};

/* A run with blocks in days that go. */
struct leaver {
	struct message_id run;
	uint32_t last; /* day with events */
};

struct leavers {
	struct leaver *list;
	size_t n, room;
};

static ssize_t take_days(void *context, const uint8_t *bytes, size_t len)
{
	struct days *l = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct day d;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0) {
		d.day = clickhouse_row_u32(&in);
		d.bytes = clickhouse_row_u64(&in);
		if (in.bad)
			break;
		at = in.at;
		r = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), DAYS_MAX);
		if (r == 0)
			l->list[l->n++] = d;
	}
	return r < 0 ? r : at - bytes;
}

/* How many of the days stay; those behind them go. */
static size_t count_stay(const struct clickhouse_store *s, const struct days *l)
{
	uint64_t now_ns = clock_real_ns(), bytes = 0;
	const struct store_options *o = &s->options;
	size_t i;

	for (i = 0; i < l->n; i++) {
		bytes += l->list[i].bytes;
		if (l->list[i].day >= now_ns / DAY_NS)
			continue;
		if ((o->retain_bytes && bytes > o->retain_bytes) ||
		    (o->retain_ns && (l->list[i].day + 1) * DAY_NS + o->retain_ns < now_ns))
			break;
	}
	return i;
}

static ssize_t take_leavers(void *context, const uint8_t *bytes, size_t len)
{
	struct leavers *l = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct leaver v;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0) {
		v.run = clickhouse_row_id(&in);
		v.last = clickhouse_row_u32(&in);
		if (in.bad)
			break;
		at = in.at;
		r = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), CLICKHOUSE_RUNS_MAX);
		if (r == 0)
			l->list[l->n++] = v;
	}
	return r < 0 ? r : at - bytes;
}

/* --- what is kept of a run --- */

static int insert_note(struct clickhouse_store *s, const struct clickhouse_run *run,
		       enum clickhouse_kind kind, const struct run_state *state, struct error *e)
{
	size_t room = state ? RUN_STATE_ROOM(state->n) : 1, len = 0;
	_cleanup_free_ uint8_t *body = malloc(room);
	struct clickhouse_rows rows = { 0 };
	int r = body ? clickhouse_rows_reserve(&rows, room + 64) : -ENOMEM;

	if (r < 0)
		return error_set(e, r, "cannot remove days: out of memory");
	len = state ? run_state_encode(state, body) : 0;
	clickhouse_rows_put(&rows, run->ids.device.bytes, 16);
	clickhouse_rows_put(&rows, run->ids.run.bytes, 16);
	clickhouse_rows_u8(&rows, (uint8_t)kind);
	clickhouse_rows_u64(&rows, clock_real_ns());
	clickhouse_rows_string(&rows, body, len);
	r = clickhouse_link_insert(s->link, "notes (device, run, kind, came, body)", rows.data,
				   rows.len, e);
	clickhouse_rows_done(&rows);
	return r;
}

static int cut_run(struct clickhouse_store *s, const struct clickhouse_run *run, uint32_t day,
		   struct error *e)
{
	struct run_state state = { 0 };
	struct clickhouse_replay p = { .run = run, .state = &state };
	char where[64];
	int r;

	snprintf(where, sizeof(where), " AND day <= toDate(%u)", day);
	p.where = where;
	pthread_mutex_lock(&s->lock);
	r = run_state_dup(&state, &run->in);
	pthread_mutex_unlock(&s->lock);
	if (r < 0)
		return error_set(e, r, "cannot remove days: out of memory");
	r = clickhouse_load_replay(s, &p, e);
	if (r == 0)
		r = insert_note(s, run, NOTE_CUT, &state, e);
	run_state_done(&state);
	return r;
}

static int keep_description(struct clickhouse_store *s, const struct clickhouse_run *run,
			    uint32_t day, struct error *e)
{
	char where[CLICKHOUSE_WHERE_MAX], sql[1024];

	snprintf(sql, sizeof(sql),
		 "INSERT INTO %s.blocks (" CLICKHOUSE_BLOCK_COLUMNS ") SELECT toDate(%u"
		 ") AS now, device, run, " CLICKHOUSE_HEADER_COLUMNS
		 ", key_tick, bytes FROM %s.blocks WHERE %s AND stream = %u AND day <= toDate(%u)",
		 s->url.database, (uint32_t)(clock_real_ns() / DAY_NS), s->url.database,
		 clickhouse_where(&run->ids, where), STREAM_META, day);
	return clickhouse_link_tell(s->link, 0, sql, e);
}

static int keep_run(struct clickhouse_store *s, const struct leaver *v, uint32_t day,
		    struct error *e)
{
	struct clickhouse_run *run = NULL;
	bool over;
	int r = clickhouse_load_id(s, &v->run, &run, e);

	if (r == 0)
		r = clickhouse_load_run(s, run, e);
	if (r < 0)
		return r == -ENOENT ? 0 : r; /* of nobody's */
	pthread_mutex_lock(&s->lock);
	over = run->shown.ended && v->last <= day;
	pthread_mutex_unlock(&s->lock);
	if (over)
		return insert_note(s, run, NOTE_GONE, NULL, e);
	r = cut_run(s, run, day, e);
	return r < 0 ? r : keep_description(s, run, day, e);
}

/* --- removal --- */

static int drop_day(struct clickhouse_store *s, uint32_t day, struct error *e)
{
	const time_t seconds = (time_t)day * 86400;
	char text[16], sql[256];
	struct tm t;
	uint32_t i;
	int r = 0;

	if (!gmtime_r(&seconds, &t) || !strftime(text, sizeof(text), "%Y-%m-%d", &t))
		return error_set(e, ERANGE, "cannot remove day %u: there is none", day);
	snprintf(sql, sizeof(sql), "ALTER TABLE %s.blocks%s DROP PARTITION '%s'", s->url.database,
		 clickhouse_schema_suffix(&s->url), text);
	for (i = 0; i < s->url.n_servers && r == 0; i++)
		r = clickhouse_link_tell(s->link, i, sql, e);
	return r;
}

static int load_again(struct clickhouse_store *s, const struct leavers *l, struct error *e)
{
	struct clickhouse_run *run;
	size_t i;
	int r = 0;

	for (i = 0; i < l->n && r == 0; i++) {
		pthread_mutex_lock(&s->lock);
		run = clickhouse_runs_find(s, &l->list[i].run);
		pthread_mutex_unlock(&s->lock);
		if (run)
			r = clickhouse_load_run(s, run, e);
	}
	return r;
}

static int remove_days(struct clickhouse_store *s, const struct days *days, size_t stay,
		       struct error *e)
{
	uint32_t last = days->list[stay].day;
	struct leavers l = { 0 };
	char sql[256];
	const struct clickhouse_ask a = { .sql = sql, .take = take_leavers, .context = &l };
	size_t i;
	int r;

	snprintf(sql, sizeof(sql),
		 "SELECT run, toUInt32(toUInt16(maxIf(day, stream != %u))) FROM blocks GROUP BY "
		 "run HAVING min(day) <= toDate(%u)",
		 STREAM_META, last);
	r = clickhouse_link_ask(s->link, &a, e);
	for (i = 0; i < l.n && r == 0; i++)
		r = keep_run(s, &l.list[i], last, e);
	for (i = days->n; i > stay && r == 0; i--)
		r = drop_day(s, days->list[i - 1].day, e);
	if (r == 0)
		r = load_again(s, &l, e);
	free(l.list);
	return r;
}

int clickhouse_retain(struct store *store, struct error *e)
{
	struct clickhouse_store *s = clickhouse_get(store);
	struct days days = { 0 };
	const struct clickhouse_ask a = {
		.sql = "SELECT toUInt32(toUInt16(day)), toUInt64(sum(len)) FROM blocks GROUP BY "
		       "day "
		       "ORDER BY day DESC",
		.take = take_days,
		.context = &days,
	};
	size_t stay;
	int r;

	if (s->options.read_only)
		return error_set(e, EROFS, "the store is open for reading only");
	if (!s->options.retain_bytes && !s->options.retain_ns)
		return 0;
	pthread_mutex_lock(&s->keep_lock);
	r = clickhouse_link_ask(s->link, &a, e);
	stay = r == 0 ? count_stay(s, &days) : days.n;
	if (r == 0 && stay < days.n)
		r = remove_days(s, &days, stay, e);
	free(days.list);
	pthread_mutex_unlock(&s->keep_lock);
	return r;
}
