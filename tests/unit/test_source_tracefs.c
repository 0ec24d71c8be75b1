/* SPDX-License-Identifier: MIT */
/*
 * The running kernel's events through source, recorder and spool, with an agent that is killed and
 * started again while they are made: what was found and what was told as lost is, on every CPU, the
 * number that the kernel itself has counted.
 *
 * That number is independent of our reading: entries, overrun and read of the instance's stats add up
 * to all that was ever written. A load of our own makes a known number of forks besides. Needs root and
 * tracefs, and is skipped (77) where there is none; also where the program is emulated and the kernel
 * below it has the other byte order.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/agent/recorder.h"
#include "device/agent/tracefs.h"
#include "ftrace/bytes.h"
#include "tools/agent_double.h"
#include "tools/agent_log.h"

#define FORKS 300
#define ROUNDS 25

struct agent {
	struct memory *memory;
	struct spool *spool;
	struct recorder *recorder;
	struct device_source *source;
	uint64_t sent;
};

static char path[64], instance[64], folder[TRACEFS_PATH_MAX];
static uint32_t cpus, slots = 16;
static struct message_config config;
static struct agent_log *shared;
static struct ledger ledger;
static pid_t load_pid;
static uint32_t forks_found, others_found;
static struct agent last; /* the one of this process */

static void count_forks(const struct sched_event *ev)
{
	others_found += ev->kind != SCHED_EXEC;
	if (ev->kind == SCHED_FORK && ev->task.pid == load_pid)
		forks_found++;
}

/* As the agent's main does it. */
static int open_agent(struct agent *a, struct error *e)
{
	struct memory_options mo = {
		.path = path, .cpus = cpus, .slots = slots, .spool_bytes = 4 << 20
	};
	struct recorder_options ro = { .device = "board", .cpus = cpus };
	struct source_options so = { .config = &config, .cpus = cpus, .instance = instance };
	struct spool_options po = { .policy = POLICY_OLDEST };
	struct recorder_run run = { .config = &config, .origin = ORIGIN_TRACEFS };
	struct spool_run current;
	uint32_t i;
	int r;

	memset(a, 0, sizeof(*a));
	r = memory_open(&a->memory, &mo, e);
	if (r < 0)
		return r;
	po.memory = so.memory = a->memory;
	r = spool_open(&a->spool, &po, e);
	if (r < 0)
		return r;
	ro.spool = a->spool;
	r = recorder_new(&a->recorder, &ro, e);
	if (r < 0)
		return r;
	so.resume = spool_get_current(a->spool, SPOOL_EVENTS, &current);
	r = source_tracefs.open(&a->source, &so, e);
	if (r < 0)
		return r;
	run.source = a->source;
	r = so.resume ? recorder_resume(a->recorder, &run, e)
		      : recorder_start(a->recorder, &run, e);
	if (!r)
		r = a->source->ops->start(a->source, e);
	spool_rewind(a->spool);
	for (i = 0; i < cpus + 1; i++)
		spool_resume(a->spool, 1, i, ledger.streams[i].next_sequence);
	return r;
}

static int drain(struct agent *a, struct error *e)
{
	uint32_t cpu;
	int r, more = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		r = a->source->ops->drain(a->source, cpu, a->recorder, e);
		if (r < 0)
			return r;
		more |= r;
	}
	return more;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void work(struct agent *a, uint32_t pause_us)
{
	struct error e = ERROR_INIT;
	uint32_t n;

	for (n = 0;; n++) {
		__atomic_fetch_add(&shared->working, 1, __ATOMIC_RELEASE);
		if (drain(a, &e) < 0)
			_exit(9);
		recorder_tick(a->recorder, now_ms());
		while (agent_log_send(shared, a->spool))
			a->sent++;
		if (n % 2)
			spool_ack(a->spool, a->sent);
		usleep(pause_us);
	}
}

static void close_agent(struct agent *a)
{
	if (a->source)
		a->source->ops->free(a->source, false);
	recorder_free(a->recorder);
	spool_free(a->spool);
	memory_free(a->memory);
	memset(a, 0, sizeof(*a));
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

/* Two tasks that wake each other, and forks that are counted. */
static void make_load(uint32_t turns)
{
	int there[2], back[2], status;
	uint32_t i;
	char c = 0;

	if (pipe(there) || pipe(back))
		_exit(1);
	if (!fork()) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	for (i = 1; i < FORKS; i++) {
		uint32_t j;
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, &status, 0);
		for (j = 0; j < turns; j++)
			if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
				_exit(1);
	}
	close(there[0]);
	close(there[1]);
	_exit(0);
}

static void start_load(uint32_t turns)
{
	load_pid = fork();
	assert_true(load_pid >= 0);
	if (!load_pid) {
		signal(SIGPIPE, SIG_IGN);
		raise(SIGSTOP);
		make_load(turns);
	}
	assert_int_equal(waitpid(load_pid, NULL, WUNTRACED), load_pid);
}

static void begin(uint32_t ring_kib)
{
	const char *root;

	forks_found = others_found = 0;
	memset(&config, 0, sizeof(config));
	config.given = 1U << CONFIG_RING | 1U << CONFIG_FLUSH;
	config.ring_kib = ring_kib;
	config.flush_ms = 5; /* an agent lives for some milliseconds */
	snprintf(path, sizeof(path), "/tmp/kiseki-test-tracefs-%d", (int)getpid());
	snprintf(instance, sizeof(instance), "kiseki-test-%d", (int)getpid());
	assert_int_equal(tracefs_find(&root, NULL), 0);
	snprintf(folder, sizeof(folder), "%s/instances/%s", root, instance);
	assert_int_equal(ledger_init(&ledger, false), 0);
	ledger.on_event = count_forks;
	shared = agent_log_new();
	assert_non_null(shared);
}

static void end(void)
{
	ledger_done(&ledger);
	agent_log_free(shared);
	assert_int_not_equal(access(folder, F_OK), 0);
}

/* Also after a failure: the next test starts with nothing. */
static int clean_up(void **state)
{
	(void)state;
	close_agent(&last);
	unlink(path);
	tracefs_write(folder, "events/enable", "0", NULL);
	rmdir(folder);
	return 0;
}

/* An agent that lives for a while, then is killed. The while starts when it has been once through all
 * CPUs, which takes as long as it takes, or, so that it may be killed on its way there, at once. */
static void live_once(uint32_t pause_us, uint32_t live_us, bool must_record)
{
	struct error e = ERROR_INIT;
	struct agent a;
	int status;
	pid_t pid;

	shared->working = 0;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (open_agent(&a, &e) < 0) {
			print_message("%s\n", e.text);
			_exit(8);
		}
		work(&a, pause_us);
	}
	while (must_record && __atomic_load_n(&shared->working, __ATOMIC_ACQUIRE) < 2 &&
	       !kill(pid, 0) && waitpid(pid, &status, WNOHANG) == 0)
		usleep(1000);
	usleep(live_us);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status))
		print_message("the agent ended by itself with %d\n", WEXITSTATUS(status));
	assert_true(WIFSIGNALED(status));
	read_log();
}

static void stats_of(uint32_t cpu, struct tracefs_stats *ret)
{
	char name[64], text[1024];

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
	assert_true(tracefs_read(folder, name, text, sizeof(text), NULL) > 0);
	assert_int_equal(tracefs_parse_stats(ret, text), 0);
}

struct totals {
	uint64_t found, lost, kernel, kernel_lost;
	uint32_t unknown;
};

/* The last agent: stops, takes what is there, ends the run; then both sides are added up. */
static void finish(struct totals *t)
{
	struct error e = ERROR_INIT;
	struct tracefs_stats stats;
	struct agent *a = &last;
	uint32_t cpu;
	int r = open_agent(a, &e);

	if (r < 0)
		print_message("%s\n", e.text);
	assert_int_equal(r, 0);
	assert_int_equal(a->source->ops->stop(a->source, &e), 0);
	while ((r = drain(a, &e)) > 0)
		;
	assert_int_equal(r, 0);
	assert_int_equal(a->source->not_understood, 0);
	assert_int_equal(recorder_stop(a->recorder, &e), 0);
	while (agent_log_send(shared, a->spool))
		;
	read_log();
	assert_true(ledger.has_ended);
	memset(t, 0, sizeof(*t));
	for (cpu = 0; cpu < cpus; cpu++) {
		const struct ledger_stream *s = &ledger.streams[1 + cpu];

		stats_of(cpu, &stats);
		assert_int_equal(stats.entries, 0);
		t->found += s->found;
		t->lost += ledger_lost(s);
		t->unknown += s->unknown;
		t->kernel_lost += stats.overrun + stats.commit_overrun + stats.dropped;
		t->kernel += stats.read + stats.overrun + stats.commit_overrun + stats.dropped;
		if (!s->unknown)
			assert_int_equal(s->found + ledger_lost(s), stats.read + stats.overrun +
									    stats.commit_overrun +
									    stats.dropped);
	}
	print_message("%llu found + %llu lost, the kernel counts %llu, %llu of them lost\n",
		      (unsigned long long)t->found, (unsigned long long)t->lost,
		      (unsigned long long)t->kernel, (unsigned long long)t->kernel_lost);
	close_agent(a);
}

/* With a large ring. A machine that is too slow for its other programs overruns that, too; then all
 * is still counted, but a fork may be among what is lost. */
static void test_nothing_is_lost(void **state)
{
	struct totals t;
	uint32_t i;
	int status;

	(void)state;
	begin(8192);
	start_load(30);
	live_once(2000, 30000, true);
	kill(load_pid, SIGCONT);
	for (i = 0; i < ROUNDS; i++)
		live_once(1000 + i * 300, 4000 + i * i * 37 % 11000, i % 2);
	assert_int_equal(waitpid(load_pid, &status, 0), load_pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	finish(&t);
	assert_int_equal(t.found + t.lost, t.kernel);
	assert_int_equal(t.lost, t.kernel_lost);
	assert_int_equal(t.unknown, 0);
	/* One for each turn, and one for the partner. */
	if (t.lost)
		print_message("the machine is too slow for a ring of 8 MiB\n");
	else
		assert_int_equal(forks_found, FORKS);
	assert_true(forks_found + t.lost >= FORKS && forks_found <= FORKS);
	end();
}

/* The rings are tiny and the agent is slow and keeps dying: most is lost, and all of it counted. */
static void test_losses_are_counted(void **state)
{
	struct totals t;
	uint32_t i;
	int status;

	(void)state;
	begin(8);
	start_load(60);
	live_once(2000, 30000, true);
	kill(load_pid, SIGCONT);
	for (i = 0; i < ROUNDS; i++) {
		live_once(5000, 10000 + i * i * 37 % 11000, i % 2);
		usleep(i % 4 * 3000);
	}
	assert_int_equal(waitpid(load_pid, &status, 0), load_pid);
	finish(&t);
	assert_int_equal(t.found + t.lost, t.kernel);
	assert_int_equal(t.lost, t.kernel_lost);
	assert_int_equal(t.unknown, 0);
	assert_true(t.lost > 0 && t.found > 0);
	end();
}

/* The instance as an agent left it, and removes it. What was found of it before is in the ledger. */
static void remove_instance(struct tracefs_stats *ret, uint64_t *ret_found)
{
	uint32_t cpu;

	assert_int_equal(tracefs_write(folder, "events/enable", "0", NULL), 0);
	for (cpu = 0; cpu < cpus; cpu++) {
		stats_of(cpu, &ret[cpu]);
		ret_found[cpu] = ledger.streams[1 + cpu].found;
	}
	assert_int_equal(rmdir(folder), 0);
}

/* Somebody removed the instance: nobody can count that, and it is told so, once for each CPU. The
 * kernel's counts at the end are the new instance's alone, so more is found than they say; but of
 * the old one no more than was read of it, staged pages included, and of the new one everything. */
static void test_instance_gone(void **state)
{
	struct tracefs_stats gone[LEDGER_STREAMS];
	uint64_t found[LEDGER_STREAMS], read = 0, lost = 0, before = 0;
	struct totals t;
	uint32_t i;

	(void)state;
	begin(1024);
	for (i = 0; i < ROUNDS && !ledger.streams[1].found; i++)
		live_once(1000, 30000, true);
	assert_true(ledger.streams[1].found > 0);
	remove_instance(gone, found);
	live_once(1000, 30000, true);
	live_once(1000, 30000, true);
	finish(&t);
	for (i = 0; i < cpus; i++) {
		read += gone[i].read;
		lost += gone[i].overrun + gone[i].commit_overrun + gone[i].dropped;
		before += found[i];
	}
	print_message("%llu were read of the instance that is gone, %llu of them found before\n",
		      (unsigned long long)read, (unsigned long long)before);
	assert_int_equal(t.unknown, cpus);
	assert_true(t.found <= read + t.kernel - t.kernel_lost);
	assert_true(t.lost <= lost + t.kernel_lost);
	assert_true(t.found + t.lost >= before + t.kernel);
	end();
}

/* What the filter keeps out is passed over, and its pages are forgotten all the same. */
/* A second agent of the same name gets no instance, and the first one's stays as it is. */
static void test_two(void **state)
{
	struct source_options so = { .config = &config, .cpus = cpus, .instance = instance };
	struct device_source *second = NULL;
	struct error e = ERROR_INIT;
	char text[16] = "";

	(void)state;
	begin(1024);
	assert_int_equal(open_agent(&last, &e), 0);
	so.memory = last.memory;
	assert_int_equal(source_tracefs.open(&second, &so, &e), -EBUSY);
	assert_non_null(strstr(e.text, "another program reads it"));
	assert_true(tracefs_read(folder, "events/sched/sched_switch/enable", text, sizeof(text),
				 NULL) > 0);
	assert_int_equal(text[0], '1');
	assert_true(tracefs_read(folder, "tracing_on", text, sizeof(text), NULL) > 0);
	assert_int_equal(text[0], '1');
	close_agent(&last);
	end();
}

static void test_filter(void **state)
{
	struct error e = ERROR_INIT;
	struct agent *a = &last;
	uint32_t i;

	(void)state;
	begin(1024);
	agent_double_kinds = 1U << SCHED_EXEC;
	assert_int_equal(open_agent(a, &e), 0);
	for (i = 0; i < 60; i++) {
		assert_true(drain(a, &e) >= 0);
		recorder_tick(a->recorder, now_ms());
		usleep(1000);
	}
	assert_true(a->source->passed_over > 20);
	assert_int_equal(a->source->ops->wake_fd(a->source), -1);
	assert_int_equal(recorder_stop(a->recorder, &e), 0);
	while (agent_log_send(shared, a->spool))
		;
	read_log();
	assert_int_equal(others_found, 0);
	agent_double_kinds = UINT32_MAX;
	close_agent(a);
	end();
}

/* With one slot, an agent that dies as it reads a page would not know what it had read before. */
static void test_one_slot(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	begin(64);
	slots = 1;
	assert_int_equal(open_agent(&last, &e), -EMSGSIZE);
	assert_non_null(strstr(e.text, "1 slots"));
	slots = 16;
	close_agent(&last);
	end();
}

static void test_stats(void **state)
{
	static const char text[] = "entries: 5\noverrun: 12\ncommit overrun: 1\nbytes: 9\n"
				   "oldest event ts:  1.2\nnow ts: 3.4\ndropped events: 2\n"
				   "read events: 77\n";
	struct tracefs_stats s;

	(void)state;
	assert_int_equal(tracefs_parse_stats(&s, text), 0);
	assert_int_equal(s.entries, 5);
	assert_int_equal(s.overrun, 12);
	assert_int_equal(s.commit_overrun, 1);
	assert_int_equal(s.dropped, 2);
	assert_int_equal(s.read, 77);
	assert_int_equal(tracefs_parse_stats(&s, "entries: 5\noverrun: 12\n"), -EBADMSG);
	assert_int_equal(tracefs_parse_stats(&s, ""), -EBADMSG);
	assert_int_equal(tracefs_parse_stats(&s, "entries: x\n\n\n:"), -EBADMSG);
}

/* Counts of a kernel with words of 32 bits, from just before they begin again; and of one with 64. */
static void test_wrap(void **state)
{
	uint64_t known = UINT32_MAX - 2, true_count = known;
	uint32_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		true_count += i % 7 * 400000000ULL % INT32_MAX; /* round and round again */
		known = tracefs_widen(known, (uint32_t)true_count);
		assert_true(known == true_count);
	}
	assert_true(known > 20ULL << 32);
	assert_true(tracefs_widen(UINT32_MAX, 1ULL << 32) == 1ULL << 32);
	assert_true(tracefs_widen(5, 1ULL << 40) == 1ULL << 40);
	/* A new ring. */
	assert_true(tracefs_widen(1000, 0) == 1000);
	assert_true(tracefs_widen(1000, 999) == 1000);
	assert_true(tracefs_widen(INT32_MAX, 0) == INT32_MAX);
}

/* As the kernel says since 5.18; one that does not is taken for ours. */
static bool has_other_order(void)
{
	char text[16] = "";
	FILE *f = fopen("/sys/kernel/cpu_byteorder", "r");
	bool is_other = f && fgets(text, sizeof(text), f) &&
			strncmp(text, BYTES_HOST_BIG ? "big" : "little", 3) != 0;

	if (f)
		fclose(f);
	return is_other;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test_teardown(test_nothing_is_lost, clean_up),
		cmocka_unit_test_teardown(test_losses_are_counted, clean_up),
		cmocka_unit_test_teardown(test_instance_gone, clean_up),
		cmocka_unit_test_teardown(test_two, clean_up),
		cmocka_unit_test_teardown(test_filter, clean_up),
		cmocka_unit_test_teardown(test_one_slot, clean_up),
	};
	struct error e = ERROR_INIT;

	if (source_tracefs.probe(&e) < 0) {
		printf("skipped: %s\n", e.text);
		return 77;
	}
	if (has_other_order()) {
		printf("skipped: the kernel has the other byte order, the program is emulated\n");
		return 77;
	}
	cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (cpus + 1 > LEDGER_STREAMS) {
		printf("skipped: the test's ledger is too small for %u CPUs\n", cpus);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
