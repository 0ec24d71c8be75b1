/* SPDX-License-Identifier: MIT */
/* agent_fake: see agent_fake.h. */
#include "tools/agent_fake.h"

#include <string.h>

#include "device/agent/recorder.h"

#define STRETCH 1000U

static uint32_t mix(uint64_t v)
{
	v = (v + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
	return (uint32_t)((v ^ v >> 31) >> 7);
}

/* Where the loss of a stretch starts and how long it is; none in every second. */
static void gap_of(uint32_t cpu, uint64_t stretch, uint64_t *from, uint64_t *to)
{
	uint32_t x = mix(stretch * FAKE_CPUS + cpu);

	*from = stretch * STRETCH + 100 + x % 700;
	*to = *from + (x & 1024 ? 1 + x % 97 : 0);
}

uint64_t fake_lost_below(uint32_t cpu, uint64_t n)
{
	uint64_t stretch, from, to, lost = 0;

	for (stretch = 0; stretch * STRETCH < n; stretch++) {
		gap_of(cpu, stretch, &from, &to);
		if (from < n)
			lost += (to < n ? to : n) - from;
	}
	return lost;
}

/* Time runs back now and then, as it does between interrupts. */
static void make_event(struct sched_event *ev, uint64_t n)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = SCHED_WAKEUP;
	ev->tick = 1000000000 + n * 700 - (n % 11 == 3 ? 2000 : 0);
	ev->pid = 100 + (int32_t)(n % 13);
	ev->value = (int32_t)(uint32_t)n;
	ev->task.pid = 200 + (int32_t)(mix(n) % 50);
	ev->task.prio = 120;
	memcpy(ev->task.comm, "worker", 6);
}

static int fake_resume(struct device_source *base, uint32_t cpu, uint64_t position, struct error *e)
{
	struct fake_source *f = (struct fake_source *)base;

	(void)e;
	f->next[cpu] = f->released[cpu] = position;
	return 0;
}

static int fake_drain(struct device_source *base, uint32_t cpu, struct recorder *r, struct error *e)
{
	struct fake_source *f = (struct fake_source *)base;
	uint64_t n = f->next[cpu], end = n + f->burst, from, to, sum, known;
	struct sched_event ev;

	(void)e;
	while (n < end) {
		gap_of(cpu, n / STRETCH, &from, &to);
		if (n == from && to > from) {
			n = to;
			sum = fake_lost_below(cpu, n);
			known = recorder_ring_total(r, cpu);
			recorder_lose(r, cpu, LOSS_RING, sum - known, sum);
			recorder_pass(r, cpu, n);
			continue;
		}
		make_event(&ev, n);
		recorder_take(r, cpu, &ev, ++n);
	}
	f->next[cpu] = n;
	return 0;
}

static void fake_release(struct device_source *base, uint32_t cpu, uint64_t position)
{
	struct fake_source *f = (struct fake_source *)base;

	f->went_back |= position < f->released[cpu];
	f->released[cpu] = position;
}

void fake_init(struct fake_source *f, uint32_t burst)
{
	static const struct device_source_ops ops = {
		.name = "fake", .resume = fake_resume, .drain = fake_drain, .release = fake_release
	};

	memset(f, 0, sizeof(*f));
	f->base.ops = &ops;
	dialect_init(&f->base.dialect);
	f->burst = burst;
}
