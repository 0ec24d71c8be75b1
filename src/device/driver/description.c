/* SPDX-License-Identifier: GPL-2.0-only */
/* description: see description.h. */
#include "device/driver/description.h"

#include <linux/errno.h>
#include <linux/idr.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>

#include "wire/frame.h"
#include "wire/meta_encode.h"

#define CLOCK_TRIES 8
#define TEXT_MOST 64U /* of the kernel's own texts, which have at most so many */
#define HEAD_PAYLOAD (6U * META_ITEM_ROOM + 4U * TEXT_MOST)
#define TASKS_PAYLOAD 2048U
#define AHEAD (FRAME_HEAD_MAX + BLOCK_HEADER_MAX) /* what stands before a payload, at most */
#define HEADS_ROOM (2U * (HEAD_PAYLOAD + AHEAD))  /* that tasks leave for the next run */
#define TASKS_AT_ONCE 16			  /* looked up in one go, readers of RCU waiting */

void description_init(struct description *d)
{
	block_ring_init(&d->ring, d->memory, sizeof(d->memory));
}

/* --- blocks --- */

static u8 *begin_block(struct description *d, u32 payload)
{
	u8 *room = block_ring_reserve(&d->ring, AHEAD + payload, false);

	return room ? room + AHEAD : NULL;
}

static void end_block(struct description *d, u8 *payload, u32 len)
{
	struct block b = { .codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META };
	struct ring_entry e = { .run = d->run, .key = true };
	u8 head[FRAME_HEAD_MAX], *start;
	u32 head_len;

	b.sequence = e.sequence = d->sequence++;
	b.payload_len = len;
	start = block_encode_open(&b, payload, &e.len); /* sealed with the others */
	d->blocks++;
	d->bytes += e.len;
	head_len = frame_encode_head(head, FRAME_BLOCK, e.len);
	start -= head_len;
	memcpy(start, head, head_len);
	e.len += head_len;
	block_ring_commit(&d->ring, start, &e);
}

/* --- the first --- */

/* Real time between two looks at the counter; the closest pair of several counts. */
static void measure_realtime(struct meta_clock *ret, const struct counter *counter)
{
	u64 before, after, real, width;
	unsigned long flags;
	int i;

	for (i = 0; i < CLOCK_TRIES; i++) {
		local_irq_save(flags);
		before = counter_read(counter);
		real = ktime_get_real_ns();
		after = counter_read(counter);
		local_irq_restore(flags);
		before = counter_to_ns(counter, before);
		width = counter_to_ns(counter, after) - before;
		if (ret->has_realtime && width / 2 + 1 >= ret->realtime_err_ns)
			continue;
		ret->has_realtime = true;
		ret->realtime_err_ns = width / 2 + 1;
		ret->realtime_off_ns = (s64)(real - before - width / 2);
	}
}

static u8 *put_text(u8 *p, enum meta_item type, const char *text)
{
	return meta_put_text(p, type, text, strnlen(text, TEXT_MOST));
}

static u8 *put_facts(u8 *p, const struct description_facts *f)
{
	struct meta_clock clock = { .name = f->counter->name,
				    .name_len = strnlen(f->counter->name, META_CLOCK_NAME_MAX),
				    .mult = f->counter->mult,
				    .shift = f->counter->shift,
				    .print_digits = 9 };
	struct sched_dialect dialect = *f->dialect;

	dialect.kinds = f->kinds;
	measure_realtime(&clock, f->counter);
	if (f->codec == CODEC_BSF) {
		/* Its records have nanoseconds already, and so have the headers of its blocks. */
		clock.mult = 1;
		clock.shift = 0;
	}
	p = put_text(p, META_DEVICE, f->device);
	p = put_text(p, META_KERNEL, init_utsname()->release);
	p = put_text(p, META_MACHINE, init_utsname()->machine);
	p = put_text(p, META_ORIGIN, "driver");
	p = meta_put_number(p, META_CPUS, f->cpus);
	p = meta_put_clock(p, &clock);
	p = meta_put_dialect(p, &dialect);
	return meta_put_number(p, META_AGENT, (u64)f->agent);
}

int description_begin(struct description *d, u32 run, const struct description_facts *facts)
{
	u8 *payload = begin_block(d, HEAD_PAYLOAD);

	if (!payload)
		return -ENOSPC;
	d->run = run;
	d->sequence = d->blocks = d->bytes = 0;
	d->next_pid = 1;
	end_block(d, payload, (u32)(put_facts(payload, facts) - payload));
	return 0;
}

/* --- the tasks --- */

/* A few more; false if there are none, or no room for another. */
static bool put_tasks(struct description *d)
{
	char comm[SCHED_COMM_LEN];
	struct task_struct *task;
	struct pid *pid;
	int i;

	rcu_read_lock();
	for (i = 0; i < TASKS_AT_ONCE && task_encoder_has_room(&d->tasks); i++) {
		pid = idr_get_next(&init_pid_ns.idr, &d->next_pid);
		if (!pid) {
			d->next_pid = 0;
			break;
		}
		task = pid_task(pid, PIDTYPE_PID);
		if (task) {
			sched_comm_set(comm, task->comm, TASK_COMM_LEN - 1);
			task_encode(&d->tasks, d->next_pid, task->tgid, comm);
		}
		d->next_pid++;
	}
	rcu_read_unlock();
	return d->next_pid && task_encoder_has_room(&d->tasks);
}

void description_fill(struct description *d)
{
	u8 *payload;
	size_t len;

	while (d->next_pid) {
		if (block_ring_used(&d->ring) + AHEAD + TASKS_PAYLOAD + HEADS_ROOM > d->ring.size)
			return;
		payload = begin_block(d, TASKS_PAYLOAD);
		if (!payload)
			return;
		task_encoder_begin(&d->tasks, payload, TASKS_PAYLOAD);
		while (put_tasks(d))
			cond_resched();
		len = task_encoder_end(&d->tasks);
		if (len)
			end_block(d, payload, (u32)len);
		else
			block_ring_give_up(&d->ring);
	}
}

void description_end(struct description *d)
{
	d->next_pid = 0;
}
