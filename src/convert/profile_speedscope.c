/* SPDX-License-Identifier: MIT */
/* profile_speedscope: a profile as speedscope.app reads it, thread by thread (speedscope.h). */
#include "convert/profile_series.h"
#include "convert/speedscope.h"

int profile_speedscope_write(const struct profile_walk *w, const struct profile_export_options *o,
			     struct outfile *out, struct error *e)
{
	CLEANUP_PROFILE_LIST struct profile_list list = { 0 };
	struct stack_series s;
	int r = profile_series_init(&s, &list, w, o, e);

	return r < 0 ? r : speedscope_write(&s, out, e);
}
