/* SPDX-License-Identifier: MIT */
/*
 * source_graph_dat: see source_graph_dat.h.
 *
 * The records of all CPUs are taken in the order of their stamps. An exit says when its call began and
 * ended by the local clock; where that stamps the records too, these moments are used, so durations
 * are those of `trace-cmd report`. With another clock the records' stamps are, and the exit's two times
 * only say how long the call took.
 */
#include "convert/source_graph_dat.h"

#include <errno.h>
#include <stdlib.h>

#include "convert/graph_file.h"
#include "convert/graph_source.h"
#include "convert/graph_symbols.h"
#include "convert/tracedat.h"
#include "ftrace/graph.h"

struct reader {
	struct tracedat dat;
	struct trace_info info;
	struct graph_map map;
	bool has_map;
	struct graph_calls calls;
	struct graph_symbols symbols;
	struct tracedat_cpu *cpus;
	bool *at_end;
	uint32_t n_cpus;
	uint64_t stamp_add; /* tick = stamp + this */
	bool is_local;
};

static int out_of_memory(int r, struct error *e)
{
	return error_set(e, -r,
			 r == -E2BIG ? "trace.dat: too many threads, functions or calls"
				     : "out of memory");
}

/* --- the head --- */

static int take_format(void *context, const char *text, size_t len, struct error *e)
{
	struct reader *r = context;
	int added;

	if (!r->has_map) {
		graph_map_init(&r->map, r->dat.big_endian);
		r->has_map = true;
	}
	added = graph_map_add(&r->map, text, len, e);
	return added < 0 ? added : 0;
}

static int take_kallsyms(void *context, const char *text, size_t len, struct error *e)
{
	struct reader *r = context;
	int failed = graph_symbols_set_kallsyms(&r->symbols, text, len);

	return failed < 0 ? out_of_memory(failed, e) : 0;
}

static int open_cpus(struct reader *r, struct error *e)
{
	const struct tracedat_buffer *b;
	uint32_t n = 0, i;
	size_t at;

	for (at = 0; at < r->dat.n_buffers; at++)
		n += r->dat.buffers[at].n_ranges;
	r->cpus = calloc(n ? n : 1, sizeof(*r->cpus));
	r->at_end = calloc(n ? n : 1, sizeof(*r->at_end));
	if (!r->cpus || !r->at_end)
		return out_of_memory(-ENOMEM, e);
	for (at = 0; at < r->dat.n_buffers; at++) {
		b = &r->dat.buffers[at];
		for (i = 0; i < b->n_ranges; i++)
			tracedat_cpu_open(&r->cpus[r->n_cpus++], &r->dat, b, &b->ranges[i]);
	}
	return 0;
}

static int open_head(struct reader *r, struct import_bytes in, struct error *e)
{
	const struct tracedat_wants wants = { take_format, take_kallsyms, r };
	int failed = tracedat_open_wanting(&r->dat, in, &r->info, &wants, e);

	if (failed < 0)
		return failed;
	if (!r->has_map || !graph_map_has_calls(&r->map))
		return error_set(e, ENODATA, "it holds no calls");
	/* As source_tracedat: a counter is scaled by the clock, plain stamps are shifted here. */
	r->stamp_add = r->dat.tsc_mult ? 0 : (uint64_t)r->dat.stamp_add_ns;
	r->is_local = !r->dat.tsc_mult &&
		      (!r->info.clock.name[0] || !strcmp(r->info.clock.name, "local"));
	return open_cpus(r, e);
}

/* --- records --- */

static int get_thread(struct reader *r, int32_t pid, uint32_t cpu, uint32_t *ret)
{
	const struct trace_task *task = pid > 0 ? info_get_task(&r->info, pid) : NULL;
	int failed = graph_calls_get_thread(&r->calls, pid < 0 ? 0 : pid, cpu, ret);

	if (failed == 0 && task)
		graph_calls_set_comm(&r->calls, *ret, task->comm, sizeof(task->comm));
	else if (failed == 0 && pid <= 0)
		graph_calls_set_comm(&r->calls, *ret, "<idle>", 6);
	return failed;
}

static int push_loss(struct reader *r, struct tracedat_cpu *c, uint32_t thread, uint64_t tick)
{
	struct graph_record loss = { .tick = tick, .value = c->missed, .kind = GRAPH_LOSS };

	if (!c->missed)
		return 0;
	c->missed = 0;
	return graph_calls_push(&r->calls, thread, &loss);
}

/* When the call began and ended, as far as the exit's times fit the record. */
static void place_exit(const struct reader *r, const struct graph_event *ev, struct graph_record *g)
{
	uint64_t took = ev->rettime - ev->calltime;

	if (!ev->rettime || ev->calltime > ev->rettime)
		return;
	if (r->is_local && ev->rettime + r->stamp_add <= g->tick) {
		g->tick = ev->rettime + r->stamp_add;
		g->timed = true;
	}
	g->call_tick = took < g->tick ? g->tick - took : 0;
}

static int take_call(struct reader *r, struct tracedat_cpu *c, const struct graph_event *ev,
		     uint64_t tick)
{
	struct graph_record g = { .tick = tick,
				  .call_tick = GRAPH_NO_TICK,
				  .depth = (uint16_t)ev->depth,
				  .kind = ev->kind == GRAPH_EXIT ? FUNC_EXIT : FUNC_ENTER };
	uint32_t thread, func;
	int failed = get_thread(r, ev->pid, c->cpu, &thread);

	if (failed == 0)
		failed = graph_symbols_get(&r->symbols, ev->func, &func);
	if (failed == 0)
		failed = push_loss(r, c, thread, tick);
	if (failed < 0)
		return failed;
	g.value = func;
	if (ev->kind == GRAPH_EXIT)
		place_exit(r, ev, &g);
	if (ev->kind != GRAPH_FUNCTION)
		return graph_calls_push(&r->calls, thread, &g);
	/* Without depth and end: below whatever is open, and over at once. */
	g.depth = GRAPH_DEPTH_MAX - 1;
	failed = graph_calls_push(&r->calls, thread, &g);
	g.kind = FUNC_EXIT;
	g.call_tick = tick;
	return failed < 0 ? failed : graph_calls_push(&r->calls, thread, &g);
}

static int push_os(struct reader *r, uint32_t cpu, int32_t pid, struct graph_record g)
{
	uint32_t thread;
	int failed = get_thread(r, pid, cpu, &thread);

	g.kind = FUNC_OS;
	g.call_tick = GRAPH_NO_TICK;
	return failed < 0 ? failed : graph_calls_push(&r->calls, thread, &g);
}

static int take_sched(struct reader *r, struct tracedat_cpu *c, const struct sched_event *ev,
		      uint64_t tick)
{
	const struct sched_dialect *d = &r->info.dialect;
	struct graph_record g = { .tick = tick };
	int failed;

	if (ev->kind == SCHED_WAKING) {
		g.os = FUNC_OS_WAKING;
		g.value = (uint64_t)(uint32_t)ev->pid;
		return push_os(r, c->cpu, ev->task.pid, g);
	}
	if (ev->kind != SCHED_SWITCH)
		return 0;
	g.os = FUNC_OS_SWITCH_OUT;
	g.value = ev->state & d->state_preempt ? 0 : ev->state & d->state_mask;
	failed = push_os(r, c->cpu, ev->task.pid, g);
	if (failed < 0)
		return failed;
	g.os = FUNC_OS_SWITCH_IN;
	g.value = c->cpu;
	return push_os(r, c->cpu, ev->other.pid, g);
}

static int take_record(struct reader *r, struct tracedat_cpu *c, struct error *e)
{
	uint64_t tick = c->record.stamp + r->stamp_add;
	struct graph_event call;
	struct sched_event ev;
	int got = graph_map_decode(&r->map, c->record.data, c->record.len, &call), failed = 0;

	if (got > 0) {
		failed = take_call(r, c, &call, tick);
	} else if (got == 0) {
		got = sched_map_decode(&r->dat.map, c->record.data, c->record.len, &ev);
		if (got > 0)
			failed = take_sched(r, c, &ev, tick);
	}
	if (got < 0)
		return error_set(e, EBADMSG,
				 "trace.dat: a record of CPU %u of %u bytes is not as its format "
				 "says",
				 c->cpu, c->record.len);
	return failed < 0 ? out_of_memory(failed, e) : 0;
}

/* --- all CPUs in the order of time --- */

static int move_on(struct reader *r, uint32_t i, struct error *e)
{
	int got = tracedat_cpu_next(&r->cpus[i], e);

	r->at_end[i] = got == 0;
	return got < 0 ? got : 0;
}

/* The CPU with the earliest record; n_cpus when there is none left. A machine has few of them, and a
 * CPU's records come in runs, so the one that was first last time is asked first. */
static uint32_t find_first(const struct reader *r)
{
	uint32_t best = r->n_cpus, i;

	for (i = 0; i < r->n_cpus; i++)
		if (!r->at_end[i] &&
		    (best == r->n_cpus || r->cpus[i].record.stamp < r->cpus[best].record.stamp))
			best = i;
	return best;
}

static int read_records(struct reader *r, struct error *e)
{
	uint32_t i;
	int failed = 0;

	for (i = 0; i < r->n_cpus && failed == 0; i++)
		failed = move_on(r, i, e);
	while (failed == 0 && (i = find_first(r)) < r->n_cpus) {
		failed = take_record(r, &r->cpus[i], e);
		if (failed == 0)
			failed = move_on(r, i, e);
	}
	return failed;
}

static int make_source(struct reader *r, struct func_source **ret, struct error *e)
{
	struct graph_source_parts parts = { .n_names = 0 };
	int failed = graph_calls_finish(&r->calls);

	if (failed == 0)
		failed = graph_symbols_dup_names(&r->symbols, &parts.names);
	if (failed < 0)
		return out_of_memory(failed, e);
	if (r->calls.n && clock_is_ticks(&r->info.clock))
		return error_set(
			e, EOPNOTSUPP,
			"its clock %s counts ticks of unknown length, so its calls have no "
			"durations",
			r->info.clock.name);
	parts.n_names = r->symbols.n;
	parts.clock = r->info.clock;
	parts.origin = r->dat.version == 7 ? "trace.dat v7" : "trace.dat v6";
	parts.calls = r->calls;
	graph_calls_init(&r->calls, 0);
	return graph_source_new(&parts, ret, e);
}

static void reader_done(struct reader *r)
{
	uint32_t i;

	for (i = 0; i < r->n_cpus; i++)
		tracedat_cpu_close(&r->cpus[i]);
	free(r->cpus);
	free(r->at_end);
	graph_calls_done(&r->calls);
	graph_symbols_done(&r->symbols);
	tracedat_done(&r->dat);
	info_done(&r->info);
}

int source_graph_dat_open_bytes(struct import_bytes in, struct func_source **ret, struct error *e)
{
	struct reader r = { .n_cpus = 0 };
	int failed;

	graph_calls_init(&r.calls, 0);
	graph_symbols_init(&r.symbols);
	if (info_init(&r.info) < 0)
		return out_of_memory(-ENOMEM, e);
	failed = open_head(&r, in, e);
	if (failed == 0)
		failed = read_records(&r, e);
	if (failed == 0)
		failed = make_source(&r, ret, e);
	reader_done(&r);
	return failed;
}

int source_graph_dat_open(const char *path, struct func_source **ret, struct error *e)
{
	return graph_file_open(path, source_graph_dat_open_bytes, ret, e);
}

bool graph_dat_is(const uint8_t *head, size_t len)
{
	return len >= TRACEDAT_MAGIC_LEN && !memcmp(head, TRACEDAT_MAGIC, TRACEDAT_MAGIC_LEN);
}
