/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched: the scheduler's events into one ring per CPU, as sched_record.h has them.
 *
 * The programs sit on the kernel's raw tracepoints, with typed arguments (tp_btf): a field of a
 * task is one load, no helper is called for it. Per event there remain the clock, and reserving and
 * submitting the record. What is recorded, is what the tracepoint's own event would record; where
 * the kernel computes a field (prev_state), the same is computed here.
 *
 * They run with the run queue locked and cannot wake anybody, except through an interrupt of the
 * CPU to itself. So the agent is woken only when it asked for it: at a certain fill of the ring.
 *
 * Accounting: an event that a program saw is in the ring, or in `dropped`, or in `passed_over`. The
 * kernel does not enter a program that the same CPU is already in (an interrupt that wakes a task
 * while the task wakes itself); it counts those, and the agent adds them (source_bpf.c).
 */
#include "device/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "device/bpf/sched_record.h"
#include "device/bpf/task.h"
#include "wire/sched_kind.h"

#define RING_HEADER 8

const volatile struct record_setup setup = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the agent sets the number of CPUs */
	__type(key, uint32_t);
	__type(value, struct record_cpu);
} cpus SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* as above */
	__type(key, uint32_t);
	__array(values, struct ring);
} rings SEC(".maps");

/* Pids that pass: those that were asked for, and the members of cgroups. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* as above */
	__type(key, int32_t);
	__type(value, uint32_t);
} pids SEC(".maps");

/* Where a record with a path is put together: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct record_path);
} paths SEC(".maps");

struct name {
	uint64_t half[2];
};

/* What an event is about, before it is known whether it is recorded. */
struct about {
	struct record_cpu *cpu;
	uint32_t cpu_number;
	uint32_t kind;
	int32_t pid, second;
	uint32_t number;
};

static __always_inline bool begin(struct about *a, uint32_t kind)
{
	a->cpu_number = bpf_get_smp_processor_id();
	a->cpu = bpf_map_lookup_elem(&cpus, &a->cpu_number);
	a->kind = kind;
	a->number = 0;
	return a->cpu && a->cpu->on;
}

static __always_inline struct name name_of(const struct task_struct *t)
{
	const uint64_t *comm = (const uint64_t *)t->comm;

	return (struct name){ { comm[0], comm[1] } };
}

static __always_inline bool passes_name(const struct name *n)
{
	uint32_t i;

	for (i = 0; i < RECORD_COMMS_MAX && i < setup.n_comms; i++)
		if (!(((n->half[0] ^ setup.comms[i][0]) & setup.masks[i][0]) |
		      ((n->half[1] ^ setup.comms[i][1]) & setup.masks[i][1])))
			return true;
	return false;
}

/* Whether any of two pids and two names is asked for; the same may be given twice, and NULL. */
static __always_inline bool passes(struct about *a, const struct name *one, const struct name *two)
{
	int32_t pid = a->pid, second = a->second;

	if (!setup.filtered)
		return true;
	if (bpf_map_lookup_elem(&pids, &pid) || bpf_map_lookup_elem(&pids, &second))
		return true;
	if ((one && passes_name(one)) || (two && passes_name(two)))
		return true;
	__sync_fetch_and_add(&a->cpu->passed_over, 1);
	return false;
}

static __always_inline void drop(struct about *a)
{
	__sync_fetch_and_add(&a->cpu->dropped, 1);
	a->cpu->lost = 1;
}

static __always_inline uint64_t head_of(struct about *a)
{
	uint64_t head = bpf_ktime_get_ns() << RECORD_TIME_SHIFT | a->kind;

	if (a->cpu->lost) {
		a->cpu->lost = 0;
		head |= 1U << RECORD_LOST_BIT;
	}
	return head;
}

static __always_inline uint64_t ids_of(const struct about *a)
{
	return (uint32_t)a->pid | (uint64_t)(uint32_t)a->second << RECORD_PID_BITS |
	       (uint64_t)a->number << RECORD_NUMBER_SHIFT;
}

/* Flags for submitting a record of so many bytes: whether it is the one that wakes the agent. */
static __always_inline uint64_t wakes(struct about *a, uint64_t bytes)
{
	uint64_t before = a->cpu->bytes, after = before + bytes + RING_HEADER;

	a->cpu->bytes = after;
	return before < a->cpu->wake_at && after >= a->cpu->wake_at ? BPF_RB_FORCE_WAKEUP
								    : BPF_RB_NO_WAKEUP;
}

static __always_inline void put_name(uint64_t out[2], const struct name *n, int32_t prio)
{
	out[0] = n->half[0];
	out[1] = n->half[1];
	((uint8_t *)out)[RECORD_COMM - 1] = (uint8_t)(prio + 1);
}

static __always_inline int put_one(struct about *a, const struct name *n, int32_t prio)
{
	void *ring = bpf_map_lookup_elem(&rings, &a->cpu_number);
	struct record_one *r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : NULL;

	if (!r) {
		drop(a);
		return 0;
	}
	r->head = head_of(a);
	r->ids = ids_of(a);
	put_name(r->comm, n, prio);
	bpf_ringbuf_submit(r, wakes(a, sizeof(*r)));
	return 0;
}

struct pair {
	struct name one, two;
	int32_t prio_one, prio_two;
};

static __always_inline int put_two(struct about *a, const struct pair *p)
{
	void *ring = bpf_map_lookup_elem(&rings, &a->cpu_number);
	struct record_two *r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : NULL;

	if (!r) {
		drop(a);
		return 0;
	}
	r->head = head_of(a);
	r->ids = ids_of(a);
	put_name(r->comm, &p->one, p->prio_one);
	put_name(r->comm + 2, &p->two, p->prio_two);
	bpf_ringbuf_submit(r, wakes(a, sizeof(*r)));
	return 0;
}

SEC("tp_btf/sched_switch")
int sched_switch(uint64_t *ctx)
{
	const struct task_struct *prev = (const void *)ctx[1], *next = (const void *)ctx[2];
	struct about a;
	struct pair p;

	if (!begin(&a, SCHED_SWITCH))
		return 0;
	a.pid = prev->pid;
	a.second = next->pid;
	p.one = name_of(prev);
	p.two = name_of(next);
	if (!passes(&a, &p.one, &p.two))
		return 0;
	a.number = (uint8_t)ctx[0] ? TASK_REPORT_MAX
				   : task_state_reported(ctx, prev, setup.has_prev_state);
	p.prio_one = prev->prio;
	p.prio_two = next->prio;
	return put_two(&a, &p);
}

static __always_inline int32_t current_pid(void)
{
	return (int32_t)bpf_get_current_pid_tgid();
}

/* The kernel's numbers since 2.6, of a CPU that serves interrupts (include/linux/preempt.h). */
#define COUNT_SOFTIRQ 0x00000100U
#define COUNT_HARDIRQ 0x000f0000U
#define COUNT_NMI 0x00f00000U

/* A field of the task that runs. */
#define CURRENT_FIELD(ret, type, field)                                                            \
	do {                                                                                       \
		const type *task_;                                                                 \
		if (bpf_core_enum_value_exists(enum bpf_func_id___typed,                           \
					       BPF_FUNC_get_current_task_btf___typed)) {           \
			task_ = (const void *)bpf_get_current_task_btf();                          \
			(ret) = (uint32_t)task_->field;                                            \
		} else {                                                                           \
			task_ = (const void *)bpf_get_current_task();                              \
			bpf_core_read(&(ret), sizeof(ret), &task_->field);                         \
		}                                                                                  \
	} while (0)

/* The preempt count of this CPU. What the kernel does not have is not in the program that it gets. x86 keeps it with the CPU, where a
 * program finds it only if the kernel knows the names of its data, and cannot even be loaded if not: there it stays unknown. */
static __always_inline uint32_t preempt_count(void)
{
	const struct task_struct___arm64 *pair = NULL;
	const struct task_struct___count *alone = NULL;
	uint32_t count = 0;

	if (bpf_core_field_exists(pair->thread_info.preempt.count))
		CURRENT_FIELD(count, struct task_struct___arm64, thread_info.preempt.count);
	else if (bpf_core_field_exists(alone->thread_info.preempt_count))
		CURRENT_FIELD(count, struct task_struct___count, thread_info.preempt_count);
	return count;
}

/* Whether an interrupt makes this wakeup: whom it interrupted has nothing to do with it. */
static __always_inline uint32_t context(void)
{
	const struct task_struct___rt *rt = NULL;
	uint32_t count, softirqs, out = 0;

	if (!setup.has_context)
		return 0;
	count = softirqs = preempt_count();
	if (bpf_core_field_exists(rt->softirq_disable_cnt))
		CURRENT_FIELD(softirqs, struct task_struct___rt, softirq_disable_cnt);
	if (count & COUNT_NMI)
		out |= RECORD_NMI;
	if (count & COUNT_HARDIRQ)
		out |= RECORD_HARDIRQ;
	if (softirqs & COUNT_SOFTIRQ)
		out |= RECORD_SOFTIRQ;
	return out;
}

static __always_inline int wake(uint64_t *ctx, uint32_t kind)
{
	const struct task_struct *t = (const void *)ctx[0];
	struct about a;
	struct name n;

	if (!begin(&a, kind))
		return 0;
	a.pid = t->pid;
	a.second = current_pid();
	n = name_of(t);
	if (!passes(&a, &n, NULL))
		return 0;
	a.number = (task_cpu(t) & RECORD_CPU_MASK) | context();
	return put_one(&a, &n, t->prio);
}

SEC("tp_btf/sched_waking")
int sched_waking(uint64_t *ctx)
{
	return wake(ctx, SCHED_WAKING);
}

SEC("tp_btf/sched_wakeup")
int sched_wakeup(uint64_t *ctx)
{
	return wake(ctx, SCHED_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int sched_wakeup_new(uint64_t *ctx)
{
	return wake(ctx, SCHED_WAKEUP_NEW);
}

/* A child of a member of a cgroup is one, too. */
static __always_inline void follow(int32_t parent, int32_t child)
{
	uint32_t *generation = bpf_map_lookup_elem(&pids, &parent), value;

	if (!generation || *generation == RECORD_LISTED)
		return;
	value = *generation;
	bpf_map_update_elem(&pids, &child, &value, BPF_ANY);
}

SEC("tp_btf/sched_process_fork")
int sched_process_fork(uint64_t *ctx)
{
	const struct task_struct *parent = (const void *)ctx[0], *child = (const void *)ctx[1];
	struct about a;
	struct pair p;

	if (!begin(&a, SCHED_FORK))
		return 0;
	a.pid = parent->pid;
	a.second = child->pid;
	if (setup.follows_forks)
		follow(a.pid, a.second);
	if (!(setup.kinds & 1U << SCHED_FORK))
		return 0;
	p.one = name_of(parent);
	p.two = name_of(child);
	p.prio_one = p.prio_two = -1;
	return passes(&a, &p.one, &p.two) ? put_two(&a, &p) : 0;
}

SEC("tp_btf/sched_process_exec")
int sched_process_exec(uint64_t *ctx)
{
	const struct task_struct *t = (const void *)ctx[0];
	const struct linux_binprm *binprm = (const void *)ctx[2];
	struct record_path *r;
	struct about a;
	uint32_t zero = 0;
	void *ring;
	long len;

	if (!begin(&a, SCHED_EXEC))
		return 0;
	a.pid = t->pid;
	a.second = (int32_t)ctx[1];
	r = bpf_map_lookup_elem(&paths, &zero);
	if (!r || !passes(&a, NULL, NULL))
		return 0;
	len = bpf_probe_read_kernel_str(r->path, sizeof(r->path), binprm->filename);
	if (len < 1 || len > RECORD_PATH_MAX) {
		r->path[0] = 0;
		len = 1;
	}
	r->head = head_of(&a);
	r->ids = ids_of(&a);
	len += sizeof(*r) - sizeof(r->path);
	ring = bpf_map_lookup_elem(&rings, &a.cpu_number);
	if (!ring || bpf_ringbuf_output(ring, r, (uint64_t)len, wakes(&a, (uint64_t)len)))
		drop(&a);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int sched_process_exit(uint64_t *ctx)
{
	const struct task_struct *t = (const void *)ctx[0];
	struct about a;
	struct name n;

	if (!begin(&a, SCHED_EXIT))
		return 0;
	a.pid = a.second = t->pid;
	n = name_of(t);
	if (!passes(&a, &n, NULL))
		return 0;
	if (setup.has_group_dead)
		a.number = (uint8_t)ctx[1] ? 1 : 0;
	return put_one(&a, &n, t->prio);
}

SEC("tp_btf/task_rename")
int task_rename(uint64_t *ctx)
{
	const struct task_struct *t = (const void *)ctx[0];
	struct about a;
	struct pair p = {};

	if (!begin(&a, SCHED_RENAME))
		return 0;
	a.pid = t->pid;
	a.second = current_pid();
	p.one = name_of(t);
	bpf_probe_read_kernel_str(&p.two, sizeof(p.two), (const void *)ctx[1]);
	if (!passes(&a, &p.one, &p.two))
		return 0;
	a.number = (uint16_t)t->signal->oom_score_adj;
	return put_two(&a, &p);
}

SEC("tp_btf/sched_pi_setprio")
int sched_pi_setprio(uint64_t *ctx)
{
	const struct task_struct *t = (const void *)ctx[0], *donor = (const void *)ctx[1];
	struct about a;
	struct name n;
	int32_t prio, donated;

	if (!begin(&a, SCHED_SETPRIO))
		return 0;
	a.pid = t->pid;
	a.second = current_pid();
	n = name_of(t);
	if (!passes(&a, &n, NULL))
		return 0;
	/* Before 6.14 the verifier takes donor for never NULL and leaves the first question out;
	 * then the read fails. */
	prio = t->normal_prio;
	if (donor && !bpf_core_read(&donated, sizeof(donated), &donor->prio) && donated < prio)
		prio = donated;
	a.number = (uint8_t)(prio + 1);
	return put_one(&a, &n, t->prio);
}

char programs_license[] SEC("license") = "Dual MIT/GPL";
