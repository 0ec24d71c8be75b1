/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's records of threads whose system calls and sleeps are known, through the
 * instance into blocks: every one is there, in order, also of a thread that nobody named; and
 * where the rings were too small, the number that the kernel counted is told. Needs root and
 * tracefs, and is skipped (77) where there is none; also where the program is emulated, because
 * the kernel below it has other numbers for system calls.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "device/agent/tracefs.h"
#include "device/feed/func_os.h"
#include "device/feed/os_instance.h"
#include "device/func/clock.h"
#include "tools/fake_func_run.h"
#include "tools/switch_witness.h"

#define CALLS 1000U
#define INNER_CALLS 500U
#define MANY_CALLS 200000U
#define LATE_CALLS 12000U
#define LATE_KIB 8192U
#define SLEEP_NS 20000000U
#define ROUNDS 500

static struct func_run *run;
static struct func_os *os;
static char instance[64], folder[TRACEFS_PATH_MAX];
static struct switch_witness witness;
static struct func_clock clock_of_run;
static uint32_t cpus;

/* What a thread is told and tells. */
struct worker {
	pthread_t thread;
	int32_t tid, inner_tid;
	uint32_t calls;
	bool has_inner;
	int go[2];
	uint64_t from_tick, to_tick;
};

static uint64_t tick_now(void)
{
	return func_clock_tick(clock_of_run.shift, clock_of_run.kind);
}

static int32_t tid_now(void)
{
	return (int32_t)syscall(SYS_gettid);
}

static void *run_inner(void *data)
{
	struct worker *w = data;
	uint32_t i;

	__atomic_store_n(&w->inner_tid, tid_now(), __ATOMIC_RELEASE);
	for (i = 0; i < INNER_CALLS; i++)
		syscall(SYS_getppid);
	return NULL;
}

static void *run_worker(void *data)
{
	const struct timespec nap = { .tv_nsec = SLEEP_NS };
	struct worker *w = data;
	pthread_t inner;
	uint32_t i;
	char c;

	__atomic_store_n(&w->tid, tid_now(), __ATOMIC_RELEASE);
	if (read(w->go[0], &c, 1) != 1)
		abort();
	w->from_tick = tick_now();
	for (i = 0; i < w->calls; i++)
		syscall(SYS_getppid);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	w->to_tick = tick_now();
	if (w->has_inner &&
	    (pthread_create(&inner, NULL, run_inner, w) || pthread_join(inner, NULL)))
		abort();
	return NULL;
}

/* Nothing is recorded of a thread that sleeps: what is turned on now misses nothing. */
static void await_sleep(int32_t tid)
{
	char path[64], text[256];
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	do {
		sched_yield();
		f = fopen(path, "re");
		assert_non_null(f);
		assert_non_null(fgets(text, sizeof(text), f));
		fclose(f);
		state = strrchr(text, ')');
		assert_non_null(state);
	} while (state[2] != 'S');
}

static void start_worker(struct worker *w)
{
	assert_int_equal(pipe(w->go), 0);
	assert_int_equal(pthread_create(&w->thread, NULL, run_worker, w), 0);
	while (!__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	await_sleep(w->tid);
}

static void check(int r, const struct error *e)
{
	if (r < 0)
		fail_msg("%s", e->text);
}

static void end_worker(struct worker *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	witness_await_exit(&witness, w->tid);
	if (w->inner_tid)
		witness_await_exit(&witness, w->inner_tid);
	close(w->go[0]);
	close(w->go[1]);
}

static int open_os(uint32_t ring_kib)
{
	struct func_os_options o = { .instance = instance,
				     .cpus = cpus,
				     .ring_kib = ring_kib,
				     .clock = clock_of_run.kind,
				     .shift = clock_of_run.shift };
	struct error e = ERROR_INIT;
	int r;

	run = o.run = fake_func_run_new();
	r = func_os_open(&os, &o, &e);
	if (r < 0)
		printf("%s\n", e.text);
	return r;
}

static void close_os(void)
{
	func_os_close(take_ptr(os));
	assert_false(run->is_bad);
	assert_int_not_equal(access(folder, F_OK), 0); /* it leaves nothing behind */
	witness_close(&witness);
	fake_func_run_free(run);
}

static void drain(void)
{
	struct error e = ERROR_INIT;
	int r;

	do {
		r = func_os_drain(os, clock_mono_ms(), &e);
		check(r, &e);
	} while (r > 0);
}

static uint32_t count(uint32_t row, enum func_os_type kind, uint64_t value)
{
	const struct fake_func_row *r = &run->rows[row];
	uint32_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->events[i].os == kind &&
		     (value == UINT64_MAX || r->events[i].value == value);
	return n;
}

/*
 * A call and its return by turns. The thread is switched in as often as the kernel wrote, each
 * time when it was off its CPU; and it does something while it is off only as often as a switch
 * was not written.
 */
static void check_order(uint32_t row, int32_t tid, bool slept)
{
	const struct switches written = witness_count(&witness, tid, slept);
	const struct fake_func_row *r = &run->rows[row];
	bool inside = false, off = slept;
	uint32_t i, unwritten = 0;

	for (i = 0; i < r->n; i++) {
		if (i && r->events[i].tick < r->events[i - 1].tick)
			fail_msg("event %u of %u is before the one before it", i, r->n);
		switch (r->events[i].os) {
		case FUNC_OS_SYSCALL:
			assert_false(inside);
			inside = true;
			unwritten += off;
			off = false;
			break;
		case FUNC_OS_SYSCALL_RETURN:
			inside = false;
			unwritten += off;
			off = false;
			break;
		case FUNC_OS_SWITCH_OUT:
			unwritten += off;
			off = true;
			break;
		case FUNC_OS_SWITCH_IN:
			assert_true(off);
			assert_true(r->events[i].value < cpus);
			off = false;
			break;
		default:
			break;
		}
	}
	assert_int_equal(count(row, FUNC_OS_SWITCH_IN, UINT64_MAX), written.in);
	assert_int_equal(unwritten, written.unwritten);
}

/* How long it was off, from the sleep's call to its return. */
static uint64_t nap_ticks(uint32_t row)
{
	const struct fake_func_row *r = &run->rows[row];
	uint64_t from = 0;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		if (r->events[i].os == FUNC_OS_SYSCALL && r->events[i].value == SYS_clock_nanosleep)
			from = r->events[i].tick;
		if (from && r->events[i].os == FUNC_OS_SYSCALL_RETURN)
			return r->events[i].tick - from;
	}
	return 0;
}

static bool is_followed(void)
{
	return tracefs_write(folder, "options/event-fork", "1", NULL) == 0;
}

static void test_all(void **state)
{
	struct worker w = { .calls = CALLS, .has_inner = true };
	struct error e = ERROR_INIT;
	const struct fake_func_row *row;
	int i;

	(void)state;
	check(open_os(0), &e);
	start_worker(&w);
	witness_open(&witness);
	check(func_os_watch(os, w.tid, &e), &e);
	check(func_os_add(os, w.tid, 0, &e), &e);
	assert_int_equal(write(w.go[1], "", 1), 1);
	for (i = 0; i < ROUNDS && !__atomic_load_n(&w.inner_tid, __ATOMIC_ACQUIRE); i++) {
		drain();
		usleep(1000);
	}
	end_worker(&w);
	check(func_os_add(os, w.inner_tid, 1, &e), &e);
	check(func_os_stop(os, &e), &e);
	row = &run->rows[0];
	assert_int_equal(count(0, FUNC_OS_SYSCALL, SYS_getppid), CALLS);
	assert_int_equal(count(0, FUNC_OS_SYSCALL_RETURN, SYS_getppid), CALLS);
	assert_int_equal(row->events[0].os, FUNC_OS_WATCH);
	assert_int_equal(row->lost, 0);
	assert_false(row->lost_unknown);
	check_order(0, w.tid, true);
	assert_true(nap_ticks(0) >= clock_of_run.hz / 1000 * (SLEEP_NS / 1000000) * 99 / 100);
	/* On one axis with who reads the counter itself. */
	for (i = 0; row->events[i].value != SYS_getppid; i++)
		;
	assert_true(row->events[i].tick + clock_of_run.hz / 1000 > w.from_tick);
	assert_true(row->events[i].tick < w.to_tick);
	if (is_followed()) {
		assert_int_equal(count(1, FUNC_OS_SYSCALL, SYS_getppid), INNER_CALLS);
		/* It is followed from the end of the call that made it, which it ends on its own CPU. */
		check_order(1, w.inner_tid, false);
	}
	assert_true(func_os_fixed_bytes(os) > (uint64_t)cpus * FUNC_OS_RING_KIB << 10);
	close_os();
}

/* More than all room for what has no row: it is asked for, and nothing is missing. */
static void test_late_row(void **state)
{
	struct worker w = { .calls = LATE_CALLS };
	struct error e = ERROR_INIT;
	bool has_row = false;
	int r;

	(void)state;
	check(open_os(LATE_KIB), &e);
	start_worker(&w);
	witness_open(&witness);
	check(func_os_watch(os, w.tid, &e), &e);
	assert_int_equal(write(w.go[1], "", 1), 1);
	end_worker(&w);
	do {
		r = func_os_drain(os, clock_mono_ms(), &e);
		check(r, &e);
		if (r == FUNC_OS_ROWS)
			check(func_os_add(os, w.tid, 0, &e), &e);
		has_row |= r == FUNC_OS_ROWS;
	} while (r != FUNC_OS_ALL);
	assert_true(has_row);
	check(func_os_stop(os, &e), &e);
	assert_int_equal(run->rows[0].lost, 0);
	assert_int_equal(run->rows[0].events[0].os, FUNC_OS_WATCH);
	assert_int_equal(count(0, FUNC_OS_SYSCALL, SYS_getppid), LATE_CALLS);
	assert_int_equal(count(0, FUNC_OS_SYSCALL_RETURN, SYS_getppid), LATE_CALLS);
	check_order(0, w.tid, true);
	close_os();
}

static uint64_t sum_overruns(void)
{
	struct tracefs_stats stats;
	char name[64], text[1024];
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
		if (tracefs_read(folder, name, text, sizeof(text), NULL) > 0 &&
		    tracefs_parse_stats(&stats, text) == 0)
			sum += stats.overrun;
	}
	return sum;
}

static void test_overrun(void **state)
{
	struct worker w = { .calls = MANY_CALLS };
	struct error e = ERROR_INIT;
	uint64_t overrun;

	(void)state;
	check(open_os(16), &e);
	start_worker(&w);
	witness_open(&witness);
	check(func_os_add(os, w.tid, 3, &e), &e);
	assert_int_equal(write(w.go[1], "", 1), 1);
	end_worker(&w);
	drain();
	overrun = sum_overruns();
	check(func_os_stop(os, &e), &e);
	assert_true(overrun > 0);
	assert_int_equal(run->rows[3].lost, overrun);
	assert_true(count(3, FUNC_OS_WATCH, 0) > 0);
	assert_true(count(3, FUNC_OS_SYSCALL, SYS_getppid) < MANY_CALLS);
	close_os();
}

/*
 * The list of who is watched, as kernels without event-fork need it. A kernel with it adds the
 * threads that the watched ones make: so neither 1 is watched here, nor 2, which makes the
 * kernel's threads.
 */
static void test_list(void **state)
{
	static const int32_t tids[] = { 7, 8, 77 };
	struct error e = ERROR_INIT;
	struct os_instance i;
	char text[128];

	(void)state;
	check(os_instance_open(&i, instance, 64, &e), &e);
	assert_false(i.was_there);
	check(tracefs_read(folder, "tracing_on", text, sizeof(text), &e), &e);
	assert_string_equal(text, "0\n"); /* an empty list would be everybody */
	check(os_instance_put(&i, 5, &e), &e);
	check(os_instance_put(&i, 6, &e), &e);
	check(tracefs_read(folder, "set_event_pid", text, sizeof(text), &e), &e);
	assert_string_equal(text, "5\n6\n");
	check(tracefs_read(folder, "tracing_on", text, sizeof(text), &e), &e);
	assert_string_equal(text, "1\n");
	check(os_instance_put_all(&i, tids, 3, &e), &e);
	check(os_instance_put_all(&i, tids, 0, &e), &e);
	check(tracefs_read(folder, "set_event_pid", text, sizeof(text), &e), &e);
	assert_string_equal(text, "7\n8\n77\n");
	/* Left by one that died: it is replaced, and that is known. */
	check(os_instance_open(&i, instance, 64, &e), &e);
	assert_true(i.was_there);
	os_instance_close(&i);
	assert_int_not_equal(access(folder, F_OK), 0);
}

static bool can_trace(void)
{
	if (open_os(0) < 0)
		return false;
	close_os();
	return true;
}

/*
 * Linux 6.18 on arm64 was seen to record no switch from the idle task of any CPU but the first:
 * a thread that wakes up there is never switched in, and the order of what it does cannot be
 * checked.
 */
static void stay_on_first_cpu(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first); /* where it is not ours, any will do */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_late_row),
		cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_list),
	};
	const char *root;
	struct error e = ERROR_INIT;
	int failed;

	cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	snprintf(instance, sizeof(instance), "kiseki-test-os-%ld", (long)getpid());
	func_clock_init(&clock_of_run);
	if (tracefs_find(&root, &e) < 0) {
		printf("skipped: %s\n", e.text);
		return 77;
	}
	snprintf(folder, sizeof(folder), "%s/instances/%s", root, instance);
	snprintf(witness.folder, sizeof(witness.folder), "%s-witness", folder);
	if (getenv("MESON_EXE_WRAPPER")) {
		puts("skipped: the program is emulated, the kernel has other numbers for its "
		     "calls");
		return 77;
	}
	if (!can_trace()) {
		puts("skipped: this kernel does not let us watch threads");
		return 77;
	}
	stay_on_first_cpu();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	func_os_close(os); /* of a test that failed */
	witness_close(&witness);
	return failed;
}
