/* SPDX-License-Identifier: MIT */
/*
 * facts_local: see facts_local.h. Here: hours of minutes, and what is removed when it is old.
 *
 * Each hour of a run is a sum that is made in one go and written with the mark that it is up to date; some of them share a
 * transaction, since each waits for the disk. A minute that is damaged keeps its hour from being made: its good minutes still count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "facts/facts_sums.h"
#include "store/array.h"

#define HOURS_AT_ONCE 64U
#define STALE_MAX (1U << 24)
#define SUMS_BACK_S (7U * 24U * FACT_HOUR_S)
#define SUMS_AT_ONCE 4

struct stale_list {
	struct fact_key *keys;
	size_t n, room;
};

static int load_stale(struct facts_db *d, uint64_t to_s, struct stale_list *ret, struct error *e)
{
	int64_t number = (int64_t)MIN(to_s, (uint64_t)INT64_MAX);
	sqlite3_stmt *s = facts_db_use(d, FACTS_ST_STALE, &number, 1);
	struct fact_key *k;
	int r;

	while ((r = facts_db_step(d, s, e)) == 1) {
		r = array_grow(&ret->keys, ret->n, &ret->room, sizeof(*ret->keys), STALE_MAX);
		if (r == -E2BIG)
			break; /* the next time */
		if (r < 0)
			return error_set(e, -r, "cannot make hours: %s", strerror(-r));
		k = &ret->keys[ret->n++];
		memset(k, 0, sizeof(*k));
		k->length_s = FACT_HOUR_S;
		k->start_s = facts_db_get_number(s, 0);
		k->kind = (uint8_t)sqlite3_column_int(s, 1);
		k->device = facts_db_get_id(s, 2);
		k->run = facts_db_get_id(s, 3);
	}
	sqlite3_reset(s);
	return r < 0 && r != -E2BIG ? r : 0;
}

static int add_minute(struct facts_db *d, struct fact_set *sum, const struct fact_key *minute,
		      struct error *e)
{
	struct facts_found found;
	struct fact_set s;
	int r = facts_local_find(d, minute, &found, e);

	if (r < 0 || !found.is_there)
		return r;
	r = facts_local_read(d, found.id, &s, e);
	if (r < 0)
		return r;
	r = fact_set_add(sum, &s);
	fact_set_done(&s);
	return r < 0 ? error_set(e, -r, "cannot make an hour: %s", strerror(-r)) : 0;
}

static int roll_hour(struct facts_db *d, const struct fact_key *hour, struct error *e)
{
	CLEANUP_FACT_SET struct fact_set sum = { 0 };
	struct fact_key minute = *hour;
	int64_t numbers[] = { (int64_t)hour->start_s, hour->kind };
	sqlite3_stmt *s;
	int r = fact_set_init(&sum, hour);

	if (r < 0)
		return error_set(e, -r, "cannot make an hour: %s", strerror(-r));
	minute.length_s = FACT_MINUTE_S;
	for (; r == 0 && minute.start_s < hour->start_s + FACT_HOUR_S;
	     minute.start_s += FACT_MINUTE_S)
		r = add_minute(d, &sum, &minute, e);
	if (r == 0)
		r = facts_local_write(d, &sum, false, e);
	if (r < 0)
		return r;
	s = facts_db_use(d, FACTS_ST_DROP_STALE, numbers, 2);
	if (s) {
		facts_db_bind_id(s, 3, &hour->device);
		facts_db_bind_id(s, 4, &hour->run);
	}
	return facts_db_run(d, s, e);
}

/* Whether a minute of another thread came before this one's turn makes no difference: it is summed as it is now. */
static int roll_some(struct facts_local *l, const struct fact_key *keys, size_t n,
		     struct error *damage, struct error *e)
{
	struct facts_db *d;
	size_t i;
	int r = facts_local_begin(l, &d, e), one;

	if (r < 0)
		return r;
	for (i = 0; r == 0 && i < n; i++) {
		one = roll_hour(d, &keys[i], e);
		if (one == -EBADMSG && !damage->text[0] && e)
			*damage = *e;
		if (one < 0 && one != -EBADMSG)
			r = one;
	}
	return facts_local_end(l, r, e);
}

static bool has_tree(uint8_t kind)
{
	return fact_kind_is_profile(kind) || kind == FACT_VM;
}

/* Keys come by their hour: each is summed once for each kind. */
static int sum_rolled(struct facts_local *l, const struct stale_list *list, struct error *e)
{
	uint64_t done_s[FACT_KINDS] = { 0 };
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < list->n; i++) {
		const struct fact_key *k = &list->keys[i];

		if (!has_tree(k->kind) || done_s[k->kind] == k->start_s)
			continue;
		done_s[k->kind] = k->start_s;
		r = facts_sums_make(l, k->kind, k->start_s, e);
	}
	return r < 0 ? r : 0;
}

/* Hours that were there before sums were, or whose sum could not be made: a few at each time, the latest first. */
static int sum_older(struct facts_local *l, uint64_t to_s, struct error *e)
{
	uint64_t last_s = to_s / FACT_HOUR_S * FACT_HOUR_S, first_s;
	int r = 0, made = 0, kind;

	if (!l->summed_to_s)
		l->summed_to_s = last_s;
	first_s = last_s > SUMS_BACK_S ? last_s - SUMS_BACK_S : FACT_HOUR_S;
	while (r >= 0 && made < SUMS_AT_ONCE && l->summed_to_s > first_s) {
		l->summed_to_s -= FACT_HOUR_S;
		for (kind = 0; r >= 0 && kind < FACT_KINDS; kind++) {
			r = has_tree((uint8_t)kind)
				    ? facts_sums_make(l, (uint8_t)kind, l->summed_to_s, e)
				    : 0;
			made += r > 0;
		}
	}
	return r < 0 ? r : 0;
}

int facts_local_roll(struct facts *f, uint64_t to_s, struct error *e)
{
	struct facts_local *l = (struct facts_local *)f;
	struct error damage = ERROR_INIT, why = ERROR_INIT;
	struct stale_list list = { 0 };
	struct facts_db *d;
	size_t i;
	int r = facts_local_begin(l, &d, e);

	if (r == 0)
		r = facts_local_end(l, load_stale(d, to_s, &list, e), e);
	for (i = 0; r == 0 && i < list.n; i += HOURS_AT_ONCE) {
		r = roll_some(l, list.keys + i, MIN(list.n - i, (size_t)HOURS_AT_ONCE), &damage,
			      &why);
		if (r < 0)
			error_set(e, -r, "%s", why.text);
	}
	if (r == 0)
		r = sum_rolled(l, &list, e);
	if (r == 0)
		r = sum_older(l, to_s, e);
	free(list.keys);
	if (r == 0 && damage.text[0])
		r = error_set(e, EBADMSG, "%s", damage.text);
	return r;
}

/* --- what is old --- */

static int run_of(struct facts_db *d, enum facts_statement which, uint8_t kind, uint64_t hour_s,
		  struct error *e)
{
	int64_t numbers[] = { kind, (int64_t)hour_s };

	return facts_db_run(d, facts_db_use(d, which, numbers, 2), e);
}

/* The hour of the oldest row; false if there is none. */
static int find_oldest(struct facts_db *d, uint8_t kind, uint32_t length_s, uint64_t *ret,
		       struct error *e)
{
	int64_t numbers[] = { kind, length_s };
	sqlite3_stmt *s = facts_db_use(d, FACTS_ST_OLDEST, numbers, 2);
	int r = facts_db_step(d, s, e);

	if (r < 0)
		return r;
	r = r == 1 && sqlite3_column_type(s, 0) == SQLITE_INTEGER;
	*ret = r ? facts_db_get_number(s, 0) / FACT_HOUR_S * FACT_HOUR_S : 0;
	sqlite3_reset(s);
	return r;
}

static int drop_hour(struct facts_local *l, uint8_t kind, uint32_t length_s, uint64_t hour_s,
		     struct error *e)
{
	bool is_minutes = length_s == FACT_MINUTE_S;
	struct facts_db *d;
	int r = facts_local_begin(l, &d, e);

	if (r < 0)
		return r;
	if (is_minutes)
		r = run_of(d, FACTS_ST_CLOSE_HOURS, kind, hour_s, e);
	if (r == 0)
		r = run_of(d, is_minutes ? FACTS_ST_DROP_MINUTES_BODY : FACTS_ST_DROP_HOURS_BODY,
			   kind, hour_s, e);
	if (r == 0)
		r = run_of(d, is_minutes ? FACTS_ST_DROP_MINUTES : FACTS_ST_DROP_HOURS, kind,
			   hour_s, e);
	kind = (uint8_t)(kind + FACTS_SUMS_KIND);
	if (r == 0 && !is_minutes)
		r = run_of(d, FACTS_ST_DROP_HOURS_BODY, kind, hour_s, e);
	if (r == 0 && !is_minutes)
		r = run_of(d, FACTS_ST_DROP_HOURS, kind, hour_s, e);
	return facts_local_end(l, r, e);
}

static int retain_kind(struct facts_local *l, uint8_t kind, uint32_t length_s, uint64_t to_s,
		       struct error *e)
{
	uint64_t hour_s = 0;
	struct facts_db *d;
	int r = facts_local_begin(l, &d, e), found;

	if (r < 0)
		return r;
	found = find_oldest(d, kind, length_s, &hour_s, e);
	r = facts_local_end(l, found < 0 ? found : 0, e);
	if (!found)
		return r;
	/* Hours without rows cost a statement that finds none. */
	for (; r == 0 && hour_s + FACT_HOUR_S <= to_s; hour_s += FACT_HOUR_S)
		r = drop_hour(l, kind, length_s, hour_s, e);
	return r;
}

int facts_local_retain(struct facts *f, const struct facts_ages *a, struct error *e)
{
	struct facts_local *l = (struct facts_local *)f;
	uint64_t minutes_to_s = MAX(a->minutes_to_s, a->hours_to_s);
	uint8_t kind;
	int r = 0;

	for (kind = 0; r == 0 && kind < FACT_KINDS; kind++) {
		r = retain_kind(l, kind, FACT_MINUTE_S, minutes_to_s, e);
		if (r == 0)
			r = retain_kind(l, kind, FACT_HOUR_S, a->hours_to_s, e);
	}
	return r;
}
