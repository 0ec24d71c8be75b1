/* SPDX-License-Identifier: MIT */
/*
 * An agent that is killed hundreds of times, at any moment: every event is found or counted, once.
 *
 * A child records from a source whose events are known (agent_fake.h), sends to a collector and takes
 * its acknowledgements; the parent kills it with SIGKILL after a random time and starts the next
 * one on the same file. The collector is a log in shared memory whose length is stored behind its
 * bytes: what it has when the child dies is what a real one would have on its disk. The parent reads
 * it with its own arithmetic, which also knows where each event must stand.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/agent/recorder.h"
#include "tools/agent_fake.h"
#include "tools/agent_ledger.h"
#include "tools/agent_log.h"

#define KILLS 200U /* KISEKI_TEST_KILLS: fewer where each takes long */
#define SPOOL_BYTES (96U << 10)

struct agent {
	struct memory *memory;
	struct spool *spool;
	struct recorder *recorder;
	struct fake_source source;
	struct message_config config;
	uint64_t now, sent, acked, x;
};

static char path[64];
static uint8_t policy;
static struct agent_log *shared;
static struct ledger ledger;

static uint32_t kills(void)
{
	const char *text = getenv("KISEKI_TEST_KILLS");

	return text ? (uint32_t)atoi(text) : KILLS;
}

static uint32_t draw(struct agent *a, uint32_t n)
{
	a->x ^= a->x << 13, a->x ^= a->x >> 7, a->x ^= a->x << 17;
	return (uint32_t)(a->x >> 20) % n;
}

/* As the agent's main does it. The collector says what it has. */
static int open_agent(struct agent *a)
{
	struct memory_options mo = {
		.path = path, .cpus = FAKE_CPUS, .slots = 1, .spool_bytes = SPOOL_BYTES
	};
	struct recorder_options ro = { .device = "board", .cpus = FAKE_CPUS };
	struct recorder_run run = { .config = &a->config, .source = &a->source.base };
	struct spool_options so = { .policy = policy };
	struct spool_run current;
	uint32_t i;

	fake_init(&a->source, 100);
	if (memory_open(&a->memory, &mo, NULL) < 0)
		return -1;
	so.memory = a->memory;
	if (spool_open(&a->spool, &so, NULL) < 0)
		return -2;
	spool_rewind(a->spool);
	for (i = 0; i < FAKE_CPUS + 1; i++)
		spool_resume(a->spool, 1, i, ledger.streams[i].next_sequence);
	ro.spool = a->spool;
	if (recorder_new(&a->recorder, &ro, NULL) < 0)
		return -3;
	if (spool_get_current(a->spool, SPOOL_EVENTS, &current))
		return recorder_resume(a->recorder, &run, NULL) < 0 ? -4 : 0;
	return recorder_start(a->recorder, &run, NULL) < 0 ? -5 : 0;
}

static void close_agent(struct agent *a)
{
	recorder_free(a->recorder);
	spool_free(a->spool);
	memory_free(a->memory);
}

static bool send_one(struct agent *a)
{
	bool has_sent = agent_log_send(shared, a->spool);

	a->sent += has_sent;
	return has_sent;
}

/* The link is down most of the time, so that the spool fills up. */
static void work(struct agent *a)
{
	bool is_up = draw(a, 3) == 0;
	uint32_t cpu;

	for (;;) {
		__atomic_fetch_add(&shared->working, 1, __ATOMIC_RELEASE);
		a->source.burst = 1 + draw(a, 400);
		for (cpu = 0; cpu < FAKE_CPUS; cpu++)
			a->source.base.ops->drain(&a->source.base, cpu, a->recorder, NULL);
		recorder_tick(a->recorder, a->now += 1 + draw(a, 150));
		while (is_up && draw(a, 4) && send_one(a))
			;
		if (a->acked < a->sent && draw(a, 2)) {
			a->acked += 1 + draw(a, (uint32_t)(a->sent - a->acked));
			spool_ack(a->spool, a->acked);
		}
		if (a->source.went_back)
			_exit(9);
	}
}

static void read_log(void)
{
	agent_log_read(shared, &ledger);
	if (ledger.wrong)
		print_message("%s: stream %llu, block %llu, %llu\n", ledger.wrong,
			      (unsigned long long)ledger.wrong_at[0],
			      (unsigned long long)ledger.wrong_at[1],
			      (unsigned long long)ledger.wrong_at[2]);
	assert_null(ledger.wrong);
}

static void kill_many(void)
{
	struct agent a = { .x = 1234567 + policy };
	uint32_t i, rounds;
	int status, r;
	pid_t pid;

	for (i = 0; i < kills(); i++) {
		draw(&a, 2);
		shared->working = 0;
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			r = open_agent(&a);
			if (r)
				_exit(-r);
			work(&a);
		}
		/* Some die before they record anything; the others after some rounds, not after some
		 * time: machines differ. */
		rounds = draw(&a, 4) ? 1 + draw(&a, 16) : 0;
		while (__atomic_load_n(&shared->working, __ATOMIC_ACQUIRE) < rounds &&
		       !kill(pid, 0) && waitpid(pid, &status, WNOHANG) == 0)
			usleep(100);
		usleep(draw(&a, 1000));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		read_log();
	}
}

static void check(const struct agent *a)
{
	uint64_t spool = 0, found = 0, missing = 0;
	uint32_t cpu;

	assert_true(ledger.has_ended);
	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		const struct ledger_stream *s = &ledger.streams[1 + cpu];

		assert_int_equal(s->seen, a->source.next[cpu]);
		assert_int_equal(s->found + ledger_lost(s), s->seen);
		if (policy == POLICY_OLDEST)
			assert_int_equal(s->lost[LOSS_RING], fake_lost_below(cpu, s->seen));
		found += s->found;
		spool += s->lost[LOSS_SPOOL];
		missing += s->missing;
	}
	print_message("%llu found, %llu counted without room, %llu missing\n",
		      (unsigned long long)found, (unsigned long long)spool,
		      (unsigned long long)missing);
	assert_true(found > 10000);
	assert_true(policy == POLICY_OLDEST ? spool > 0 && !missing : missing > 0);
}

static void run_policy(uint8_t which)
{
	struct agent a = { .x = 99 };

	policy = which;
	strcpy(path, "/tmp/kiseki-test-kill-XXXXXX");
	close(mkstemp(path));
	unlink(path);
	shared = agent_log_new();
	assert_non_null(shared);
	assert_int_equal(ledger_init(&ledger, true), 0);
	kill_many();
	assert_int_equal(open_agent(&a), 0);
	assert_int_equal(recorder_stop(a.recorder, NULL), 0);
	while (send_one(&a))
		;
	assert_int_equal(spool_ack(a.spool, a.sent), 0);
	assert_int_equal(spool_used(a.spool), 0);
	read_log();
	check(&a);
	close_agent(&a);
	ledger_done(&ledger);
	agent_log_free(shared);
	unlink(path);
}

static void test_oldest(void **state)
{
	(void)state;
	run_policy(POLICY_OLDEST);
}

static void test_flight(void **state)
{
	(void)state;
	run_policy(POLICY_FLIGHT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest),
		cmocka_unit_test(test_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
