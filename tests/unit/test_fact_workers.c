/* SPDX-License-Identifier: MIT */
/*
 * fact_workers: minutes out of real stores. What the minutes of a run have together is what the run has, whenever blocks come, in
 * how many pieces, and however often the process that does the work is killed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
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
#include "facts/fact_workers.h"
#include "tools/sched_random.h"
#include "tools/trace_store.h"
#include "unit/stored.h"

#define WAIT_MS 240000
#define RUNS 4
#define KILLS 20
#define SLOWER 256U /* a trace of a second is to last for minutes */

static struct trace_random traces[RUNS];
static struct trace_blocks blocks[RUNS];

static int make_traces(void **state)
{
	const struct sink_ksk_options o = { .codec = CODEC_SCHED,
					    .block_bytes = 1000,
					    .segment_bytes = 4000 };
	uint32_t i;

	(void)state;
	for (i = 0; i < RUNS; i++) {
		const struct trace_random_options t = { .seed = 70 + i,
							.cpus = 2,
							.events = 20000,
							.style = SCHED_RANDOM_REAL,
							.loss_every = i % 2 ? 4000 : 0 };

		trace_random_init(&traces[i], &t);
		traces[i].info.clock.mult = SLOWER;
		traces[i].info.clock.shift = 0;
		trace_blocks_init(&blocks[i], &traces[i], &o);
	}
	return 0;
}

static int free_traces(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < RUNS; i++) {
		trace_blocks_done(&blocks[i]);
		trace_random_done(&traces[i]);
	}
	return 0;
}

struct hearing {
	atomic_uint lines, passes;
};

static void hear(void *context, const char *line)
{
	struct hearing *h = context;

	h->lines += strstr(line, "facts of run ") == line;
}

static void see_pass(void *context, uint64_t now_s)
{
	(void)now_s;
	((struct hearing *)context)->passes++;
}

/* A description that nobody understands, and samples of a CPU. */
static void put_bad_run(struct store *s, uint32_t n)
{
	uint8_t buffer[BLOCK_HEADER_MAX + 16], *bytes;
	struct block meta = { .codec = CODEC_META, .flags = BLOCK_KEY, .payload_len = 3 }, sound;
	struct block calls = { .codec = CODEC_SAMPLE,
			       .stream = STREAM_SAMPLE(0),
			       .flags = BLOCK_KEY,
			       .first_tick = 1000,
			       .events = 10,
			       .ticks = 50 };
	uint32_t run = stored_run(s, n, n, 20);
	struct error e = ERROR_INIT;

	memcpy(buffer + BLOCK_HEADER_MAX, "\x06\x01\xff", 3); /* a clock of one byte */
	bytes = block_encode(&meta, buffer + BLOCK_HEADER_MAX, &meta.len);
	assert_int_equal(block_decode(bytes, meta.len, &sound), WIRE_OK);
	assert_int_equal(store_put(s, run, &sound, bytes, &e), STORE_TAKEN);
	bytes = block_encode(&calls, buffer + BLOCK_HEADER_MAX, &calls.len);
	assert_int_equal(block_decode(bytes, calls.len, &sound), WIRE_OK);
	assert_int_equal(store_put(s, run, &sound, bytes, &e), STORE_TAKEN);
}

static struct facts *open_facts(const char *dir)
{
	struct error e = ERROR_INIT;
	struct facts *f = NULL;

	if (facts_open(&f, dir, &e) < 0)
		fail_msg("%s", e.text);
	return f;
}

static struct fact_workers *start(struct store *s, struct facts *f, unsigned int threads)
{
	const struct fact_workers_options o = { .store = s, .facts = f, .threads = threads };
	struct fact_workers *w = NULL;
	struct error e = ERROR_INIT;

	if (fact_workers_start(&w, &o, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

/* What all minutes of one run have. */
struct sums {
	struct message_id run;
	uint64_t minutes, events, lost, covered_ns;
	uint64_t cpu_ns, switches, preemptions, wakeups;
	uint64_t waits, wait_ns, preempted_waits, preempted_ns;
};

static int add_set(void *context, const struct fact_set *s)
{
	struct sums *sum = context;
	size_t i;

	if (memcmp(&s->key.run, &sum->run, sizeof(sum->run)))
		return 0;
	assert_int_equal(s->key.start_s % FACT_MINUTE_S, 0);
	assert_int_equal(s->version, s->events);
	sum->minutes++;
	sum->events += s->events;
	sum->lost += s->lost;
	sum->covered_ns += s->covered_ns;
	for (i = 0; i < s->n_tasks; i++) {
		sum->cpu_ns += s->tasks[i].cpu_ns;
		sum->switches += s->tasks[i].switches;
		sum->preemptions += s->tasks[i].preemptions;
		sum->wakeups += s->tasks[i].wakeups;
		sum->waits += s->tasks[i].waits.count;
		sum->wait_ns += s->tasks[i].waits.sum;
		sum->preempted_waits += s->tasks[i].preempted.count;
		sum->preempted_ns += s->tasks[i].preempted.sum;
	}
	return 0;
}

/* What begins in one minute and ends in another may be missing, or a wakeup be taken for two. */
static bool is_near(uint64_t n, uint64_t of)
{
	return n >= of - of / 10 && n <= of + of / 50;
}

static void check_most(uint64_t n, uint64_t of)
{
	if (!is_near(n, of))
		fail_msg("%" PRIu64 " of %" PRIu64, n, of);
}

/* Who ran just before the time that is read for a minute is not known, so a little of the time may be missing; nothing that is counted
 * may be. */
static void check_run(struct store *s, struct facts *f, uint32_t number, uint32_t i)
{
	const struct facts_query q = { .all_devices = true,
				       .kind = FACT_SCHED,
				       .minutes_only = true,
				       .to_s = UINT64_MAX / 2 };
	const struct running_total *total;
	struct running *r = NULL;
	struct store_run run;
	struct error e = ERROR_INIT;
	struct sums sum = { .minutes = 0 };
	size_t k;

	assert_int_equal(store_get_run(s, number, &run, &e), 0);
	sum.run = run.id;
	if (facts_scan(f, &q, add_set, &sum, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(running_new(&r, &traces[i].info), 0);
	for (k = 0; k < traces[i].n; k++)
		assert_int_equal(running_add(r, &traces[i].items[k], &e), 0);
	assert_int_equal(running_finish(r, &e), 0);
	total = running_get_total(r);
	assert_true(sum.minutes >= 3);
	assert_int_equal(sum.events, total->cpu.events);
	assert_int_equal(sum.switches, total->task.switches);
	assert_int_equal(sum.preemptions, total->task.preemptions);
	assert_int_equal(sum.lost, total->cpu.lost);
	check_most(sum.wakeups, total->task.wakeups);
	assert_in_range(sum.cpu_ns, total->task.cpu_ns / 100 * 95, total->task.cpu_ns);
	/* Of a CPU that has no event in a minute nothing is known in it. */
	assert_in_range(sum.covered_ns, sum.cpu_ns, total->cpu.busy_ns + total->cpu.idle_ns);
	check_most(sum.waits, total->task.waits);
	check_most(sum.preempted_waits, total->task.preempted_waits);
	/* A wait that began long before a minute is not known in it, and the trace is a slow one. */
	assert_in_range(sum.wait_ns, 1, total->task.wait_ns);
	assert_in_range(sum.preempted_ns, 1, total->task.preempted_ns);
	assert_false(is_near(total->task.waits,
			     total->task.preempted_waits)); /* or they could be swapped */
	running_free(r);
}

/* All at once, and in pieces while the workers are at it. */
static void as_it_comes(void **state)
{
	struct store *store;
	struct facts *facts;
	struct fact_workers *w;
	struct fact_workers_counters n;
	char folder[64];
	uint32_t i, numbers[RUNS];
	size_t piece;

	(void)state;
	stored_folder(folder);
	store = stored_open(folder, NULL);
	facts = open_facts(folder);
	w = start(store, facts, 2);
	for (i = 0; i < RUNS; i++)
		numbers[i] = trace_store_run(store, (uint8_t)(i + 1));
	for (piece = 0; piece < 4; piece++) {
		for (i = 0; i < RUNS; i++)
			trace_store_put(store, numbers[i], &blocks[i], blocks[i].n * piece / 4,
					blocks[i].n * (piece + 1) / 4);
		assert_int_equal(fact_workers_wait(w, piece % 2, WAIT_MS), 0);
	}
	for (i = 0; i < RUNS; i++)
		trace_store_end(store, numbers[i], &blocks[i]);
	assert_int_equal(fact_workers_wait(w, false, WAIT_MS), 0);
	fact_workers_count(w, &n);
	assert_int_equal(n.errors, 0);
	assert_int_equal(n.waiting, 0);
	assert_true(n.again > 0); /* minutes that were taken for whole before they were */
	assert_true(n.pace.t2_s > 0);
	for (i = 0; i < RUNS; i++)
		check_run(store, facts, numbers[i], i);
	fact_workers_stop(w);
	facts_free(facts);
	store_free(store);
	stored_remove(folder);
}

/* Works until it is killed. */
static void work(const char *folder)
{
	struct store *store = stored_open(folder, NULL);
	struct facts *facts = open_facts(folder);
	struct fact_workers *w = start(store, facts, 2);

	for (;;)
		fact_workers_wait(w, true, WAIT_MS);
}

static void killed(void **state)
{
	struct store *store;
	struct facts *facts;
	struct fact_workers *w;
	char folder[64];
	uint32_t i, numbers[RUNS];
	pid_t child;
	int status;

	(void)state;
	stored_folder(folder);
	store = stored_open(folder, NULL);
	for (i = 0; i < RUNS; i++) {
		numbers[i] = trace_store_run(store, (uint8_t)(i + 1));
		trace_store_put(store, numbers[i], &blocks[i], 0, blocks[i].n);
	}
	store_free(store);
	for (i = 0; i < KILLS; i++) {
		child = fork();
		assert_true(child >= 0);
		if (!child)
			work(folder);
		nanosleep(&(const struct timespec){ .tv_nsec = 5000000L + 9000000L * i }, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
	}
	store = stored_open(folder, NULL);
	for (i = 0; i < RUNS;
	     i++) /* it tells losses behind the last blocks, whose minutes are there */
		trace_store_end(store, numbers[i], &blocks[i]);
	facts = open_facts(folder);
	w = start(store, facts, 1);
	assert_int_equal(fact_workers_wait(w, true, WAIT_MS), 0);
	fact_workers_stop(w);
	for (i = 0; i < RUNS; i++)
		check_run(store, facts, numbers[i], i);
	facts_free(facts);
	store_free(store);
	stored_remove(folder);
}

static void condition(void **state)
{
	struct fact_pace p = { .hosts = 10, .t0_s = 0.5, .t1_s = 60, .t2_s = 5.5 };

	(void)state;
	fact_pace_judge(&p);
	assert_true(p.holds);
	assert_int_equal(p.hosts_max, 10);
	p.hosts = 11;
	fact_pace_judge(&p);
	assert_false(p.holds);
	/* As much is not enough. */
	p = (struct fact_pace){ .hosts = 6, .t1_s = 60, .t2_s = 10 };
	fact_pace_judge(&p);
	assert_false(p.holds);
	assert_int_equal(p.hosts_max, 5);
	p = (struct fact_pace){ .hosts = 0, .t1_s = 60 };
	fact_pace_judge(&p);
	assert_true(p.holds);
	assert_int_equal(p.hosts_max, 0);
}

/* Two runs that are not understood are told once each, not by turns for ever. */
static void bad_runs(void **state)
{
	struct hearing heard = { 0 };
	struct fact_workers_options o = { .threads = 1,
					  .log = hear,
					  .log_context = &heard,
					  .passed = see_pass,
					  .put_context = &heard };
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct fact_workers *w = NULL;
	struct error e = ERROR_INIT;
	char dir[64];
	time_t until = time(NULL) + WAIT_MS / 1000;

	(void)state;
	stored_folder(dir);
	o.store = stored_open(dir, NULL);
	o.facts = open_facts(dir);
	put_bad_run(o.store, 1);
	put_bad_run(o.store, 2);
	stored_commit(o.store);
	assert_int_equal(fact_workers_start(&w, &o, &e), 0);
	while (heard.passes < 5 && time(NULL) < until) {
		fact_workers_wait(w, true, 10);
		nanosleep(&moment, NULL);
	}
	fact_workers_stop(w);
	assert_true(heard.passes >= 5);
	assert_int_equal(heard.lines, 2);
	facts_free(o.facts);
	store_free(o.store);
	stored_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_it_comes),
		cmocka_unit_test(killed),
		cmocka_unit_test(condition),
		cmocka_unit_test(bad_runs),
	};

	return cmocka_run_group_tests(tests, make_traces, free_traces);
}
