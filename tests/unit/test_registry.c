/* SPDX-License-Identifier: MIT */
/*
 * registry: names, ids, arrivals and departures; instructions between two threads; and that what a
 * device was told outlives the collector.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/desired.h"
#include "collector/registry.h"

static char dir[64];
static struct registry *registry;
static struct error e;

static void open_registry(void)
{
	if (registry_open(&registry, dir, NULL, &e) < 0)
		fail_msg("%s", e.text);
}

static int begin(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/kiseki-registry-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	open_registry();
	return 0;
}

static int finish(void **state)
{
	static const char *const names[] = { "desired", "fleet.db", "fleet.db-wal",
					     "fleet.db-shm" };
	char path[128];
	size_t i;

	(void)state;
	registry_free(registry);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static struct message_id id(uint32_t n)
{
	struct message_id m = { { 0 } };

	snprintf((char *)m.bytes, sizeof(m.bytes), "%u", n);
	m.bytes[15] = (uint8_t)n;
	return m;
}

static bool leave(uint32_t slot, uint64_t session, uint64_t now_ns)
{
	const struct registry_parting now = { session, now_ns };
	struct store_device device;
	bool is_gone = registry_leave(registry, slot, &now, &device);

	if (is_gone)
		assert_int_equal(device.seen_ns, now_ns);
	return is_gone;
}

static uint32_t arrive(uint32_t n, const char *name, uint64_t session)
{
	struct message_hello hello = { .device = id(n),
				       .name = { name, (uint32_t)strlen(name) },
				       .state = DEVICE_TRACING };
	struct registry_arrival a = { &hello, "127.0.0.1:5", session, 1000 };
	struct store_device device;
	uint32_t slot;

	assert_int_equal(registry_arrive(registry, &a, &slot, &device, &e), 0);
	return slot;
}

static struct registry_row find(const char *name)
{
	struct registry_row row;

	if (registry_find(registry, name, &row, &e) < 0)
		fail_msg("%s", e.text);
	return row;
}

static void test_names(void **state)
{
	struct registry_row row, *rows;
	size_t n;

	(void)state;
	arrive(1, "board", 1);
	arrive(2, "board", 2);
	arrive(3, "board", 3);
	arrive(4, "a/b\nc\xff", 4);
	arrive(5, "", 5);
	assert_int_equal(find("board").session, 1);
	assert_int_equal(find("board-2").session, 2);
	assert_int_equal(find("board-3").session, 3);
	assert_int_equal(find("a_b_c_").session, 4);
	arrive(2, "board", 6); /* the same device keeps its name */
	assert_int_equal(find("board-2").session, 6);
	arrive(1, "other", 7);
	arrive(3, "board", 8); /* … also when the plain one is free */
	assert_int_equal(find("board-3").session, 8);
	assert_int_equal(registry_find(registry, "nobody", &row, &e), -ENOENT);
	assert_int_equal(registry_find(registry, "", &row, &e), -ENOENT);
	assert_int_equal(registry_list(registry, &rows, &n, &e), 0);
	assert_int_equal(n, 5);
	assert_string_equal(rows[0].device.name, "a_b_c_");
	assert_string_equal(rows[3].device.name, "device-35000000");
	assert_string_equal(rows[4].device.name, "other");
	free(rows);
}

static void test_ids(void **state)
{
	struct registry_row row;

	(void)state;
	arrive(1, "one", 1);
	arrive(11, "eleven", 2);
	assert_int_equal(find("313100").session, 2); /* "11" in hex */
	assert_int_equal(find("310000000000").session, 1);
	assert_int_equal(registry_find(registry, "31310", &row, &e), -ENOENT); /* too short */
	assert_int_equal(registry_find(registry, "31310g", &row, &e), -ENOENT);
	arrive(111, "more", 3);
	arrive(112, "most", 4);
	assert_int_equal(registry_find(registry, "313131", &row, &e), 0);
	arrive(1111, "still more", 5);
	assert_int_equal(registry_find(registry, "313131", &row, &e), -ENOTUNIQ);
}

static void test_online(void **state)
{
	uint32_t slot = arrive(1, "one", 1);
	struct registry_traffic t = { .frames = 3, .events = 50, .waiting_bytes = 7, .run = 4 };

	(void)state;
	registry_tick(registry, 1000000000);
	registry_push_traffic(registry, slot, &t);
	registry_tick(registry, 2000000000);
	registry_push_traffic(registry, slot, &t);
	assert_int_equal(find("one").events, 100);
	assert_int_equal(find("one").run, 4);
	assert_true(find("one").events_per_s > 30 && find("one").events_per_s <= 50);
	assert_int_equal(arrive(1, "one", 2), slot); /* takes over */
	assert_false(leave(slot, 1, 2000));
	assert_true(find("one").online);
	assert_true(leave(slot, 2, 2000));
	assert_false(find("one").online);
	assert_int_equal(find("one").device.seen_ns, 2000);
	assert_int_equal(find("one").events_per_s, 0);
}

static int instruct(uint32_t n, uint8_t verb, uint32_t flush_ms, struct registry_result *ret)
{
	struct registry_request q = { .device = id(n), .timeout_ms = 2000 };

	memset(ret, 0, sizeof(*ret));
	q.instruction.verb = verb;
	if (flush_ms) {
		q.instruction.config.given = 1U << CONFIG_FLUSH;
		q.instruction.config.flush_ms = flush_ms;
	}
	return registry_instruct(registry, &q, ret, &e);
}

/* Of the scheduler's trace, where nothing was said of programs. */
static bool get_desired(uint32_t slot, struct message_instruction *ret)
{
	struct message_instruction all[REGISTRY_DESIRED_MAX];
	uint32_t n = registry_get_desired(registry, slot, all);

	*ret = all[0];
	return n == 1;
}

static int instruct_func(uint8_t mode, struct registry_result *ret)
{
	struct registry_request q = { .device = id(1), .timeout_ms = 1000 };

	q.instruction.verb = INSTRUCTION_CONFIGURE;
	q.instruction.config.given = 1U << CONFIG_FUNC;
	q.instruction.config.func = mode;
	return registry_instruct(registry, &q, ret, &e);
}

/* Whether programs are traced is told apart from the rest, also to one that is to stop. */
static void test_deferred_func(void **state)
{
	struct message_instruction all[REGISTRY_DESIRED_MAX];
	struct registry_result result;
	uint32_t slot = arrive(1, "one", 1);

	(void)state;
	leave(slot, 1, 1);
	assert_int_equal(instruct_func(FUNC_MODE_SPLIT, &result), 0);
	assert_true(result.deferred);
	registry_free(registry); /* the collector starts again */
	open_registry();
	slot = arrive(1, "one", 1);
	assert_int_equal(registry_get_desired(registry, slot, all), 1);
	assert_int_equal(all[0].verb, INSTRUCTION_CONFIGURE);
	assert_int_equal(all[0].config.given, 1U << CONFIG_FUNC);
	assert_int_equal(all[0].config.func, FUNC_MODE_SPLIT);
	leave(slot, 1, 1);
	assert_int_equal(instruct(1, INSTRUCTION_STOP, 0, &result), 0);
	assert_int_equal(instruct_func(FUNC_MODE_OFF, &result), 0);
	arrive(1, "one", 2); /* it says that it traces */
	assert_int_equal(registry_get_desired(registry, slot, all), 2);
	assert_int_equal(all[0].verb, INSTRUCTION_STOP);
	assert_int_equal(all[1].verb, INSTRUCTION_CONFIGURE);
	assert_int_equal(all[1].config.given, 1U << CONFIG_FUNC);
	assert_int_equal(all[1].config.func, FUNC_MODE_OFF);
	assert_true(all[1].id > all[0].id && all[0].id);
	leave(slot, 2, 1);
	assert_int_equal(instruct(1, INSTRUCTION_START, 250, &result), 0);
	arrive(1, "one", 3);
	assert_int_equal(registry_get_desired(registry, slot, all), 2);
	assert_int_equal(all[0].verb, INSTRUCTION_START);
	assert_int_equal(all[0].config.given, 1U << CONFIG_FLUSH);
}

static void test_deferred(void **state)
{
	struct message_instruction m;
	struct registry_result result;
	uint32_t slot = arrive(1, "one", 1);

	(void)state;
	assert_false(get_desired(slot, &m));
	leave(slot, 1, 1);
	assert_int_equal(instruct(1, INSTRUCTION_START, 250, &result), 0);
	assert_true(result.deferred);
	assert_int_equal(instruct(9, INSTRUCTION_START, 0, &result), -ENOENT);
	registry_free(registry); /* the collector starts again */
	open_registry();
	slot = arrive(1, "one", 1);
	assert_true(find("one").has_desired);
	assert_int_equal(find("one").desired, DEVICE_TRACING);
	assert_true(get_desired(slot, &m));
	assert_int_equal(m.verb, INSTRUCTION_START);
	assert_int_equal(m.config.flush_ms, 250);
	assert_true(m.id > 0);
	leave(slot, 1, 1);
	assert_int_equal(instruct(1, INSTRUCTION_STOP, 0, &result), 0);
	arrive(1, "one", 2); /* it says that it traces */
	assert_true(get_desired(slot, &m));
	assert_int_equal(m.verb, INSTRUCTION_STOP);
}

/* The ingest's thread in the place of a device. */
static uint32_t answer_code;
static uint32_t answer_mode; /* 0: answer, 1: leave, 2: stay silent */

static void *ingest(void *context)
{
	int *pipe_end = context;
	struct message_instruction m;
	struct message_result result = { .text = { "because", 7 } };
	uint32_t slot;
	char byte;

	while (read(*pipe_end, &byte, 1) == 1) {
		while (registry_pop_instruction(registry, &slot, &m)) {
			result.id = m.id;
			result.code = answer_code;
			if (answer_mode == 0)
				registry_push_result(registry, slot, &result);
			else if (answer_mode == 1)
				leave(slot, 1, 1);
		}
	}
	return NULL;
}

static void wake(void *context)
{
	int *pipe_end = context;

	if (write(*pipe_end, "x", 1) != 1)
		abort();
}

static void test_instruct(void **state)
{
	struct registry_request q = { .device = id(1), .timeout_ms = 30 };
	struct registry_result result;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	arrive(1, "one", 1);
	registry_set_wake(registry, wake, &ends[1]);
	assert_int_equal(pthread_create(&thread, NULL, ingest, &ends[0]), 0);
	answer_code = 22;
	assert_int_equal(instruct(1, INSTRUCTION_START, 5, &result), 0);
	assert_int_equal(result.code, 22);
	assert_string_equal(result.text, "because");
	assert_false(find("one").has_desired); /* what it refused is not asked again */
	answer_code = 0;
	assert_int_equal(instruct(1, INSTRUCTION_START, 5, &result), 0);
	assert_int_equal(result.code, 0);
	assert_true(find("one").has_desired);
	answer_mode = 2;
	q.instruction.verb = INSTRUCTION_STOP;
	assert_int_equal(registry_instruct(registry, &q, &result, &e), -ETIMEDOUT);
	answer_mode = 1;
	assert_int_equal(instruct(1, INSTRUCTION_STOP, 0, &result), 0);
	assert_true(result.deferred);
	assert_false(find("one").online);
	registry_set_wake(registry, NULL, NULL);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
}

/* The device comes back on another connection before it has answered on the old one. */
static void *take_over(void *context)
{
	struct message_instruction m;
	struct message_result result = { 0 };
	static char late[] = "what is desired is not known in time";
	static char lost[] = "the instruction is not sent again";
	uint32_t *slot = context, first;

	while (!registry_pop_instruction(registry, &first, &m))
		usleep(1000);
	*slot = arrive(1, "one", 2);
	if (!get_desired(*slot, &m) || m.verb != INSTRUCTION_STOP)
		return late;
	if (!registry_pop_instruction(registry, slot, &m))
		return lost;
	result.id = m.id;
	registry_push_result(registry, *slot, &result);
	return NULL;
}

static void test_taken_over(void **state)
{
	struct registry_result result;
	uint32_t slot = arrive(1, "one", 1);
	pthread_t thread;
	void *wrong;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, take_over, &slot), 0);
	assert_int_equal(instruct(1, INSTRUCTION_STOP, 0, &result), 0);
	assert_int_equal(pthread_join(thread, &wrong), 0);
	if (wrong)
		fail_msg("%s", (const char *)wrong);
	assert_false(result.deferred);
}

/* A recorder beside the agent is told something and goes. Before it do one of another kind, another device's, and the agent: none
 * of them is waited for. */
static atomic_bool is_gone;

static void *go_away(void *context)
{
	struct message_instruction m;
	uint32_t *slot = context;

	while (!registry_pop_instruction(registry, slot, &m))
		usleep(1000);
	registry_push_absent(registry, *slot, PACE_OF_VM);
	registry_push_absent(registry, *slot + 1, PACE_OF_PROFILE);
	leave(*slot, 1, 1);
	usleep(20000);
	is_gone = true;
	registry_push_absent(registry, *slot, PACE_OF_PROFILE);
	return NULL;
}

static void test_recorder_gone(void **state)
{
	struct registry_request q = { .device = id(1), .timeout_ms = 60000 };
	struct registry_result result;
	uint32_t slot = arrive(1, "one", 1);
	pthread_t thread;

	(void)state;
	q.instruction.verb = INSTRUCTION_CONFIGURE;
	q.instruction.config.given = 1U << CONFIG_PACE_FIELD(PACE_OF_PROFILE, PACE_RATE);
	q.instruction.config.paces[PACE_OF_PROFILE].rate_hz = 99;
	assert_int_equal(pthread_create(&thread, NULL, go_away, &slot), 0);
	assert_int_equal(registry_instruct(registry, &q, &result, &e), 0);
	assert_true(is_gone);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result.code, 0);
	assert_string_equal(result.text, "nobody records there now; it is told when somebody does");
}

static void test_many(void **state)
{
	struct registry_row row;
	uint32_t i;
	char name[32];

	(void)state;
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		arrive(i + 1, name, i);
	}
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		assert_int_equal(registry_find(registry, name, &row, &e), 0);
		assert_int_equal(row.session, i);
		assert_int_equal(arrive(i + 1, name, i), i);
	}
}

#define SAME_NAMES 20000U

/* Boards that come from one image call themselves the same. With a search through all for each number, as many as these would
 * take the collector hours. */
static void test_same_name(void **state)
{
	struct registry_row row;
	char name[32];
	uint32_t i;

	(void)state;
	for (i = 0; i < SAME_NAMES; i++)
		arrive(i + 1, "board", i);
	assert_int_equal(find("board").session, 0);
	for (i = 1; i < SAME_NAMES; i++) {
		snprintf(name, sizeof(name), "board-%u", i + 1);
		assert_int_equal(find(name).session, i);
	}
	arrive(SAME_NAMES, "board", SAME_NAMES); /* keeps its own */
	snprintf(name, sizeof(name), "board-%u", SAME_NAMES);
	assert_int_equal(find(name).session, SAME_NAMES);
	arrive(1, "other", 1);
	assert_int_equal(registry_find(registry, "board", &row, &e), -ENOENT);
	arrive(SAME_NAMES + 1, "board", 2);
	assert_int_equal(find("board").session, 2);
	arrive(SAME_NAMES + 2, "board", 3);
	snprintf(name, sizeof(name), "board-%u", SAME_NAMES + 1);
	assert_int_equal(find(name).session, 3);
}

/* --- the file --- */

static int count(void *context, const struct desired *d)
{
	assert_int_equal(d->config.flush_ms, 7);
	return ++*(int *)context >= 0 ? 0 : -1;
}

static void test_damaged_file(void **state)
{
	struct desired rows[2] = { { .device = id(1), .verb = 1 }, { .device = id(2) } };
	struct registry *other = NULL;
	uint8_t bytes[512];
	char path[128];
	ssize_t len, i;
	int fd, n = 0;

	(void)state;
	rows[0].config.given = rows[1].config.given = 1U << CONFIG_FLUSH;
	rows[0].config.flush_ms = rows[1].config.flush_ms = 7;
	assert_int_equal(desired_write(dir, rows, 2, &e), 0);
	assert_int_equal(desired_read(dir, count, &n, &e), 0);
	assert_int_equal(n, 2);
	snprintf(path, sizeof(path), "%s/desired", dir);
	fd = open(path, O_RDWR);
	len = read(fd, bytes, sizeof(bytes));
	for (i = 0; i < len; i++) {
		assert_int_equal(desired_decode(bytes, (size_t)i, count, &n), -EBADMSG);
		bytes[i] ^= 0x10;
		assert_int_equal(desired_decode(bytes, (size_t)len, count, &n), -EBADMSG);
		bytes[i] ^= 0x10;
	}
	assert_int_equal(pwrite(fd, "x", 1, 20), 1);
	close(fd);
	assert_int_equal(registry_open(&other, dir, NULL, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "damaged"));
	assert_null(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),      TEST(test_ids),		 TEST(test_online),
		TEST(test_deferred),   TEST(test_deferred_func), TEST(test_instruct),
		TEST(test_taken_over), TEST(test_recorder_gone), TEST(test_many),
		TEST(test_same_name),  TEST(test_damaged_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
