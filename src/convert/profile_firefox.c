/* SPDX-License-Identifier: MIT */
/* profile_firefox: a profile as the Firefox Profiler reads it (firefox.h). */
#include "convert/firefox.h"
#include "convert/profile_series.h"

int profile_firefox_write(const struct profile_walk *w, const struct profile_export_options *o,
			  struct outfile *out, struct error *e)
{
	CLEANUP_PROFILE_LIST struct profile_list list = { 0 };
	struct stack_series s;
	int r = profile_series_init(&s, &list, w, o, e);

	return r < 0 ? r : firefox_write(&s, out, e);
}
