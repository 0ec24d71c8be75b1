/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_clock: a guest's CLOCK_MONOTONIC on the host's.
 *
 * The host asks for the time, and the answer was made somewhere between the question and its arrival: half of the way there
 * and back is the error. The fastest answer counts; as it gets older its error grows, by as much as clocks may run apart,
 * until a newer one is better. So a machine that was stopped for a while, whose clock did not go on, is right again soon.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_CLOCK_H
#define KISEKI_DEVICE_VM_VM_GUEST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define VM_GUEST_CLOCK_DRIFT 2000U /* a clock is off by one in so many, at most */

struct vm_guest_clock {
	bool is_set;
	uint64_t host_ns, guest_ns; /* the same moment */
	uint64_t error_ns;	    /* of that */
};

/* An answer: when it was asked for and came, on the host, and what it says. */
void vm_guest_clock_put(struct vm_guest_clock *c, uint64_t sent_ns, uint64_t got_ns,
			uint64_t guest_ns);

/* A time of the guest on the host's clock, not later than `now_ns`. */
uint64_t vm_guest_clock_get(const struct vm_guest_clock *c, uint64_t guest_ns, uint64_t now_ns);

/* By how much that may be wrong. */
uint64_t vm_guest_clock_error(const struct vm_guest_clock *c, uint64_t now_ns);

#endif
