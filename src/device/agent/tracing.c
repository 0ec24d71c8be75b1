/* SPDX-License-Identifier: MIT */
/* tracing: see tracing.h. */
#include "device/agent/tracing.h"

#include <errno.h>

#include "device/agent/filter.h"
#include "device/agent/memory.h"
#include "device/agent/recorder.h"
#include "device/agent/resolution.h"
#include "device/agent/source.h"
#include "device/agent/spool.h"

#define REFRESH_MS 1000U     /* of the members of cgroups */
#define CHECK_MS 500U	     /* whether the kernel still records */
#define LAST_ROUNDS_MAX 1000 /* to drain a source that was stopped */
#define LAST_TRIES 10	     /* of a CPU that does not let itself be read */

static const struct device_source_ops *source_of(uint8_t origin)
{
#ifdef HAVE_BPF
	if (origin == ORIGIN_BPF)
		return &source_bpf;
#endif
	return origin == ORIGIN_TRACEFS ? &source_tracefs : NULL;
}

uint32_t tracing_origins(uint32_t known)
{
	const struct device_source_ops *ops;
	uint32_t found = known;
	uint8_t i;

	for (i = ORIGIN_TRACEFS; i < ORIGINS; i++) {
		ops = known >> i & 1 ? NULL : source_of(i);
		if (ops && ops->probe(NULL) >= 0)
			found |= 1U << i;
	}
	return found;
}

/* BPF is the cheaper one, so it goes first. With tracefs the reason is left in e, as the source that
 * every kernel could have. */
static int choose(uint8_t wanted, uint8_t *ret, struct error *e)
{
	static const uint8_t order[] = { ORIGIN_BPF, ORIGIN_TRACEFS };
	const struct device_source_ops *ops = source_of(wanted);
	size_t i;
	int r = -EOPNOTSUPP;

	if (wanted != ORIGIN_AUTO && !ops)
		return error_set(e, EOPNOTSUPP,
				 "cannot record: this agent has no source of kind %u", wanted);
	if (ops)
		r = ops->probe(e);
	*ret = wanted;
	for (i = 0; wanted == ORIGIN_AUTO && i < 2 && r < 0; i++) {
		ops = source_of(order[i]);
		if (ops)
			r = ops->probe(e);
		*ret = order[i];
	}
	return r;
}

/* An agent that goes on with the run must come to the same, so what was measured is kept with it. */
static void take_config(struct tracing *t, const struct message_config *c)
{
	t->config = *c;
	t->resolution_shift = 0;
	if (!c->resolution_ns)
		t->resolution_shift = resolution_auto();
	while (t->resolution_shift < 30 && 2U << t->resolution_shift <= c->resolution_ns)
		t->resolution_shift++;
	t->config.given |= 1U << CONFIG_RESOLUTION;
	t->config.resolution_ns = 1U << t->resolution_shift;
}

/* Off, whatever was on. */
static void put_away(struct tracing *t, bool keep)
{
	if (t->source)
		t->source->ops->free(t->source, keep);
	filter_free(t->filter);
	t->source = NULL;
	t->filter = NULL;
}

static int begin(struct tracing *t, bool resume, struct error *e)
{
	struct recorder_run run = { .config = &t->config,
				    .origin = t->origin,
				    .resolution_shift = t->resolution_shift };
	struct source_options o = { .config = &t->config,
				    .memory = t->memory,
				    .cpus = t->cpus,
				    .resolution_shift = t->resolution_shift,
				    .instance = t->instance,
				    .resume = resume };
	int r = filter_new(&t->filter, &t->config, e);

	if (r < 0)
		return r;
	o.filter = t->filter;
	r = source_of(t->origin)->open(&t->source, &o, e);
	if (r < 0)
		return r;
	run.source = t->source;
	spool_set_policy(t->spool, t->config.policy);
	r = resume ? recorder_resume(t->recorder, &run, e) : recorder_start(t->recorder, &run, e);
	if (r < 0)
		return r;
	r = t->source->ops->start(t->source, e);
	if (r < 0)
		recorder_stop(t->recorder, NULL); /* a run without events, but with an end */
	return r;
}

int tracing_start(struct tracing *t, const struct message_config *c, struct error *e)
{
	struct spool_run run;
	int r = choose(c->origin, &t->origin, e);

	take_config(t, c);
	if (r >= 0)
		r = begin(t, false, e);
	if (r >= 0)
		return 0;
	put_away(t, false);
	if (spool_get_current(t->spool, SPOOL_EVENTS, &run))
		spool_abandon(t->spool, SPOOL_EVENTS);
	return r;
}

int tracing_resume(struct tracing *t, struct message_config *ret_config, struct error *e)
{
	struct spool_run run;
	int r;

	if (!spool_get_current(t->spool, SPOOL_EVENTS, &run))
		return error_set(e, ENOENT, "cannot go on with a run: there is none");
	*ret_config = run.config;
	t->origin = run.origin;
	take_config(t, &run.config);
	if (!memory_is_same_boot(t->memory))
		r = error_set(e, ESTALE, "cannot go on with the run of an earlier boot");
	else if (!source_of(run.origin))
		r = error_set(e, EOPNOTSUPP,
			      "cannot go on with a run: this agent lacks its source");
	else
		r = begin(t, true, e);
	if (r >= 0)
		return 0;
	put_away(t, false);
	spool_abandon(t->spool, SPOOL_EVENTS);
	return r;
}

/* A CPU that cannot be read is no reason to leave the others full. */
static int drain_all(struct tracing *t, struct error *e)
{
	uint32_t cpu;
	int r, much = 0, first = 0;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		r = t->source->ops->drain(t->source, cpu, t->recorder, first < 0 ? NULL : e);
		if (r < 0 && !first)
			first = r;
		much |= r > 0;
	}
	return first < 0 ? first : much;
}

/* The last of a CPU. What was not read goes with the source: nobody will know how much it was. */
static int drain_last(struct tracing *t, uint32_t cpu, struct error *e)
{
	int rounds = LAST_ROUNDS_MAX, tries = LAST_TRIES, r;

	do {
		r = t->source->ops->drain(t->source, cpu, t->recorder, e);
		tries -= r < 0;
	} while ((r > 0 && --rounds) || (r < 0 && tries));
	if (r < 0)
		recorder_lose(t->recorder, cpu, LOSS_RING, LOSS_UNKNOWN,
			      recorder_ring_total(t->recorder, cpu));
	return r < 0 ? r : 0;
}

static int check(struct tracing *t, uint64_t now_ms, struct error *e)
{
	if (now_ms - t->checked_ms < CHECK_MS || !t->source->ops->check)
		return 0;
	t->checked_ms = now_ms;
	return t->source->ops->check(t->source, t->recorder, e);
}

int tracing_drain(struct tracing *t, uint64_t now_ms, struct error *e)
{
	int much, r;

	if (t->filter && now_ms - t->refreshed_ms >= REFRESH_MS) {
		t->refreshed_ms = now_ms;
		filter_refresh(t->filter, NULL); /* a cgroup may come and go */
	}
	much = drain_all(t, e);
	r = check(t, now_ms, much < 0 ? NULL : e);
	recorder_tick(t->recorder, now_ms);
	return much < 0 || r >= 0 ? much : r;
}

int tracing_stop(struct tracing *t, struct error *e)
{
	int r, first = t->source->ops->stop(t->source, e);
	uint32_t cpu;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		r = drain_last(t, cpu, first < 0 ? NULL : e);
		first = first < 0 ? first : r;
	}
	r = recorder_stop(t->recorder, first < 0 ? NULL : e);
	put_away(t, false);
	return first < 0 ? first : r;
}

void tracing_leave(struct tracing *t)
{
	put_away(t, true);
}

int tracing_wake_fd(const struct tracing *t)
{
	return t->source ? t->source->ops->wake_fd(t->source) : -1;
}
