/* SPDX-License-Identifier: MIT */
/*
 * The hooks, called by hand and compiled as the rest of the tests is: so sanitizers see them, which
 * they do not in the library itself. What is recorded is compared in tests/func.
 */
#include <kiseki/func.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/func/chunk.h"
#include "device/func/gate.h"
#include "device/func/hook.h"
#include "wire/func_hook_decode.h"

#define THREADS 8
#define ROUNDS 3000

static char folder[] = "/tmp/kiseki-func-XXXXXX";

static void call(uintptr_t function)
{
	__cyg_profile_func_enter((void *)function, NULL);
}

static void leave(uintptr_t function)
{
	__cyg_profile_func_exit((void *)function, NULL);
}

static void *work(void *argument)
{
	uintptr_t base = 0x10000 * (1 + (uintptr_t)argument), i;

	for (i = 0; i < ROUNDS; i++) {
		call(base);
		call(base + i % 100);
		leave(base + i % 100);
		leave(base);
	}
	return NULL;
}

/* Everything that chunks of this process hold; those of a stream lie in their order, since none is given
 * back. */
static uint64_t count_events(void)
{
	static struct func_hook_decoder decoders[THREADS + 1]; /* by stream */
	const struct gate *g = &gate_pages.gate;
	uint64_t events = 0;
	uint32_t i;

	for (i = 0; i < g->n_chunks; i++) {
		const uint8_t *head = g->chunks + (size_t)i * g->chunk_bytes;
		struct func_hook_decoder *d;
		struct byte_reader r;
		struct func_event ev;

		if (get_le32(head + FUNC_CHUNK_AT_STATE) == FUNC_CHUNK_FREE)
			continue;
		assert_true(get_le32(head + FUNC_CHUNK_AT_STREAM) <= THREADS);
		d = &decoders[get_le32(head + FUNC_CHUNK_AT_STREAM)];
		reader_init(&r, head + FUNC_CHUNK_HEAD, get_le32(head + FUNC_CHUNK_AT_USED));
		if (get_le32(head + FUNC_CHUNK_AT_FLAGS) & FUNC_CHUNK_KEY)
			assert_int_equal(
				func_hook_decode_begin(d, &r, get_le64(head + FUNC_CHUNK_AT_TICK)),
				WIRE_OK);
		for (; reader_left(&r); events++)
			assert_int_equal(func_hook_decode(d, &r, &ev), WIRE_OK);
	}
	return events;
}

static uint32_t count_chunks(void)
{
	const struct gate *g = &gate_pages.gate;
	uint32_t i, n = 0;

	for (i = 0; i < g->n_chunks; i++)
		n += get_le32(g->chunks + (size_t)i * g->chunk_bytes) != FUNC_CHUNK_FREE;
	return n;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	uint64_t before;
	uintptr_t i;

	(void)state;
	call(1);
	leave(1);
	before = count_events();
	assert_int_equal(before, 2);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count_events(), before + 4 * ROUNDS * THREADS);
	assert_int_equal(get_le32(gate_pages.gate.base + FUNC_BUFFER_AT_STREAMS), THREADS + 1);
	/* Code that no object has, as these functions, does not start segments. */
	assert_true(count_chunks() <= 1 + 8 * THREADS);
}

static void test_switch(void **state)
{
	uint64_t before = count_events();

	(void)state;
	assert_int_equal(kiseki_func_get(), 1);
	assert_int_equal(kiseki_func_set(0), 0);
	call(7);
	leave(7);
	assert_int_equal(count_events(), before);
	assert_int_equal(kiseki_func_set(1), 0);
	call(8);
	leave(8);
	leave(7);
	assert_int_equal(count_events(), before + 3);
}

static void test_fork(void **state)
{
	uint64_t before = count_events();
	char parent[GATE_PATH_MAX];
	int status = -1;
	pid_t pid;

	(void)state;
	strcpy(parent, gate_pages.gate.path);
	pid = fork();
	if (pid == 0) {
		call(9);
		leave(9);
		_exit(strcmp(parent, gate_pages.gate.path) == 0 || count_events() != 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(count_events(), before);
}

static void test_look(void **state)
{
	(void)state;
	hook_look(); /* nothing changed, or the sanitizer's own objects did */
	call(10);
	leave(10);
}

/* A chunk of 12 KiB on kernels whose pages are as large as it, larger, and much larger. */
static void test_pages(void **state)
{
	static const struct {
		uintptr_t start;
		size_t len;
		uint32_t page;
		uintptr_t from, to;
	} cases[] = {
		{ 0x10000, 0x1000, 4096, 0x10000, 0x11000 },
		{ 0x11000, 0x3000, 4096, 0x11000, 0x14000 },
		{ 0x11000, 0x3000, 16384, 0x10000, 0x14000 },
		{ 0x13000, 0x3000, 16384, 0x10000, 0x18000 },
		{ 0x1f000, 0x3000, 65536, 0x10000, 0x30000 },
		{ 0x20000, 0x10000, 65536, 0x20000, 0x30000 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct chunk_pages p = chunk_pages(cases[i].start, cases[i].len, cases[i].page);

		assert_int_equal(p.start, cases[i].from);
		assert_int_equal(p.start + p.len, cases[i].to);
	}
}

/* Who was killed while it held the lock, waited for by its parent or not, does not stop the others. */
static void test_lock_of_dead(void **state)
{
	struct gate *g = &gate_pages.gate;
	int status, reaped;
	siginfo_t info;
	pid_t pid;

	(void)state;
	for (reaped = 0; reaped < 2; reaped++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
		if (reaped)
			assert_int_equal(waitpid(pid, &status, 0), pid);
		__atomic_store_n(&g->lock, (uint32_t)pid, __ATOMIC_RELEASE);
		assert_true(gate_lock(g));
		assert_false(gate_lock(g)); /* it is ours */
		gate_unlock(g);
		if (!reaped)
			assert_int_equal(waitpid(pid, &status, 0), pid);
	}
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	setenv("KISEKI_FUNC_FOLDER", folder, 1);
	setenv("KISEKI_FUNC_SIZE", "16M", 1);
	return 0;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads), cmocka_unit_test(test_switch),
		cmocka_unit_test(test_fork),	cmocka_unit_test(test_look),
		cmocka_unit_test(test_pages),	cmocka_unit_test(test_lock_of_dead),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
