/* SPDX-License-Identifier: MIT */
/* alert_kinds: each kind of alert is told for what it is, and what does not matter is not told. */
#include "unit/alert_minutes.h"

/* A minute in which one thing of each kind has `part` of COVERED_NS, or waits so many ms. */
static void put_task(struct fact_set *s, const char *name, double part, double wait_ms, int waits)
{
	struct fact_task *task;
	int i;

	assert_int_equal(fact_set_find_task(s, name, &task), 0);
	task->cpu_ns = (uint64_t)(part * (double)COVERED_NS);
	task->switches = 100000;
	for (i = 0; i < waits; i++)
		assert_int_equal(histogram_add(&task->waits, (uint64_t)(wait_ms * 1e6)), 0);
}

static void put_machine(struct fact_set *s, double steal, double vmm, double guest)
{
	const double all = (double)COVERED_NS / (double)PERIOD_NS;
	uint32_t machine = node(s, node(s, 0, "box", "host"), "db", "machine");
	uint32_t process = node(s, machine, "postgres", "process"), at;

	at = node(s, process, "guest", "class");
	at = node(s, at, "postgres", "object");
	add(s, node(s, at, "scan", "postgres"), (uint64_t)(guest * all));
	at = node(s, process, "steal", "class");
	add(s, node(s, at, "noisy", "culprit"), (uint64_t)(steal * all));
	at = node(s, process, "vmm-kernel", "class");
	add(s, node(s, at, "data abort", "exit"), (uint64_t)(vmm * all));
	add(s, node(s, node(s, machine, "halt", "class"), "", ""),
	    (uint64_t)((1 - steal - vmm - guest) * all));
}

static void put_profile(struct fact_set *s, double one, double two)
{
	const double all = (double)COVERED_NS / (double)PERIOD_NS;
	uint32_t process = node(s, 0, "server", "process");

	add(s, node(s, process, "one", "server"), (uint64_t)(one * all));
	add(s, node(s, process, "two", "server"), (uint64_t)(two * all));
	add(s, node(s, 0, "idle", "process"), (uint64_t)((1 - one - two) * all));
}

#define SUSPECT 0.015 /* of steal, where 0.01 is usual */

struct kind_row {
	uint8_t kind, facts;
	unsigned int history, lasts; /* minutes before, and until it is told */
	double before, since;	     /* what it has */
	const char *scope, *name, *object, *cause;
};

static const struct kind_row kind_rows[] = {
	{ ALERT_PROCESS, FACT_PROFILE, 12, 1, 0.1, 0.3, "", "server", "", "one" },
	{ ALERT_FUNCTION, FACT_PROFILE, 12, 1, 0.1, 0.3, "server", "one", "server", "" },
	{ ALERT_STEAL, FACT_VM, 12, 1, 0.01, 0.3, "", "db", "", "noisy" },
	{ ALERT_VMM, FACT_VM, 12, 1, 0.01, 0.3, "", "db", "", "data abort" },
	{ ALERT_GUEST, FACT_VM, 12, 1, 0.1, 0.3, "db", "scan", "postgres", "" },
	{ ALERT_TASK, FACT_SCHED, 60, 5, 0.1, 0.3, "", "worker", "", "" },
	{ ALERT_WAIT, FACT_SCHED, 60, 1, 1, 30, "", "worker", "", "" },
};
_Static_assert(sizeof(kind_rows) / sizeof(kind_rows[0]) == ALERT_KINDS, "a row for each kind");

static void kind_minute(struct alert_watch *w, struct device *d, const struct kind_row *row,
			double value)
{
	struct fact_set s;

	minute_init(&s, d, row->facts);
	if (row->facts == FACT_PROFILE)
		put_profile(&s, value, row->kind == ALERT_PROCESS ? value : 0.2);
	else if (row->facts == FACT_VM)
		put_machine(&s, row->kind == ALERT_STEAL ? value : 0.01,
			    row->kind == ALERT_VMM ? value : 0.01,
			    row->kind == ALERT_GUEST ? value : 0.1);
	else
		put_task(&s, "worker", row->kind == ALERT_TASK ? value : 0.1,
			 row->kind == ALERT_WAIT ? value : 1, 20000);
	assert_int_equal(alert_watch_put(w, &s, false), 0);
	fact_set_done(&s);
	d->minute_s += FACT_MINUTE_S;
}

static void kind_minutes(struct alert_watch *w, struct device *d, const struct kind_row *row,
			 unsigned int n, double value)
{
	while (n--)
		kind_minute(w, d, row, value);
}

/* Two devices at once: each has its own alert, with nothing of the other's. */
static void each_kind_is_told(void **state)
{
	const struct kind_row *row = kind_rows;
	struct alert_watch *w;
	struct device d[2];
	struct told t;
	uint64_t since_s;
	unsigned int i, k;

	(void)state;
	for (k = 0; k < ALERT_KINDS; k++, row++) {
		assert_int_equal(row->kind, k);
		w = open_watch(&t);
		device_init(&d[0], 40);
		device_init(&d[1], 41);
		for (i = 0; i < 2; i++)
			kind_minutes(w, &d[i], row, row->history, row->before);
		since_s = d[0].minute_s;
		for (i = 0; i < 2; i++) {
			kind_minutes(w, &d[i], row, row->lasts - 1, row->since);
			assert_int_equal(t.n, (int)i);
			kind_minute(w, &d[i], row, row->since);
			if (t.n != (int)i + 1)
				fail_msg("%d alerts of kind %u, not %u", t.n, k, i + 1);
			assert_int_equal(t.list[i].kind, row->kind);
			assert_memory_equal(&t.list[i].device, &d[i].id, sizeof(d[i].id));
			assert_string_equal(t.list[i].scope, row->scope);
			assert_string_equal(t.list[i].name, row->name);
			assert_string_equal(t.list[i].object, row->object);
			assert_string_equal(t.list[i].cause, row->cause);
			assert_int_equal(t.list[i].since_s, since_s);
			assert_int_equal(t.list[i].told_s,
					 since_s + (row->lasts - 1) * FACT_MINUTE_S);
		}
		alert_watch_free(w);
	}
}

/* grep after a quarter of an hour, what nobody would look at, what is over soon, and Kiseki's own threads. */
static void small_things_of_tasks_are_not_told(void **state)
{
	static const struct {
		const char *name;
		unsigned int history, lasts;
		double before, since;
	} quiet[] = {
		{ "grep", 18, 20, 0.0011, 0.0221 }, /* no hour of it is known */
		{ "grep", 60, 20, 0.0011, 0.0221 }, /* 4.4 % of one of two CPUs */
		{ "make", 60, 4, 0.1, 0.9 },	    /* four minutes */
		{ "kiseki-ingest", 60, 20, 0.1, 0.9 }, { "kiseki-agent", 60, 20, 0.1, 0.9 },
	};
	struct alert_watch *w;
	struct fact_set s;
	struct device d;
	struct told t;
	unsigned int i, k;

	(void)state;
	for (k = 0; k < sizeof(quiet) / sizeof(quiet[0]); k++) {
		w = open_watch(&t);
		device_init(&d, 42);
		for (i = 0; i < quiet[k].history + quiet[k].lasts + 10; i++) {
			bool is_more =
				i >= quiet[k].history && i < quiet[k].history + quiet[k].lasts;

			minute_init(&s, &d, FACT_SCHED);
			put_task(&s, quiet[k].name, is_more ? quiet[k].since : quiet[k].before, 1,
				 200);
			assert_int_equal(alert_watch_put(w, &s, false), 0);
			fact_set_done(&s);
			d.minute_s += FACT_MINUTE_S;
		}
		if (t.n)
			fail_msg("%s is told: %d alerts (row %u)", quiet[k].name, t.n, k);
		alert_watch_free(w);
	}
}

/* What the same hour had on three earlier days is usual; on two, nobody knows. */
static unsigned int days, asked;

static unsigned int tell_hour(void *context, const struct alert *like, uint64_t minute_s,
			      double *ret)
{
	(void)context;
	(void)minute_s;
	assert_string_equal(like->name, "db");
	asked++;
	*ret = 0.3;
	return days;
}

static void the_same_hour_is_usual(void **state)
{
	const struct kind_row *row = &kind_rows[ALERT_STEAL];
	struct told t;
	struct alert_watch_options o = { .tell = take, .context = &t, .same_hour = tell_hour };
	struct alert_watch *w;
	struct device d;

	(void)state;
	for (days = 2; days < 4; days++) {
		memset(&t, 0, sizeof(t));
		asked = 0;
		assert_int_equal(alert_watch_new(&w, &o), 0);
		device_init(&d, 43);
		kind_minutes(w, &d, row, row->history, row->before);
		assert_int_equal(asked, 0);
		kind_minute(w, &d, row, row->since);
		assert_int_equal(asked, 1);
		assert_int_equal(t.n, days < 3);
		alert_watch_free(w);
	}
}

/* Two suspect minutes in a row raise an alert; with a gap in the recording between them they do not. */
static void a_gap_ends_a_suspicion(void **state)
{
	const struct kind_row *row = &kind_rows[ALERT_STEAL];
	struct alert_watch *w;
	struct device d;
	struct told t;
	int gap;

	(void)state;
	for (gap = 0; gap < 2; gap++) {
		w = open_watch(&t);
		device_init(&d, 45);
		kind_minutes(w, &d, row, row->history, row->before);
		kind_minute(w, &d, row, SUSPECT);
		assert_int_equal(t.n, 0);
		if (gap)
			d.minute_s += 6 * FACT_MINUTE_S;
		kind_minute(w, &d, row, SUSPECT);
		assert_int_equal(t.n, !gap);
		alert_watch_free(w);
	}
}

/* Waits are told from four times as long on, and only where the hour before is known. */
static void waits_have_their_limits(void **state)
{
	static const struct {
		double before, since;
		unsigned int history;
		bool is_told;
	} rows[] = {
		{ 1, 4, 60, true },
		{ 10, 17, 60, false },
		{ 1, 4, 58, false },
	};
	struct alert_watch *w;
	struct device d;
	struct told t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		w = open_watch(&t);
		device_init(&d, 46);
		kind_minutes(w, &d, &kind_rows[ALERT_WAIT], rows[i].history, rows[i].before);
		kind_minutes(w, &d, &kind_rows[ALERT_WAIT], 2, rows[i].since);
		if (t.n != (int)rows[i].is_told)
			fail_msg("waits of %g ms after %g: %d alerts", rows[i].since,
				 rows[i].before, t.n);
		alert_watch_free(w);
	}
}

/* A minute of two machines. Only what `noisy` takes from the first changes; the second always loses
 * more. */
static void neighbours_minute(struct alert_watch *w, struct device *d, double noisy)
{
	const double all = (double)COVERED_NS / (double)PERIOD_NS;
	const struct {
		const char *machine;
		double batch, noisy;
	} machines[] = { { "db", 0.1, noisy }, { "web", 0.3, 0.1 } };
	uint32_t machine, process, steal;
	struct fact_set s;
	size_t i;

	minute_init(&s, d, FACT_VM);
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		machine = node(&s, node(&s, 0, "box", "host"), machines[i].machine, "machine");
		process = node(&s, machine, "qemu", "process");
		steal = node(&s, process, "steal", "class");
		add(&s, node(&s, steal, "batch", "culprit"), (uint64_t)(machines[i].batch * all));
		add(&s, node(&s, steal, "noisy", "culprit"), (uint64_t)(machines[i].noisy * all));
		add(&s, node(&s, node(&s, machine, "halt", "class"), "", ""),
		    (uint64_t)((1 - machines[i].batch - machines[i].noisy) * all));
	}
	assert_int_equal(alert_watch_put(w, &s, false), 0);
	fact_set_done(&s);
	d->minute_s += FACT_MINUTE_S;
}

/* The machine that lost time is told, with the neighbour that took more of it than before. */
static void the_right_neighbour_is_told(void **state)
{
	struct alert_watch *w;
	struct device d;
	struct told t;
	int i;

	(void)state;
	w = open_watch(&t);
	device_init(&d, 47);
	for (i = 0; i < 12; i++)
		neighbours_minute(w, &d, 0.01);
	assert_int_equal(t.n, 0);
	for (i = 0; i < 2; i++)
		neighbours_minute(w, &d, 0.15);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.list[0].kind, ALERT_STEAL);
	assert_string_equal(t.list[0].name, "db");
	assert_string_equal(t.list[0].cause, "noisy");
	alert_watch_free(w);
}

/* Three hours without a trace, and the series of a small thing is gone; of another it stays. */
static void what_is_gone_is_forgotten(void **state)
{
	struct alert_watch_counters n;
	struct alert_watch *w;
	struct fact_set s;
	struct device d;
	struct told t;
	int i;

	(void)state;
	w = open_watch(&t);
	device_init(&d, 44);
	for (i = 0; i < 2 + 20 * 60 * 2; i++) {
		minute_init(&s, &d, FACT_SCHED);
		put_task(&s, "worker", 0.1, 1, 200);
		if (i < 2)
			put_task(&s, "once", 0.0021, 1, 200);
		assert_int_equal(alert_watch_put(w, &s, false), 0);
		fact_set_done(&s);
		d.minute_s += FACT_MINUTE_S;
		alert_watch_count(w, &n);
		if (i < 180)
			assert_int_equal(n.series, 4);
	}
	assert_int_equal(n.series, 2);
	alert_watch_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_told),
		cmocka_unit_test(small_things_of_tasks_are_not_told),
		cmocka_unit_test(the_same_hour_is_usual),
		cmocka_unit_test(the_right_neighbour_is_told),
		cmocka_unit_test(a_gap_ends_a_suspicion),
		cmocka_unit_test(waits_have_their_limits),
		cmocka_unit_test(what_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
