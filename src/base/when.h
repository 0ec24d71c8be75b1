/* SPDX-License-Identifier: MIT */
/*
 * when: points in time as people write them.
 *
 *	now   -5m   -90s   -1h30m   -2d                  before now
 *	10:02:30   10:02   10:02:30.25                   today, local time; if that is yet to come, yesterday
 *	2026-11-15   2026-11-15 10:02:30   2026-11-15T10:02:30.5+01:00   …Z
 *	@1763200000.5                                    seconds since 1970
 *	1763200000000000000                              nanoseconds since 1970: 16 digits or more
 */
#ifndef KISEKI_BASE_WHEN_H
#define KISEKI_BASE_WHEN_H

#include <stdint.h>

#include "base/error.h"

#define WHEN_MAX 40 /* characters of a formatted one, with its NUL */

/* Nanoseconds since 1970. -EINVAL with the forms that are understood. */
int when_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns, struct error *e);

/* ISO 8601 in UTC with as many decimals as needed (0, 3, 6 or 9). */
const char *when_format(uint64_t ns, char out[WHEN_MAX]);

/* 1h30m, 250ms, 90s, 2d, or plain seconds: a length of time. */
int when_parse_length(const char *text, uint64_t *ret_ns, struct error *e);

#endif
