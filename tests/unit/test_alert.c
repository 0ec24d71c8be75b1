/* SPDX-License-Identifier: MIT */
/*
 * alert_watch: devices whose functions take what they take, with the noise of sampling and of load, and moments at which one of
 * them becomes slower. It must be found within two minutes and be called by its name; and when nothing happens, nothing must be said.
 */
#include "unit/alert_minutes.h"

/* --- the tests --- */

/* A hundred devices for an hour, after the minutes that are needed to know what is usual. */
static void nothing_happens(void **state)
{
	struct device *devices = calloc(100, sizeof(*devices));
	struct alert_watch_counters n;
	struct told t;
	struct alert_watch *w = open_watch(&t);
	int i, m;

	(void)state;
	assert_non_null(devices);
	for (i = 0; i < 100; i++)
		device_init(&devices[i], (uint8_t)(i + 1));
	for (m = 0; m < 75; m++)
		for (i = 0; i < 100; i++)
			device_minute(w, &devices[i]);
	alert_watch_count(w, &n);
	assert_int_equal(n.devices, 100);
	assert_int_equal(n.minutes, 7500);
	assert_true(n.series > 100 * PROCESSES * 10);
	assert_int_equal(n.told, 0);
	assert_int_equal(t.n, 0);
	alert_watch_free(w);
	free(devices);
}

static void a_function_gets_slower(void **state)
{
	static const int which[] = { 0, 2, 5 };
	struct told t;
	uint64_t since_s;
	char name[32];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct alert_watch *w = open_watch(&t);
		struct device d;

		device_init(&d, 7);
		minutes(w, &d, 40);
		d.slower[1][which[i]] = 1.3;
		since_s = d.minute_s;
		minutes(w, &d, 5);
		snprintf(name, sizeof(name), "work%d", which[i]);
		check_one(&t, since_s, "server1", name);
		assert_int_equal(t.list[0].kind, ALERT_FUNCTION);
		assert_true(t.list[0].value > 1.15 * t.list[0].usual);
		/* It is as it was: that is told, too, once. */
		d.slower[1][which[i]] = 1;
		minutes(w, &d, 6);
		assert_int_equal(t.n, 2);
		assert_true(t.list[1].until_s > since_s);
		assert_int_equal(t.list[1].end, ALERT_IN_LINE);
		alert_watch_free(w);
	}
}

/* Most of its process: its part hardly grows, but it is as much slower as any other. */
static void a_large_function_gets_slower(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	uint64_t since_s;

	(void)state;
	device_init(&d, 14);
	d.slower[1][0] = 5;
	minutes(w, &d, 40);
	assert_int_equal(t.n, 0);
	d.slower[1][0] = 5 * 1.3;
	since_s = d.minute_s;
	minutes(w, &d, 5);
	check_one(&t, since_s, "server1", "work0");
	assert_int_equal(t.list[0].kind, ALERT_FUNCTION);
	alert_watch_free(w);
}

/* The same functions with other names, as when their symbols come at last. */
static void other_names_are_no_news(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	uint64_t since_s;

	(void)state;
	device_init(&d, 15);
	minutes(w, &d, 15);
	d.called = "job";
	minutes(w, &d, 60);
	assert_int_equal(t.n, 0);
	d.slower[0][0] = 1.4;
	since_s = d.minute_s;
	minutes(w, &d, 3);
	check_one(&t, since_s, "server0", "job0");
	alert_watch_free(w);
}

/* A place is no function: where nothing has a name, processes are all that is told. */
static void places_are_not_told(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;

	(void)state;
	device_init(&d, 19);
	d.called = "server+0x";
	minutes(w, &d, 40);
	d.slower[1][0] = 1.5;
	minutes(w, &d, 4);
	assert_int_equal(t.n, 0);
	d.load[1] = 2;
	minutes(w, &d, 4);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.list[0].kind, ALERT_PROCESS);
	assert_string_equal(t.list[0].name, "server1");
	alert_watch_free(w);
}

/* A process that is not always there is no news when it is, nor is what it does; unless it takes much of the machine. */
static void jobs_come_and_go(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	int i;

	(void)state;
	device_init(&d, 17);
	for (i = 0; i < 8; i++) {
		d.job = 0.01 + 0.01 * i;
		minutes(w, &d, 2);
		d.job = 0;
		minutes(w, &d, 12);
	}
	assert_int_equal(t.n, 0);
	d.job = 0.3;
	minutes(w, &d, 2);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.list[0].kind, ALERT_PROCESS);
	assert_string_equal(t.list[0].name, "backup");
	alert_watch_free(w);
}

/* A device that is gone has nothing that is out of line, and nothing that is in line. */
static void silence_ends_it(void **state)
{
	struct alert_watch_counters n;
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;

	(void)state;
	device_init(&d, 16);
	minutes(w, &d, 40);
	d.slower[0][0] = 1.5;
	minutes(w, &d, 3);
	assert_int_equal(t.n, 1);
	alert_watch_expire(w, d.minute_s + 5 * FACT_MINUTE_S);
	assert_int_equal(t.n, 1);
	alert_watch_expire(w, d.minute_s + 10 * FACT_MINUTE_S);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.list[1].number, t.list[0].number);
	assert_int_equal(t.list[1].end, ALERT_SILENT);
	assert_int_equal(t.list[1].until_s, d.minute_s);
	alert_watch_count(w, &n);
	assert_int_equal(n.open, 0);
	alert_watch_expire(w, d.minute_s + 20 * FACT_MINUTE_S);
	assert_int_equal(t.n, 2);
	/* It is back, and no better. */
	d.minute_s += 30 * FACT_MINUTE_S;
	minutes(w, &d, 3);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.list[2].end, ALERT_GOES_ON);
	alert_watch_free(w);
}

static void more_to_do_is_the_process(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	uint64_t since_s;

	(void)state;
	device_init(&d, 8);
	minutes(w, &d, 40);
	d.load[0] = 1.8;
	since_s = d.minute_s;
	minutes(w, &d, 5);
	check_one(&t, since_s, "", "server0");
	assert_int_equal(t.list[0].kind, ALERT_PROCESS);
	assert_string_equal(t.list[0].cause, "work0");
	alert_watch_free(w);
}

static void a_storm(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	uint64_t since_s;

	(void)state;
	device_init(&d, 9);
	minutes(w, &d, 40);
	d.burst = 0.15;
	since_s = d.minute_s;
	minutes(w, &d, 3);
	check_one(&t, since_s, "server0", "gc_mark");
	/* It is over, and comes again: that is no news. */
	d.burst = 0;
	minutes(w, &d, 20);
	assert_int_equal(t.n, 2);
	d.burst = 0.15;
	minutes(w, &d, 3);
	assert_int_equal(t.n, 2);
	/* Twice as much is. */
	d.burst = 0.3;
	minutes(w, &d, 3);
	assert_int_equal(t.n, 3);
	alert_watch_free(w);
}

/* With a new build less is enough, and the build is named. */
static void a_new_build(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	uint64_t since_s;

	(void)state;
	device_init(&d, 10);
	minutes(w, &d, 60);
	d.build = 1;
	d.slower[0][1] = 1.4;
	since_s = d.minute_s;
	minutes(w, &d, 5);
	check_one(&t, since_s, "server0", "work1");
	assert_string_equal(t.list[0].build, "02020202");
	alert_watch_free(w);
}

/* A level that stays is the usual one after half an hour; the old one is no alert. */
static void what_stays_is_usual(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;

	(void)state;
	device_init(&d, 11);
	minutes(w, &d, 40);
	d.slower[0][0] = 1.5;
	minutes(w, &d, 60);
	assert_int_equal(t.n, 2);
	assert_true(t.list[1].until_s > 0);
	assert_int_equal(t.list[1].end, ALERT_USUAL);
	d.slower[0][0] = 1;
	minutes(w, &d, 60);
	assert_int_equal(t.n, 2);
	alert_watch_free(w);
}

/* --- machines --- */

static void machine_minute(struct alert_watch *w, struct device *d, double stolen)
{
	struct fact_set s;
	uint32_t host, machine, process, at;
	double all = (double)COVERED_NS / (double)PERIOD_NS;

	minute_init(&s, d, FACT_VM);
	host = node(&s, 0, "box", "host");
	machine = node(&s, host, "db", "machine");
	process = node(&s, machine, "postgres", "process");
	at = node(&s, process, "guest", "class");
	add(&s, node(&s, node(&s, at, "postgres", "object"), "scan", "postgres"),
	    random_count(0.3 * (1 - stolen) * all));
	at = node(&s, process, "steal", "class");
	add(&s, node(&s, at, "noisy", "culprit"), random_count(stolen * all));
	add(&s, node(&s, at, "kworker", "culprit"), random_count(0.004 * all));
	at = node(&s, process, "vmm-kernel", "class");
	add(&s, node(&s, at, "data abort", "exit"), random_count(0.01 * all));
	add(&s, node(&s, machine, "halt", "class"), random_count((0.686 - stolen) * all));
	assert_int_equal(alert_watch_put(w, &s, false), 0);
	fact_set_done(&s);
	d->minute_s += FACT_MINUTE_S;
}

static void a_noisy_neighbour(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct device d;
	uint64_t since_s;
	int i;

	(void)state;
	device_init(&d, 12);
	for (i = 0; i < 30; i++)
		machine_minute(w, &d, 0.005);
	assert_int_equal(t.n, 0);
	since_s = d.minute_s;
	for (i = 0; i < 3; i++)
		machine_minute(w, &d, 0.4);
	check_one(&t, since_s, "", "db");
	assert_int_equal(t.list[0].kind, ALERT_STEAL);
	assert_string_equal(t.list[0].cause, "noisy");
	alert_watch_free(w);
}

/* --- waits --- */

static void late_and_again(void **state)
{
	struct told t;
	struct alert_watch *w = open_watch(&t);
	struct alert_watch_counters n;
	struct device d;

	(void)state;
	device_init(&d, 13);
	minutes(w, &d, 12);
	d.minute_s -= 3 * FACT_MINUTE_S; /* the same minutes once more */
	d.burst = 0.5;
	minutes(w, &d, 3);
	alert_watch_count(w, &n);
	assert_int_equal(n.minutes, 12);
	assert_int_equal(t.n, 0);
	alert_watch_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_happens),
		cmocka_unit_test(a_function_gets_slower),
		cmocka_unit_test(a_large_function_gets_slower),
		cmocka_unit_test(other_names_are_no_news),
		cmocka_unit_test(places_are_not_told),
		cmocka_unit_test(jobs_come_and_go),
		cmocka_unit_test(silence_ends_it),
		cmocka_unit_test(more_to_do_is_the_process),
		cmocka_unit_test(a_storm),
		cmocka_unit_test(a_new_build),
		cmocka_unit_test(what_stays_is_usual),
		cmocka_unit_test(a_noisy_neighbour),
		cmocka_unit_test(late_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
