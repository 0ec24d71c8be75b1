/* SPDX-License-Identifier: MIT */
/*
 * boot: machines of which everything is known, recorded as a recorder would, against what the definitions say.
 *
 * The reference is not how boot_spans does it: what a process was seen doing in each pass is kept in a table, and the
 * state at any moment is looked up there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot.h"
#include "tools/boot_story.h"
#include "unit/boot_check.h"

#define MS BOOT_STORY_MS
#define PASSES 80U
#define LIVES 120U
#define PIDS 40U
#define PARTS 12U
#define START (500 * MS)
#define PROC_STEP (10 * MS) /* of a start in /proc, and of coarse counters */
#define ROUNDS 60U

/* What a process did from then on. */
struct part {
	uint64_t ns;
	char state;
	uint32_t percent; /* of a CPU, while it runs */
};

struct life {
	uint32_t pid;
	uint64_t from, to; /* UINT64_MAX: it stays */
	struct part parts[PARTS];
	size_t n_parts;
	char seen[PASSES];     /* 0: it was not there */
	uint64_t told[PASSES]; /* its counter then */
	char said;	       /* as last said */
	uint64_t said_ns;
	bool is_found, is_over;
};

struct machine {
	uint64_t seed;
	bool has_events, is_coarse;
	uint64_t passes[PASSES];
	struct life lives[LIVES];
	size_t n;
	struct boot_story *story;
};

static uint64_t below(struct machine *m, uint64_t n)
{
	m->seed = m->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (m->seed >> 33) % n;
}

/* --- what happens --- */

static void make_parts(struct machine *m, struct life *l)
{
	static const char states[] = "RRSSDST";
	uint64_t at = l->from;

	for (l->n_parts = 0; l->n_parts < PARTS; l->n_parts++) {
		l->parts[l->n_parts] = (struct part){ .ns = at,
						      .state = states[below(m, 7)],
						      .percent = (uint32_t)below(m, 101) };
		at += (1 + below(m, 120)) * MS + below(m, MS);
	}
}

/* One after the other for each pid, so that numbers are used again. */
static void make_lives(struct machine *m)
{
	uint64_t end = m->passes[PASSES - 1], at, length;
	uint32_t pid;

	for (pid = 1; pid <= PIDS && m->n < LIVES; pid++) {
		at = below(m, 3) ? START + below(m, 400) * MS + 1 : START - below(m, 300) * MS;
		while (at < end && m->n < LIVES) {
			struct life *l = &m->lives[m->n++];

			length = below(m, 2) ? below(m, 30 * MS) + 1 : below(m, 600 * MS) + 1;
			l->pid = pid;
			l->from = at;
			l->to = below(m, 6) ? at + length : UINT64_MAX;
			make_parts(m, l);
			if (l->to >= end)
				l->to = UINT64_MAX;
			at = l->to == UINT64_MAX ? end : l->to + (30 + below(m, 200)) * MS;
		}
	}
}

static const struct part *part_at(const struct life *l, uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < l->n_parts && l->parts[i + 1].ns <= ns)
		i++;
	return &l->parts[i];
}

static uint64_t cpu_at(const struct life *l, uint64_t ns)
{
	uint64_t sum = 0, to;
	size_t i;

	for (i = 0; i < l->n_parts && l->parts[i].ns < ns; i++) {
		to = i + 1 < l->n_parts && l->parts[i + 1].ns < ns ? l->parts[i + 1].ns : ns;
		if (l->parts[i].state == 'R')
			sum += (to - l->parts[i].ns) / 100 * l->parts[i].percent;
	}
	return sum;
}

static bool is_there(const struct life *l, uint64_t ns)
{
	return l->from <= ns && ns < l->to;
}

/* --- what is recorded --- */

static void record_events(struct machine *m, struct life *l, uint64_t after, uint64_t until)
{
	if (!m->has_events)
		return;
	if (l->from > after && l->from <= until) {
		boot_story_start(m->story, l->from, l->pid, 0);
		l->is_found = true;
	}
	if (l->to > after && l->to <= until && l->from > START) {
		boot_story_exit(m->story, l->to, l->pid, 0);
		boot_story_account(m->story, l->to, l->pid, cpu_at(l, l->to), 0);
		l->is_over = true;
	} else if (l->to > after && l->to <= until && l->is_found) {
		boot_story_exit(m->story, l->to, l->pid, 0);
		boot_story_account(m->story, l->to, l->pid, cpu_at(l, l->to), 0);
		l->is_over = true;
	}
}

static void say(struct machine *m, struct life *l, uint64_t pass)
{
	if (!l->is_found)
		boot_story_found(m->story, m->passes[pass], l->pid, 0,
				 l->from - l->from % PROC_STEP);
	l->is_found = true;
	l->said = l->seen[pass];
	l->said_ns = l->told[pass];
	boot_story_task(m->story, m->passes[pass], l->pid, l->said, l->said_ns);
}

/* Everything once more, as a segment begins. */
static void say_again(struct machine *m, struct life *l, uint64_t pass)
{
	struct boot_event e = { .tick = m->passes[pass], .kind = BOOT_START, .key = l->pid };
	bool by_event = m->has_events && l->from > START;

	e.number[BOOT_START_GROUP] = l->pid;
	e.number[BOOT_START_TICK] = by_event ? l->from : l->from - l->from % PROC_STEP;
	e.number[BOOT_START_HOW] = by_event ? BOOT_BY_EVENT : BOOT_BY_PROC;
	boot_story_put(m->story, &e);
	say(m, l, pass);
}

static void record_pass(struct machine *m, uint64_t pass)
{
	uint64_t now = m->passes[pass];
	bool is_segment = !below(m, 15);
	struct life *l;
	size_t i;

	for (i = 0; i < m->n; i++) {
		l = &m->lives[i];
		if (is_there(l, now)) {
			l->seen[pass] = part_at(l, now)->state;
			l->told[pass] = cpu_at(l, now);
			if (m->is_coarse)
				l->told[pass] -= l->told[pass] % PROC_STEP;
			if (l->is_found && is_segment)
				say_again(m, l, pass);
			else if (!l->is_found || l->said != l->seen[pass] ||
				 l->said_ns != l->told[pass])
				say(m, l, pass);
		} else if (l->is_found && !l->is_over && l->to <= now) {
			boot_story_gone(m->story, now, l->pid);
			l->is_over = true;
		}
	}
	boot_story_pass(m->story, now);
}

static void record_all(struct machine *m)
{
	uint64_t pass;
	size_t i;

	for (pass = 0; pass < PASSES; pass++) {
		for (i = 0; pass && i < m->n; i++)
			record_events(m, &m->lives[i], m->passes[pass - 1], m->passes[pass]);
		record_pass(m, pass);
	}
}

static void machine_init(struct machine *m, uint64_t seed)
{
	uint64_t at = START;
	size_t i;

	memset(m, 0, sizeof(*m));
	m->seed = seed * 7919 + 1;
	m->has_events = below(m, 2);
	m->is_coarse = below(m, 2);
	for (i = 0; i < PASSES; i++) {
		m->passes[i] = at;
		at += 15 * MS + below(m, 10 * MS);
	}
	make_lives(m);
	m->story = boot_story_new();
	record_all(m);
}

/* --- what must come of it --- */

static uint64_t first_pass(const struct machine *m, const struct life *l)
{
	uint64_t i;

	for (i = 0; i < PASSES && !l->seen[i]; i++)
		;
	(void)m;
	return i;
}

/* By the definition of a sampled state; BOOT_STATES: any. */
static enum boot_state state_at(const struct machine *m, const struct life *l, uint64_t ns)
{
	uint64_t k = 0, middle;
	char before, after;

	while (k + 1 < PASSES && m->passes[k + 1] <= ns)
		k++;
	before = l->seen[k];
	after = k + 1 < PASSES ? l->seen[k + 1] : 0;
	middle = k + 1 < PASSES ? m->passes[k] + (m->passes[k + 1] - m->passes[k]) / 2 : 0;
	if (before && after)
		return boot_state_parse((uint64_t)(ns < middle ? before : after));
	if (before || after)
		return boot_state_parse((uint64_t)(before ? before : after));
	return first_pass(m, l) == PASSES ? BOOT_STATES : BOOT_UNKNOWN;
}

static const struct boot_span *span_at(const struct boot_process *p, uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < p->n_spans && p->spans[i].to_ns <= ns)
		i++;
	return &p->spans[i];
}

static void check_states(struct machine *m, const struct life *l, const struct boot_process *p)
{
	enum boot_state expected;
	uint64_t ns;
	int i;

	for (i = 0; i < 100; i++) {
		ns = p->from_ns + below(m, p->to_ns - p->from_ns);
		expected = state_at(m, l, ns);
		if (expected != BOOT_STATES)
			assert_int_equal(span_at(p, ns)->state, expected);
	}
}

static uint64_t last_told(const struct life *l)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < PASSES; i++)
		most = l->told[i] > most ? l->told[i] : most;
	return most;
}

static void check_cpu(const struct machine *m, const struct life *l, const struct boot_process *p)
{
	uint64_t used = last_told(l), ran = boot_process_ran(p), off = p->n_spans, i;
	bool was_there = l->from <= START;

	if (m->has_events && l->to != UINT64_MAX)
		used = cpu_at(l, l->to) > used ? cpu_at(l, l->to) : used;
	if (was_there)
		used -= l->told[0];
	assert_int_equal(p->cpu_ns, used);
	for (i = 0; i < p->n_spans; i++)
		if ((p->spans[i].to_ns - p->spans[i].from_ns) / 1000 > off)
			off = (p->spans[i].to_ns - p->spans[i].from_ns) / 1000 + p->n_spans;
	assert_true(ran <= used + off);
	if (!was_there || !m->is_coarse) /* the first of a coarse counter may be late, too */
		assert_true(ran + off >= used);
}

static void check_life(struct machine *m, const struct life *l, const struct boot_process *p)
{
	uint64_t first = first_pass(m, l);
	bool was_there = l->from <= START;

	assert_int_equal(p->was_there, was_there);
	if (m->has_events && !was_there)
		assert_int_equal(p->from_ns, l->from);
	else if (!was_there)
		assert_int_equal(p->from_ns, l->from - l->from % PROC_STEP < START
						     ? START
						     : l->from - l->from % PROC_STEP);
	assert_int_equal(p->is_alive, l->to == UINT64_MAX);
	if (l->to != UINT64_MAX && m->has_events)
		assert_int_equal(p->to_ns, l->to);
	else if (l->to != UINT64_MAX) /* known to a pass */
		assert_true(p->to_ns + p->to_error_ns >= l->to &&
			    p->to_ns <= l->to + p->to_error_ns);
	check_states(m, l, p);
	check_cpu(m, l, p);
	if (first == PASSES) {
		assert_true(m->has_events);
		assert_int_equal(p->n_spans, 1);
		assert_int_equal(p->cpu_ns, cpu_at(l, l->to));
	}
}

/* Its n-th life of that pid. */
static const struct boot_process *find(const struct boot *b, const struct machine *m,
				       const struct life *l)
{
	const struct boot_process *found = NULL;
	size_t i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == (int32_t)l->pid &&
		    b->processes[i].from_ns <= (l->from > START ? l->from : START) &&
		    (!found || b->processes[i].from_ns > found->from_ns))
			found = &b->processes[i];
	(void)m;
	return found;
}

static void test_machines(void **state)
{
	struct error e = ERROR_INIT;
	static struct machine m;
	size_t i, n;
	uint64_t round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		CLEANUP(boot_source) struct boot_source *source = NULL;
		CLEANUP(boot) struct boot *b = NULL;

		machine_init(&m, round);
		boot_story_open(m.story, &source);
		assert_int_equal(boot_new(&b, source, &e), 0);
		boot_check(b);
		for (i = 0, n = 0; i < m.n; i++) {
			if (!m.lives[i].is_found) /* nobody could know of it */
				continue;
			n++;
			assert_non_null(find(b, &m, &m.lives[i]));
			check_life(&m, &m.lives[i], find(b, &m, &m.lives[i]));
		}
		assert_int_equal(b->n_processes, n);
		assert_true(n > 20);
		boot_story_free(m.story);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_machines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
