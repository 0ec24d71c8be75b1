/* SPDX-License-Identifier: MIT */
/*
 * source_graph_text: see source_graph_text.h.
 *
 * Times in the text are whole microseconds, durations are nanoseconds. Each thread has a moment up to
 * which it is known; an entry is at its printed time or at that moment, whichever is later, and an exit
 * one duration behind its entry, but not behind the next printed time: a duration counts from the call,
 * a time is that of the record, which is written a little later. Where both do not fit, the entry moves
 * (graph_calls). So durations are as printed, and times are wrong by a microsecond at most.
 *
 * Whose line it is, the task column says; without it the banners do, which name the task that goes and
 * the one that comes. The first banner of each CPU is looked for in advance: it tells who was there
 * before.
 *
 * Without any times, time is the sum of durations. A call without its entry ends where the text is, and
 * began one duration before that, if need be before all that was read: what is deeper and was read
 * before lies in it. Only where its duration is too short for that, or something that is not deeper was
 * read within it, does it begin behind those.
 */
#include "convert/source_graph_text.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/graph_file.h"
#include "convert/graph_line.h"
#include "convert/graph_names.h"
#include "convert/graph_source.h"
#include "store/array.h"
#include "wire/loss.h"

#define TEXT_SLACK_NS 999U /* a printed time is cut to microseconds */
/* Where an exit was this much later than its duration says, the duration leaves sleep out. */
#define SLEPT_NS 100000U

#define SAME_DEPTH_MAX 8U
/* Where the time of CPUs begins that have no times: a call without its entry may have begun before. All
 * is shifted to 0 at the end. */
#define BASE_NS (1ULL << 62)

struct open_call {
	uint64_t tick;
	uint64_t until; /* another call of its depth began, so it had ended; or GRAPH_NO_TICK */
	uint64_t from;	/* what was known before that */
	uint32_t func;
	uint32_t depth;
};

/* The last record of a depth, where nothing of a lower one came after it. */
struct last_record {
	uint64_t tick;
	uint64_t from; /* where it began, and all that it stands for */
	uint32_t depth;
};

/* What is known of a thread while its lines are read; beside struct graph_thread. */
struct progress {
	uint64_t now;
	struct open_call *open;
	size_t n, room;
	struct last_record *last; /* by rising depth; only where there are no times */
	size_t n_last, room_last;
};

struct cpu {
	int32_t pid; /* that runs, as far as banners tell; GRAPH_NO_PID */
	struct text_span comm;
	uint64_t now;
	uint64_t lost;
	bool seen;
};

struct reader {
	struct graph_calls calls;
	struct graph_names names;
	struct progress *progress;
	size_t n_progress, room_progress;
	struct cpu *cpus; /* TRACE_CPUS_MAX of them */
	bool has_times, has_rel_time;
	uint32_t unknown; /* number of the name of an exit without one */
};

static void reader_done(struct reader *r)
{
	size_t i;

	for (i = 0; i < r->n_progress; i++) {
		free(r->progress[i].open);
		free(r->progress[i].last);
	}
	free(r->progress);
	free(r->cpus);
	graph_calls_done(&r->calls);
	graph_names_done(&r->names);
}

static int reader_init(struct reader *r)
{
	size_t i;

	memset(r, 0, sizeof(*r));
	graph_calls_init(&r->calls, TEXT_SLACK_NS);
	graph_names_init(&r->names);
	r->cpus = calloc(TRACE_CPUS_MAX, sizeof(*r->cpus));
	if (!r->cpus)
		return -ENOMEM;
	for (i = 0; i < TRACE_CPUS_MAX; i++)
		r->cpus[i].pid = GRAPH_NO_PID;
	return graph_names_get(&r->names, "[unknown]", 9, &r->unknown);
}

static struct cpu *cpu_of(struct reader *r, const struct graph_line *l)
{
	return &r->cpus[l->has_cpu && l->cpu < TRACE_CPUS_MAX ? l->cpu : 0];
}

/* The thread of a line, and what is known of it. */
static int find_thread(struct reader *r, const struct graph_line *l, uint32_t *ret,
		       struct progress **ret_progress)
{
	const struct cpu *cpu = cpu_of(r, l);
	int32_t pid = l->has_pid ? l->pid : cpu->pid;
	struct text_span comm = l->has_pid ? l->comm : cpu->comm;
	int failed = graph_calls_get_thread(&r->calls, pid, (uint32_t)(cpu - r->cpus), ret);

	while (failed == 0 && *ret >= r->n_progress) {
		failed = array_grow(&r->progress, r->n_progress, &r->room_progress,
				    sizeof(*r->progress), FUNC_THREADS_MAX);
		if (failed == 0)
			memset(&r->progress[r->n_progress++], 0, sizeof(*r->progress));
	}
	if (failed < 0)
		return failed;
	if (comm.len)
		graph_calls_set_comm(&r->calls, *ret, comm.text, comm.len);
	*ret_progress = &r->progress[*ret];
	return 0;
}

/* A leaf's end was worked out from its duration, which counts from before its record was written: it
 * cannot have been later than the next record. */
static void pull_back(struct reader *r, uint32_t thread, struct progress *p, uint64_t time_ns)
{
	struct graph_thread *t = &r->calls.threads[thread];
	struct graph_record *last;
	uint64_t tick = time_ns;

	if (t->n < 2 || p->now <= time_ns + TEXT_SLACK_NS)
		return;
	last = &t->records[t->n - 1];
	if (last->kind != FUNC_EXIT || last->call_tick == GRAPH_NO_TICK)
		return;
	if (tick < last[-1].tick)
		tick = last[-1].tick;
	if (tick >= last->tick)
		return;
	last->call_tick -=
		last->tick - tick < last->call_tick ? last->tick - tick : last->call_tick;
	last->tick = p->now = tick;
}

/* When a line was, as far as it and those before it tell. */
static uint64_t line_tick(struct reader *r, const struct graph_line *l, uint32_t thread)
{
	struct progress *p = &r->progress[thread];
	uint64_t tick = l->has_time ? l->time_ns : r->has_times ? 0 : cpu_of(r, l)->now;

	if (l->has_time)
		pull_back(r, thread, p, l->time_ns);
	return tick > p->now ? tick : p->now;
}

static void set_now(struct reader *r, const struct graph_line *l, struct progress *p, uint64_t tick)
{
	p->now = tick;
	cpu_of(r, l)->now = tick;
}

/* What is deeper than this is behind us. *ret_from is where it began, GRAPH_NO_TICK if there is none. */
static void pop_deeper(struct progress *p, uint32_t depth, uint64_t *ret_from)
{
	*ret_from = GRAPH_NO_TICK;
	for (; p->n_last && p->last[p->n_last - 1].depth > depth; p->n_last--)
		if (p->last[p->n_last - 1].from < *ret_from)
			*ret_from = p->last[p->n_last - 1].from;
}

static int push_last(const struct reader *r, struct progress *p, uint32_t depth, uint64_t from,
		     uint64_t tick)
{
	struct last_record *same;
	uint64_t deeper;
	int failed;

	if (r->has_times)
		return 0;
	pop_deeper(p, depth, &deeper);
	from = deeper < from ? deeper : from;
	same = p->n_last ? &p->last[p->n_last - 1] : NULL;
	if (same && same->depth == depth) {
		same->tick = tick;
		same->from = from < same->from ? from : same->from;
		return 0;
	}
	failed = array_grow(&p->last, p->n_last, &p->room_last, sizeof(*p->last),
			    GRAPH_DEPTH_MAX + 1);
	if (failed == 0)
		p->last[p->n_last++] = (struct last_record){ tick, from, depth };
	return failed;
}

/* Where a call ends that has no entry, where there are no times. */
static uint64_t orphan_tick(struct progress *p, const struct graph_line *l, uint64_t now)
{
	uint64_t inside, before, tick = now;

	pop_deeper(p, l->depth, &inside);
	before = p->n_last ? p->last[p->n_last - 1].tick : 0;
	if (before + l->duration_ns > tick)
		tick = before + l->duration_ns;
	if (inside != GRAPH_NO_TICK && tick - l->duration_ns > inside)
		tick = now + 1 + l->duration_ns;
	return tick;
}

static int push_loss(struct reader *r, const struct graph_line *l, uint32_t thread, uint64_t tick)
{
	struct cpu *cpu = cpu_of(r, l);
	struct graph_record loss = { .tick = tick, .value = cpu->lost, .kind = GRAPH_LOSS };

	if (!cpu->lost)
		return 0;
	cpu->lost = 0;
	return graph_calls_push(&r->calls, thread, &loss);
}

/* Only an interrupt between the return and its record can be at the depth of a call that is open. */
static void end_same_depth(struct progress *p, uint32_t depth, uint64_t tick)
{
	struct open_call *last;

	while (p->n && p->open[p->n - 1].depth > depth)
		p->n--;
	last = p->n ? &p->open[p->n - 1] : NULL;
	if (last && last->depth == depth && last->until == GRAPH_NO_TICK) {
		last->until = tick;
		last->from = p->now;
	}
}

static int push_open(struct progress *p, struct open_call call)
{
	size_t first = p->n;
	int failed;

	while (first && p->open[first - 1].depth == call.depth)
		first--;
	if (p->n - first >= SAME_DEPTH_MAX) {
		p->n--;
		memmove(&p->open[first], &p->open[first + 1], (p->n - first) * sizeof(*p->open));
	}
	failed = array_grow(&p->open, p->n, &p->room, sizeof(*p->open),
			    SAME_DEPTH_MAX * GRAPH_DEPTH_MAX);
	if (failed == 0)
		p->open[p->n++] = call;
	return failed;
}

/* The call that an exit ends; its name may not be told. */
static bool pop_open(struct progress *p, uint32_t depth, bool has_name, uint32_t func,
		     struct open_call *ret)
{
	size_t i;

	while (p->n && p->open[p->n - 1].depth > depth)
		p->n--;
	for (i = p->n; i > 0 && p->open[i - 1].depth == depth; i--) {
		if (has_name && p->open[i - 1].func != func)
			continue;
		*ret = p->open[i - 1];
		p->n = i - 1;
		return true;
	}
	return false;
}

static int take_enter(struct reader *r, const struct graph_line *l, uint32_t thread,
		      struct progress *p)
{
	struct graph_record g = { .tick = line_tick(r, l, thread),
				  .call_tick = GRAPH_NO_TICK,
				  .depth = (uint16_t)l->depth,
				  .kind = FUNC_ENTER };
	uint32_t func;
	int failed = graph_names_get(&r->names, l->name.text, l->name.len, &func);

	if (failed == 0)
		failed = push_loss(r, l, thread, g.tick);
	g.value = func;
	if (failed == 0)
		failed = graph_calls_push(&r->calls, thread, &g);
	end_same_depth(p, l->depth, g.tick);
	set_now(r, l, p, g.tick);
	if (failed == 0)
		failed = push_last(r, p, l->depth, g.tick, g.tick + l->duration_ns);
	if (failed < 0)
		return failed;
	if (l->kind == GRAPH_LINE_ENTER)
		return push_open(p, (struct open_call){ .tick = g.tick,
							.until = GRAPH_NO_TICK,
							.func = func,
							.depth = l->depth });
	g.kind = FUNC_EXIT;
	g.call_tick = g.tick;
	g.tick += l->duration_ns;
	set_now(r, l, p, g.tick);
	return graph_calls_push(&r->calls, thread, &g);
}

/* One duration behind the entry, unless the printed time is much later: then sleep was left out. */
static void place_exit(const struct graph_line *l, const struct open_call *open, uint64_t now,
		       struct graph_record *g)
{
	uint64_t due = open ? open->tick + l->duration_ns : g->tick;
	uint64_t from = open && open->until != GRAPH_NO_TICK ? open->from : now;

	if (!l->has_duration)
		return;
	if (open && l->has_time && due > l->time_ns + TEXT_SLACK_NS)
		due = l->time_ns + TEXT_SLACK_NS;
	if (open && due > open->until)
		due = open->until;
	if (open && l->has_time && open->until == GRAPH_NO_TICK && due + SLEPT_NS < l->time_ns)
		return;
	if (open)
		g->tick = due > from ? due : from;
	g->call_tick = g->tick > l->duration_ns ? g->tick - l->duration_ns : 0;
}

static uint64_t exit_begin(const struct graph_record *g)
{
	return g->call_tick == GRAPH_NO_TICK ? g->tick : g->call_tick;
}

static int take_exit(struct reader *r, const struct graph_line *l, uint32_t thread,
		     struct progress *p)
{
	struct graph_record g = { .tick = line_tick(r, l, thread),
				  .call_tick = GRAPH_NO_TICK,
				  .depth = (uint16_t)l->depth,
				  .kind = FUNC_EXIT };
	struct open_call open;
	uint32_t func = r->unknown;
	bool found;
	int failed = push_loss(r, l, thread, g.tick);

	if (failed == 0 && l->name.len)
		failed = graph_names_get(&r->names, l->name.text, l->name.len, &func);
	found = pop_open(p, l->depth, l->name.len > 0, func, &open);
	if (found)
		func = open.func;
	g.value = func;
	if (!found && !r->has_times && l->has_duration)
		g.tick = orphan_tick(p, l, g.tick);
	place_exit(l, found ? &open : NULL, p->now, &g);
	set_now(r, l, p, g.tick > p->now ? g.tick : p->now);
	if (failed == 0)
		failed = push_last(r, p, l->depth, found ? open.tick : exit_begin(&g), g.tick);
	return failed < 0 ? failed : graph_calls_push(&r->calls, thread, &g);
}

/* --- the scheduler's events, which stand between the calls as comments --- */

static bool field(struct text_span t, const char *name, struct text_scan *ret)
{
	const char *at = memmem(t.text, t.len, name, strlen(name));

	if (!at)
		return false;
	*ret = (struct text_scan){ at + strlen(name), t.text + t.len };
	return true;
}

/* The letters as bits of the kernel; 0: it could have gone on. */
static uint64_t state_bits(struct text_scan s)
{
	static const char letters[] = "SDTtXZPI";
	uint64_t bits = 0;
	const char *letter;

	for (; scan_left(&s) && *s.at != ' ' && *s.at != '+'; s.at++) {
		letter = *s.at ? strchr(letters, *s.at) : NULL;
		if (letter)
			bits |= 1ULL << (letter - letters);
	}
	return bits;
}

static int push_os(struct reader *r, const struct graph_line *l, int32_t pid, struct graph_record g)
{
	struct graph_line of = *l;
	struct progress *p;
	uint32_t thread;
	int failed;

	of.has_pid = true;
	of.pid = pid;
	of.comm.len = 0;
	failed = find_thread(r, &of, &thread, &p);
	if (failed < 0)
		return failed;
	g.tick = line_tick(r, l, thread);
	g.kind = FUNC_OS;
	g.call_tick = GRAPH_NO_TICK;
	set_now(r, l, p, g.tick);
	return graph_calls_push(&r->calls, thread, &g);
}

static int take_comment(struct reader *r, const struct graph_line *l)
{
	struct text_scan before, state, after;
	struct graph_record g = { .os = FUNC_OS_SWITCH_OUT };
	int32_t pid;
	int failed;

	if (!field(l->text, "sched_switch:", &before) || !field(l->text, " prev_pid=", &before) ||
	    !field(l->text, " prev_state=", &state) || !field(l->text, " next_pid=", &after) ||
	    !scan_i32(&before, &pid))
		return 0;
	g.value = state_bits(state);
	failed = push_os(r, l, pid, g);
	if (failed < 0 || !scan_i32(&after, &pid))
		return failed;
	g.os = FUNC_OS_SWITCH_IN;
	g.value = (uint64_t)(cpu_of(r, l) - r->cpus);
	return push_os(r, l, pid, g);
}

/* --- lines --- */

static void take_switch(struct reader *r, const struct graph_line *l)
{
	struct cpu *cpu = cpu_of(r, l);

	cpu->pid = l->pid;
	cpu->comm = l->comm;
}

static void take_lost(struct reader *r, const struct graph_line *l)
{
	struct cpu *cpu;

	if (l->cpu >= TRACE_CPUS_MAX || !l->count)
		return;
	cpu = &r->cpus[l->cpu];
	cpu->lost = l->count == UINT64_MAX || l->count > LOSS_UNKNOWN - 1 - cpu->lost
			    ? LOSS_UNKNOWN
			    : cpu->lost + l->count;
}

static int take_line(struct reader *r, const struct graph_line *l)
{
	struct progress *p;
	uint32_t thread;
	int failed;

	switch (l->kind) {
	case GRAPH_LINE_SWITCH:
		take_switch(r, l);
		return 0;
	case GRAPH_LINE_LOST:
		take_lost(r, l);
		return 0;
	case GRAPH_LINE_COMMENT:
		return take_comment(r, l);
	case GRAPH_LINE_ENTER:
	case GRAPH_LINE_LEAF:
	case GRAPH_LINE_EXIT:
		failed = find_thread(r, l, &thread, &p);
		if (failed < 0)
			return failed;
		return l->kind == GRAPH_LINE_EXIT ? take_exit(r, l, thread, p)
						  : take_enter(r, l, thread, p);
	default:
		return 0;
	}
}

/* Who ran before the first banner of each CPU, and whether there are times. */
static void look_ahead(struct reader *r, struct text_lines *lines)
{
	struct text_line line;
	struct graph_line l;
	struct cpu *cpu;

	size_t i;

	while (text_lines_next(lines, &line, NULL) > 0) {
		if (line.len && *line.text == '#') {
			r->has_rel_time |= memmem(line.text, line.len, "REL TIME", 8) != NULL;
			continue;
		}
		if (r->has_times && !memmem(line.text, line.len, " => ", 4))
			continue;
		graph_line_parse(&l, &line, r->has_rel_time);
		r->has_times |= l.has_time;
		cpu = cpu_of(r, &l);
		if (l.kind != GRAPH_LINE_SWITCH || cpu->seen)
			continue;
		cpu->seen = true;
		cpu->pid = l.before_pid;
		cpu->comm = l.before_comm;
	}
	for (i = 0; i < TRACE_CPUS_MAX && !r->has_times; i++)
		r->cpus[i].now = BASE_NS;
}

/* Lines of bytes in memory: there is always a next one, or the end. */
static int read_lines(struct reader *r, struct text_lines *lines, struct error *e)
{
	struct text_line line;
	struct graph_line l;
	int failed;

	look_ahead(r, lines);
	text_lines_rewind(lines);
	while (text_lines_next(lines, &line, e) > 0) {
		graph_line_parse(&l, &line, r->has_rel_time);
		failed = take_line(r, &l);
		if (failed < 0)
			return error_set(e, -failed, "line %llu: %s",
					 (unsigned long long)lines->line_no,
					 failed == -E2BIG ? "too many threads, names or calls"
							  : "out of memory");
	}
	return 0;
}

/* The earliest record becomes time 0. */
static void shift_to_zero(struct graph_calls *c)
{
	uint64_t first = UINT64_MAX;
	size_t i, k;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->threads[i].n; k++)
			if (c->threads[i].records[k].tick < first)
				first = c->threads[i].records[k].tick;
	for (i = 0; i < c->n; i++)
		for (k = 0; k < c->threads[i].n; k++)
			c->threads[i].records[k].tick -= first;
}

static int make_source(struct reader *r, struct func_source **ret, struct error *e)
{
	struct graph_source_parts parts = { .n_names = 0 };
	int failed = graph_calls_finish(&r->calls);

	if (failed < 0)
		return error_set(e, -failed, "out of memory");
	if (!r->has_times)
		shift_to_zero(&r->calls);
	clock_init(&parts.clock);
	parts.clock.print_digits = r->has_times ? 6 : 9;
	parts.origin =
		r->has_times ? "function_graph text" : "function_graph text, times from durations";
	parts.calls = r->calls;
	graph_calls_init(&r->calls, 0);
	parts.names = graph_names_take(&r->names, &parts.n_names);
	return graph_source_new(&parts, ret, e);
}

int source_graph_text_open_bytes(struct import_bytes in, struct func_source **ret, struct error *e)
{
	_cleanup_free_ struct text_lines *lines = malloc(sizeof(*lines));
	struct reader r;
	int failed = reader_init(&r);

	if (failed < 0 || !lines) {
		reader_done(&r);
		return error_set(e, ENOMEM, "out of memory");
	}
	text_lines_init_bytes(lines, in.data, in.len);
	failed = read_lines(&r, lines, e);
	if (failed == 0)
		failed = make_source(&r, ret, e);
	text_lines_done(lines);
	reader_done(&r);
	return failed;
}

int source_graph_text_open(const char *path, struct func_source **ret, struct error *e)
{
	return graph_file_open(path, source_graph_text_open_bytes, ret, e);
}

bool graph_text_is(const uint8_t *head, size_t len)
{
	const char *at = (const char *)head, *end, *eol;
	struct text_line line = { .torn = false };
	struct graph_line l;

	if (!at || !len)
		return false;
	end = at + len;
	for (; at < end; at = eol + (eol < end)) {
		eol = memchr(at, '\n', (size_t)(end - at));
		eol = eol ? eol : end;
		line.text = at;
		line.len = (size_t)(eol - at);
		if (line.len && *at == '#') {
			if (memmem(at, line.len, "tracer: function_graph", 22) ||
			    memmem(at, line.len, "FUNCTION CALLS", 14))
				return true;
			continue;
		}
		graph_line_parse(&l, &line, false);
		if ((l.has_column || l.has_cpu) && l.kind >= GRAPH_LINE_ENTER &&
		    l.kind <= GRAPH_LINE_EXIT)
			return true;
	}
	return false;
}
