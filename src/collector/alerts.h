/* SPDX-License-Identifier: MIT */
/*
 * alerts: what the collector does about alerts: it feeds the watch with the minutes that workers make, keeps the last alerts for who
 * asks, writes each to its log, and posts it to a webhook.
 *
 * Nothing waits for a webhook: posts go out by a thread of their own, each is tried a few times, and what does not get through is
 * counted. What is usual is learnt again from the facts when the collector starts.
 */
#ifndef KISEKI_COLLECTOR_ALERTS_H
#define KISEKI_COLLECTOR_ALERTS_H

#include "alert/alert_watch.h"
#include "base/error.h"
#include "facts/facts.h"
#include "store/store.h"

#define ALERTS_KEPT 1000U
#define ALERTS_POSTS_MAX 256U

struct alerts;

struct alerts_options {
	struct facts *facts;
	struct store *store; /* for names of devices */
	const char *webhook; /* URL; NULL: none. It may hold a secret: it is never said */
	void (*log)(void *context, const char *line);
	void *log_context;
};

int alerts_start(struct alerts **ret, const struct alerts_options *o, struct error *e);
void alerts_stop(struct alerts *a);
DEFINE_CLEANUP(alerts, alerts_stop)

/* A minute was worked out; for fact_workers. By one thread. */
void alerts_put(void *alerts, const struct fact_set *s);
void alerts_expire(void *alerts, uint64_t now_s);

/* The last of them, the latest first; to be freed. -ENOMEM. */
int alerts_dup(struct alerts *a, struct alert **ret, size_t *ret_n);

struct alerts_counters {
	struct alert_watch_counters watch;
	uint64_t posted, post_errors;
};
void alerts_count(struct alerts *a, struct alerts_counters *ret);

#endif
