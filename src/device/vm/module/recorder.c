/* SPDX-License-Identifier: GPL-2.0-only */
/* recorder: see recorder.h. */
#include "device/vm/module/recorder.h"

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "device/vm/module/probe.h"
#include "device/vm/module/sampler.h"

static void wake_reader(struct irq_work *work)
{
	struct recorder_cpu *cpu = container_of(work, struct recorder_cpu, work);

	WRITE_ONCE(cpu->owner->is_due, true);
	wake_up_interruptible(&cpu->owner->wait);
}

void recorder_init(struct recorder *r)
{
	memset(r, 0, sizeof(*r));
	init_waitqueue_head(&r->wait);
	r->hotplug = -1;
}

static void free_memory(struct recorder *r)
{
	unsigned int i;

	for (i = 0; r->cpus && i < nr_cpu_ids; i++) {
		if (!r->cpus[i])
			continue;
		vfree(r->cpus[i]->ring.data);
		kfree(r->cpus[i]);
	}
	kfree(r->cpus);
	r->cpus = NULL;
	vcpus_done(&r->vcpus);
}

static struct recorder_cpu *make_cpu(struct recorder *r, unsigned int number)
{
	u32 size = r->settings.buffer_kib * 1024;
	int node = cpu_to_node(number);
	struct recorder_cpu *cpu = kzalloc_node(sizeof(*cpu), GFP_KERNEL, node);
	u8 *data = cpu ? vzalloc_node(size, node) : NULL;

	if (!data) {
		kfree(cpu);
		return NULL;
	}
	vm_ring_init(&cpu->ring, data, size);
	cpu->owner = r;
	cpu->random = get_random_u32() | 1; /* the generator stands still at 0 */
	init_irq_work(&cpu->work, wake_reader);
	sampler_init(cpu);
	return cpu;
}

static int take_memory(struct recorder *r)
{
	unsigned int i;

	/* Asked for first: what is too much should not cost other programs their lives. */
	if ((u64)r->settings.buffer_kib * num_possible_cpus() > (u64)si_mem_available()
									<< (PAGE_SHIFT - 10))
		return -ENOMEM;
	r->cpus = kcalloc(nr_cpu_ids, sizeof(*r->cpus), GFP_KERNEL);
	if (!r->cpus || vcpus_init(&r->vcpus) < 0)
		return -ENOMEM;
	for_each_possible_cpu(i)
	{
		r->cpus[i] = make_cpu(r, i);
		if (!r->cpus[i])
			return -ENOMEM;
	}
	return 0;
}

/* KVM was unloaded. */
static void forget_vcpus(void *data)
{
	struct recorder *r = data;

	vcpus_unlearn(&r->vcpus);
}

int recorder_start(struct recorder *r, const struct vm_settings *s)
{
	int error;

	if (r->is_on)
		return -EBUSY;
	/* What perf may not tell, this may not either. */
	error = security_locked_down(LOCKDOWN_PERF);
	if (error < 0)
		return error;
	free_memory(r);
	r->settings = *s;
	error = take_memory(r);
	if (error < 0) {
		free_memory(r);
		return error;
	}
	WRITE_ONCE(r->is_due, false);
	WRITE_ONCE(r->is_on, true);
	error = points_open(&r->points, probe_list(), forget_vcpus, r);
	if (error >= 0)
		error = sampler_start(r);
	if (error < 0) {
		recorder_done(r);
		return error;
	}
	WRITE_ONCE(r->is_heard, true);
	return 0;
}

void recorder_stop(struct recorder *r)
{
	unsigned int i;

	if (!r->is_on)
		return;
	WRITE_ONCE(r->is_heard, false);
	sampler_stop(r);
	points_close(&r->points);
	WRITE_ONCE(r->is_on, false);
	for_each_possible_cpu(i) irq_work_sync(&r->cpus[i]->work);
	wake_up_interruptible(&r->wait);
}

void recorder_done(struct recorder *r)
{
	recorder_stop(r);
	free_memory(r);
}
