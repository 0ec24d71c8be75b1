/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * vm: virtual machines sampled from their host, without a module of our own: the records of device/vm/vm_record.h into one ring per CPU.
 *
 * As the module does it (device/vm/module), as far as a program may. A virtual CPU is found by KVM's preempt notifier on its thread; the
 * guest's registers are read from KVM's memory. On arm64 with VHE that has the place and the stack pointer of EL0, but a page table that is
 * as old as the thread's last switch: that is not told. AMD's control block has all of it.
 *
 * A program may be interrupted by another one, never by itself. It takes the time after its place in the ring, so places are in
 * the order in which things began; the reader sees to it that times do not go back.
 *
 * A sample stands for the time since the one before it on its CPU. So a period that is changed from outside, and a sample that the kernel
 * left out, cost nothing but resolution.
 */
#include "device/bpf/kvm.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "device/bpf/task.h"
#include "device/bpf/vm_state.h"
#include "device/vm/vm_record.h"
#include "wire/sample_event.h"
#include "wire/sample_meta.h"

#define PF_VCPU 0x00000001U
#define PF_EXITING 0x00000004U
#define PF_IO_WORKER 0x00000010U
#define PF_KTHREAD 0x00200000U

#define ARM64_TRAP 2U /* what KVM's call returned */
#define ARM64_ERROR_BIT 0x80000000U
#define ARM64_CLASS_SHIFT 26
#define ARM64_CLASS_MASK 0x3fU
#define ARM64_MODE_MASK 0xfU
#define ARM64_TAG                                                                                  \
	0xffff000000000000ULL /* all ones in an address of the kernel that is not signed */
#define ARM64_PC 32	      /* in the registers of a sample, as their words */
#define ARM64_PSTATE 33
#define ARM64_FRAME 29
#define REASON_TRAP 256
#define SVM_INTERRUPT 0x60
#define X86_USER_LEVEL 3
#define X86_PC 16
#define X86_CS 17
#define STACK_MOST 0x10000U

/* A word of a sample's registers. In C the compiler makes one load of two branches, from a place that the verifier refuses. */
#define REGISTER(ctx, n)                                                                           \
	({                                                                                         \
		uint64_t word_;                                                                    \
		__asm__ volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word_) : "r"(ctx), "i"((n)*8));   \
		word_;                                                                             \
	})

#define KERNEL_MOST (VM_RECORD_CHAIN - 1)
#define CHAIN_AT offsetof(struct vm_record_sample, chain)

const volatile struct vm_state_setup setup = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the reader sets the number of CPUs */
	__type(key, uint32_t);
	__type(value, struct vm_state_cpu);
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

/* Threads that run virtual CPUs, and which. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, VM_STATE_VCPUS);
	__type(key, int32_t);
	__type(value, int32_t);
} vcpus SEC(".maps");

/* Where a sample is put together: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct vm_record_sample);
} samples SEC(".maps");

/* The functions of KVM's preempt notifier; NULL: not seen yet. */
struct preempt_ops *kvm_ops;

struct place {
	uint32_t known; /* enum sample_guest */
	uint32_t is_user;
	uint64_t pc, table, task;
};

struct reason {
	uint64_t value, detail;
	bool is_interrupt;
};

static __always_inline struct vm_state_cpu *this_cpu(uint32_t *ret_number)
{
	struct vm_state_cpu *cpu;

	*ret_number = bpf_get_smp_processor_id();
	cpu = bpf_map_lookup_elem(&cpus, ret_number);
	return cpu && cpu->on ? cpu : NULL;
}

/* --- virtual CPUs --- */

static __always_inline struct preempt_notifier *notifier_of(const struct task_struct *t)
{
	struct hlist_node *first = NULL;

	bpf_core_read(&first, sizeof(first), &t->preempt_notifiers.first);
	return first ? (void *)((char *)first -
				bpf_core_field_offset(struct preempt_notifier, link))
		     : NULL;
}

static __always_inline struct preempt_ops *ops_of(struct preempt_notifier *n)
{
	struct preempt_ops *ops = NULL;

	if (n)
		bpf_core_read(&ops, sizeof(ops), &n->ops);
	return ops;
}

/* The virtual CPU that a thread is inside KVM's call with. Who ends takes its machine down, and is inside with each in turn. */
static __always_inline struct kvm_vcpu *vcpu_of(const struct task_struct *t)
{
	struct preempt_notifier *n = notifier_of(t);

	if (!n || !kvm_ops || t->flags & PF_EXITING || ops_of(n) != kvm_ops)
		return NULL;
	return (void *)((char *)n - bpf_core_field_offset(struct kvm_vcpu, preempt_notifier));
}

/* The number of the one that it runs, now or the last time it did. */
static __always_inline int32_t number_of(const struct task_struct *t)
{
	struct kvm_vcpu *vcpu = vcpu_of(t);
	int32_t tid = t->pid, number = SAMPLE_NO_VCPU, *kept = bpf_map_lookup_elem(&vcpus, &tid);

	if (!vcpu || bpf_core_read(&number, sizeof(number), &vcpu->vcpu_id))
		return kept ? *kept : SAMPLE_NO_VCPU;
	if (!kept || *kept != number)
		bpf_map_update_elem(&vcpus, &tid, &number, BPF_ANY);
	return number;
}

static __always_inline void put_task(struct vm_record_task *to, const struct task_struct *t)
{
	const uint32_t *comm = (const uint32_t *)t->comm;
	uint32_t *name = (uint32_t *)to->comm; /* aligned by four only */

	to->tid = t->pid;
	to->pid = t->tgid;
	to->vcpu = number_of(t);
	name[0] = comm[0];
	name[1] = comm[1];
	name[2] = comm[2];
	name[3] = comm[3];
}

/* --- what a guest is doing --- */

static __always_inline void read_arm64(struct kvm_vcpu *vcpu, struct place *p)
{
	struct kvm_vcpu___arm64 *v = (void *)vcpu;
	uint64_t pstate = 0;

	if (bpf_core_read(&p->pc, sizeof(p->pc), &v->arch.ctxt.regs.pc) ||
	    bpf_core_read(&pstate, sizeof(pstate), &v->arch.ctxt.regs.pstate))
		return;
	p->known = SAMPLE_GUEST_PC;
	p->is_user = !(pstate & ARM64_MODE_MASK);
	if (p->is_user || bpf_core_read(&p->task, sizeof(p->task), &v->arch.ctxt.regs.sp))
		return;
	p->known |= SAMPLE_GUEST_TASK;
}

static __always_inline struct vmcb *block_of(struct kvm_vcpu *vcpu)
{
	struct vmcb *b = NULL;

	bpf_core_read(&b, sizeof(b), &((struct vcpu_svm *)(void *)vcpu)->vmcb);
	return b;
}

static __always_inline void read_svm(struct kvm_vcpu *vcpu, struct place *p)
{
	struct kvm_vcpu___x86 *v = (void *)vcpu;
	struct vmcb *b = block_of(vcpu);
	bool is_protected = false;
	uint64_t stack = 0;
	uint8_t level = 0;

	if (bpf_core_field_exists(v->arch.guest_state_protected))
		bpf_core_read(&is_protected, sizeof(is_protected), &v->arch.guest_state_protected);
	if (is_protected || bpf_core_read(&p->pc, sizeof(p->pc), &b->save.rip) ||
	    bpf_core_read(&p->table, sizeof(p->table), &b->save.cr3) ||
	    bpf_core_read(&level, sizeof(level), &b->save.cpl))
		return;
	p->known = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE;
	p->is_user = level == X86_USER_LEVEL;
	/* As the module does it (device/vm/module/arch/x86.c). */
	if (p->is_user || bpf_core_read(&stack, sizeof(stack), &b->save.rsp) || (int64_t)stack >= 0)
		return;
	p->task = (stack - 1) & ~(SAMPLE_GUEST_STACK - 1);
	p->known |= SAMPLE_GUEST_TASK;
}

static __always_inline void read_place(struct kvm_vcpu *vcpu, struct place *p)
{
	__builtin_memset(p, 0, sizeof(*p));
	if (setup.exits == SAMPLE_EXITS_ARM64)
		read_arm64(vcpu, p);
	else if (setup.exits == SAMPLE_EXITS_SVM)
		read_svm(vcpu, p);
}

/* An interrupt leaves the syndrome register as the last trap had it. */
static __always_inline bool reason_arm64(uint64_t *ctx, struct kvm_vcpu *vcpu, struct reason *r)
{
	struct kvm_vcpu___arm64 *v = (void *)vcpu;
	uint32_t code = (uint32_t)ctx[0] & ~ARM64_ERROR_BIT;

	r->is_interrupt = !code;
	if (code != ARM64_TRAP) {
		r->value = code;
		return true;
	}
	if (bpf_core_read(&r->detail,
			  bpf_core_field_size(v->arch.fault.esr_el2) == sizeof(uint32_t)
				  ? sizeof(uint32_t)
				  : sizeof(uint64_t),
			  &v->arch.fault.esr_el2))
		return false;
	r->value = REASON_TRAP + (r->detail >> ARM64_CLASS_SHIFT & ARM64_CLASS_MASK);
	return true;
}

static __always_inline bool reason_svm(struct kvm_vcpu *vcpu, struct reason *r)
{
	struct vmcb *b = block_of(vcpu);
	uint32_t code = 0;

	if (bpf_core_read(&code, sizeof(code), &b->control.exit_code) ||
	    bpf_core_read(&r->detail, sizeof(r->detail), &b->control.exit_info_1))
		return false;
	r->value = code;
	r->is_interrupt = code == SVM_INTERRUPT;
	return true;
}

static __always_inline bool read_reason(uint64_t *ctx, struct kvm_vcpu *vcpu, struct reason *r)
{
	__builtin_memset(r, 0, sizeof(*r));
	if (!vcpu)
		return false;
	if (setup.exits == SAMPLE_EXITS_ARM64)
		return reason_arm64(ctx, vcpu, r);
	return setup.exits == SAMPLE_EXITS_SVM && reason_svm(vcpu, r);
}

/* --- records --- */

static __always_inline void lose(struct vm_state_cpu *cpu)
{
	__sync_fetch_and_add(&cpu->lost, 1);
	__sync_fetch_and_add(&cpu->unsaid, 1);
}

static __always_inline void begin(struct vm_state_cpu *cpu, struct vm_record *r, uint32_t kind,
				  uint32_t size)
{
	r->tick = bpf_ktime_get_ns();
	r->size = (uint16_t)size;
	r->kind = (uint8_t)kind;
	r->mode = 0;
	r->number = 0;
	r->lost = cpu->unsaid ? __sync_lock_test_and_set(&cpu->unsaid, 0) : 0;
	put_task(&r->task, (const struct task_struct *)bpf_get_current_task_btf());
}

/* Nobody else accounts for it: it is part of what was interrupted. */
static __always_inline void time_record(struct vm_state_cpu *cpu, const struct vm_record *r)
{
	if (++cpu->n_records % VM_RECORD_TIMED == 0)
		cpu->used_ns += (bpf_ktime_get_ns() - r->tick) * VM_RECORD_TIMED;
}

/* A place for a record, begun; NULL: there is none, and that is counted. */
#define TAKE(type, cpu, number, kind)                                                              \
	({                                                                                         \
		void *ring_ = bpf_map_lookup_elem(&rings, &(number));                              \
		type *record_ = ring_ ? bpf_ringbuf_reserve(ring_, sizeof(type), 0) : NULL;        \
		if (record_)                                                                       \
			begin(cpu, (struct vm_record *)record_, kind, sizeof(type));               \
		else                                                                               \
			lose(cpu);                                                                 \
		record_;                                                                           \
	})

#define SUBMIT(cpu, record)                                                                        \
	do {                                                                                       \
		time_record(cpu, (const struct vm_record *)(record));                              \
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);                                      \
	} while (0)

static __always_inline int put_value(uint32_t kind, uint64_t value, uint64_t detail)
{
	struct vm_record_value *r;
	uint32_t number;
	struct vm_state_cpu *cpu = this_cpu(&number);

	if (!cpu)
		return 0;
	r = TAKE(struct vm_record_value, cpu, number, kind);
	if (!r)
		return 0;
	r->value = value;
	r->detail = detail;
	SUBMIT(cpu, r);
	return 0;
}

static __always_inline int put_two(uint32_t kind, const struct task_struct *next, uint32_t about)
{
	struct vm_record_two *r;
	uint32_t number;
	struct vm_state_cpu *cpu = this_cpu(&number);

	if (!cpu)
		return 0;
	r = TAKE(struct vm_record_two, cpu, number, kind);
	if (!r)
		return 0;
	r->base.number = about;
	r->spare = 0;
	put_task(&r->next, next);
	SUBMIT(cpu, r);
	return 0;
}

/* --- the scheduler's events --- */

SEC("tp_btf/sched_switch")
int vm_switch(uint64_t *ctx)
{
	const struct task_struct *prev = (const void *)ctx[1], *next = (const void *)ctx[2];

	return put_two(SAMPLE_SWITCH, next,
		       (uint8_t)ctx[0] ? 0 : task_state_reported(ctx, prev, setup.has_prev_state));
}

SEC("tp_btf/sched_wakeup")
int vm_wake(uint64_t *ctx)
{
	const struct task_struct *t = (const void *)ctx[0];

	return number_of(t) == SAMPLE_NO_VCPU ? 0 : put_two(SAMPLE_WAKE, t, task_cpu(t));
}

SEC("tp_btf/sched_process_exit")
int vm_forget(uint64_t *ctx)
{
	const struct task_struct *t = (const void *)ctx[0];
	int32_t tid = t->pid;

	bpf_map_delete_elem(&vcpus, &tid);
	return 0;
}

/* --- KVM's --- */

SEC("tp_btf/kvm_entry")
int vm_entry(uint64_t *ctx)
{
	struct vm_record *r;
	uint32_t number;
	struct vm_state_cpu *cpu;

	(void)ctx;
	if (!kvm_ops)
		kvm_ops =
			ops_of(notifier_of((const struct task_struct *)bpf_get_current_task_btf()));
	cpu = this_cpu(&number);
	if (!cpu || !setup.has_events)
		return 0;
	r = TAKE(struct vm_record, cpu, number, SAMPLE_ENTRY);
	if (r)
		SUBMIT(cpu, r);
	return 0;
}

static __always_inline int put_exit(struct vm_state_cpu *cpu, uint32_t number,
				    struct kvm_vcpu *vcpu, const struct reason *why)
{
	struct vm_record_exit *x = TAKE(struct vm_record_exit, cpu, number, SAMPLE_EXIT);
	struct place p = {};

	if (!x)
		return 0;
	if (vcpu)
		read_place(vcpu, &p);
	if (p.known)
		x->base.mode = p.is_user ? SAMPLE_GUEST_USER : SAMPLE_GUEST_KERNEL;
	x->value = why->value;
	x->detail = why->detail;
	x->guest_pc = p.pc;
	x->guest_table = p.table;
	x->guest_context = 0;
	x->guest_task = p.task;
	x->guest = p.known;
	x->spare = 0;
	SUBMIT(cpu, x);
	return 0;
}

/* The exit that a sample's own interrupt caused is not kept as the reason that later samples tell. */
SEC("tp_btf/kvm_exit")
int vm_exit(uint64_t *ctx)
{
	const struct task_struct *t = (const struct task_struct *)bpf_get_current_task_btf();
	struct kvm_vcpu *vcpu = vcpu_of(t);
	uint32_t number;
	struct vm_state_cpu *cpu = this_cpu(&number);
	struct reason why;
	bool is_known = read_reason(ctx, vcpu, &why);

	if (!cpu)
		return 0;
	if (!cpu->is_sampled || !why.is_interrupt) {
		cpu->exit_tid = is_known ? t->pid : 0;
		cpu->reason = why.value;
		cpu->detail = why.detail;
	}
	cpu->is_sampled = 0;
	return setup.has_events ? put_exit(cpu, number, vcpu, &why) : 0;
}

SEC("tp_btf/kvm_userspace_exit")
int vm_outside(uint64_t *ctx)
{
	int32_t error = (int32_t)ctx[1];

	return put_value(SAMPLE_OUTSIDE, (uint32_t)ctx[0], error < 0 ? (uint64_t)-error : 0);
}

SEC("tp_btf/kvm_vcpu_wakeup")
int vm_poll(uint64_t *ctx)
{
	return put_value(SAMPLE_POLL, ctx[0], (uint8_t)ctx[1]);
}

/* --- samples --- */

static __always_inline bool put_guest(struct vm_state_cpu *cpu, struct vm_record_sample *s,
				      const struct task_struct *t)
{
	struct kvm_vcpu *vcpu = t->flags & PF_VCPU ? vcpu_of(t) : NULL;
	struct place p;

	if (!vcpu)
		return false;
	read_place(vcpu, &p);
	s->base.mode = p.is_user ? SAMPLE_GUEST_USER : SAMPLE_GUEST_KERNEL;
	s->guest = p.known;
	s->guest_pc = p.pc;
	s->guest_table = p.table;
	s->guest_task = p.task;
	if (cpu->exit_tid == t->pid) {
		s->guest |= SAMPLE_GUEST_REASON;
		s->reason = cpu->reason;
		s->reason_detail = cpu->detail;
	}
	cpu->is_sampled = 1;
	return true;
}

/* By the frames' own chain, as the kernel is compiled there: its own walk ends at once in a thread that has a virtual CPU loaded. */
static __always_inline uint32_t walk_arm64(uint64_t *ctx, struct vm_record_sample *s)
{
	uint64_t at = REGISTER(ctx, ARM64_FRAME), least = at, frame[2];
	uint32_t n;

	s->chain[0] = REGISTER(ctx, ARM64_PC);
	for (n = 1; n < KERNEL_MOST; n++) {
		if (at < least || at - least > STACK_MOST || at & 7 ||
		    bpf_probe_read_kernel(frame, sizeof(frame), (const void *)at) || !frame[1])
			break;
		s->chain[n] = frame[1] | ARM64_TAG;
		least = at + sizeof(frame);
		at = frame[0];
	}
	return n;
}

/* While the interrupt is served that ended a guest's run, the kernel walks no stack; there is the place alone. */
static __always_inline uint32_t walk_x86(uint64_t *ctx, struct vm_record_sample *s)
{
	long len = bpf_get_stack(ctx, s->chain, KERNEL_MOST * sizeof(s->chain[0]), 0);

	if (len >= (long)sizeof(s->chain[0]))
		return (uint32_t)len / sizeof(s->chain[0]);
	s->chain[0] = REGISTER(ctx, X86_PC);
	return 1;
}

static __always_inline uint64_t entered_at(struct task_struct *t)
{
	long regs = bpf_task_pt_regs(t);

	if (setup.exits == SAMPLE_EXITS_ARM64)
		return ((const struct pt_regs___arm64 *)regs)->pc;
	return ((const struct pt_regs___x86 *)regs)->ip;
}

/* How many addresses it has. */
static __always_inline uint32_t put_chain(uint64_t *ctx, struct vm_record_sample *s,
					  struct task_struct *t, bool is_user)
{
	bool is_arm64 = setup.exits == SAMPLE_EXITS_ARM64;
	uint32_t n = 0;
	uint64_t pc = 0;

	if (is_user)
		pc = is_arm64 ? REGISTER(ctx, ARM64_PC) : REGISTER(ctx, X86_PC);
	else
		n = is_arm64 ? walk_arm64(ctx, s) : walk_x86(ctx, s);
	/* Where the program called the kernel, if it is one. */
	if (!is_user && t->mm && !(t->flags & (PF_KTHREAD | PF_IO_WORKER)))
		pc = entered_at(t);
	if (n > KERNEL_MOST)
		n = KERNEL_MOST;
	s->n_kernel = (uint16_t)n;
	if (!pc)
		return n;
	s->chain[n] = pc;
	s->n_user = 1;
	return n + 1;
}

SEC("perf_event")
int vm_sample(uint64_t *ctx)
{
	struct task_struct *t = (struct task_struct *)bpf_get_current_task_btf();
	uint32_t zero = 0, number, size;
	struct vm_state_cpu *cpu = this_cpu(&number);
	struct vm_record_sample *s = bpf_map_lookup_elem(&samples, &zero);
	void *ring = bpf_map_lookup_elem(&rings, &number);
	uint64_t since;
	bool is_user;

	if (!cpu || !s)
		return 0;
	__builtin_memset(s, 0, CHAIN_AT);
	begin(cpu, &s->base, SAMPLE_TAKEN, 0);
	since = cpu->last_sample ? s->base.tick - cpu->last_sample : setup.period_ns;
	cpu->last_sample = s->base.tick;
	s->base.number = 1;
	s->period_ns = since < UINT32_MAX ? since : UINT32_MAX;
	is_user = setup.exits == SAMPLE_EXITS_ARM64
			  ? !(REGISTER(ctx, ARM64_PSTATE) & ARM64_MODE_MASK)
			  : REGISTER(ctx, X86_CS) & X86_USER_LEVEL;
	if (!put_guest(cpu, s, t)) {
		if (is_user)
			s->base.mode = SAMPLE_USER;
		else
			s->base.mode = t->pid ? SAMPLE_KERNEL : SAMPLE_IDLE;
	}
	size = CHAIN_AT + put_chain(ctx, s, t, is_user) * sizeof(s->chain[0]);
	s->base.size = (uint16_t)size;
	if (size > sizeof(*s))
		return 0;
	if (!ring || bpf_ringbuf_output(ring, s, size, BPF_RB_NO_WAKEUP)) {
		/* What this one would have told is still to be told. */
		__sync_fetch_and_add(&cpu->unsaid, s->base.lost);
		lose(cpu);
	}
	time_record(cpu, &s->base);
	return 0;
}

char programs_license[] SEC("license") = "Dual MIT/GPL";
