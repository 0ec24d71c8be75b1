/* SPDX-License-Identifier: MIT */
/*
 * told_objects: a device gives only files that it found mapped, and only while they are what they were; piece by piece, as
 * fast as it was told.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/profile/object_id.h"
#include "device/profile/told_objects.h"

#define RATE 16384U

static struct told_objects *told;
static struct sample_mapping mapping;
static char path[] = "/tmp/kiseki-told-XXXXXX";
static uint8_t bytes[64 << 20];
static size_t size;
static uint8_t body[MESSAGE_PIECE_ROOM];

/* A copy of this program: it has a build-id, or there is nothing to test. */
static int begin(void **state)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = mkstemp(path);
	ssize_t n = from < 0 ? -1 : read(from, bytes, sizeof(bytes));

	(void)state;
	if (n <= 0 || to < 0 || write(to, bytes, (size_t)n) != n)
		return -1;
	size = (size_t)n;
	mapping = (struct sample_mapping){ .pid = getpid(), .path = path };
	mapping.path_len = (uint32_t)strlen(path);
	mapping.build_id_len = object_id_read(to, mapping.build_id);
	close(from);
	close(to);
	told = told_objects_new(RATE);
	return told ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	told_objects_free(told);
	unlink(path);
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	return 0;
}

static void ask(uint64_t offset, uint64_t now_ms)
{
	struct message_want m = { .id = { .len = mapping.build_id_len }, .offset = offset };

	memcpy(m.id.bytes, mapping.build_id, m.id.len);
	told_objects_want(told, &m, now_ms);
}

/* The answer to what was asked, now. */
static struct message_piece answer(uint64_t now_ms)
{
	uint32_t len = told_objects_put(told, body, now_ms);
	struct message_piece m = { 0 };

	assert_true(len > 0);
	assert_int_equal(piece_decode(&m, body, len), WIRE_OK);
	assert_int_equal(m.id.len, mapping.build_id_len);
	return m;
}

static void expect_none(uint64_t offset)
{
	ask(offset, 1000);
	assert_int_equal(answer(1000).size, 0);
}

static void test_pieces(void **state)
{
	struct message_piece m;
	uint64_t at, now = 1000;

	(void)state;
	if (!mapping.build_id_len)
		skip();
	told_objects_push(told, &mapping);
	assert_int_equal(told_objects_put(told, body, now), 0); /* nobody asked */
	assert_int_equal(told_objects_next(told), UINT64_MAX);
	for (at = 0; at < size; at += m.len) {
		ask(at, now);
		if (told_objects_next(told) > now)
			now = told_objects_next(told);
		m = answer(now);
		assert_int_equal(m.size, size);
		assert_int_equal(m.offset, at);
		assert_memory_equal(m.bytes, bytes + at, m.len);
		assert_int_equal(told_objects_put(told, body, now), 0); /* once */
	}
	/* A second's worth may go at once; the rest took its time. */
	assert_true((now - 1000) * RATE / 1000 + RATE + MESSAGE_PIECE_MAX >= size);
	assert_true(size < RATE || now > 1000);
	ask(size, now);
	assert_int_equal(answer(now + 60000).size, 0);
	ask(UINT64_MAX, now);
	assert_int_equal(answer(now + 60000).size, 0);
}

static void test_rate(void **state)
{
	uint64_t sent = 0, now = 1000;

	(void)state;
	if (!mapping.build_id_len || size < 4 * RATE)
		skip();
	told_objects_push(told, &mapping);
	ask(0, now);
	while (told_objects_put(told, body, now)) {
		sent += MESSAGE_PIECE_MAX;
		ask(sent, now);
	}
	assert_in_range(sent, RATE, RATE + 2 * MESSAGE_PIECE_MAX);
	assert_true(told_objects_next(told) > now);
	assert_int_equal(told_objects_put(told, body, told_objects_next(told) - 1), 0);
	assert_int_equal(answer(told_objects_next(told)).offset, sent);
}

/* Whatever a collector knows of: only what was found mapped. */
static void test_untold(void **state)
{
	(void)state;
	if (!mapping.build_id_len)
		skip();
	expect_none(0);
	mapping.path = "app"; /* no path */
	mapping.path_len = 3;
	told_objects_push(told, &mapping);
	expect_none(0);
	mapping.path = "/proc/self/environ"; /* a file that is not the object */
	mapping.path_len = 18;
	told_objects_push(told, &mapping);
	expect_none(0);
}

/* The file was replaced since, by one that is longer, or by none. */
static void test_replaced(void **state)
{
	int fd;

	(void)state;
	if (!mapping.build_id_len)
		skip();
	told_objects_push(told, &mapping);
	assert_int_equal(unlink(path), 0);
	expect_none(0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(write(fd, "secret", 6) == 6);
	close(fd);
	expect_none(0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	expect_none(0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_none(0);
}

static void test_ceilings(void **state)
{
	char name[32];
	uint32_t i;

	(void)state;
	mapping.build_id_len = 4;
	mapping.path = name;
	for (i = 0; i < 3 * TOLD_OBJECTS_MAX; i++) {
		mapping.path_len = (uint32_t)snprintf(name, sizeof(name), "/x/%u", i);
		memcpy(mapping.build_id, &i, 4);
		told_objects_push(told, &mapping);
	}
	expect_none(0);
	assert_true(told_objects_is_busy(told, 1001));
	assert_false(told_objects_is_busy(told, 1000 + TOLD_OBJECTS_QUIET_MS));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pieces),   TEST(test_rate),	  TEST(test_untold),
		TEST(test_replaced), TEST(test_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
