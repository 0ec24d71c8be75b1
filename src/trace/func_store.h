/* SPDX-License-Identifier: MIT */
/*
 * func_store: which run of the scheduler in a store belongs to a run of programs.
 *
 * A device may send both at the same time, as two runs. They are of one boot, and the one of the
 * scheduler that shares most time with the calls is the one meant.
 */
#ifndef KISEKI_TRACE_FUNC_STORE_H
#define KISEKI_TRACE_FUNC_STORE_H

#include "store/store.h"
#include "trace/func_source.h"

/* ret->number is 0 if there is none. */
int func_store_find_sched(struct store *s, const struct store_run *calls, struct store_run *ret,
			  struct error *e);

/* When the calls of a source of func_ksk.h were, by CLOCK_MONOTONIC, and a little more on both sides;
 * 1, 0: it has none, or < 0. */
struct func_store_span {
	uint64_t from_ns, to_ns;
};
int func_store_get_span(const struct func_source *calls, struct func_store_span *ret);

/* That run, as far as it is of the time of the calls. */
int func_store_open_sched(struct store *s, uint32_t run, const struct func_source *calls,
			  struct trace_source **ret, struct error *e);

#endif
