/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * guest: whose each page table is, for the host of this machine (docs/design/vm.md).
 *
 * An iterator lists all threads, tracepoints tell of each that begins, executes, is renamed or ends, at that moment: a process that is gone a
 * millisecond later is known with its table and its name. A table that two processes share, as after vfork(), is told for the one
 * that had it first only. At its end a process has given its memory back already, but is still on the table; only if
 * nobody else is, the table ends with it.
 *
 * What does not fit into the ring is counted; the program outside then lists all threads again.
 */
#include "device/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include "device/bpf/guest_record.h"

#define KERNEL_THREAD 0x00200000U /* PF_KTHREAD */

struct counter {
	int32_t counter;
} KERNEL_STRUCT;

struct mm_struct {
	void *pgd;
	struct counter mm_users;
} KERNEL_STRUCT;

struct signal_struct___live {
	struct counter live;
} KERNEL_STRUCT;

struct task_struct___guest {
	uint32_t flags;
	int32_t pid, tgid;
	void *stack;
	struct mm_struct *mm, *active_mm;
	struct task_struct___guest *real_parent;
	struct signal_struct___live *signal;
	char comm[16];
} KERNEL_STRUCT;

struct bpf_iter_meta {
	void *seq;
} KERNEL_STRUCT;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct___guest *task;
} KERNEL_STRUCT;

uint64_t missed; /* records that did not fit */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

static __always_inline void fill(struct guest_record *r, const struct task_struct___guest *t)
{
	const uint64_t *comm = (const uint64_t *)t->comm;
	const struct task_struct___guest *parent = t->real_parent;
	const struct mm_struct *mm = t->mm;

	r->ns = bpf_ktime_get_ns();
	r->pgd = mm ? (uint64_t)mm->pgd : 0;
	r->task = (uint64_t)t;
	r->stack = (uint64_t)t->stack;
	r->pid = t->tgid;
	r->tid = t->pid;
	r->parent = parent ? parent->tgid : 0;
	r->is_last = 0;
	((uint64_t *)r->comm)[0] = comm[0];
	((uint64_t *)r->comm)[1] = comm[1];
}

static __always_inline struct guest_record *reserve(uint16_t kind)
{
	struct guest_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (r)
		r->kind = kind;
	else
		__sync_fetch_and_add(&missed, 1);
	return r;
}

SEC("tp_btf/sched_process_fork")
int guest_fork(uint64_t *ctx)
{
	const struct task_struct___guest *parent = (const void *)ctx[0],
					 *child = (const void *)ctx[1];
	struct guest_record *r = reserve(GUEST_RECORD_FORK);

	if (!r)
		return 0;
	fill(r, child);
	if (child->mm == parent->mm)
		r->pgd = 0;
	bpf_ringbuf_submit(r, 0);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int guest_exec(uint64_t *ctx)
{
	struct guest_record *r = reserve(GUEST_RECORD_EXEC);

	if (!r)
		return 0;
	fill(r, (const void *)ctx[0]);
	bpf_ringbuf_submit(r, 0);
	return 0;
}

SEC("tp_btf/task_rename")
int guest_rename(uint64_t *ctx)
{
	struct guest_record *r = reserve(GUEST_RECORD_NAME);

	if (!r)
		return 0;
	fill(r, (const void *)ctx[0]);
	r->pgd = 0;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), (const void *)ctx[1]);
	bpf_ringbuf_submit(r, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int guest_exit(uint64_t *ctx)
{
	const struct task_struct___guest *t = (const void *)ctx[0];
	struct guest_record *r = reserve(GUEST_RECORD_EXIT);
	const struct mm_struct *mm;

	if (!r)
		return 0;
	fill(r, t);
	r->is_last = t->signal && t->signal->live.counter == 0;
	mm = t->flags & KERNEL_THREAD ? NULL : t->active_mm;
	r->pgd = mm && mm->mm_users.counter == 0 ? (uint64_t)mm->pgd : 0;
	bpf_ringbuf_submit(r, 0);
	return 0;
}

SEC("iter/task")
int guest_list(struct bpf_iter__task *ctx)
{
	const struct task_struct___guest *t = ctx->task;
	struct guest_record r = { .kind = GUEST_RECORD_FORK };

	if (!t)
		return 0;
	fill(&r, t);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

char programs_license[] SEC("license") = "Dual MIT/GPL";
