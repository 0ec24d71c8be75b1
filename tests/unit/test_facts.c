/* SPDX-License-Identifier: MIT */
/* facts: minutes, hours and every way of asking have the same sums; minutes may come twice and late. */
#include "facts_rig.h"

#include <errno.h>

/* What a scan must give: the minutes themselves. */
struct expectation {
	struct fact_set sum;
};

static void expect_init(struct expectation *x, uint8_t kind)
{
	struct fact_key key = { .kind = kind };

	assert_int_equal(fact_set_init(&x->sum, &key), 0);
}

static void expect(struct expectation *x, uint32_t device, uint64_t start_s, uint32_t seed)
{
	struct fact_key k = rig_key(device, x->sum.key.kind, start_s);
	struct fact_set s;

	rig_make(&s, &k, seed);
	assert_int_equal(fact_set_add(&x->sum, &s), 0);
	fact_set_done(&s);
}

/* The scan of that range has just that, of so many hours and minutes. */
static void check(struct expectation *x, uint64_t from_s, uint64_t to_s, uint64_t hours,
		  uint64_t minutes)
{
	struct facts_query q = rig_query(x->sum.key.kind, from_s, to_s);
	uint64_t got_minutes = 0, got_hours = 0;
	char *want = fact_random_text(&x->sum), *got = rig_scan(&q, &got_minutes, &got_hours);

	assert_string_equal(want, got);
	assert_int_equal(got_hours, hours);
	assert_int_equal(got_minutes, minutes);
	free(want);
	free(got);
}

static void roll(uint64_t to_s)
{
	struct error e = ERROR_INIT;

	assert_int_equal(facts_roll(rig, to_s, &e), 0);
}

/* Three hours of two devices, of which the expectation is all but ten minutes at both ends. */
static void put_hours(struct expectation *x)
{
	uint32_t device;
	uint64_t t;

	for (device = 0; device < 2; device++)
		for (t = HOUR0; t < HOUR0 + 3 * 3600; t += 300) {
			rig_put(device, x->sum.key.kind, t, 0);
			if (t >= HOUR0 + 600 && t < HOUR0 + 3 * 3600 - 600)
				expect(x, device, t, 0);
		}
}

static void sums_are_exact(void **state)
{
	struct expectation x;
	uint8_t kind;

	(void)state;
	for (kind = 0; kind < FACT_KINDS; kind++) {
		expect_init(&x, kind);
		put_hours(&x);
		check(&x, HOUR0 + 600, HOUR0 + 3 * 3600 - 600, 0, 2 * 32);
		roll(HOUR0 + 2 * 3600); /* the third goes on */
		check(&x, HOUR0 + 600, HOUR0 + 3 * 3600 - 600, 2, 2 * 20);
		roll(HOUR0 + 3 * 3600);
		check(&x, HOUR0 + 600, HOUR0 + 3 * 3600 - 600, 2, 2 * 20);
		fact_set_done(&x.sum);
	}
}

static void replaces(void **state)
{
	struct fact_key k = rig_key(1, FACT_PROFILE, HOUR0);
	struct error e = ERROR_INIT;
	struct expectation x;
	struct fact_set old;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	rig_put(1, FACT_PROFILE, HOUR0, 3);
	rig_make(&old, &k, 0); /* a lower version is late, and no error */
	assert_int_equal(facts_put(rig, &old, &e), 0);
	fact_set_done(&old);
	expect_init(&x, FACT_PROFILE);
	expect(&x, 1, HOUR0, 3);
	check(&x, HOUR0, HOUR0 + 60, 0, 1);
	fact_set_done(&x.sum);
}

static void a_late_minute_makes_its_hour_again(void **state)
{
	struct expectation x;

	(void)state;
	expect_init(&x, FACT_PROFILE);
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	rig_put(1, FACT_PROFILE, HOUR0 + 60, 0);
	rig_put(2, FACT_PROFILE, HOUR0, 0);
	roll(HOUR0 + 3600);
	rig_put(1, FACT_PROFILE, HOUR0 + 60, 5);
	rig_put(1, FACT_PROFILE, HOUR0 + 120, 0);
	expect(&x, 1, HOUR0, 0);
	expect(&x, 1, HOUR0 + 60, 5);
	expect(&x, 1, HOUR0 + 120, 0);
	expect(&x, 2, HOUR0, 0);
	check(&x, HOUR0, HOUR0 + 3600, 1, 3); /* the other device's hour is still good */
	roll(HOUR0 + 3600);
	check(&x, HOUR0, HOUR0 + 3600, 2, 0);
	fact_set_done(&x.sum);
}

static void keeps_hours_longer(void **state)
{
	struct facts_ages ages = { .minutes_to_s = HOUR0 + 3600 + 60 };
	struct fact_key k = rig_key(1, FACT_PROFILE, HOUR0 + 120);
	struct error e = ERROR_INIT;
	struct expectation x;
	struct fact_set late;

	(void)state;
	expect_init(&x, FACT_PROFILE);
	rig_put(1, FACT_PROFILE, HOUR0 + 60, 0);
	rig_put(1, FACT_PROFILE, HOUR0 + 3660, 0);
	expect(&x, 1, HOUR0 + 60, 0);
	expect(&x, 1, HOUR0 + 3660, 0);
	assert_int_equal(facts_retain(rig, &ages, &e), 0);
	check(&x, HOUR0, HOUR0 + 7200, 0, 2); /* no hour yet: they stay */
	roll(HOUR0 + 3600);
	assert_int_equal(facts_retain(rig, &ages, &e), 0);
	check(&x, HOUR0, HOUR0 + 7200, 1, 1);
	rig_make(&late, &k, 9);
	assert_int_equal(facts_put(rig, &late, &e), -ESTALE);
	fact_set_done(&late);
	check(&x, HOUR0, HOUR0 + 7200, 1, 1);
	fact_set_done(&x.sum);
	/* Without its minutes an hour is in the range that has its start. */
	expect_init(&x, FACT_PROFILE);
	expect(&x, 1, HOUR0 + 60, 0);
	check(&x, HOUR0, HOUR0 + 1800, 1, 0);
	fact_set_done(&x.sum);
	expect_init(&x, FACT_PROFILE);
	check(&x, HOUR0 + 1800, HOUR0 + 3600, 0, 0);
	ages.hours_to_s = HOUR0 + 3600;
	assert_int_equal(facts_retain(rig, &ages, &e), 0);
	check(&x, HOUR0, HOUR0 + 3600, 0, 0);
	fact_set_done(&x.sum);
}

static void compare_top(const struct facts_row *row, const struct fact_set *tree)
{
	const struct profile_node *n;
	const struct function *f;
	uint64_t self = 0;
	uint32_t i;

	for (i = 1; i < profile_tree_count(tree->tree); i++) {
		n = profile_tree_get(tree->tree, i);
		f = functions_get(&tree->functions, n->key);
		if (!strcmp(f->name, row->name) && !strcmp(f->object, row->object))
			self += profile_tree_self(tree->tree, i)[1];
	}
	assert_int_equal(row->self[1], self);
}

/* Lists, trees, trends and scans of the same range agree. */
static void every_way_of_asking_agrees(void **state)
{
	struct facts_order o = { .by = FACTS_BY_FUNCTION, .value = 1 };
	struct facts_trend trend = { .by = FACTS_BY_FUNCTION, .step_s = FACT_HOUR_S };
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 7200);
	struct error e = ERROR_INIT;
	struct facts_rows rows;
	struct facts_points points;
	struct facts_basis basis;
	struct fact_set tree;
	uint64_t t, minutes, hours, self = 0, sums[2] = { 0, 0 };
	char *x, *y;
	size_t i;

	(void)state;
	for (t = HOUR0; t < HOUR0 + 7200; t += 60) {
		rig_put(1, FACT_PROFILE, t, 0);
		rig_put(2, FACT_PROFILE, t, 0);
	}
	roll(HOUR0 + 3600);
	assert_int_equal(facts_tree(rig, &q, &tree, &basis, &e), 0);
	assert_int_equal(basis.hours, 2);
	assert_int_equal(basis.minutes, 120);
	assert_int_equal(basis.devices, 2);
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_memory_equal(&rows.basis, &basis, sizeof(basis));
	assert_int_equal(profile_tree_total(tree.tree, 0)[1], basis.values[1]);
	for (i = 0; i < rows.n; i++) {
		compare_top(&rows.rows[i], &tree);
		self += rows.rows[i].self[1];
		assert_true(!i || rows.rows[i - 1].self[1] >= rows.rows[i].self[1]);
	}
	assert_int_equal(self, basis.values[1]);
	trend.name = rows.rows[3].name;
	assert_int_equal(facts_trend(rig, &q, &trend, &points, &e), 0);
	assert_int_equal(points.n, 2);
	sums[0] = points.points[0].total[0] + points.points[1].total[0];
	assert_int_equal(sums[0], rows.rows[3].total[0]);
	facts_points_done(&points);
	trend.step_s = 600;
	assert_int_equal(facts_trend(rig, &q, &trend, &points, &e), 0);
	assert_int_equal(points.n, 12);
	for (i = 0; i < points.n; i++)
		sums[1] += points.points[i].total[0];
	assert_int_equal(sums[1], sums[0]);
	facts_points_done(&points);
	facts_rows_done(&rows);
	/* without tasks and objects, which trees have not */
	x = rig_scan(&q, &minutes, &hours);
	y = fact_random_text(&tree);
	assert_int_equal(strncmp(x, y, strlen(y)), 0);
	free(x);
	free(y);
	fact_set_done(&tree);
}

/* By hand: who has how much, by what. */
static void lists_by_what_is_asked(void **state)
{
	struct facts_query q = rig_query(FACT_VM, HOUR0, HOUR0 + 3600);
	struct error e = ERROR_INIT;
	struct facts_rows rows;
	struct facts_order o = { .value = 1, .total = true };
	uint64_t sum;
	size_t i;

	(void)state;
	rig_put(1, FACT_VM, HOUR0, 0);
	for (o.by = FACTS_BY_PROCESS; o.by < FACTS_BYS; o.by++) {
		assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
		for (i = 0, sum = 0; i < rows.n; i++) {
			sum += rows.rows[i].self[1];
			assert_string_equal(rows.rows[i].object, "");
		}
		assert_int_equal(sum, rows.basis.values[1]);
		facts_rows_done(&rows);
	}
	rig_put(2, FACT_VM, HOUR0, 0);
	o.by = FACTS_BY_DEVICE;
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.basis.devices, 2);
	assert_true(rows.rows[0].self[1] >= rows.rows[1].self[1]);
	assert_int_equal(rows.rows[0].self[1] + rows.rows[1].self[1], rows.basis.values[1]);
	facts_rows_done(&rows);
	o.by = FACTS_BY_CLASS;
	o.most = 2;
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.n, 2);
	facts_rows_done(&rows);
}

static void selects_devices(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 60);
	struct message_id one = fact_random_id(1), two = fact_random_id(2), *list = NULL;
	struct error e = ERROR_INIT;
	struct expectation x;
	size_t n = 0;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	rig_put(2, FACT_PROFILE, HOUR0, 0);
	assert_int_equal(facts_label(rig, &one, "env", "prod", &e), 0);
	assert_int_equal(facts_label(rig, &one, "board", "a9", &e), 0);
	assert_int_equal(facts_label(rig, &two, "env", "prod", &e), 0);
	assert_int_equal(facts_label(rig, &two, "board", "x", &e), 0);
	assert_int_equal(facts_devices(rig, "env=prod", &list, &n, &e), 0);
	assert_int_equal(n, 2);
	free(list);
	assert_int_equal(facts_devices(rig, "env=prod,board=a9", &list, &n, &e), 0);
	assert_int_equal(n, 1);
	q.all_devices = false;
	q.devices = list;
	q.n_devices = n;
	expect_init(&x, FACT_PROFILE);
	expect(&x, 1, HOUR0, 0);
	{
		uint64_t minutes, hours;
		char *want = fact_random_text(&x.sum), *got = rig_scan(&q, &minutes, &hours);

		assert_string_equal(want, got);
		free(want);
		free(got);
	}
	fact_set_done(&x.sum);
	free(list);
	assert_int_equal(facts_label(rig, &one, "board", NULL, &e), 0);
	assert_int_equal(facts_devices(rig, "board=a9", &list, &n, &e), 0);
	assert_int_equal(n, 0);
	free(list);
	assert_int_equal(facts_devices(rig, "board", &list, &n, &e), -EINVAL);
	assert_int_equal(facts_devices(rig, "", &list, &n, &e), -EINVAL);
	assert_int_equal(facts_label(rig, &one, "a b", "x", &e), -EINVAL);
	assert_int_equal(facts_label(rig, &one, "a", "x,y", &e), -EINVAL);
}

static int count_heads(void *context, const struct facts_head *h)
{
	uint64_t *last_s = context;

	assert_true(h->key.start_s >= *last_s);
	*last_s = h->key.start_s;
	return 0;
}

static void lists_heads_by_time(void **state)
{
	struct facts_query q = rig_query(FACT_SCHED, HOUR0, HOUR0 + 3600);
	struct error e = ERROR_INIT;
	uint64_t last_s = 0;

	(void)state;
	rig_put(1, FACT_SCHED, HOUR0 + 120, 0);
	rig_put(1, FACT_SCHED, HOUR0, 0);
	assert_int_equal(facts_keys(rig, &q, count_heads, &last_s, &e), 0);
	assert_int_equal(last_s, HOUR0 + 120);
}

static void takes_an_hour_as_such(void **state)
{
	struct fact_key k = rig_key(1, FACT_PROFILE, HOUR0);
	struct error e = ERROR_INIT;
	struct expectation x;
	struct fact_set s;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 4);
	rig_make(&s, &k, 0);
	s.key.length_s = FACT_HOUR_S;
	assert_int_equal(facts_put(rig, &s, &e), 0);
	s.key.length_s = 61;
	assert_int_equal(facts_put(rig, &s, &e), -EINVAL);
	fact_set_done(&s);
	expect_init(&x, FACT_PROFILE);
	expect(&x, 1, HOUR0, 0);
	assert_int_equal(fact_set_init(&s, &k), 0);
	fact_set_done(&s);
	check(&x, HOUR0, HOUR0 + 3600, 1, 0);
	fact_set_done(&x.sum);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		CASE(sums_are_exact),
		CASE(replaces),
		CASE(a_late_minute_makes_its_hour_again),
		CASE(keeps_hours_longer),
		CASE(every_way_of_asking_agrees),
		CASE(lists_by_what_is_asked),
		CASE(selects_devices),
		CASE(lists_heads_by_time),
		CASE(takes_an_hour_as_such),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
