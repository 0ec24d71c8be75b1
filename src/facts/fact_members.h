/* SPDX-License-Identifier: MIT */
/*
 * fact_members: the processes that share the work, as one of them sees it, and what of it is its own.
 *
 * A thread of its own says every two seconds that this process is there, and learns who else is: work that takes long must not look like
 * a death. Devices are shared by a hash of the device and the member, so that whoever comes or goes moves his own devices alone. Two that
 * do not know of each other yet do the same work, which does no harm (fact_set.h).
 */
#ifndef KISEKI_FACTS_FACT_MEMBERS_H
#define KISEKI_FACTS_FACT_MEMBERS_H

#include "base/cleanup.h"
#include "facts/facts.h"

struct fact_members;

struct fact_members_options {
	struct facts *facts; /* must outlive it */
	bool works, watches;
};

/* Returns when all that are there are known. */
int fact_members_start(struct fact_members **ret, const struct fact_members_options *o,
		       struct error *e);
void fact_members_stop(struct fact_members *m); /* and says that it goes */
DEFINE_CLEANUP(fact_members, fact_members_stop)

/* What this process has done so far: threads, minutes, waiting, behind_s; others are told with the next beat. */
void fact_members_tell(struct fact_members *m, const struct facts_member *done);

/* Whether this process works the minutes of a device out. */
bool fact_members_owns(struct fact_members *m, const struct message_id *device);
/* Whether it does what is done once for all: hours, and what is too old. */
bool fact_members_leads(struct fact_members *m);
/* Whether it watches for alerts; only while it was heard of lately. */
bool fact_members_watches(struct fact_members *m);

/* All, itself first; to be freed. -ENOMEM. */
int fact_members_dup(struct fact_members *m, struct facts_member **ret, size_t *ret_n);

#endif
