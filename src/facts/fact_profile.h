/* SPDX-License-Identifier: MIT */
/*
 * fact_profile: the samples of a minute as one tree, made of the items of a source that others may read, too (fact_build.h).
 */
#ifndef KISEKI_FACTS_FACT_PROFILE_H
#define KISEKI_FACTS_FACT_PROFILE_H

#include "facts/fact_build.h"
#include "trace/sample_source.h"

struct fact_profile;

/* What it is given must outlive it; `e` is kept until the end. */
int fact_profile_new(struct fact_profile **ret, const struct fact_build *b,
		     struct sample_source *source, const struct fact_window *window,
		     struct error *e);
void fact_profile_free(struct fact_profile *p);
DEFINE_CLEANUP(fact_profile, fact_profile_free)

int fact_profile_put(struct fact_profile *p, const struct sample_item *item);

/* All was put: into an empty set. -ENODATA: there is nothing. */
int fact_profile_give(struct fact_profile *p, struct fact_set *set);

#endif
