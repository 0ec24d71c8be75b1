/* SPDX-License-Identifier: MIT */
/*
 * wake_chain: why did this task run then? Who woke it, what that one had been waiting for before it
 * could, and so on, backward in time.
 *
 * The run is read backward in windows that grow, each decoded once and kept as spans (analysis/spans.h)
 * until the chain leaves it. It ends where a wakeup came from an interrupt or from the idle task, at the
 * start of the run or of a task, where something was lost or is not known, or when it is long enough.
 */
#ifndef KISEKI_COLLECTOR_WAKE_CHAIN_H
#define KISEKI_COLLECTOR_WAKE_CHAIN_H

#include <jansson.h>

#include "base/error.h"
#include "store/store.h"

#define WAKE_CHAIN_DEFAULT 32U
#define WAKE_CHAIN_MAX 256U

struct wake_chain_query {
	struct store_run run;
	uint64_t first_ns, last_ns; /* of the run, in its clock */
	int32_t pid;
	uint64_t at_ns;
	uint32_t limit;			      /* steps */
	bool (*is_over)(const void *context); /* may be NULL */
	const void *context;
};

/* -ENOENT: nothing is known of the task at that time. */
int wake_chain_make(struct store *s, const struct wake_chain_query *q, json_t **ret,
		    struct error *e);

#endif
