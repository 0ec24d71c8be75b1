/* SPDX-License-Identifier: MIT */
/* facts_sums: whether sums of all devices are there or not, answers are the same: after late minutes, and where a sum is damaged. */
#include "facts_rig.h"

#include <sqlite3.h>

#include "facts/clickhouse/facts_fleet.h"
#include "facts/facts_local.h"
#include "facts/facts_sums.h"

#define DEVICES 6U
#define HOURS 3U
#define STEP_S 900U /* from minute to minute */
#define SETS (DEVICES * HOURS * FACT_HOUR_S / STEP_S)

/* Runs it on the writer's connection; the first number that it gives. */
static int64_t run_sql(const char *sql)
{
	sqlite3 *db = ((struct facts_local *)rig)->writer->sqlite;
	sqlite3_stmt *s = NULL;
	int64_t number = -1;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	if (sqlite3_step(s) == SQLITE_ROW)
		number = sqlite3_column_int64(s, 0);
	assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
	return number;
}

/* In a server: the sets that an answer takes from sums, less these. */
static uint64_t count_summed(uint8_t kind)
{
	struct facts_query q = rig_query(kind, HOUR0, HOUR0 + HOURS * 3600);
	CLEANUP_FACTS_PLAN struct facts_plan p = { 0 };
	struct error e = ERROR_INIT;

	assert_int_equal(facts_fleet_plan(&p, facts_clickhouse_get(rig), &q, &e), 0);
	return p.summed;
}

static void roll(void)
{
	struct error e = ERROR_INIT;

	assert_int_equal(facts_roll(rig, HOUR0 + HOURS * 3600, &e), 0);
}

static void put_all(uint8_t kind)
{
	struct fact_set sets[SETS];
	const struct fact_set *list[SETS];
	struct facts_batch b = { .sets = list };
	struct error e = ERROR_INIT;
	struct fact_key key;
	uint32_t device;
	uint64_t t;

	for (device = 0; device < DEVICES; device++)
		for (t = HOUR0; t < HOUR0 + HOURS * FACT_HOUR_S; t += STEP_S) {
			key = rig_key(device, kind, t);
			list[b.n_sets] = &sets[b.n_sets];
			rig_make(&sets[b.n_sets++], &key, 0);
		}
	assert_int_equal(facts_put_batch(rig, &b, &e), 0);
	while (b.n_sets)
		fact_set_done(&sets[--b.n_sets]);
}

static void same_tree(const struct facts_query *q, const struct facts_query *plain)
{
	struct facts_basis basis[2];
	struct fact_set sets[2];
	struct error e = ERROR_INIT;
	char *a, *b;

	assert_int_equal(facts_tree(rig, q, &sets[0], &basis[0], &e), 0);
	assert_int_equal(facts_tree(rig, plain, &sets[1], &basis[1], &e), 0);
	a = fact_random_text(&sets[0]);
	b = fact_random_text(&sets[1]);
	assert_string_equal(a, b);
	assert_memory_equal(&basis[0], &basis[1], sizeof(basis[0]));
	free(a);
	free(b);
	fact_set_done(&sets[0]);
	fact_set_done(&sets[1]);
}

static void same_rows(const struct facts_query *q, const struct facts_query *plain, uint8_t by)
{
	struct facts_order o = { .by = by, .value = 1 };
	struct error e = ERROR_INIT;
	struct facts_rows a, b;
	size_t i;

	assert_int_equal(facts_top(rig, q, &o, &a, &e), 0);
	assert_int_equal(facts_top(rig, plain, &o, &b, &e), 0);
	assert_int_equal(a.n, b.n);
	for (i = 0; i < a.n; i++) {
		assert_string_equal(a.rows[i].name, b.rows[i].name);
		assert_memory_equal(a.rows[i].self, b.rows[i].self, sizeof(a.rows[i].self));
		assert_memory_equal(a.rows[i].total, b.rows[i].total, sizeof(a.rows[i].total));
	}
	assert_memory_equal(&a.basis, &b.basis, sizeof(a.basis));
	facts_rows_done(&a);
	facts_rows_done(&b);
}

static void same_points(const struct facts_query *q, const struct facts_query *plain)
{
	struct facts_trend t = { .name = "function_7", .step_s = FACT_HOUR_S };
	struct error e = ERROR_INIT;
	struct facts_points a, b;

	assert_int_equal(facts_trend(rig, q, &t, &a, &e), 0);
	assert_int_equal(facts_trend(rig, plain, &t, &b, &e), 0);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.points, b.points, a.n * sizeof(*a.points));
	assert_memory_equal(&a.basis, &b.basis, sizeof(a.basis));
	facts_points_done(&a);
	facts_points_done(&b);
}

static void same_answers(uint8_t kind)
{
	struct facts_query q = rig_query(kind, HOUR0, HOUR0 + HOURS * 3600), plain = q;
	uint8_t by;

	plain.no_sums = true;
	same_tree(&q, &plain);
	same_points(&q, &plain);
	for (by = 0; by <= FACTS_BY_DEVICE; by++)
		same_rows(&q, &plain, by);
}

static void answers_are_the_same(void **state)
{
	uint8_t kind;

	(void)state;
	for (kind = FACT_PROFILE; kind < FACT_KINDS; kind++) {
		if (kind == FACT_SCHED)
			continue;
		put_all(kind);
		same_answers(kind);
		roll();
		same_answers(kind);
	}
	if (rig_server())
		assert_int_equal(count_summed(FACT_CYCLES), (DEVICES - 1) * HOURS);
	else
		assert_int_equal(run_sql("SELECT count(*) FROM fact WHERE kind >= 64"), 3 * HOURS);
}

/* The bytes of rows that a sum stands for are not looked at: damaged, they change no answer but that of who reads them. */
static void sums_are_used(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + HOURS * 3600);
	struct facts_basis basis;
	struct error e = ERROR_INIT;
	struct fact_set set;

	(void)state;
	put_all(FACT_PROFILE);
	roll();
	run_sql("UPDATE body SET tree = x'ff' WHERE id IN (SELECT id FROM fact WHERE kind = 0)");
	assert_int_equal(facts_tree(rig, &q, &set, &basis, &e), 0);
	assert_int_equal(basis.damaged, 0);
	assert_int_equal(basis.hours, DEVICES * HOURS);
	assert_int_equal(basis.devices, DEVICES);
	fact_set_done(&set);
	q.no_sums = true;
	assert_int_equal(facts_tree(rig, &q, &set, &basis, &e), 0);
	assert_int_equal(basis.damaged, DEVICES * HOURS);
	fact_set_done(&set);
}

static void a_late_minute_ends_a_sum(void **state)
{
	(void)state;
	put_all(FACT_PROFILE);
	roll();
	rig_put(2, FACT_PROFILE, HOUR0 + 3600 + 60, 0);
	if (rig_server())
		assert_int_equal(count_summed(FACT_PROFILE), (DEVICES - 1) * (HOURS - 1));
	same_answers(FACT_PROFILE);
	roll();
	same_answers(FACT_PROFILE);
	if (rig_server()) {
		assert_int_equal(count_summed(FACT_PROFILE), (DEVICES - 1) * HOURS);
		return;
	}
	assert_int_equal(run_sql("SELECT count(*) FROM fact WHERE kind = 64"), HOURS);
	/* One that is gone, too. */
	run_sql("DELETE FROM fact WHERE kind = 0 AND start = (SELECT min(start) FROM fact) AND "
		"device = (SELECT min(device) FROM fact WHERE kind = 0)");
	same_answers(FACT_PROFILE);
}

static void a_damaged_sum_hides_nothing(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + HOURS * 3600);
	struct facts_basis basis;
	struct error e = ERROR_INIT;
	struct fact_set set;

	(void)state;
	put_all(FACT_PROFILE);
	roll();
	run_sql("UPDATE body SET tree = x'ff' WHERE id IN (SELECT id FROM fact WHERE kind = 64)");
	run_sql("UPDATE fact SET flat = x'ff' WHERE kind = 64");
	same_answers(FACT_PROFILE);
	assert_int_equal(facts_tree(rig, &q, &set, &basis, &e), 0);
	assert_int_equal(basis.damaged, 0);
	fact_set_done(&set);
}

/* Hours that were there before; and they go with their hour. */
static void older_hours_are_summed_and_go(void **state)
{
	struct facts_ages ages = { .hours_to_s = HOUR0 + 3600 };
	struct error e = ERROR_INIT;

	(void)state;
	put_all(FACT_PROFILE);
	roll();
	run_sql("DELETE FROM body WHERE id IN (SELECT id FROM fact WHERE kind = 64)");
	run_sql("DELETE FROM fact WHERE kind = 64");
	rig_open();
	roll();
	assert_int_equal(run_sql("SELECT count(*) FROM fact WHERE kind = 64"), HOURS);
	same_answers(FACT_PROFILE);
	assert_int_equal(facts_retain(rig, &ages, &e), 0);
	assert_int_equal(run_sql("SELECT count(*) FROM fact WHERE kind = 64"), HOURS - 1);
	assert_int_equal(run_sql("SELECT count(*) FROM body"),
			 run_sql("SELECT count(*) FROM fact"));
	same_answers(FACT_PROFILE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_are_the_same),	     TEST(sums_are_used),
		TEST(a_late_minute_ends_a_sum),	     TEST(a_damaged_sum_hides_nothing),
		TEST(older_hours_are_summed_and_go),
	};

	/* The others damage and count rows of the file. */
	const struct CMUnitTest of_server[] = {
		TEST(answers_are_the_same),
		TEST(a_late_minute_ends_a_sum),
	};

	if (rig_server())
		return cmocka_run_group_tests(of_server, rig_group_setup, rig_group_teardown);
	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
