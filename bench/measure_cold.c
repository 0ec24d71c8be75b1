/* SPDX-License-Identifier: MIT */
/*
 * measure_cold: see measure.h.
 *
 * A probe runs between other things, so its tables are seldom in the first cache. Here a stream is
 * encoded until the models are warm; from then on a block of other memory is read before each
 * event. The event itself is touched afterwards, as it would be in a kernel, which has just made
 * it. The cost of the two clock reads, taken the same way, is subtracted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "measure.h"
#include "wire/sched_encode.h"

#define LINE 64U
#define WARM_EVENTS 50000U
#define COLD_EVENTS 4000U
#define ROOM (64U * 1024)

static const uint32_t walks_kib[] = { 0, 64, 256, 2048 };

struct cold_run {
	struct sched_encoder *encoder;
	uint8_t *payload;
	uint8_t *walked;
	size_t walked_len;
	uint64_t times[COLD_EVENTS];
};

static void walk(const struct cold_run *run)
{
	const volatile uint8_t *p = run->walked;
	size_t i;

	for (i = 0; i < run->walked_len; i += LINE)
		(void)p[i];
}

static void encode(struct cold_run *run, const struct sched_event *ev)
{
	if (run->encoder->rc.pos > ROOM / 2) {
		sched_encoder_end(run->encoder);
		sched_encoder_begin(run->encoder, run->payload, ROOM, ev->tick);
	}
	sched_encode(run->encoder, ev);
}

static uint64_t time_event(struct cold_run *run, const struct sched_event *from)
{
	struct sched_event ev;
	uint64_t start;

	walk(run);
	ev = *from;
	__asm__ volatile("" : : "r"(&ev) : "memory");
	start = stopwatch_wall_ns();
	encode(run, &ev);
	return stopwatch_wall_ns() - start;
}

static uint64_t time_nothing(struct cold_run *run)
{
	uint64_t start;

	walk(run);
	start = stopwatch_wall_ns();
	return stopwatch_wall_ns() - start;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the times; interrupts are in the last hundredth. */
static void summarise(uint64_t *times, size_t n, double *ret_median, double *ret_mean)
{
	size_t i, kept = n - n / 100;
	double sum = 0;

	qsort(times, n, sizeof(*times), compare);
	for (i = 0; i < kept; i++)
		sum += (double)times[i];
	*ret_median = (double)times[n / 2];
	*ret_mean = sum / (double)kept;
}

static void measure_walk(struct cold_run *run, const struct cpu_events *c, struct cold_result *ret)
{
	size_t warm = c->n / 2 < WARM_EVENTS ? c->n / 2 : WARM_EVENTS;
	size_t n = c->n - warm < COLD_EVENTS ? c->n - warm : COLD_EVENTS, i;
	double clock_median, clock_mean;

	for (i = 0; i < n; i++)
		run->times[i] = time_nothing(run);
	summarise(run->times, n, &clock_median, &clock_mean);
	sched_encoder_init(run->encoder, 0);
	sched_encoder_begin(run->encoder, run->payload, ROOM, c->event[0].tick);
	for (i = 0; i < warm; i++)
		encode(run, &c->event[i]);
	for (i = 0; i < n; i++)
		run->times[i] = time_event(run, &c->event[warm + i]);
	summarise(run->times, n, &ret->median_ns, &ret->mean_ns);
	ret->median_ns -= clock_median;
	ret->mean_ns -= clock_mean;
}

/* The CPU with the most events. */
static const struct cpu_events *busiest(const struct events *ev)
{
	const struct cpu_events *best = &ev->cpu[0];
	uint32_t cpu;

	for (cpu = 1; cpu < ev->info.cpus; cpu++)
		if (ev->cpu[cpu].n > best->n)
			best = &ev->cpu[cpu];
	return best;
}

int measure_cold(const struct measure *m, const struct events *ev, struct error *e)
{
	size_t n = sizeof(walks_kib) / sizeof(walks_kib[0]), i;
	size_t walked_max = (size_t)walks_kib[n - 1] * 1024;
	_cleanup_free_ struct sched_encoder *encoder = malloc(sizeof(*encoder));
	_cleanup_free_ uint8_t *payload = malloc(ROOM);
	_cleanup_free_ uint8_t *walked = malloc(walked_max);
	_cleanup_free_ struct cold_run *run = calloc(1, sizeof(*run));

	if (!encoder || !payload || !walked || !run)
		return error_set(e, ENOMEM, "out of memory");
	memset(walked, 1, walked_max);
	run->encoder = encoder;
	run->payload = payload;
	run->walked = walked;
	for (i = 0; i < n; i++) {
		struct cold_result *row = &m->result->cold[m->result->n_cold++];

		row->walked_kib = walks_kib[i];
		run->walked_len = (size_t)walks_kib[i] * 1024;
		measure_walk(run, busiest(ev), row);
	}
	return 0;
}
