/* SPDX-License-Identifier: MIT */
/* vm_guest_clock: see vm_guest_clock.h. */
#include "device/vm/vm_guest_clock.h"

uint64_t vm_guest_clock_error(const struct vm_guest_clock *c, uint64_t now_ns)
{
	uint64_t age = now_ns > c->host_ns ? now_ns - c->host_ns : 0;

	return c->is_set ? c->error_ns + age / VM_GUEST_CLOCK_DRIFT : UINT64_MAX;
}

void vm_guest_clock_put(struct vm_guest_clock *c, uint64_t sent_ns, uint64_t got_ns,
			uint64_t guest_ns)
{
	uint64_t half = got_ns > sent_ns ? (got_ns - sent_ns) / 2 : 0;

	if (half > vm_guest_clock_error(c, got_ns))
		return;
	*c = (struct vm_guest_clock){
		.is_set = true, .host_ns = sent_ns + half, .guest_ns = guest_ns, .error_ns = half
	};
}

/* What is before the host's own start is its start: a guest may say any number. */
uint64_t vm_guest_clock_get(const struct vm_guest_clock *c, uint64_t guest_ns, uint64_t now_ns)
{
	uint64_t ago, ahead;

	if (guest_ns <= c->guest_ns) {
		ago = c->guest_ns - guest_ns;
		return ago < c->host_ns ? c->host_ns - ago : 1;
	}
	ahead = guest_ns - c->guest_ns;
	return now_ns > c->host_ns && ahead < now_ns - c->host_ns ? c->host_ns + ahead : now_ns;
}
