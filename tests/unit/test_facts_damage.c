/* SPDX-License-Identifier: MIT */
/* facts: writers that are killed, files that are damaged, names that clash. */
#include "facts_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "facts/facts_local.h"

#define MINUTES 30U

/* All kinds of a minute, with its number as the carry. */
static int put_minute(uint32_t n)
{
	struct message_id run = fact_random_id(1001);
	uint8_t carry[1] = { (uint8_t)n };
	struct fact_set sets[FACT_KINDS];
	const struct fact_set *list[FACT_KINDS];
	struct facts_batch b = {
		.sets = list, .n_sets = FACT_KINDS, .run = &run, .carry = carry, .carry_len = 1
	};
	struct fact_key k;
	int r;
	uint8_t kind;

	for (kind = 0; kind < FACT_KINDS; kind++) {
		k = rig_key(1, kind, HOUR0 + n * 60);
		rig_make(&sets[kind], &k, 0);
		list[kind] = &sets[kind];
	}
	r = facts_put_batch(rig, &b, NULL);
	for (kind = 0; kind < FACT_KINDS; kind++)
		fact_set_done(&sets[kind]);
	return r;
}

static int die(void *context)
{
	(void)context;
	kill(getpid(), SIGKILL);
	return 0;
}

/* Writes minutes from `first` on, and is killed when the one with that number is about to be committed. */
static void write_and_die(uint32_t first, uint32_t last)
{
	pid_t pid;
	uint32_t n;
	int status;

	facts_free(rig);
	rig = NULL;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (facts_open(&rig, rig_dir, NULL) < 0)
			_exit(2);
		for (n = first; n <= last; n++) {
			if (n == last)
				sqlite3_commit_hook(((struct facts_local *)rig)->writer->sqlite,
						    die, NULL);
			if (put_minute(n) < 0)
				_exit(3);
		}
		_exit(4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	rig_open();
}

static void check_minutes(uint32_t n)
{
	struct message_id run = fact_random_id(1001);
	struct facts_query q;
	uint64_t minutes, hours;
	uint8_t kind, *carry = NULL;
	size_t len = 0;

	assert_int_equal(facts_get_carry(rig, &run, &carry, &len, NULL), 0);
	assert_int_equal(len, 1);
	assert_int_equal(carry[0], n - 1);
	free(carry);
	for (kind = 0; kind < FACT_KINDS; kind++) {
		q = rig_query(kind, HOUR0, HOUR0 + 3600);
		free(rig_scan(&q, &minutes, &hours));
		assert_int_equal(minutes, n);
	}
}

static void a_batch_is_there_or_not(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (; n < MINUTES; n += 10) {
		write_and_die(n, n + 10);
		check_minutes(n + 10);
	}
}

/* At any moment: what is there then is whole. */
static void is_killed_anywhere(void **state)
{
	struct message_id run = fact_random_id(1001);
	uint32_t i, n, next = 0;
	uint8_t *carry = NULL;
	size_t len;
	pid_t pid;

	(void)state;
	for (i = 0; i < 8; i++) {
		facts_free(rig);
		rig = NULL;
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			if (facts_open(&rig, rig_dir, NULL) < 0)
				_exit(2);
			for (n = next; n < 60; n++)
				put_minute(n);
			for (;;)
				pause();
		}
		usleep(1000 + i * 3571);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		rig_open();
		if (facts_get_carry(rig, &run, &carry, &len, NULL) == -ENOENT)
			continue;
		next = carry[0] + 1U;
		free(carry);
		check_minutes(next);
	}
}

static void write_into(const char *name, long at, const char *text, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", rig_dir, name);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void a_damaged_file_is_set_aside(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	facts_free(rig);
	rig = NULL;
	write_into("facts.sqlite", 0, "no database at all, but long enough to look", 43);
	assert_int_equal(facts_open(&rig, rig_dir, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "facts.sqlite"));
	assert_int_equal(facts_open_reader(&rig, rig_dir, &e), -EBADMSG);
	assert_int_equal(facts_set_aside(rig_dir, &e), 0);
	rig_open();
	rig_put(1, FACT_PROFILE, HOUR0, 0);
}

static void run_sql(const char *sql)
{
	char path[4096];
	sqlite3 *db = NULL;

	facts_free(rig);
	rig = NULL;
	snprintf(path, sizeof(path), "%s/facts.sqlite", rig_dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void another_version_is_left_alone(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	run_sql("PRAGMA user_version = 99");
	assert_int_equal(facts_open(&rig, rig_dir, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "version 99"));
}

static void there_is_nothing_to_ask(void **state)
{
	(void)state;
	rig_remove();
	assert_int_equal(facts_open_reader(&rig, rig_dir, NULL), -ENOENT);
}

/* Lists and trees are made of so many sets, and tell of one that they left out. */
static void assert_one_damaged(const struct facts_query *q, uint64_t sets)
{
	const struct facts_order o = { .by = FACTS_BY_FUNCTION };
	struct error e = ERROR_INIT;
	struct facts_basis basis;
	struct facts_rows rows;
	struct fact_set tree;

	assert_int_equal(facts_top(rig, q, &o, &rows, &e), 0);
	assert_int_equal(rows.basis.sets, sets);
	assert_int_equal(rows.basis.damaged, 1);
	facts_rows_done(&rows);
	assert_int_equal(facts_tree(rig, q, &tree, &basis, &e), 0);
	assert_int_equal(basis.sets, sets);
	assert_int_equal(basis.damaged, 1);
	fact_set_done(&tree);
}

/* Lists and trees of others still count; a scan says which row it is. */
static void damaged_rows_are_counted(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 3600);
	struct facts_order o = { .by = FACTS_BY_FUNCTION };
	struct error e = ERROR_INIT;
	struct facts_rows rows;
	struct rig_sum sum = { .minutes = 0 };
	struct fact_key key = { .kind = FACT_PROFILE };

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	rig_put(1, FACT_PROFILE, HOUR0 + 60, 0);
	rig_put(2, FACT_PROFILE, HOUR0, 0);
	run_sql("UPDATE fact SET flat = substr(flat, 1, 40) WHERE id = 1;"
		"UPDATE body SET tree = substr(tree, 1, length(tree) - 1) WHERE id = 1;");
	rig_open();
	assert_one_damaged(&q, 2);
	assert_int_equal(fact_set_init(&sum.set, &key), 0);
	assert_int_equal(facts_scan(rig, &q, rig_on_set, &sum, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "row 1 "));
	fact_set_done(&sum.set);
	/* Its hour is not made; that of the other device is. */
	assert_int_equal(facts_roll(rig, HOUR0 + 3600, &e), -EBADMSG);
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.basis.hours, 1);
	assert_int_equal(rows.basis.minutes, 1);
	assert_int_equal(rows.basis.damaged, 1);
	facts_rows_done(&rows);
}

/* A number that is another one is still a number. Each column that is in an answer, the list, the tree and a name. */
static void flipped_numbers_are_found(void **state)
{
	static const char *const harms[] = {
		"UPDATE fact SET covered_ns = covered_ns + 1 WHERE id = 1",
		"UPDATE fact SET events = events + 1 WHERE id = 1",
		"UPDATE fact SET lost = lost + 1 WHERE id = 1",
		"UPDATE fact SET samples = samples + 1 WHERE id = 1",
		"UPDATE fact SET ns = ns + 1 WHERE id = 1",
		"UPDATE fact SET version = version + 1 WHERE id = 1",
		"UPDATE fact SET start = start + 60 WHERE id = 1",
		"UPDATE fact SET seal = seal + 1 WHERE id = 1",
	};
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 3600);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(harms) / sizeof(*harms); i++) {
		rig_remove();
		rig_open();
		rig_put(1, FACT_PROFILE, HOUR0, 0);
		rig_put(2, FACT_PROFILE, HOUR0, 0);
		run_sql(harms[i]);
		rig_open();
		assert_one_damaged(&q, 1);
	}
}

/* A byte of the list, and one of the tree: each is found by whoever reads it. */
static void flipped_bytes_are_found(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 3600);
	struct facts_order o = { .by = FACTS_BY_FUNCTION };
	struct error e = ERROR_INIT;
	struct facts_basis basis;
	struct facts_rows rows;
	struct fact_set tree;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	rig_put(2, FACT_PROFILE, HOUR0, 0);
	run_sql("UPDATE fact SET flat = CAST(substr(flat, 1, length(flat) - 1) || x'01' AS BLOB) "
		"WHERE id = 1;"
		"UPDATE body SET tree = CAST(substr(tree, 1, length(tree) - 1) || x'01' AS BLOB) "
		"WHERE id = 2;");
	rig_open();
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.basis.damaged, 1);
	facts_rows_done(&rows);
	assert_int_equal(facts_tree(rig, &q, &tree, &basis, &e), 0);
	assert_int_equal(basis.damaged, 1);
	fact_set_done(&tree);
	run_sql("UPDATE name SET name = name || 'x'");
	rig_open();
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "damaged"));
}

/* One of before there were seals is believed; a writer gives it room for them, and what it writes then has some. */
static void a_file_without_seals_is_read(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 3600);
	struct facts_order o = { .by = FACTS_BY_FUNCTION };
	struct error e = ERROR_INIT;
	struct facts_rows rows;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	run_sql("ALTER TABLE fact DROP COLUMN seal; ALTER TABLE body DROP COLUMN seal;");
	assert_int_equal(facts_open_reader(&rig, rig_dir, &e), 0);
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.basis.sets, 1);
	facts_rows_done(&rows);
	rig_open();
	rig_put(2, FACT_PROFILE, HOUR0, 0);
	run_sql("UPDATE fact SET events = events + 1");
	rig_open();
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.basis.sets, 1);
	assert_int_equal(rows.basis.damaged, 1);
	facts_rows_done(&rows);
}

/* Two texts with one number cannot be made; the one that is kept can be another. */
static void a_clash_of_names_is_told(void **state)
{
	struct fact_key k = rig_key(1, FACT_PROFILE, HOUR0 + 60);
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 3600);
	struct error e = ERROR_INIT;
	uint64_t minutes, hours;
	struct fact_set s;

	(void)state;
	rig_put(1, FACT_PROFILE, HOUR0, 0);
	run_sql("UPDATE name SET name = 'other' WHERE name = 'function_1'");
	rig_open();
	rig_make(&s, &k, 0);
	assert_int_equal(facts_put(rig, &s, &e), -EEXIST);
	assert_non_null(strstr(e.text, "function_1 of lib1.so has the number of other"));
	fact_set_done(&s);
	run_sql("UPDATE name SET name = 'function_1' WHERE name = 'other'");
	rig_open();
	free(rig_scan(&q, &minutes, &hours));
	assert_int_equal(minutes, 1);
}

/* Threads that ask while others write see whole states: with each minute of one device there is that of the other. */
static void *write_pairs(void *context)
{
	struct fact_set a, b;
	const struct fact_set *list[] = { &a, &b };
	struct facts_batch batch = { .sets = list, .n_sets = 2 };
	struct fact_key k[2];
	uint32_t n;

	(void)context;
	for (n = 0; n < 120; n++) {
		k[0] = rig_key(1, FACT_PROFILE, HOUR0 + n * 60);
		k[1] = rig_key(2, FACT_PROFILE, HOUR0 + n * 60);
		rig_make(&a, &k[0], 0);
		rig_make(&b, &k[1], 0);
		if (facts_put_batch(rig, &batch, NULL) < 0 ||
		    (n % 7 == 0 && facts_roll(rig, HOUR0 + n * 60, NULL) < 0))
			return context;
		fact_set_done(&a);
		fact_set_done(&b);
	}
	return NULL;
}

static void answers_are_of_one_state(void **state)
{
	struct facts_query q = rig_query(FACT_PROFILE, HOUR0, HOUR0 + 7200);
	struct facts_order o = { .by = FACTS_BY_FUNCTION };
	struct error e = ERROR_INIT;
	struct facts_rows rows;
	pthread_t thread;
	uint64_t before = 0;
	void *failed;
	int i;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_pairs, &before), 0);
	for (i = 0; i < 60; i++) {
		assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
		assert_int_equal(rows.basis.covered_ns % (120 * 1000000000ULL), 0);
		assert_true(rows.basis.covered_ns >= before);
		before = rows.basis.covered_ns;
		facts_rows_done(&rows);
	}
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_int_equal(facts_top(rig, &q, &o, &rows, &e), 0);
	assert_int_equal(rows.basis.covered_ns, 2 * 120 * 60 * 1000000000ULL);
	facts_rows_done(&rows);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_batch_is_there_or_not),	    CASE(is_killed_anywhere),
		CASE(a_damaged_file_is_set_aside),  CASE(another_version_is_left_alone),
		CASE(there_is_nothing_to_ask),	    CASE(damaged_rows_are_counted),
		CASE(flipped_numbers_are_found),    CASE(flipped_bytes_are_found),
		CASE(a_file_without_seals_is_read), CASE(a_clash_of_names_is_told),
		CASE(answers_are_of_one_state),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
