/* SPDX-License-Identifier: MIT */
/* ks_error: a reason from within, as it is given to the caller. */
#ifndef KISEKI_LIBRARY_KS_ERROR_H
#define KISEKI_LIBRARY_KS_ERROR_H

#include <kiseki/event.h>
#include <stdio.h>

#include "base/error.h"

/* Returns r. */
static inline int ks_error_fill(struct ks_error *to, const struct error *from, int r)
{
	if (to && r < 0)
		snprintf(to->text, sizeof(to->text), "%s", from->text);
	return r;
}

#endif
