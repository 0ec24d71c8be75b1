/* SPDX-License-Identifier: MIT */
/*
 * spans: states, slices, wakeups and losses of hand-made traces whose answer is known; and what must
 * hold in any, on recordings of real kernels: parts of a range are the range.
 *
 * Spans are compared as text: "woken:100 run0:50 sleep:250" are the states of a task and their
 * lengths, the CPU behind a run.
 */
#include "scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/spans.h"
#include "analysis/spans_pack.h"
#include "convert/input.h"
#include "wire/varint.h"

#define BLOCKED 2
#define STOPPED 4
#define DEAD 0x10
#define PARKED 0x40
#define IDLE_THREAD 0x80
#define TEXT_MAX 4096

static const char *const words[SPAN_STATES] = {
	"?", "run", "woken", "preempted", "sleep", "blocked", "stopped", "dead", "idle", "unborn"
};

static int add(void *report, const struct trace_item *item, struct error *e)
{
	return spans_add(report, item, e);
}

static struct spans *begin(struct scenario *s, uint32_t cpus, uint64_t from_ns, uint64_t to_ns)
{
	struct spans *p = NULL;

	scenario_init(s, cpus);
	assert_int_equal(spans_new(&p, &s->info, from_ns, to_ns), 0);
	s->report = p;
	s->add = add;
	return p;
}

static void finish(struct spans *p)
{
	struct error e = ERROR_INIT;

	assert_int_equal(spans_finish(p, &e), 0);
}

static void end(struct scenario *s, struct spans *p)
{
	spans_free(p);
	info_done(&s->info);
}

static const struct span_task *get_task(const struct spans *p, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < p->n_tasks; i++)
		if (p->tasks[i].pid == pid)
			return &p->tasks[i];
	fail_msg("no task %d", pid);
	return NULL;
}

static void expect_task(const struct spans *p, int32_t pid, const char *want)
{
	const struct span_task *t = get_task(p, pid);
	char text[TEXT_MAX] = "";
	size_t len = 0, i;

	for (i = 0; i < t->n_spans; i++) {
		const struct span *one = &p->spans[t->first_span + i];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					words[one->state]);
		if (one->state == SPAN_RUNNING)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%u", one->cpu);
		len += (size_t)snprintf(text + len, sizeof(text) - len, ":%llu",
					(unsigned long long)one->length_ns);
	}
	assert_string_equal(text, want);
}

/* "10:100 idle:50 ?:20 ~10:30": pids and lengths; ~ is inferred. */
static void expect_cpu(const struct spans *p, uint32_t cpu, const char *want)
{
	char text[TEXT_MAX] = "";
	size_t len = 0, i;

	for (i = 0; i < p->cpus[cpu].n; i++) {
		const struct span_slice *one = &p->cpus[cpu].slices[i];
		char who[16];

		snprintf(who, sizeof(who), "%d",
			 one->type == SLICE_TASK ? p->tasks[one->task].pid : 0);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s:%llu", i ? " " : "",
					one->inferred ? "~" : "",
					one->type == SLICE_TASK	  ? who
					: one->type == SLICE_IDLE ? "idle"
								  : "?",
					(unsigned long long)one->length_ns);
	}
	assert_string_equal(text, want);
}

static void expect_wakeup(const struct spans *p, size_t i, int32_t waker, int32_t pid,
			  uint64_t ran_ns)
{
	const struct span_wakeup *w = &p->wakeups[i];

	assert_true(i < p->n_wakeups);
	assert_int_equal(w->waker == TRACKER_NONE ? 0 : p->tasks[w->waker].pid, waker);
	assert_int_equal(p->tasks[w->task].pid, pid);
	assert_int_equal(w->ran_ns, ran_ns);
}

/* a runs, wakes b on the other CPU, is preempted by c, runs again. */
static void test_states(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 2, 1000, 2000);

	(void)state;
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	switches(&s, 1000, 1, 20, SLEEPING, 0);
	wakes(&s, 1100, 0, 10, SCHED_WAKING, 20, 1);
	wakes(&s, 1110, 0, 10, SCHED_WAKEUP, 20, 1);
	switches(&s, 1150, 1, 0, RUNNABLE, 20);
	switches(&s, 1200, 0, 10, RUNNABLE, 30);
	switches(&s, 1300, 0, 30, BLOCKED, 10);
	switches(&s, 1400, 1, 20, IDLE_THREAD, 0);
	wakes(&s, 1500, 1, 0, SCHED_WAKING, 30, 0);
	switches(&s, 1600, 0, 10, STOPPED, 30);
	switches(&s, 1700, 0, 30, PARKED, 0);
	switches(&s, 2000, 0, 0, RUNNABLE, 10); /* behind the range */
	switches(&s, 2500, 1, 0, RUNNABLE, 20);
	finish(p);
	expect_task(p, 10, "run0:200 preempted:100 run0:300 stopped:400");
	expect_task(p, 20, "sleep:100 woken:50 run1:250 idle:600");
	expect_task(p, 30, "?:200 run0:100 blocked:200 woken:100 run0:100 idle:300");
	expect_cpu(p, 0, "10:200 30:100 10:300 30:100 idle:300");
	expect_cpu(p, 1, "idle:150 20:250 idle:600");
	assert_int_equal(p->n_wakeups, 2);
	expect_wakeup(p, 0, 10, 20, 1150);
	expect_wakeup(p, 1, 0, 30, 1600);
	assert_int_equal(p->events, 11);
	end(&s, p);
}

/* The same moments, looked at through a part: what was before is known, what is behind is cut. */
static void test_range(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 1, 1120, 1180);

	(void)state;
	switches(&s, 900, 0, 30, BLOCKED, 20);
	switches(&s, 1000, 0, 20, SLEEPING, 10);
	wakes(&s, 1100, 0, 10, SCHED_WAKING, 20, 0);
	switches(&s, 1150, 0, 10, RUNNABLE, 20);
	switches(&s, 1300, 0, 20, SLEEPING, 10);
	finish(p);
	expect_task(p, 10, "run0:30 preempted:30");
	expect_task(p, 20, "woken:30 run0:30");
	expect_task(p, 30, "blocked:60");
	expect_cpu(p, 0, "10:30 20:30");
	assert_int_equal(p->n_wakeups, 0);
	assert_int_equal(p->events, 1);
	end(&s, p);
}

/* A range without any event: what was before holds if the next event agrees. */
static void test_quiet(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 2, 5000, 6000);

	(void)state;
	switches(&s, 1000, 0, 20, SLEEPING, 10);
	switches(&s, 1100, 1, 30, SLEEPING, 0);
	switches(&s, 9000, 0, 10, SLEEPING, 0);
	finish(p);
	expect_cpu(p, 0, "10:1000");
	expect_cpu(p, 1, "~idle:1000");
	expect_task(p, 10, "run0:1000");
	expect_task(p, 20, "sleep:1000");
	expect_task(p, 30, "sleep:1000");
	end(&s, p);
}

static void exits(struct scenario *s, uint64_t ns, uint32_t cpu, int32_t pid)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = SCHED_EXIT;
	i.event.tick = ns;
	i.event.pid = pid;
	name_task(&i.event.task, pid);
	scenario_push(s, &i);
}

static void test_life(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 1, 1000, 2000);

	(void)state;
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	forks(&s, 1100, 0, 10, 20);
	wakes(&s, 1110, 0, 10, SCHED_WAKEUP_NEW, 20, 0);
	switches(&s, 1200, 0, 10, SLEEPING, 20);
	exits(&s, 1300, 0, 20);
	switches(&s, 1350, 0, 20, RUNNABLE, 10); /* preempted on its way out */
	switches(&s, 1400, 0, 10, SLEEPING, 20);
	switches(&s, 1500, 0, 20, DEAD, 0);
	switches(&s, 2100, 0, 0, RUNNABLE, 10);
	finish(p);
	expect_task(p, 20, "unborn:110 woken:90 run0:150 preempted:50 run0:100 dead:500");
	assert_int_equal(get_task(p, 20)->parent, get_task(p, 10) - p->tasks);
	assert_int_equal(get_task(p, 10)->parent, TRACKER_NONE);
	expect_wakeup(p, 0, 10, 20, 1200);
	end(&s, p);
}

/* Woken while it still has its CPU: it is runnable from the moment it has left it. One that completes
 * before that has done nothing. */
static void test_woken_on_its_way_out(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 2, 1000, 2000);

	(void)state;
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	switches(&s, 1000, 1, 0, RUNNABLE, 20);
	wakes(&s, 1100, 1, 20, SCHED_WAKING, 10, 0);
	switches(&s, 1120, 0, 10, SLEEPING, 0);
	wakes(&s, 1130, 1, 20, SCHED_WAKEUP, 10, 0);
	switches(&s, 1150, 0, 0, RUNNABLE, 10);
	wakes(&s, 1200, 1, 20, SCHED_WAKING, 10, 0);
	wakes(&s, 1210, 1, 20, SCHED_WAKEUP, 10, 0);
	switches(&s, 1300, 0, 10, SLEEPING, 0);
	switches(&s, 1900, 1, 20, SLEEPING, 0);
	switches(&s, 2100, 0, 0, RUNNABLE, 10);
	switches(&s, 2100, 1, 0, RUNNABLE, 20);
	finish(p);
	expect_task(p, 10, "run0:120 woken:30 run0:150 sleep:700");
	assert_int_equal(p->n_wakeups, 2);
	expect_wakeup(p, 0, 20, 10, 1150);
	expect_wakeup(p, 1, 20, 10, 0);
	end(&s, p);
}

/* CPU 0 loses events: who had it is not known, nor what became of those who were last on it. */
static void test_loss(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 2, 1000, 2000);

	(void)state;
	switches(&s, 1000, 0, 30, SLEEPING, 10);
	switches(&s, 1000, 1, 40, SLEEPING, 20);
	switches(&s, 1100, 0, 10, RUNNABLE, 50);
	loses(&s, 0, 1100, 1400, 7);
	switches(&s, 1400, 0, 60, SLEEPING, 10);
	switches(&s, 1600, 1, 20, SLEEPING, 0);
	switches(&s, 2000, 0, 10, SLEEPING, 0);
	switches(&s, 2000, 1, 0, RUNNABLE, 20);
	finish(p);
	expect_cpu(p, 0, "10:100 ?:300 10:600");
	expect_cpu(p, 1, "20:600 idle:400");
	expect_task(p, 10, "run0:100 ?:300 run0:600");
	expect_task(p, 20, "run1:600 sleep:400");
	expect_task(p, 30, "sleep:100");
	expect_task(p, 40, "sleep:1000");
	expect_task(p, 60, "?:400 sleep:600");
	assert_int_equal(p->n_losses, 1);
	assert_int_equal(p->losses[0].from_ns, 1100);
	assert_int_equal(p->losses[0].to_ns, 1400);
	assert_int_equal(p->losses[0].count, 7);
	assert_int_equal(p->losses[0].cpu, 0);
	end(&s, p);
}

/* A loss is cut to the range, and told in each range that it touches. */
static void test_loss_cut(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 1, 1200, 1300);

	(void)state;
	switches(&s, 1000, 0, 30, SLEEPING, 10);
	loses(&s, 0, 1000, 1400, LOSS_UNKNOWN);
	switches(&s, 1400, 0, 10, SLEEPING, 0);
	finish(p);
	expect_cpu(p, 0, "?:100");
	assert_int_equal(p->n_losses, 1);
	assert_int_equal(p->losses[0].from_ns, 1200);
	assert_int_equal(p->losses[0].to_ns, 1300);
	end(&s, p);
}

/* Who ran when an interrupt woke somebody has nothing to do with it; in a softirq he may have. */
static void test_interrupts(void **state)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = 0 };
	struct scenario s;
	struct spans *p = begin(&s, 1, 1000, 2000);

	(void)state;
	switches(&s, 1000, 0, 20, SLEEPING, 10);
	i.event.kind = SCHED_WAKING;
	i.event.tick = 1100;
	i.event.pid = 10;
	i.event.flags = 0x08;
	name_task(&i.event.task, 20);
	scenario_push(&s, &i);
	i.event.flags = 0x10;
	i.event.tick = 1200;
	name_task(&i.event.task, 30);
	scenario_push(&s, &i);
	switches(&s, 1300, 0, 10, SLEEPING, 20);
	switches(&s, 2000, 0, 20, SLEEPING, 0);
	finish(p);
	expect_wakeup(p, 0, 0, 20, 1300);
	expect_wakeup(p, 1, 10, 30, 0);
	assert_true(p->wakeups[1].softirq);
	end(&s, p);
}

static void test_refusals(void **state)
{
	struct trace_info info;
	struct spans *p = NULL;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(spans_new(&p, &info, 5, 5), -EINVAL);
	assert_int_equal(spans_new(&p, &info, 6, 5), -EINVAL);
	assert_null(p);
	info_done(&info);
}

/* --- real ones --- */

struct recording {
	struct input *input;
	struct trace_source *source;
	struct trace_item *items;
	size_t n;
	uint64_t from_ns, to_ns;
};

static void open_recording(struct recording *r, const char *name)
{
	struct error e = ERROR_INIT;
	char path[512];
	size_t room = 0;

	memset(r, 0, sizeof(*r));
	snprintf(path, sizeof(path), "%s/%s", KISEKI_TEST_DATA, name);
	if (input_open(&r->input, path, &e) < 0)
		fail_msg("%s", e.text);
	r->source = input_take_source(r->input);
	for (;; r->n++) {
		if (r->n == room)
			r->items = realloc(r->items, (room = 2 * room + 64) * sizeof(*r->items));
		assert_non_null(r->items);
		if (r->source->ops->next(r->source, &r->items[r->n], &e) <= 0)
			break;
		if (r->items[r->n].type != ITEM_EVENT)
			continue;
		r->to_ns = clock_event_ns(&r->source->info.clock, &r->items[r->n].event) + 1;
		if (!r->from_ns)
			r->from_ns = r->to_ns - 1;
	}
	assert_true(r->n > 5);
}

static void close_recording(struct recording *r)
{
	source_free(r->source);
	input_free(r->input);
	free(r->items);
}

static struct spans *look(const struct recording *r, uint64_t from_ns, uint64_t to_ns)
{
	struct error e = ERROR_INIT;
	struct spans *p = NULL;
	size_t i;

	assert_int_equal(spans_new(&p, &r->source->info, from_ns, to_ns), 0);
	for (i = 0; i < r->n; i++)
		assert_int_equal(spans_add(p, &r->items[i], &e), 0);
	assert_int_equal(spans_finish(p, &e), 0);
	return p;
}

/* How long each pid was in each state; row 0 has the CPUs' time by kind. */
#define PIDS 512
struct sums {
	int32_t pids[PIDS];
	uint64_t ns[PIDS][SPAN_STATES];
	uint64_t kinds[3];
	size_t n, wakeups;
};

static void add_sums(struct sums *to, const struct spans *p)
{
	uint64_t length_ns;
	uint32_t i;
	size_t j, row;

	for (i = 0; i < p->n_tasks; i++) {
		for (row = 0; row < to->n && to->pids[row] != p->tasks[i].pid; row++)
			;
		assert_true(row < PIDS);
		if (row == to->n)
			to->pids[to->n++] = p->tasks[i].pid;
		for (j = 0; j < p->tasks[i].n_spans; j++) {
			const struct span *one = &p->spans[p->tasks[i].first_span + j];

			assert_true(one->length_ns);
			to->ns[row][one->state] += one->length_ns;
		}
	}
	for (i = 0; i < p->n_cpus; i++) {
		for (length_ns = 0, j = 0; j < p->cpus[i].n; j++) {
			assert_true(p->cpus[i].slices[j].length_ns);
			length_ns += p->cpus[i].slices[j].length_ns;
			to->kinds[p->cpus[i].slices[j].type] += p->cpus[i].slices[j].length_ns;
		}
		assert_int_equal(length_ns, p->to_ns - p->from_ns);
	}
	to->wakeups += p->n_wakeups;
}

static void check_recording(const char *name, bool exact)
{
	static struct sums whole, parts;
	struct recording r;
	struct spans *p;
	uint64_t running_ns = 0, step_ns, ns;
	size_t i, j;

	memset(&whole, 0, sizeof(whole));
	memset(&parts, 0, sizeof(parts));
	open_recording(&r, name);
	p = look(&r, r.from_ns, r.to_ns);
	add_sums(&whole, p);
	spans_free(p);
	step_ns = (r.to_ns - r.from_ns) / 13 + 1;
	for (ns = r.from_ns; ns < r.to_ns; ns += step_ns) {
		p = look(&r, ns, ns + step_ns < r.to_ns ? ns + step_ns : r.to_ns);
		add_sums(&parts, p);
		spans_free(p);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(whole.kinds[i], parts.kinds[i]);
	assert_int_equal(whole.wakeups, parts.wakeups);
	for (i = 0; i < whole.n; i++) {
		running_ns += whole.ns[i][SPAN_RUNNING];
		for (j = 0; j < parts.n && parts.pids[j] != whole.pids[i]; j++)
			;
		if (j == parts.n)
			continue;
		assert_int_equal(whole.ns[i][SPAN_RUNNING], parts.ns[j][SPAN_RUNNING]);
		assert_int_equal(whole.ns[i][SPAN_WOKEN], parts.ns[j][SPAN_WOKEN]);
		assert_int_equal(whole.ns[i][SPAN_BLOCKED], parts.ns[j][SPAN_BLOCKED]);
		assert_int_equal(whole.ns[i][SPAN_SLEEPING], parts.ns[j][SPAN_SLEEPING]);
	}
	if (exact)
		assert_int_equal(running_ns, whole.kinds[SLICE_TASK]);
	assert_true(running_ns > 0);
	close_recording(&r);
}

static void test_recordings(void **state)
{
	(void)state;
	check_recording("ftrace_6.18.txt", true);
	check_recording("ftrace_6.18_overwritten.txt", true);
	check_recording("ftrace_6.18_tgid.txt", true);
	check_recording("ftrace_4.19.txt", true);
	check_recording("small-v6.dat", true);
	check_recording("small-v7.dat", true);
}

/* The first numbers of the bytes; tests/system/slices.sh reads all of them. */
static void test_pack(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 1, 1000, 1300);
	struct byte_reader r;
	uint8_t *bytes;
	size_t len;

	(void)state;
	switches(&s, 900, 0, 0, RUNNABLE, 10);
	switches(&s, 1200, 0, 10, SLEEPING, 0);
	switches(&s, 1400, 0, 0, RUNNABLE, 10);
	finish(p);
	assert_int_equal(spans_encode(p, SPANS_PACK_FINAL, &bytes, &len), 0);
	reader_init(&r, bytes, len);
	assert_memory_equal(reader_bytes(&r, 4), "KSL1", 4);
	assert_int_equal(reader_varint(&r), 1000);
	assert_int_equal(reader_varint(&r), 1300);
	assert_int_equal(reader_varint(&r), 1); /* flags */
	assert_int_equal(reader_varint(&r), 1); /* CPUs */
	assert_int_equal(reader_varint(&r), 1); /* tasks */
	assert_int_equal(reader_signed(&r), 10);
	assert_int_equal(reader_signed(&r), -1);
	assert_int_equal(reader_varint(&r), 0);
	assert_int_equal(reader_varint(&r), 1);
	assert_memory_equal(reader_bytes(&r, 1), "a", 1);
	assert_int_equal(reader_varint(&r), 2); /* slices: task 0, idle */
	assert_int_equal(reader_varint(&r), 0);
	assert_int_equal(reader_varint(&r), 200);
	assert_int_equal(reader_varint(&r), 1);
	assert_int_equal(reader_varint(&r), 100);
	assert_int_equal(reader_varint(&r), 2); /* spans: running on 0, sleeping */
	assert_int_equal(reader_varint(&r), 1);
	assert_int_equal(reader_varint(&r), 0);
	assert_int_equal(reader_varint(&r), 200);
	assert_int_equal(reader_varint(&r), 4);
	assert_int_equal(reader_varint(&r), 100);
	assert_int_equal(reader_varint(&r), 0); /* wakeups */
	assert_int_equal(reader_varint(&r), 0); /* losses */
	assert_false(r.bad);
	assert_int_equal(reader_left(&r), 0);
	free(bytes);
	end(&s, p);
}

/* The pid's task that is the nth by birth. */
static void expect_life(const struct spans *p, int32_t pid, uint32_t nth, const char *want)
{
	struct span_task *tasks = p->tasks;
	struct spans copy = *p;
	uint32_t i, k = 0;

	for (i = 0; i < p->n_tasks; i++)
		if (tasks[i].pid == pid && k++ == nth)
			break;
	assert_true(i < p->n_tasks);
	copy.tasks = &tasks[i];
	expect_task(&copy, pid, want);
}

#define ZOMBIE 0x20

/* A pid that is given out again is another task: the first one dies, the second is forked, and is over
 * without an end when the third is. */
static void test_lives(void **state)
{
	struct scenario s;
	struct spans *p = begin(&s, 1, 0, 2000);

	(void)state;
	switches(&s, 0, 0, 10, SLEEPING, 50);
	switches(&s, 100, 0, 50, ZOMBIE, 10);
	forks(&s, 300, 0, 10, 50);
	wakes(&s, 310, 0, 10, SCHED_WAKEUP_NEW, 50, 0);
	switches(&s, 400, 0, 10, SLEEPING, 50);
	switches(&s, 600, 0, 50, SLEEPING, 10);
	forks(&s, 1000, 0, 10, 50);
	wakes(&s, 1010, 0, 10, SCHED_WAKEUP_NEW, 50, 0);
	switches(&s, 1100, 0, 10, SLEEPING, 50);
	switches(&s, 2000, 0, 50, SLEEPING, 10);
	finish(p);
	expect_cpu(p, 0, "50:100 10:300 50:200 10:500 50:900");
	expect_life(p, 50, 0, "run0:100 dead:1900");
	expect_life(p, 50, 1, "unborn:310 woken:90 run0:200 sleep:400 dead:1000");
	expect_life(p, 50, 2, "unborn:1010 woken:90 run0:900");
	end(&s, p);
}

/* A process has the name of its leader, which sleeps all the time; a leader that is in the range is
 * there once. */
static void test_leader(void **state)
{
	const char leader[SCHED_COMM_LEN] = "kiseki", thread[SCHED_COMM_LEN] = "a";
	struct scenario s;
	struct spans *p = begin(&s, 1, 0, 200);
	uint32_t i, leaders = 0;

	(void)state;
	assert_int_equal(info_add_task(&s.info, 5, 5, leader), 0);
	assert_int_equal(info_add_task(&s.info, 10, 5, thread), 0);
	assert_int_equal(info_add_task(&s.info, 20, 10, thread), 0);
	switches(&s, 0, 0, 0, RUNNABLE, 10);
	switches(&s, 200, 0, 10, SLEEPING, 20);
	finish(p);
	for (i = 0; i < p->n_tasks; i++)
		leaders += p->tasks[i].shown && p->tasks[i].pid == 5;
	assert_int_equal(leaders, 1);
	assert_string_equal(get_task(p, 5)->comm, "kiseki");
	assert_int_equal(get_task(p, 5)->n_spans, 0);
	assert_int_equal(get_task(p, 10)->tgid, 5);
	end(&s, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_leader),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_woken_on_its_way_out),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_loss_cut),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_pack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
