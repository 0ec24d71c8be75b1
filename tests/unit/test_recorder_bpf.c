/* SPDX-License-Identifier: MIT */
/*
 * BPF source, recorder and spool together, with an agent that is killed over and over: the blocks
 * that a collector gets hold every switch of a generator that the kernel counted, or say that it
 * was lost, once.
 *
 * Two runs: with rings that are large enough, where nothing is lost unless the machine is very busy,
 * and with the smallest, where much is and all of it must be told. Skipped (77) where BPF may not be used.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/bpf_load.h"
#include "device/agent/memory.h"
#include "device/agent/recorder.h"
#include "tools/agent_log.h"
#include "tools/generator.h"

#define KILLS 12

struct agent {
	struct memory *memory;
	struct spool *spool;
	struct recorder *recorder;
	struct device_source *source;
	uint64_t sent;
};

static char path[64], instance[64];
static uint32_t cpus;
static struct message_config config;
static struct agent_log *shared;
static struct ledger ledger;
static struct generator gen;
static uint64_t away_found, to_found, forks_found;

static void count_event(const struct sched_event *ev)
{
	away_found += ev->kind == SCHED_SWITCH && ev->task.pid == gen.pid;
	to_found += ev->kind == SCHED_SWITCH && ev->other.pid == gen.pid;
	forks_found += ev->kind == SCHED_FORK && ev->task.pid == gen.pid;
}

static int open_source(struct agent *a, struct error *e)
{
	struct source_options so = { .config = &config, .cpus = cpus, .instance = instance };
	struct recorder_run run = { .config = &config, .origin = ORIGIN_BPF };
	struct spool_run current;
	int r;

	so.memory = a->memory;
	so.resume = spool_get_current(a->spool, SPOOL_EVENTS, &current);
	r = source_bpf.open(&a->source, &so, e);
	if (r < 0)
		return r;
	run.source = a->source;
	r = so.resume ? recorder_resume(a->recorder, &run, e)
		      : recorder_start(a->recorder, &run, e);
	return r ? r : source_bpf.start(a->source, e);
}

/* As the agent's main does it. */
static int open_agent(struct agent *a, struct error *e)
{
	struct memory_options mo = {
		.path = path, .cpus = cpus, .slots = 1, .spool_bytes = 4 << 20
	};
	struct recorder_options ro = { .device = "board", .cpus = cpus };
	struct spool_options po = { .policy = POLICY_OLDEST };
	uint32_t i;
	int r;

	memset(a, 0, sizeof(*a));
	r = memory_open(&a->memory, &mo, e);
	if (r < 0)
		return r;
	po.memory = a->memory;
	r = spool_open(&a->spool, &po, e);
	if (r < 0)
		return r;
	ro.spool = a->spool;
	r = recorder_new(&a->recorder, &ro, e);
	if (!r)
		r = open_source(a, e);
	spool_rewind(a->spool);
	for (i = 0; i < cpus + 1; i++)
		spool_resume(a->spool, 1, i, ledger.streams[i].next_sequence);
	return r;
}

static void close_agent(struct agent *a)
{
	source_bpf.free(a->source, false);
	recorder_free(a->recorder);
	spool_free(a->spool);
	memory_free(a->memory);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void drain(struct agent *a)
{
	uint32_t cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (source_bpf.drain(a->source, cpu, a->recorder, NULL) < 0)
			abort();
}

static void work(void)
{
	struct error e = ERROR_INIT;
	struct agent a;

	if (open_agent(&a, &e) < 0) {
		print_message("%s\n", e.text);
		_exit(8);
	}
	for (;;) {
		__atomic_store_n(&shared->working, 1, __ATOMIC_RELEASE);
		drain(&a);
		recorder_tick(a.recorder, now_ms());
		while (agent_log_send(shared, a.spool))
			a.sent++;
		spool_ack(a.spool, a.sent);
		usleep(700);
	}
}

static void read_log(void)
{
	agent_log_read(shared, &ledger);
	if (ledger.wrong)
		fail_msg("%s: stream %llu, block %llu, %llu", ledger.wrong,
			 (unsigned long long)ledger.wrong_at[0],
			 (unsigned long long)ledger.wrong_at[1],
			 (unsigned long long)ledger.wrong_at[2]);
}

static pid_t start_agent(void)
{
	pid_t pid;

	shared->working = 0;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		work();
	while (!__atomic_load_n(&shared->working, __ATOMIC_ACQUIRE)) {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		usleep(500);
	}
	return pid;
}

static void kill_agent(pid_t pid)
{
	int status;

	usleep((useconds_t)rand() % 9000);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	read_log();
}

/* The last agent ends the run; how many events were told as lost. */
static uint64_t finish(void)
{
	struct error e = ERROR_INIT;
	struct agent a;
	uint64_t lost = 0;
	uint32_t cpu;

	if (open_agent(&a, &e))
		fail_msg("%s", e.text);
	assert_int_equal(source_bpf.stop(a.source, &e), 0);
	drain(&a);
	assert_int_equal(a.source->not_understood, 0);
	assert_int_equal(recorder_stop(a.recorder, &e), 0);
	while (agent_log_send(shared, a.spool))
		;
	read_log();
	assert_true(ledger.has_ended);
	for (cpu = 0; cpu < cpus; cpu++) {
		lost += ledger_lost(&ledger.streams[1 + cpu]);
		assert_int_equal(ledger.streams[1 + cpu].unknown, 0);
		assert_int_equal(ledger.streams[1 + cpu].missing, 0);
	}
	close_agent(&a);
	return lost;
}

static void begin(void)
{
	away_found = to_found = forks_found = 0;
	config.given = 1U << CONFIG_RING | 1U << CONFIG_FLUSH;
	config.flush_ms = 4;
	snprintf(path, sizeof(path), "/tmp/kiseki-test-bpf-%d", (int)getpid());
	unlink(path);
	assert_int_equal(ledger_init(&ledger, false), 0);
	ledger.on_event = count_event;
	shared = agent_log_new();
	assert_non_null(shared);
}

static void end(void)
{
	generator_close(&gen);
	ledger_done(&ledger);
	agent_log_free(shared);
	unlink(path);
}

static void nothing_is_lost(void **state)
{
	uint64_t before, lost;
	uint32_t i;
	pid_t agent;

	(void)state;
	memset(&config, 0, sizeof(config));
	config.ring_kib = 4096;
	begin();
	generator_open(&gen, "gen-recorder");
	agent = start_agent();
	before = generator_get_switches(&gen);
	for (i = 0; i < KILLS; i++) {
		generator_run(&gen, GENERATOR_PING, 400);
		kill_agent(agent);
		generator_run(&gen, GENERATOR_FORK, 3);
		agent = start_agent();
	}
	kill_agent(agent);
	before = generator_get_switches(&gen) - before;
	lost = finish();
	print_message("%llu switches of the generator, %llu found, %llu lost\n",
		      (unsigned long long)before, (unsigned long long)away_found,
		      (unsigned long long)lost);
	/* Others may overrun even a large ring; then some of these may be among what is lost. */
	assert_true(away_found <= before && forks_found <= 3 * KILLS);
	assert_true(away_found + forks_found + lost >= before + 3 * KILLS);
	end();
}

/* Only the generator's switches, through rings of a page. The kernel may not report a few switches
 * to it, which then are neither found nor lost; those away from it are all there. */
static void losses_are_told(void **state)
{
	uint64_t before, lost;
	uint32_t i;
	pid_t agent;

	(void)state;
	memset(&config, 0, sizeof(config));
	config.ring_kib = 4;
	config.events = 1U << SCHED_SWITCH;
	config.n_pids = 1;
	begin();
	config.given |= 1U << CONFIG_PIDS | 1U << CONFIG_EVENTS;
	generator_open(&gen, "gen-losses");
	config.pids[0] = (int32_t)gen.pid;
	agent = start_agent();
	before = generator_get_switches(&gen);
	for (i = 0; i < KILLS; i++) {
		generator_run(&gen, GENERATOR_PING, 400);
		kill_agent(agent);
		generator_run(&gen, GENERATOR_PING, 100);
		agent = start_agent();
	}
	kill_agent(agent);
	before = generator_get_switches(&gen) - before;
	lost = finish();
	print_message("%llu switches of the generator, %llu and %llu found, %llu lost\n",
		      (unsigned long long)before, (unsigned long long)away_found,
		      (unsigned long long)to_found, (unsigned long long)lost);
	assert_true(lost > 0 && away_found > 0);
	assert_true(away_found + to_found + lost <= 2 * before);
	assert_true(away_found + to_found + lost + before / 100 >= 2 * before);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(losses_are_told),
	};
	struct error e = ERROR_INIT;
	char dir[BPF_DIR_MAX];
	int r;

	if (source_bpf.probe(&e)) {
		printf("skipped: %s\n", e.text);
		return 77;
	}
	cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (cpus + 1 > LEDGER_STREAMS) {
		puts("skipped: too many CPUs for the test's ledger");
		return 77;
	}
	srand((unsigned int)time(NULL));
	snprintf(instance, sizeof(instance), "kiseki-test-rec-%d", (int)getpid());
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(dir, sizeof(dir), BPF_ROOT "/kiseki/%s", instance);
	bpf_unpin(dir);
	unlink(path);
	return r;
}
