/* SPDX-License-Identifier: MIT */
/* profile_series: the samples of a profile, one by one (stack_series.h). */
#ifndef KISEKI_CONVERT_PROFILE_SERIES_H
#define KISEKI_CONVERT_PROFILE_SERIES_H

#include "convert/profile_export.h"
#include "convert/stack_series.h"

/* Runs the walk; the list is filled and is the caller's to end. */
int profile_series_init(struct stack_series *s, struct profile_list *list,
			const struct profile_walk *w, const struct profile_export_options *o,
			struct error *e);

#endif
