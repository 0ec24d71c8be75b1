/* SPDX-License-Identifier: MIT */
/* fleet: groups and instructions outlive the collector, the oldest go; told: which answers settle what. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "collector/fleet.h"
#include "collector/told.h"
#include "store/database.h"
#include "tools/damage_row.h"

static char dir[64];
static struct fleet *fleet;
static struct error e;

static void open_fleet(void)
{
	if (fleet_open(&fleet, dir, &e) < 0)
		fail_msg("%s", e.text);
}

static int begin(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/kiseki-fleet-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	open_fleet();
	return 0;
}

static int finish(void **state)
{
	static const char *const names[] = { "fleet.db", "fleet.db-wal", "fleet.db-shm" };
	char path[128];
	size_t i;

	(void)state;
	fleet_free(fleet);
	fleet = NULL;
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static struct message_id id(uint8_t n)
{
	struct message_id m = { { 0 } };

	m.bytes[3] = n;
	return m;
}

static uint64_t push(uint8_t device, enum instruction_verb verb)
{
	struct fleet_row row = { .device = id(device),
				 .at_ns = 1000,
				 .verb = (uint8_t)verb,
				 .from = "192.0.2.7",
				 .client = "curl/8",
				 .config = { .given = 1U << CONFIG_RING, .ring_kib = 256 } };
	uint64_t number = 0;

	if (fleet_push(fleet, &row, &number, &e) < 0)
		fail_msg("%s", e.text);
	return number;
}

static void settle(uint64_t number, enum fleet_outcome outcome, const char *text)
{
	struct fleet_result r = { .outcome = outcome, .code = outcome == FLEET_FAILED ? EBUSY : 0 };

	snprintf(r.text, sizeof(r.text), "%s", text);
	assert_int_equal(fleet_settle(fleet, number, &r, &e), 0);
}

struct rows {
	struct fleet_row row[8];
	size_t n, most;
};

static int take(void *context, const struct fleet_row *row)
{
	struct rows *r = context;

	if (r->n < 8)
		r->row[r->n] = *row;
	return ++r->n == r->most;
}

static struct rows *list(const struct message_id *device, uint64_t before, size_t most)
{
	const struct fleet_query q = { .device = device, .before = before };
	static struct rows rows;

	memset(&rows, 0, sizeof(rows));
	rows.most = most;
	if (fleet_list(fleet, &q, take, &rows, &e) < 0)
		fail_msg("%s", e.text);
	return &rows;
}

static void keeps_instructions(void **state)
{
	uint64_t a = push(1, INSTRUCTION_START), b = push(2, INSTRUCTION_STOP), c;
	struct message_id one = id(1);
	struct rows *r;

	(void)state;
	c = push(1, INSTRUCTION_CONFIGURE);
	assert_true(a < b && b < c);
	settle(a, FLEET_DONE, "yes");
	settle(b, FLEET_FAILED, "no \xff\x01");
	settle(a, FLEET_FAILED, "twice"); /* once is enough */
	fleet_free(fleet);
	open_fleet();
	r = list(NULL, 0, 0);
	assert_int_equal(r->n, 3);
	assert_int_equal(r->row[0].number, c);
	/* Nobody waits for that answer any more. */
	assert_int_equal(r->row[0].result.outcome, FLEET_TIMED_OUT);
	assert_int_equal(r->row[1].result.outcome, FLEET_FAILED);
	assert_int_equal(r->row[1].result.code, EBUSY);
	assert_string_equal(r->row[1].result.text, "no \xff\x01");
	assert_string_equal(r->row[2].result.text, "yes");
	assert_true(r->row[2].settled_ns > 1000);
	assert_int_equal(r->row[2].at_ns, 1000);
	assert_int_equal(r->row[2].verb, INSTRUCTION_START);
	assert_string_equal(r->row[2].from, "192.0.2.7");
	assert_string_equal(r->row[2].client, "curl/8");
	assert_int_equal(r->row[2].config.ring_kib, 256);
	assert_memory_equal(&r->row[2].device, &one, sizeof(one));
	assert_int_equal(list(&one, 0, 0)->n, 2);
	assert_int_equal(list(&one, c, 0)->n, 1);
	assert_int_equal(list(NULL, b, 0)->row[0].number, a);
	assert_int_equal(list(NULL, 0, 2)->n, 2);
	assert_int_equal(list(NULL, a, 0)->n, 0);
}

static void settles_what_waits(void **state)
{
	const struct fleet_result done = { .outcome = FLEET_DONE, .text = "back" };
	uint64_t a = push(1, INSTRUCTION_START), b = push(1, INSTRUCTION_STOP);
	struct message_id one = id(1);
	struct rows *r;

	(void)state;
	settle(a, FLEET_DEFERRED, "away");
	settle(b, FLEET_TIMED_OUT, "slow");
	settle(push(1, INSTRUCTION_START), FLEET_FAILED, "no");
	settle(push(2, INSTRUCTION_START), FLEET_DEFERRED, "away");
	push(1, INSTRUCTION_START); /* its answer comes to whoever waits for it */
	assert_int_equal(fleet_settle_device(fleet, &one, &done, &e), 0);
	r = list(NULL, 0, 0);
	assert_int_equal(r->n, 5);
	assert_int_equal(r->row[0].result.outcome, FLEET_SENT);
	assert_int_equal(r->row[1].result.outcome, FLEET_DEFERRED);
	assert_int_equal(r->row[2].result.outcome, FLEET_FAILED);
	assert_int_equal(r->row[3].result.outcome, FLEET_DONE);
	assert_int_equal(r->row[4].result.outcome, FLEET_DONE);
	assert_string_equal(r->row[4].result.text, "back");
}

/* Of a start and a stop that wait only the last is told; what the device did all the same counts. */
static void the_last_word_counts(void **state)
{
	const struct fleet_result done = { .outcome = FLEET_DONE, .text = "late" };
	uint64_t changes = fleet_get_changes(fleet), start = push(1, INSTRUCTION_START);
	uint64_t configure = push(1, INSTRUCTION_CONFIGURE), stop = push(1, INSTRUCTION_STOP);
	struct message_id one = id(1);
	struct rows *r;

	(void)state;
	settle(push(2, INSTRUCTION_START), FLEET_DEFERRED, "another device");
	settle(start, FLEET_TIMED_OUT, "slow");
	settle(configure, FLEET_DEFERRED, "away");
	settle(stop, FLEET_DEFERRED, "away");
	assert_int_equal(fleet_get_changes(fleet), changes + 8);
	assert_int_equal(fleet_replace(fleet, &one, stop, &e), 0);
	assert_int_equal(fleet_replace(fleet, &one, stop, &e), 0); /* nothing is left to replace */
	assert_int_equal(fleet_get_changes(fleet), changes + 9);
	r = list(NULL, 0, 0);
	assert_int_equal(r->row[0].result.outcome, FLEET_DEFERRED);
	assert_int_equal(r->row[1].result.outcome, FLEET_DEFERRED);
	assert_int_equal(r->row[2].result.outcome, FLEET_DEFERRED);
	assert_int_equal(r->row[3].result.outcome, FLEET_REPLACED);
	assert_string_equal(r->row[3].result.text, "by instruction 3");
	assert_int_equal(fleet_settle_late(fleet, start, &done, &e), 0);
	assert_int_equal(list(NULL, 0, 0)->row[3].result.outcome, FLEET_DONE);
	assert_int_equal(fleet_settle_late(fleet, start, &done, &e), 0);
	assert_int_equal(fleet_get_changes(fleet), changes + 10);
}

static int see_device(void *context, const struct fleet_device *d)
{
	char *text = context;

	sprintf(text + strlen(text), "%u=%s%s ", d->id.bytes[3], d->group, d->waits ? "*" : "");
	return 0;
}

static void keeps_groups(void **state)
{
	struct message_id one = id(1), two = id(2);
	char text[256] = "";

	(void)state;
	assert_int_equal(fleet_set_group(fleet, &one, "rack", &e), 0);
	assert_int_equal(fleet_set_group(fleet, &two, "a'b\"<c>", &e), 0);
	settle(push(7, INSTRUCTION_STOP), FLEET_DEFERRED, "");
	settle(push(7, INSTRUCTION_STOP), FLEET_DEFERRED, "");
	fleet_free(fleet);
	open_fleet();
	assert_int_equal(fleet_devices(fleet, see_device, text, &e), 0);
	assert_string_equal(text, "1=rack 2=a'b\"<c> 7=* ");
	assert_int_equal(fleet_set_group(fleet, &one, "", &e), 0);
	assert_int_equal(fleet_set_group(fleet, &two, "rack", &e), 0);
	text[0] = 0;
	assert_int_equal(fleet_devices(fleet, see_device, text, &e), 0);
	assert_string_equal(text, "2=rack 7=* ");
}

static void says_what_is_wrong_with_its_file(void **state)
{
	char path[128];
	FILE *f;

	(void)state;
	fleet_free(fleet);
	fleet = NULL;
	snprintf(path, sizeof(path), "%s/fleet.db", dir);
	f = fopen(path, "wb");
	assert_non_null(f);
	fputs("this is no database, and it is longer than the head of one would be: "
	      "one hundred bytes",
	      f);
	fclose(f);
	assert_int_equal(fleet_open(&fleet, dir, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "fleet.db"));
	assert_null(fleet);
}

/* That there was an instruction is still known; of a group nothing. */
static void marks_what_is_damaged(void **state)
{
	struct message_id one = id(1), two = id(2);
	char path[128], text[256] = "";
	struct rows *r;

	(void)state;
	settle(push(1, INSTRUCTION_START), FLEET_DONE, "yes");
	settle(push(1, INSTRUCTION_STOP), FLEET_DONE, "yes");
	assert_int_equal(fleet_set_group(fleet, &one, "rack", &e), 0);
	assert_int_equal(fleet_set_group(fleet, &two, "rack", &e), 0);
	fleet_free(fleet);
	snprintf(path, sizeof(path), "%s/fleet.db", dir);
	damage_row(path, "instruction", "client = 'curm/8' WHERE number = 1");
	damage_row(path, "device", "name = 'rabk' WHERE substr(id, 4, 1) = x'02'");
	open_fleet();
	r = list(NULL, 0, 0);
	assert_int_equal(r->n, 2);
	assert_string_equal(r->row[0].result.text, "yes");
	assert_int_equal(r->row[1].result.outcome, FLEET_FAILED);
	assert_non_null(strstr(r->row[1].result.text, "damaged"));
	assert_int_equal(fleet_devices(fleet, see_device, text, &e), 0);
	assert_string_equal(text, "1=rack ");
	/* It was said once. */
	fleet_free(fleet);
	assert_int_equal(database_check(path, &e), 0);
	open_fleet();
}

/* As if so many had been given already. The file is of one at a time. */
static void make_old(uint64_t number)
{
	char path[128], text[160];
	sqlite3 *db = NULL;

	fleet_free(fleet);
	fleet = NULL;
	snprintf(path, sizeof(path), "%s/fleet.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(text, sizeof(text), "UPDATE sqlite_sequence SET seq = %" PRIu64, number);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(fleet_open(&fleet, dir, &e), 0);
}

static void the_oldest_go(void **state)
{
	uint64_t first = push(1, INSTRUCTION_START), last;
	int i;

	(void)state;
	make_old(FLEET_ROWS_MAX - 1);
	push(1, INSTRUCTION_STOP);
	assert_int_equal(list(NULL, 0, 0)->n, 2);
	/* They go some hundred at once, and then all that are too many. */
	for (i = 0; i < 600; i++)
		last = push(2, INSTRUCTION_STOP);
	assert_true(last > FLEET_ROWS_MAX + 500);
	assert_int_equal(list(NULL, first + 1, 0)->n, 0);
	assert_int_equal(list(NULL, last + 1, 1)->row[0].number, last);
	assert_int_equal(list(NULL, 0, 0)->n, 601);
}

/* --- told --- */

static struct message_result answer(uint64_t number, uint32_t code, const char *text)
{
	return (struct message_result){ number, code, { text, (uint32_t)strlen(text) } };
}

static void answers_settle(void **state)
{
	const struct message_instruction two[] = { { .id = 7 }, { .id = 8 } };
	struct message_result good = answer(7, 0, "fine"), bad = answer(8, 5, "broken");
	struct told t = { .arrivals = 0 };

	(void)state;
	assert_false(told_start(&t, two, 2));
	assert_false(told_push(&t, &good));
	assert_false(told_push(&t, &good)); /* again */
	assert_true(told_push(&t, &bad));
	assert_int_equal(t.result.outcome, FLEET_FAILED);
	assert_int_equal(t.result.code, 5);
	assert_string_equal(t.result.text, "broken");
	assert_false(told_push(&t, &bad));
	assert_true(told_start(&t, two, 0)); /* nothing is to be told */
	assert_int_equal(t.result.outcome, FLEET_DONE);
}

static void whoever_is_first_settles(void **state)
{
	const struct message_instruction one[] = { { .id = 7 } };
	struct message_result good = answer(7, 0, "");
	struct told t = { .arrivals = 0 };

	(void)state;
	/* Decided while nobody was there; then the device came and answered; then it is written down. */
	assert_false(told_start(&t, one, 1));
	assert_true(told_push(&t, &good));
	assert_true(told_wait(&t, 0));
	/* Decided after that. */
	assert_false(told_wait(&t, t.arrivals));
	assert_true(t.waits);
}

/* Each late answer is of its own instruction, in whatever order they come; the oldest beyond the ceiling is forgotten. */
static void late_answers_settle_their_own(void **state)
{
	struct message_result good = answer(9, 0, "at last"), bad = answer(8, 5, "broken");
	struct message_result other = answer(100, 0, ""), oldest = answer(1, 0, "");
	struct fleet_result result;
	struct told t = { .arrivals = 0 };
	uint64_t i;

	(void)state;
	told_put_late(&t, 8, 80);
	told_put_late(&t, 9, 90);
	assert_int_equal(told_take_late(&t, &good, &result), 90);
	assert_int_equal(result.outcome, FLEET_DONE);
	assert_string_equal(result.text, "at last");
	assert_int_equal(told_take_late(&t, &good, &result), 0); /* again */
	assert_int_equal(told_take_late(&t, &other, &result), 0);
	assert_int_equal(told_take_late(&t, &bad, &result), 80);
	assert_int_equal(result.outcome, FLEET_FAILED);
	assert_int_equal(result.code, 5);
	for (i = 1; i <= TOLD_LATE_MAX + 1; i++)
		told_put_late(&t, i, 10 * i);
	assert_int_equal(told_take_late(&t, &oldest, &result), 0);
	assert_int_equal(told_take_late(&t, &good, &result), 90);
	told_start(&t, NULL,
		   0); /* on a new connection nobody answers what was said on the old one */
	assert_int_equal(told_take_late(&t, &bad, &result), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_instructions, begin, finish),
		cmocka_unit_test_setup_teardown(settles_what_waits, begin, finish),
		cmocka_unit_test_setup_teardown(keeps_groups, begin, finish),
		cmocka_unit_test_setup_teardown(the_oldest_go, begin, finish),
		cmocka_unit_test_setup_teardown(marks_what_is_damaged, begin, finish),
		cmocka_unit_test_setup_teardown(says_what_is_wrong_with_its_file, begin, finish),
		cmocka_unit_test(answers_settle),
		cmocka_unit_test(whoever_is_first_settles),
		cmocka_unit_test(late_answers_settle_their_own),
		cmocka_unit_test_setup_teardown(the_last_word_counts, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
