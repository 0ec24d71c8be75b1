/* SPDX-License-Identifier: GPL-2.0-only */
/* recorder: see recorder.h. */
#include "device/vm/module/recorder.h"

#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include "device/vm/module/probe.h"
#include "device/vm/module/sampler.h"

struct recorder_cpu *recorder_begin(struct recorder *r, enum sample_kind kind, unsigned long *irq)
{
	struct recorder_cpu *cpu;
	struct vm_record *base;
	u64 now;

	local_irq_save(*irq);
	cpu = r->cpus[smp_processor_id()];
	base = &cpu->record.base;
	/* While the kernel's clock is set, this one may go back by some nanoseconds. */
	now = ktime_get_mono_fast_ns();
	cpu->last_tick = max(cpu->last_tick, now);
	base->tick = cpu->last_tick;
	base->kind = kind;
	base->mode = 0;
	base->number = 0;
	base->size = sizeof(*base);
	recorder_put_task(r, &base->task, current);
	return cpu;
}

void recorder_end(struct recorder_cpu *cpu, unsigned long irq)
{
	if (READ_ONCE(cpu->owner->is_taking)) {
		vm_ring_put(&cpu->ring, &cpu->record.base);
		if (vm_ring_used(&cpu->ring) < cpu->ring.size / 2) {
			cpu->is_signalled = false;
		} else if (!cpu->is_signalled) {
			cpu->is_signalled = true;
			irq_work_queue(&cpu->work);
		}
	}
	local_irq_restore(irq);
}

void recorder_put_task(struct recorder *r, struct vm_record_task *to, struct task_struct *t)
{
	BUILD_BUG_ON(VM_RECORD_COMM > TASK_COMM_LEN);
	to->tid = t->pid;
	to->pid = t->tgid;
	to->vcpu = vcpus_get(&r->vcpus, t);
	memcpy(to->comm, t->comm, VM_RECORD_COMM);
}

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

int recorder_start(struct recorder *r, const struct vm_settings *s)
{
	int error;

	if (r->is_on)
		return -EBUSY;
	free_memory(r);
	r->settings = *s;
	error = take_memory(r);
	if (error < 0) {
		free_memory(r);
		return error;
	}
	WRITE_ONCE(r->is_due, false);
	WRITE_ONCE(r->is_on, true);
	error = points_open(&r->points, probe_list(), r);
	WRITE_ONCE(r->is_taking, error >= 0);
	if (error >= 0)
		error = sampler_start(r);
	if (error < 0) {
		recorder_done(r);
		return error;
	}
	return 0;
}

void recorder_stop(struct recorder *r)
{
	unsigned int i;

	if (!r->is_on)
		return;
	sampler_stop(r);
	WRITE_ONCE(r->is_taking, false);
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
