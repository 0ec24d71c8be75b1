/* SPDX-License-Identifier: MIT */
/*
 * detail and wake_chain: parts of a run in a store against the same parts of the whole trace in memory.
 *
 * The trace is that of a machine which is simulated here, with tasks that sleep, wake each other and are
 * preempted, so that no switch is missing; it is stored in many small segments. A part read from the
 * store must have the same slices as the part of the whole, and say nothing of a task that the whole
 * does not say. What lies too far before may be unknown.
 */
#include "stored.h"

#include "analysis/spans.h"
#include "collector/detail.h"
#include "collector/wake_chain.h"
#include "tools/trace_store.h"

#define CPUS 3U
#define TASKS 12
#define EVENTS 20000U

static char dir[64];
static struct trace_random trace;
static struct trace_blocks blocks;
static struct store *store;
static uint32_t run;
static uint64_t first_ns, last_ns;

/* --- the machine --- */

enum what { SLEEPS, WAITS, RUNS };

struct machine {
	uint64_t seed, ns;
	enum what tasks[TASKS + 1];
	int32_t on_cpu[CPUS]; /* 0: idle */
};

static uint32_t chance(struct machine *m, uint32_t n)
{
	m->seed = m->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(m->seed >> 33) % n;
}

static struct trace_item *put_item(struct machine *m, uint32_t cpu, enum sched_kind kind)
{
	struct trace_item *i = &trace.items[trace.n++];

	memset(i, 0, sizeof(*i));
	i->type = ITEM_EVENT;
	i->cpu = cpu;
	i->event.kind = (uint8_t)kind;
	i->event.tick = m->ns;
	i->event.pid = m->on_cpu[cpu];
	return i;
}

static void name_task(struct sched_task *t, int32_t pid)
{
	t->pid = pid;
	t->prio = 120;
	snprintf(t->comm, sizeof(t->comm), "task%d", pid);
}

static int32_t find(struct machine *m, enum what w)
{
	int32_t first = (int32_t)chance(m, TASKS), i;

	for (i = 0; i < TASKS; i++)
		if (m->tasks[(first + i) % TASKS + 1] == w)
			return (first + i) % TASKS + 1;
	return 0;
}

static void switch_task(struct machine *m, uint32_t cpu)
{
	int32_t prev = m->on_cpu[cpu], next = find(m, WAITS);
	struct trace_item *i;

	if (prev == next)
		return;
	i = put_item(m, cpu, SCHED_SWITCH);
	name_task(&i->event.task, prev);
	name_task(&i->event.other, next);
	if (prev && chance(m, 3)) {
		i->event.state = 1 + chance(m, 2); /* S, D */
		m->tasks[prev] = SLEEPS;
	} else if (prev) {
		m->tasks[prev] = WAITS;
	}
	m->on_cpu[cpu] = next;
	m->tasks[next] = RUNS;
}

static void wake_task(struct machine *m, uint32_t cpu)
{
	int32_t pid = find(m, SLEEPS);
	struct trace_item *i;

	if (!pid)
		return;
	i = put_item(m, cpu, SCHED_WAKING);
	name_task(&i->event.task, pid);
	i->event.value = (int32_t)chance(m, CPUS);
	m->tasks[pid] = WAITS;
}

static void simulate(void)
{
	struct machine m = { .seed = 42, .ns = 1000000 };
	uint32_t cpu;

	assert_int_equal(info_init(&trace.info), 0);
	trace.info.cpus = CPUS;
	trace.items = calloc(EVENTS + 2, sizeof(*trace.items));
	assert_non_null(trace.items);
	while (trace.n < EVENTS) {
		m.ns += 1 + chance(&m, 2000);
		cpu = chance(&m, CPUS);
		if (chance(&m, 2))
			switch_task(&m, cpu);
		else
			wake_task(&m, cpu);
	}
	first_ns = trace.items[0].event.tick;
	last_ns = trace.items[trace.n - 1].event.tick;
}

static int make(void **state)
{
	const struct sink_ksk_options k = { .codec = CODEC_SCHED,
					    .block_bytes = 300,
					    .segment_bytes = 1500 };

	(void)state;
	stored_folder(dir);
	simulate();
	trace_blocks_init(&blocks, &trace, &k);
	store = stored_open(dir, NULL);
	run = trace_store_run(store, 1);
	trace_store_put(store, run, &blocks, 0, blocks.n);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	store_free(store);
	trace_blocks_done(&blocks);
	trace_random_done(&trace);
	stored_remove(dir);
	return 0;
}

/* --- parts --- */

static struct spans *look(uint64_t from_ns, uint64_t to_ns)
{
	struct error e = ERROR_INIT;
	struct spans *p = NULL;
	size_t i;

	assert_int_equal(spans_new(&p, &trace.info, from_ns, to_ns), 0);
	for (i = 0; i < trace.n; i++)
		assert_int_equal(spans_add(p, &trace.items[i], &e), 0);
	assert_int_equal(spans_finish(p, &e), 0);
	return p;
}

static struct detail *open_part(uint64_t from_ns, uint64_t to_ns, uint64_t limit, int want)
{
	const struct detail_query q = { run, from_ns, to_ns, limit, NULL, NULL };
	struct error e = ERROR_INIT;
	struct detail *d = NULL;
	int r = detail_open(&d, store, &q, &e);

	if (r != want)
		fail_msg("%d and not %d: %s", r, want, e.text);
	return d;
}

static const struct spans *read_part(struct detail *d)
{
	const struct spans *p = NULL;
	struct error e = ERROR_INIT;

	if (detail_read(d, &p, &e) < 0)
		fail_msg("%s", e.text);
	return p;
}

static void compare_slices(const struct spans *a, const struct spans *b)
{
	uint32_t cpu;
	size_t i;

	assert_int_equal(a->n_cpus, b->n_cpus);
	for (cpu = 0; cpu < a->n_cpus; cpu++) {
		assert_int_equal(a->cpus[cpu].n, b->cpus[cpu].n);
		for (i = 0; i < a->cpus[cpu].n; i++) {
			const struct span_slice *x = &a->cpus[cpu].slices[i];
			const struct span_slice *y = &b->cpus[cpu].slices[i];

			assert_int_equal(x->type, y->type);
			assert_int_equal(x->length_ns, y->length_ns);
			if (x->type == SLICE_TASK)
				assert_int_equal(a->tasks[x->task].pid, b->tasks[y->task].pid);
		}
	}
}

static const struct span_task *find_task(const struct spans *p, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].pid == pid)
			return &p->tasks[i];
	return NULL;
}

/* The state at a time, from the range's start. */
static uint8_t state_at(const struct spans *p, const struct span_task *t, uint64_t ns)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < t->n_spans; i++) {
		at += p->spans[t->first_span + i].length_ns;
		if (ns < at)
			return p->spans[t->first_span + i].state;
	}
	return SPAN_UNKNOWN;
}

/* Returns how many of the looks found a state that is known. */
static size_t compare_states(const struct spans *whole, const struct spans *part)
{
	uint64_t length_ns = part->to_ns - part->from_ns, ns;
	size_t known = 0;
	uint32_t i;

	for (i = 0; i < part->n_tasks; i++) {
		const struct span_task *t = find_task(whole, part->tasks[i].pid);

		assert_non_null(t);
		for (ns = 0; ns < length_ns; ns += length_ns / 97 + 1) {
			uint8_t state = state_at(part, &part->tasks[i], ns);

			if (state == SPAN_UNKNOWN)
				continue;
			known++;
			assert_int_equal(state, state_at(whole, t, ns));
		}
	}
	return known;
}

static void test_parts(void **state)
{
	uint64_t length_ns = last_ns - first_ns, from_ns;
	size_t i, known = 0;

	(void)state;
	for (i = 0; i < 40; i++) {
		uint64_t part_ns = length_ns / (1 + i * i);
		const struct spans *part;
		struct spans *whole;
		struct detail *d;

		from_ns = first_ns + (length_ns - part_ns) / 41 * i;
		d = open_part(from_ns, from_ns + part_ns, EVENTS + 1, 0);
		whole = look(from_ns, from_ns + part_ns);
		part = read_part(d);
		compare_slices(whole, part);
		known += compare_states(whole, part);
		assert_int_equal(whole->events, part->events);
		assert_int_equal(whole->n_wakeups, part->n_wakeups);
		assert_int_equal(detail_to_ns(d), from_ns + part_ns);
		spans_free(whole);
		detail_free(d);
	}
	assert_true(known > 40 * 97 * TASKS / 2); /* most is known */
}

/* The limit is exact, wherever it is found out. */
static void test_limit(void **state)
{
	uint64_t length_ns = last_ns - first_ns;
	struct detail *d;
	size_t i;

	(void)state;
	open_part(first_ns, last_ns + 1, EVENTS / 2, -EFBIG);
	for (i = 1; i < 6; i++) {
		uint64_t from_ns = first_ns + length_ns / 7 * i, to_ns = from_ns + length_ns / 9;
		const struct spans *p;
		struct error e = ERROR_INIT;
		uint64_t n;

		d = open_part(from_ns, to_ns, EVENTS, 0);
		n = read_part(d)->events;
		detail_free(d);
		d = open_part(from_ns, to_ns, n, 0);
		assert_int_equal(read_part(d)->events, n);
		detail_free(d);
		d = NULL;
		/* By headers, or else when it is read. */
		if (detail_open(&d, store,
				&(struct detail_query){ run, from_ns, to_ns, n - 1, 0, 0 },
				&e) == 0)
			assert_int_equal(detail_read(d, &p, &e), -EFBIG);
		detail_free(d);
	}
}

/* What reaches beyond the last event is cut behind it; it is final when nothing can come. */
static void test_end(void **state)
{
	struct detail *d = open_part(first_ns, UINT64_MAX, EVENTS, 0);

	(void)state;
	assert_int_equal(detail_to_ns(d), last_ns + 1);
	assert_int_equal(read_part(d)->events, EVENTS);
	assert_false(detail_is_final(d));
	detail_free(d);
	d = open_part(last_ns + 1000, last_ns + 2000, EVENTS, 0);
	assert_int_equal(detail_to_ns(d), last_ns + 1000);
	detail_free(d);
	d = open_part(first_ns, first_ns + (last_ns - first_ns) / 2, EVENTS, 0);
	read_part(d);
	assert_true(detail_is_final(d)); /* each CPU has something behind it */
	detail_free(d);
	open_part(first_ns + 5, first_ns + 5, EVENTS, -EINVAL);
	trace_store_end(store, run, &blocks);
	d = open_part(first_ns, UINT64_MAX, EVENTS, 0);
	assert_true(detail_is_final(d));
	detail_free(d);
}

/* --- chains --- */

/* The last event at or before a time that wakes the task. */
static const struct trace_item *waking_before(int32_t pid, uint64_t ns)
{
	const struct trace_item *found = NULL;
	size_t i;

	for (i = 0; i < trace.n && trace.items[i].event.tick <= ns; i++)
		if (trace.items[i].event.kind == SCHED_WAKING &&
		    trace.items[i].event.task.pid == pid)
			found = &trace.items[i];
	return found;
}

static json_int_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

static void check_chain(int32_t pid, uint64_t at_ns)
{
	struct wake_chain_query q = { .pid = pid, .at_ns = at_ns, .limit = 20 };
	const struct trace_item *want;
	struct error e = ERROR_INIT;
	json_t *chain = NULL, *step;
	size_t i;

	assert_int_equal(store_get_run(store, run, &q.run, &e), 0);
	q.first_ns = first_ns;
	q.last_ns = last_ns;
	if (wake_chain_make(store, &q, &chain, &e) < 0)
		fail_msg("%s", e.text);
	json_array_foreach(json_object_get(chain, "steps"), i, step)
	{
		want = waking_before(pid, at_ns);
		assert_non_null(want);
		assert_int_equal(number(step, "pid"), pid);
		assert_int_equal(number(step, "woken_ns"), want->event.tick);
		assert_int_equal(number(step, "waker_pid"), want->event.pid);
		assert_int_equal(number(step, "waker_cpu"), want->cpu);
		pid = want->event.pid;
		at_ns = want->event.tick;
	}
	if (i < q.limit) { /* the idle task, or the start of all */
		assert_string_equal(json_string_value(json_object_get(chain, "ends")),
				    pid ? "start" : "idle");
		assert_true(!pid || !waking_before(pid, at_ns));
	} else {
		assert_string_equal(json_string_value(json_object_get(chain, "ends")), "long");
	}
	json_decref(chain);
}

static void test_chain(void **state)
{
	uint64_t length_ns = last_ns - first_ns;
	int32_t pid;
	uint32_t i;

	(void)state;
	for (pid = 1; pid <= TASKS; pid++)
		for (i = 1; i <= 5; i++)
			check_chain(pid, first_ns + length_ns / 5 * i);
}

static void test_no_chain(void **state)
{
	struct wake_chain_query q = { .pid = 4711, .at_ns = last_ns, .limit = 20 };
	struct error e = ERROR_INIT;
	json_t *chain = NULL;

	(void)state;
	assert_int_equal(store_get_run(store, run, &q.run, &e), 0);
	q.first_ns = first_ns;
	q.last_ns = last_ns;
	assert_int_equal(wake_chain_make(store, &q, &chain, &e), -ENOENT);
	q.pid = 1;
	q.at_ns = first_ns - 1;
	assert_int_equal(wake_chain_make(store, &q, &chain, &e), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_chain), cmocka_unit_test(test_no_chain),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
