/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compressor: see compressor.h.
 *
 * A lane belongs to its CPU while probes are on: whoever else has to change it does that on that CPU,
 * with interrupts off (flush_here()). When the CPU is offline nothing runs there, and the hotplug
 * lock keeps it so; when the probes are gone nobody else comes. Then any CPU may do it.
 */
#include "device/driver/compressor.h"

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "device/driver/compressor_state.h"

#define FLUSH_MS 100U /* where nobody says otherwise */

static void wake_exporter(struct irq_work *work)
{
	struct compressor_cpu *cpu = container_of(work, struct compressor_cpu, work);
	const struct compressor_options *o = &cpu->owner->options;

	o->wake(o->context);
}

static int new_cpu(struct compressor *c, u32 number)
{
	u32 state = ALIGN(sizeof(struct compressor_cpu), BLOCK_RING_UNIT);
	struct compressor_cpu *cpu;

	/* Too much of it is answered in one line by who asks, not by the kernel's with all its state. */
	cpu = kvzalloc_node(c->options.memory, GFP_KERNEL | __GFP_NOWARN, cpu_to_node(number));
	if (!cpu)
		return -ENOMEM;
	cpu->owner = c;
	init_irq_work(&cpu->work, wake_exporter);
	seqcount_init(&cpu->profiled);
	lane_init(&cpu->lane, number, (u8 *)cpu + state, c->options.memory - state);
	c->cpus[number] = cpu;
	return 0;
}

int compressor_new(struct compressor **ret, const struct compressor_options *o)
{
	struct compressor *c;
	u32 cpu;
	int r;

	if (o->memory < sizeof(struct compressor_cpu) + BLOCK_RING_UNIT + LANE_RING_LEAST)
		return -EINVAL;
	c = kzalloc(struct_size(c, cpus, nr_cpu_ids), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	c->options = *o;
	mutex_init(&c->lock);
	probe_points_init(&c->points);
	probe_get_dialect(&c->dialect);
	r = c->points.point[SCHED_SWITCH] ? 0 : -ENOENT;
	for_each_possible_cpu(cpu) r = r ? r : new_cpu(c, cpu);
	if (r) {
		compressor_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void compressor_free(struct compressor *c)
{
	u32 cpu;

	if (!c)
		return;
	compressor_stop(c);
	for_each_possible_cpu(cpu) kvfree(c->cpus[cpu]);
	kfree(c);
}

u32 compressor_kinds(const struct compressor *c)
{
	return probe_points_kinds(&c->points);
}

const struct sched_dialect *compressor_dialect(const struct compressor *c)
{
	return &c->dialect;
}

static void start_lanes(struct compressor *c, const struct message_config *config, u8 codec,
			u32 run)
{
	const struct counter *counter = c->options.counter;
	u64 flush_ms = config->given & 1U << CONFIG_FLUSH ? config->flush_ms : FLUSH_MS;
	struct lane_settings s = {
		.codec = codec,
		.policy = config->policy,
		.run = run,
		.block_bytes = LANE_BLOCK,
		.flush_ticks = counter_from_ns(counter, flush_ms * NSEC_PER_MSEC / 8 * 7),
		.mult = counter->mult,
		.shift = counter->shift,
		.hash = get_random_u32(),
		.dialect = &c->dialect,
	};
	u32 cpu;

	if (config->given & 1U << CONFIG_BLOCK_BYTES)
		s.block_bytes = config->block_bytes;
	for_each_possible_cpu(cpu) lane_start(&c->cpus[cpu]->lane, &s);
}

static int start(struct compressor *c, const struct message_config *config, u8 codec, u32 run)
{
	u32 kinds = compressor_kinds(c);
	int r;

	if (c->is_running)
		return -EBUSY;
	if (config->events)
		kinds &= config->events;
	if (!kinds)
		return -EOPNOTSUPP;
	r = filter_init(&c->filter, config);
	if (r)
		return r;
	c->dialect.kinds = kinds;
	start_lanes(c, config, codec, run);
	r = probe_points_open(&c->points, kinds, c);
	if (r) {
		filter_done(&c->filter);
		return r;
	}
	c->is_running = true;
	smp_store_release(&c->is_open,
			  true); /* a probe that sees it sees the lanes and the filter, too */
	return 0;
}

int compressor_start(struct compressor *c, const struct message_config *config, u8 codec, u32 run)
{
	int r;

	if (codec != CODEC_SCHED && codec != CODEC_BSF)
		return -EINVAL;
	mutex_lock(&c->lock);
	r = start(c, config, codec, run);
	mutex_unlock(&c->lock);
	return r;
}

void compressor_stop(struct compressor *c)
{
	u32 cpu;

	mutex_lock(&c->lock);
	if (c->is_running) {
		WRITE_ONCE(c->is_open, false);
		probe_points_close(&c->points, c);
		for_each_possible_cpu(cpu)
		{
			irq_work_sync(&c->cpus[cpu]->work);
			lane_flush(&c->cpus[cpu]->lane);
		}
		filter_done(&c->filter);
		c->is_running = false;
	}
	mutex_unlock(&c->lock);
}

bool compressor_is_running(const struct compressor *c)
{
	return READ_ONCE(c->is_running);
}

/* On the lane's CPU with interrupts off, or while nothing else can touch it. */
static void flush_here(void *lane)
{
	lane_flush(lane);
}

/* A CPU that has events ends its block itself, an eighth before it is due here: so only CPUs on which
 * nothing happens are interrupted. Were both at the same age, each round would find the blocks that
 * began right after the round before, on busy CPUs, too. */
void compressor_flush(struct compressor *c, u64 age_ns, u64 few_age_ns)
{
	u64 age = counter_from_ns(c->options.counter, age_ns);
	u64 few_age = counter_from_ns(c->options.counter, few_age_ns);
	unsigned long irq;
	struct lane *lane;
	u64 tick;
	u32 cpu;

	mutex_lock(&c->lock);
	cpus_read_lock();
	local_irq_save(irq);
	tick = counter_read(c->options.counter);
	local_irq_restore(irq);
	for_each_possible_cpu(cpu)
	{
		lane = &c->cpus[cpu]->lane;
		if (!c->is_running || !lane_is_due(lane, tick - age, tick - few_age))
			continue;
		if (!cpu_online(cpu) || smp_call_function_single(cpu, flush_here, lane, 1))
			flush_here(lane);
	}
	cpus_read_unlock();
	mutex_unlock(&c->lock);
}

u64 compressor_events(const struct compressor *c)
{
	struct lane_counts counts;
	u64 events = 0;
	u32 cpu;

	for_each_possible_cpu(cpu)
	{
		lane_get_counts(&c->cpus[cpu]->lane, &counts);
		events += counts.events;
	}
	return events;
}

struct lane *compressor_get_lane(struct compressor *c, u32 cpu)
{
	return cpu < nr_cpu_ids && c->cpus[cpu] ? &c->cpus[cpu]->lane : NULL;
}

void compressor_set_profile(struct compressor *c, bool on)
{
	WRITE_ONCE(c->profile, on);
}

void compressor_get_profile(const struct compressor *c, struct compressor_profile *ret)
{
	u64 probe = 0, block = 0, longest = 0, probe_one, block_one, longest_one;
	const struct compressor_cpu *one;
	unsigned int version;
	u32 cpu;

	for_each_possible_cpu(cpu)
	{
		one = c->cpus[cpu];
		do {
			version = raw_read_seqcount_begin(&one->profiled);
			probe_one = one->probe_ticks;
			block_one = one->block_ticks;
			longest_one = one->longest_ticks;
		} while (read_seqcount_retry(&one->profiled, version));
		probe += probe_one;
		block += block_one;
		longest = max(longest, longest_one);
	}
	ret->probe_ns = c->kept.probe_ns + counter_to_ns(c->options.counter, probe);
	ret->block_ns = c->kept.block_ns + counter_to_ns(c->options.counter, block);
	ret->longest_ns = max(c->kept.longest_ns, counter_to_ns(c->options.counter, longest));
}

void compressor_keep_profile(struct compressor *c)
{
	struct compressor_cpu *one;
	u32 cpu;

	compressor_get_profile(c, &c->kept);
	for_each_possible_cpu(cpu)
	{
		one = c->cpus[cpu];
		one->probe_ticks = one->block_ticks = one->longest_ticks = 0;
	}
}

u64 compressor_memory(const struct compressor *c)
{
	return struct_size(c, cpus, nr_cpu_ids) + (u64)c->options.memory * num_possible_cpus();
}
