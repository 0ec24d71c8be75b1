/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sample_event: see sample_event.h. */
#include "wire/sample_event.h"

const struct sample_shape sample_shapes[SAMPLE_KINDS] = {
	[SAMPLE_TAKEN] = { "sample", false, false, true },
	[SAMPLE_SWITCH] = { "switch", true, true, false },
	[SAMPLE_WAKE] = { "wake", true, true, false },
	[SAMPLE_ENTRY] = { "entry", false, true, false },
	[SAMPLE_EXIT] = { "exit", false, true, true },
	[SAMPLE_OUTSIDE] = { "outside", false, true, false },
	[SAMPLE_POLL] = { "poll", false, true, false },
};

bool sample_task_equal(const struct sample_task *a, const struct sample_task *b)
{
	return a->tid == b->tid && a->pid == b->pid && a->vcpu == b->vcpu &&
	       !memcmp(a->comm, b->comm, SCHED_COMM_LEN);
}

static bool guest_equal(const struct sample_event *a, const struct sample_event *b)
{
	uint32_t known = a->guest;

	return a->mode == b->mode && known == b->guest &&
	       (!(known & SAMPLE_GUEST_PC) || a->guest_pc == b->guest_pc) &&
	       (!(known & SAMPLE_GUEST_TABLE) || a->guest_table == b->guest_table) &&
	       (!(known & SAMPLE_GUEST_CONTEXT) || a->guest_context == b->guest_context) &&
	       (!(known & SAMPLE_GUEST_TASK) || a->guest_task == b->guest_task) &&
	       (!(known & SAMPLE_GUEST_REASON) ||
		(a->reason == b->reason && a->reason_detail == b->reason_detail));
}

bool sample_event_equal(const struct sample_event *a, const struct sample_event *b)
{
	size_t n = (size_t)a->n_kernel + a->n_user;

	if (a->tick != b->tick || a->kind != b->kind || !sample_task_equal(&a->task, &b->task))
		return false;
	if (a->kind >= SAMPLE_KINDS)
		return false;
	if (sample_shapes[a->kind].has_next && !sample_task_equal(&a->next, &b->next))
		return false;
	if (sample_shapes[a->kind].has_value && (a->value != b->value || a->detail != b->detail))
		return false;
	if (sample_shapes[a->kind].has_guest && !guest_equal(a, b))
		return false;
	return a->kind != SAMPLE_TAKEN ||
	       (a->weight == b->weight && a->n_kernel == b->n_kernel && a->n_user == b->n_user &&
		(!n || !memcmp(a->chain, b->chain, n * sizeof(*a->chain))));
}
