/* SPDX-License-Identifier: MIT */
/*
 * vm_correct: the true time of guests' processes, threads and functions, and what was stolen from each.
 *
 * A guest's own clock goes on while its virtual CPU does not run, so what it measures (its *apparent* time) has steal in it. Here
 * the true time is the time that the virtual CPU was in the guest, which is exact; samples only share it out: what lies
 * between two samples is half of the one's, half of the other's. Steal is charged where it struck. That is known exactly
 * when the exit or the switch tells where the guest was. Where only samples do, steal between two samples in the same function is
 * the function's, between two in the same thread the thread's, and else nobody's; so a process's steal may be more than
 * that of its functions, and what is nobody's is told apart.
 *
 * Shares are estimates: of n samples the error is about sqrt(n) samples (one standard deviation); vm_stat_error() says it in
 * time. Whatever is not a share is exact.
 */
#ifndef KISEKI_ANALYSIS_VM_CORRECT_H
#define KISEKI_ANALYSIS_VM_CORRECT_H

#include "analysis/vm_time.h"

#define VM_PLACES_MAX (1U << 20)

/* Where a guest was. Numbers are given by whoever names (vm_names.h); equal numbers are the same. */
struct vm_place {
	uint32_t process, thread, function;
};

enum vm_level {
	VM_BY_PROCESS = 0,
	VM_BY_THREAD = 1,
	VM_BY_FUNCTION = 2, /* of a thread */
	VM_LEVELS = 3,
};
extern const char *const vm_level_words[VM_LEVELS + 1]; /* ends with NULL */

struct vm_stat {
	struct vm_place place; /* as far as the level goes, the rest is 0 */
	uint64_t samples;
	uint64_t true_ns;
	uint64_t steal1_ns, steal2_ns;
};

/* What is nobody's on a level, of all virtual CPUs: with its rows it is all there was. */
struct vm_rest {
	uint64_t true_ns; /* of virtual CPUs that were never sampled in their guest */
	uint64_t steal1_ns, steal2_ns;
};

/* To whom went what came since the last time, of one virtual CPU. */
struct vm_charge {
	uint32_t vcpu;
	bool is_struck; /* it is of the segment that was put last and of nothing else, and all `next`'s */
	bool is_counted;		      /* a sample in `next` was */
	const struct vm_place *before, *next; /* NULL: there is none */
	uint64_t before_ns; /* so much of the time in the guest is `before`'s, the rest `next`'s */
	int level; /* enum vm_level up to which steal is `next`'s; below 0: it is nobody's */
};

struct vm_correct;

struct vm_correct_options {
	const struct trace_clock *clock;
	uint64_t from_ns, to_ns; /* of the run's clock; 0, UINT64_MAX: all */
	/* Where the guest of a virtual CPU was, by what an event says. < 0 ends it. */
	int (*place)(void *data, uint32_t vcpu, const struct sample_event *ev,
		     struct vm_place *ret);
	void *data;
	/* Whoever keeps segments learns here whose they are; NULL: nobody does. < 0 ends it. */
	int (*charge)(void *data, const struct vm_charge *c);
	bool charges_only; /* no rows of places: only who learns of charges asks */
};

int vm_correct_new(struct vm_correct **ret, const struct vm_correct_options *o);
void vm_correct_free(struct vm_correct *c);
DEFINE_CLEANUP(vm_correct, vm_correct_free)

/* One that goes on from here, and has shared out nothing yet: for a window that begins later. o NULL: one to be kept, which only takes
 * copies of itself. -ENOMEM. */
int vm_correct_dup_state(struct vm_correct **ret, const struct vm_correct *c,
			 const struct vm_correct_options *o);

/* The window begins: before anything is put that is in it. Nothing before has to be named; then it has to be known where each guest
 * is, so `place` is asked that. What it returned below 0. */
int vm_correct_begin(struct vm_correct *c);

/* As the listener of vm_time has them. 0, -ENOMEM, -E2BIG. */
int vm_correct_put_segment(struct vm_correct *c, const struct vm_segment *s);
int vm_correct_put_sample(struct vm_correct *c, uint32_t vcpu, const struct sample_item *item);

/* All was put. */
int vm_correct_end(struct vm_correct *c);

/* Most true time first; to be freed, what they point to is its own. NULL: out of memory. */
const struct vm_stat **vm_correct_dup(const struct vm_correct *c, enum vm_level level,
				      size_t *ret_n);
const struct vm_rest *vm_correct_rest(const struct vm_correct *c, enum vm_level level);

static inline uint64_t vm_stat_apparent(const struct vm_stat *s)
{
	return s->true_ns + s->steal1_ns + s->steal2_ns;
}

/* One standard deviation of the true time, by the number of samples. */
uint64_t vm_stat_error(const struct vm_stat *s);

#endif
