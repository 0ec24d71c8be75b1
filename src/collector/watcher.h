/* SPDX-License-Identifier: MIT */
/*
 * watcher: watches facts that several processes work out, and several collectors could watch.
 *
 * Of the collectors that share facts one watches (fact_members.h), so that each minute is looked at once. It looks every few seconds for
 * minutes that are new, whoever worked them out. Whoever takes over learns what is usual from the facts, and begins with what comes then.
 */
#ifndef KISEKI_COLLECTOR_WATCHER_H
#define KISEKI_COLLECTOR_WATCHER_H

#include "base/cleanup.h"
#include "collector/alerts.h"
#include "facts/fact_members.h"

struct watcher;

struct watcher_options {
	struct fact_members *members; /* must outlive it, as what is in alerts */
	struct alerts_options alerts;
};

int watcher_start(struct watcher **ret, const struct watcher_options *o, struct error *e);
void watcher_stop(struct watcher *w);
DEFINE_CLEANUP(watcher, watcher_stop)

/* NULL until it has watched for the first time; then it stays until the end. */
struct alerts *watcher_alerts(const struct watcher *w);

#endif
