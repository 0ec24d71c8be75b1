/* SPDX-License-Identifier: MIT */
/*
 * vm_account: the segments of virtual CPUs added up: by class, by the reason of the exit, by who ran instead.
 *
 * Times are nanoseconds of the run's clock, each segment from the nanosecond of its begin to that of its end; so the
 * classes of a virtual CPU add up to its wall time to the nanosecond, as do those of a machine to its virtual CPUs'. A window
 * cuts a part of the time out.
 */
#ifndef KISEKI_ANALYSIS_VM_ACCOUNT_H
#define KISEKI_ANALYSIS_VM_ACCOUNT_H

#include "analysis/vm_time.h"

#define VM_REASONS_MAX (1U << 16)
#define VM_CULPRITS_MAX (1U << 20)

struct vm_sums {
	uint64_t ns[VM_CLASSES];
	uint64_t ours_ns; /* of VM_KERNEL: after exits that samples caused */
	uint64_t times
		[VM_CLASSES]; /* how often it was entered; of steal how many that ran instead */
};

/* Work of the VMM after exits of one reason. */
struct vm_reason {
	uint32_t vcpu;
	bool is_known;		 /* false: the exit was before the recording, or lost */
	uint64_t reason, detail; /* detail: of the first such exit; it may differ in others */
	bool is_halt;
	uint64_t exits;
	uint64_t kernel_ns, outside_ns, ours_ns;
};

/* Who had the CPU that a virtual CPU could have used. */
struct vm_culprit {
	uint32_t vcpu;
	struct sample_task task; /* tid 0: nobody; -1: not known */
	uint64_t steal_ns, waiting_ns;
	uint64_t times;
};

struct vm_account;

struct vm_account_options {
	const struct trace_clock *clock;
	enum sample_exits exits;
	uint64_t from_ns, to_ns; /* of the run's clock; 0, UINT64_MAX: all */
	bool sums_only;		 /* no rows of reasons and culprits */
};

int vm_account_new(struct vm_account **ret, const struct vm_account_options *o);

/* One that goes on from here, and has nothing added up yet: for a window that begins later. o NULL: one to be kept, which only takes
 * copies of itself. -ENOMEM. */
int vm_account_dup_state(struct vm_account **ret, const struct vm_account *a,
			 const struct vm_account_options *o);
void vm_account_free(struct vm_account *a);
DEFINE_CLEANUP(vm_account, vm_account_free)

/* Of one virtual CPU segments come in order. 0, -ENOMEM, -E2BIG. */
int vm_account_put(struct vm_account *a, const struct vm_segment *s);

/* Of one virtual CPU; NULL: it has none. */
const struct vm_sums *vm_account_get(const struct vm_account *a, uint32_t vcpu);

/* Of all virtual CPUs, those of one together, most time first; to be freed, what they point to is the account's.
 * NULL: out of memory. */
const struct vm_reason **vm_account_dup_reasons(const struct vm_account *a, size_t *ret_n);
const struct vm_culprit **vm_account_dup_culprits(const struct vm_account *a, size_t *ret_n);

/* Adds one to another. */
void vm_sums_add(struct vm_sums *to, const struct vm_sums *from);

/* All of it: what was there by the clock on the wall. */
uint64_t vm_sums_wall(const struct vm_sums *s);

static inline uint64_t vm_sums_steal1(const struct vm_sums *s)
{
	return s->ns[VM_STEAL] + s->ns[VM_WAITING];
}

static inline uint64_t vm_sums_steal2(const struct vm_sums *s)
{
	return s->ns[VM_KERNEL] + s->ns[VM_OUTSIDE];
}

#endif
