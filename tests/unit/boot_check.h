/* SPDX-License-Identifier: MIT */
/* boot_check: what holds for every boot, whatever it was made from. */
#ifndef KISEKI_TESTS_BOOT_CHECK_H
#define KISEKI_TESTS_BOOT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/boot.h"

/* Spans side by side from start to end, states that add up. */
static inline void boot_check(const struct boot *b)
{
	const struct boot_process *p;
	uint64_t at, sum;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		assert_true(p->from_ns < p->to_ns);
		assert_true(p->from_ns >= b->from_ns && p->to_ns <= b->to_ns);
		assert_true(p->n_names >= 1 && p->n_spans >= 1);
		for (k = 0, at = p->from_ns; k < p->n_spans; k++) {
			assert_int_equal(p->spans[k].from_ns, at);
			assert_true(p->spans[k].to_ns > at);
			assert_true(p->spans[k].share <= 1000);
			at = p->spans[k].to_ns;
		}
		assert_int_equal(at, p->to_ns);
		for (k = 0, sum = 0; k < BOOT_STATES; k++)
			sum += p->state_ns[k];
		assert_int_equal(sum, p->to_ns - p->from_ns);
		if (p->parent != BOOT_NONE) {
			assert_true(p->parent < i);
			assert_int_equal(p->depth, b->processes[p->parent].depth + 1);
			assert_int_equal(p->parent_pid, b->processes[p->parent].pid);
		}
	}
}

#endif
