/* SPDX-License-Identifier: MIT */
/*
 * alert_build: which build of each object a device runs, and since when: what gets slower after a change has its cause there.
 *
 * Two builds at once, as while a release is rolled out, are no change: the one with more samples counts.
 */
#ifndef KISEKI_ALERT_ALERT_BUILD_H
#define KISEKI_ALERT_ALERT_BUILD_H

#include "facts/fact_set.h"

#define ALERT_BUILDS_MAX 1024U	/* of a device; those of further objects are not remembered */
#define ALERT_FRESH_MINUTES 30U /* so long a build is new */

struct alert_build {
	char *object;
	uint8_t id[FACT_BUILD_ID_MAX];
	uint8_t len;
	uint64_t since_s; /* 0: it has been there from the start */
};

struct alert_builds {
	struct alert_build *list;
	size_t n, room;
};

/* A zeroed struct is empty. */
void alert_builds_done(struct alert_builds *b);
int alert_builds_put(struct alert_builds *b, const struct fact_set *minute); /* -ENOMEM */

/* The build of an object, if it is new; else NULL. */
const struct alert_build *alert_builds_fresh(const struct alert_builds *b, const char *object,
					     uint64_t minute_s);

#endif
