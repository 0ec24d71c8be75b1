/* SPDX-License-Identifier: GPL-2.0-only */
/* counter: see counter.h. */
#include "device/vm/module/counter.h"

#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>

#include "device/vm/module/compat/irq_work.h"
#include "device/vm/module/recorder.h"
#include "device/vm/module/sampler.h"

static void take_later(struct irq_work *work)
{
	sampler_take(container_of(work, struct recorder_cpu, later));
}

/* The period after the one that has begun already is drawn here: the kernel takes it over when that ends. */
static void overflow(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct recorder_cpu *cpu = event->overflow_handler_context;

	event->hw.sample_period = sampler_next(cpu);
	if (in_nmi())
		irq_work_queue(&cpu->later);
	else
		sampler_take(cpu);
}

void counter_init(struct recorder_cpu *cpu)
{
	compat_irq_work_setup_hard(&cpu->later, take_later);
}

int counter_start(struct recorder_cpu *cpu, unsigned int number)
{
	struct perf_event_attr what = { .type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.size = sizeof(what),
					.sample_period = sampler_next(cpu),
					.pinned = 1 };
	struct perf_event *event =
		perf_event_create_kernel_counter(&what, (int)number, NULL, overflow, cpu);

	if (IS_ERR(event))
		return (int)PTR_ERR(event);
	cpu->counter = event;
	return 0;
}

void counter_stop(struct recorder_cpu *cpu)
{
	if (cpu->counter)
		perf_event_release_kernel(cpu->counter);
	cpu->counter = NULL;
	irq_work_sync(&cpu->later);
}

/* It says so by nothing else: no sample comes, and no error. */
bool counter_is_dead(const struct recorder_cpu *cpu)
{
	return cpu->counter && READ_ONCE(cpu->counter->state) == PERF_EVENT_STATE_ERROR;
}
