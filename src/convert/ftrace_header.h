/* SPDX-License-Identifier: MIT */
/* ftrace_header: the comment lines at the head of the kernel's `trace` file. */
#ifndef KISEKI_CONVERT_FTRACE_HEADER_H
#define KISEKI_CONVERT_FTRACE_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/info.h"

#define FTRACE_HEADER_MAX 1024U
#define FTRACE_ENTRIES_MAX 96U

/* Both write at most the maximum above to buf, not terminated, and return the length. */

/* "entries-in-buffer/entries-written" and the number of CPUs, with its newline. Counts that are
 * not known yet (FTRACE_ENTRIES_UNKNOWN for both) print as "-/-". Empty for the oldest dialect,
 * which had no such line. */
#define FTRACE_ENTRIES_UNKNOWN UINT64_MAX
size_t ftrace_header_entries(const struct trace_info *info, uint64_t entries, uint64_t written,
			     char *buf);

/* Everything before (part 0) and after (part 1) that line. */
size_t ftrace_header_part(const struct trace_info *info, int part, char *buf);

#endif
