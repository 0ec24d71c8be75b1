/* SPDX-License-Identifier: MIT */
/*
 * work: the facts of a collector, the workers that make them, and who watches them.
 *
 * None of it is needed to take blocks, so nothing of it keeps a collector from starting: where facts cannot be opened, on
 * a full disk for example, that is said once, and it is tried again until it can.
 */
#ifndef KISEKI_COLLECTOR_WORK_H
#define KISEKI_COLLECTOR_WORK_H

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/alerts.h"
#include "facts/fact_workers.h"

struct work;

struct work_options {
	const char *place; /* of the facts (facts_open()) */
	bool is_shared;	   /* with other collectors and workers */
	struct store *store;
	struct symbols_options symbols; /* where objects lie, with what it points to */
	bool has_workers;
	unsigned int threads; /* 0: one for each CPU */
	const char *webhook;  /* NULL: none */
	/* May be NULL. */
	void (*log)(void *context, const char *line);
	void *log_context;
};

/* -EINVAL: the webhook cannot be one; -ENOMEM. What else is missing is waited for. */
int work_start(struct work **ret, const struct work_options *o, struct error *e);
void work_stop(struct work *w);
DEFINE_CLEANUP(work, work_stop)

/* As long as they are not there, NULL; then they stay until the end. */
struct facts *work_facts(const struct work *w);
struct fact_workers *work_workers(const struct work *w);
struct alerts *work_alerts(const struct work *w);
struct fact_members *work_members(const struct work *w); /* only where facts are shared */

#endif
