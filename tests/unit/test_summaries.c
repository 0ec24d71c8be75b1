/* SPDX-License-Identifier: MIT */
/*
 * summaries: what survives. A process that summarises is killed again and again, and in the end every
 * sum is exact; a damaged file is made again; a run that the store has forgotten goes.
 */
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/running.h"
#include "collector/summary_db.h"
#include "collector/timeline.h"
#include "tools/sched_random.h"
#include "tools/trace_store.h"

#define WAIT_MS 120000
#define RUNS 5
#define KILLS 25

static char folder[] = "/tmp/kiseki-test-summaries-XXXXXX";
static struct trace_random traces[RUNS];

static void make_path(char path[128])
{
	snprintf(path, 128, "%s/summary.sqlite", folder);
}

static void make_trace(uint32_t i)
{
	struct trace_random_options o = {
		.seed = 40 + i,
		.cpus = 3,
		.events = 30000,
		.style = i % 2 ? SCHED_RANDOM_IDLE : SCHED_RANDOM_REAL,
		/* Losses behind the last event are told at a run's end. */
		.loss_every = i % 2 ? 5000 : 0
	};

	trace_random_init(&traces[i], &o);
}

static void open_all(struct store **store, struct summaries **summaries)
{
	struct store_options o = { .file_bytes = 1 << 20 };
	struct error e = ERROR_INIT;

	if (store_open(store, folder, &o, &e) < 0 ||
	    summaries_open(summaries, folder, *store, &e) < 0)
		fail_msg("%s", e.text);
}

static void fill_store(void)
{
	struct sink_ksk_options o = { .codec = CODEC_SCHED,
				      .block_bytes = 1000,
				      .segment_bytes = 4000 };
	struct store_options store_options = { .file_bytes = 1 << 20 };
	struct store *store = NULL;
	struct error e = ERROR_INIT;
	struct trace_blocks b;
	uint32_t i, run;

	if (store_open(&store, folder, &store_options, &e) < 0)
		fail_msg("%s", e.text);
	for (i = 0; i < RUNS; i++) {
		trace_blocks_init(&b, &traces[i], &o);
		run = trace_store_run(store, (uint8_t)(i + 1));
		assert_int_equal(run, i + 1);
		trace_store_put(store, run, &b, 0, b.n);
		if (i % 2)
			trace_store_end(store, run, &b);
		trace_blocks_done(&b);
	}
	store_free(store);
}

/* The whole run, on several levels, against `report sched` of what went in. */
static void check_run(struct summaries *s, uint32_t i)
{
	static const uint32_t widths[] = { 1, 100, 2000 };
	struct running *r = NULL;
	const struct running_total *total;
	struct error e = ERROR_INIT;
	size_t k;

	assert_int_equal(running_new(&r, &traces[i].info), 0);
	for (k = 0; k < traces[i].n; k++)
		assert_int_equal(running_add(r, &traces[i].items[k], &e), 0);
	assert_int_equal(running_finish(r, &e), 0);
	total = running_get_total(r);
	for (k = 0; k < 3; k++) {
		struct timeline_query q = {
			.run = i + 1, .to_tick = UINT64_MAX, .width = widths[k], .tasks_max = 5
		};
		struct timeline *t = NULL;

		if (timeline_make(&t, s, &q, &e) < 0)
			fail_msg("%s", e.text);
		assert_int_equal(t->total.busy_ns, total->cpu.busy_ns);
		assert_int_equal(t->total.idle_ns, total->cpu.idle_ns);
		assert_int_equal(t->total.unknown_ns, total->cpu.unknown_ns);
		assert_int_equal(t->total.switches, total->cpu.switches);
		assert_int_equal(t->total.lost, total->cpu.lost);
		assert_int_equal(t->total.switches + t->total.wakeups + t->total.others,
				 total->cpu.events);
		timeline_free(t);
	}
	running_free(r);
}

static void check_all(void)
{
	struct summaries *summaries = NULL;
	struct store *store = NULL;
	struct summaries_counters counters;
	uint32_t i;

	open_all(&store, &summaries);
	assert_int_equal(summaries_wait(summaries, WAIT_MS), 0);
	summaries_count(summaries, &counters);
	assert_string_equal(counters.last_error, "");
	for (i = 0; i < RUNS; i++)
		check_run(summaries, i);
	summaries_free(summaries);
	store_free(store);
}

/* How many runs have a row. */
static uint32_t count_runs(void)
{
	struct summary_db *db = NULL;
	struct error e = ERROR_INIT;
	char path[128];
	int64_t after = -1;
	uint32_t run, n = 0;

	make_path(path);
	if (summary_db_open_reader(&db, path, &e) < 0)
		return 0;
	for (; summary_db_next_run(db, after, &run, &e) == 0; n++)
		after = run;
	summary_db_free(db);
	return n;
}

static void summarise_until_killed(void)
{
	struct summaries *summaries = NULL;
	struct store *store = NULL;

	open_all(&store, &summaries);
	for (;;)
		pause();
}

/* Killed later each time, until all was done before it; then from the start again, and a bit earlier:
 * so it dies at all moments of the work, however fast the machine is. */
static void test_kill(void **state)
{
	uint64_t delay_ns = 5000000;
	uint32_t i, partial = 0, whole = 0, n;
	struct timespec t = { 0 };
	char path[128];
	pid_t child;
	int status;

	(void)state;
	make_path(path);
	for (i = 0; i < KILLS; i++) {
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			summarise_until_killed();
		t.tv_sec = (time_t)(delay_ns / 1000000000);
		t.tv_nsec = (long)(delay_ns % 1000000000);
		nanosleep(&t, NULL);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		n = count_runs();
		partial += n > 0 && n < RUNS;
		delay_ns += delay_ns / 3;
		if (n == RUNS) {
			whole++;
			check_all();
			summary_db_remove(path);
			delay_ns /= 3;
		}
	}
	print_message("killed %d times, %u of them between two runs, %u behind the last\n", KILLS,
		      partial, whole);
	check_all();
}

static void damage(const char *path, long offset)
{
	FILE *f = fopen(path, "r+");
	int i;

	assert_non_null(f);
	assert_int_equal(fseek(f, offset, SEEK_SET), 0);
	for (i = 0; i < 3000; i++)
		fputc(0xa5, f);
	fclose(f);
}

/* Asks for each run until there is an answer. */
static void ask_all(void)
{
	struct summaries *summaries = NULL;
	struct store *store = NULL;
	uint32_t i, run;

	open_all(&store, &summaries);
	for (run = 1; run <= RUNS; run++) {
		struct timeline_query q = { .run = run, .to_tick = UINT64_MAX, .width = 100 };
		struct timeline *t = NULL;

		for (i = 0; i < 100 && timeline_make(&t, summaries, &q, NULL) < 0; i++)
			assert_int_equal(summaries_wait(summaries, WAIT_MS), 0);
		assert_non_null(t);
		timeline_free(t);
	}
	summaries_free(summaries);
	store_free(store);
}

/* Damage is either found and mended, or lies where nothing is. */
static void test_damage(void **state)
{
	char path[128];

	(void)state;
	make_path(path);
	damage(path, 0); /* no database at all */
	check_all();
	damage(path, 5 * 4096 + 100);
	damage(path, 9 * 4096 + 100);
	ask_all();
	summary_db_remove(path);
	check_all();
}

/* Rows that SQLite has as somebody wrote them, but not we. */
static void test_harm(void **state)
{
	static const char *const harms[] = {
		"UPDATE chunk SET buckets = CAST(substr(buckets, 1, length(buckets) - 1) || x'01' "
		"AS BLOB)",
		"UPDATE stream SET carry = CAST(substr(carry, 1, length(carry) - 1) || x'01' AS "
		"BLOB)",
		"UPDATE chunk SET chunk = chunk + 100",
		"UPDATE run SET base_ns = base_ns + 1",
		"UPDATE run SET id = x'00'",
	};
	sqlite3 *db;
	char path[128];
	size_t i;

	(void)state;
	make_path(path);
	for (i = 0; i < sizeof(harms) / sizeof(*harms); i++) {
		check_all();
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, harms[i], NULL, NULL, NULL), SQLITE_OK);
		assert_true(sqlite3_changes(db) > 0);
		assert_int_equal(sqlite3_close(db), SQLITE_OK);
		ask_all();
	}
	check_all();
}

/* Rows of a run that is not in the store. */
static void test_forgotten(void **state)
{
	struct summary_run run = { .mult = 1 };
	struct summary_db *db = NULL;
	struct error e = ERROR_INIT;
	char path[128];

	(void)state;
	make_path(path);
	assert_int_equal(summary_db_open(&db, path, &e), 0);
	assert_int_equal(summary_db_put_run(db, 77, &run, &e), 0);
	summary_db_free(db);
	assert_int_equal(count_runs(), RUNS + 1);
	check_all();
	assert_int_equal(count_runs(), RUNS);
}

static int set_up(void **state)
{
	uint32_t i;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (i = 0; i < RUNS; i++)
		make_trace(i);
	fill_store();
	return 0;
}

static int tear_down(void **state)
{
	char command[128];
	uint32_t i;

	(void)state;
	for (i = 0; i < RUNS; i++)
		trace_random_done(&traces[i]);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_harm),
		cmocka_unit_test(test_forgotten),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
