/* SPDX-License-Identifier: MIT */
/*
 * ftrace_header: see ftrace_header.h.
 *
 * The legend has changed with the columns it explains:
 *   until 3.2     no flags column, no counts            (flag_columns 0)
 *   until 5.8     four flags, five digits for a pid     (4, pid_width 5)
 *   until 5.14    four flags, seven digits              (4, pid_width 7)
 *   since 5.15    five flags, seven digits              (5, pid_width 7)
 *   since 5.17    the first flag tells of bottom halves, too
 * and each of them exists without flags (option irq-info off: DIALECT_NO_FLAGS) and with the tgid.
 * The legend is text with three marks, which are replaced when it is printed: '@' is the room the
 * tgid column takes, '~' the word TGID in that room, and '^' the bar below it.
 */
#include "convert/ftrace_header.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "convert/ftrace_put.h"

static const char legend_oldest[] = "#           TASK-PID    CPU#    TIMESTAMP  FUNCTION\n"
				    "#              | |       |          |         |\n";

static const char legend_5_digits_no_flags[] =
	"#           TASK-PID   CPU#      TIMESTAMP  FUNCTION\n"
	"#              | |       |          |         |\n";

static const char legend_5_digits_no_flags_tgid[] =
	"#           TASK-PID   TGID       CPU#   TIMESTAMP  FUNCTION\n"
	"#              | |       |          |       |         |\n";

static const char legend_7_digits_no_flags[] =
	"#           TASK-PID  ~ CPU#     TIMESTAMP  FUNCTION\n"
	"#              | |    ^   |         |         |\n";

static const char legend_4_flags_5_digits[] =
	"#                          @  _-----=> irqs-off\n"
	"#                          @ / _----=> need-resched\n"
	"#                          @| / _---=> hardirq/softirq\n"
	"#                          @|| / _--=> preempt-depth\n"
	"#                          @||| /     delay\n"
	"#           TASK-PID ~CPU#  ||||    TIMESTAMP  FUNCTION\n"
	"#              | |   ^  |   ||||       |         |\n";

static const char legend_4_flags_7_digits[] =
	"#                            @  _-----=> irqs-off\n"
	"#                            @ / _----=> need-resched\n"
	"#                            @| / _---=> hardirq/softirq\n"
	"#                            @|| / _--=> preempt-depth\n"
	"#                            @||| /     delay\n"
	"#           TASK-PID  ~ CPU#  ||||   TIMESTAMP  FUNCTION\n"
	"#              | |    ^   |   ||||      |         |\n";

static const char legend_5_flags_irqs[] = "#                            @  _-----=> irqs-off\n";
static const char legend_5_flags_bh[] =
	"#                            @  _-----=> irqs-off/BH-disabled\n";
static const char legend_5_flags[] = "#                            @ / _----=> need-resched\n"
				     "#                            @| / _---=> hardirq/softirq\n"
				     "#                            @|| / _--=> preempt-depth\n"
				     "#                            @||| / _-=> migrate-disable\n"
				     "#                            @|||| /     delay\n"
				     "#           TASK-PID  ~ CPU#  |||||  TIMESTAMP  FUNCTION\n"
				     "#              | |    ^   |   |||||     |         |\n";

static char *put_legend(char *p, const char *text, bool tgid, bool wide)
{
	/* Without the column, its room is two characters wide. */
	const char *blank = wide ? "            " : "          ";
	const char *word = wide ? "     TGID   " : "   TGID   ";
	const char *bar = wide ? "       |    " : "     |    ";
	size_t len = tgid ? strlen(blank) : 2;

	for (; *text; text++) {
		if (*text == '@')
			p = put_bytes(p, blank, len);
		else if (*text == '~')
			p = put_bytes(p, word, len);
		else if (*text == '^')
			p = put_bytes(p, bar, len);
		else
			*p++ = *text;
	}
	return p;
}

/* Bottom halves have a letter since 5.17; a kernel that is not known is taken for a later one. */
static bool release_has_bh(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10);

	if (end == release || *end != '.' || major != 5)
		return true;
	return strtoul(end + 1, NULL, 10) >= 17;
}

static char *put_flags_legend(const struct trace_info *info, char *p, bool tgid, bool wide)
{
	if (info->dialect.flag_columns == 4)
		return put_legend(p, wide ? legend_4_flags_7_digits : legend_4_flags_5_digits, tgid,
				  wide);
	p = put_legend(p, release_has_bh(info->kernel) ? legend_5_flags_bh : legend_5_flags_irqs,
		       tgid, true);
	return put_legend(p, legend_5_flags, tgid, true);
}

size_t ftrace_header_part(const struct trace_info *info, int part, char *buf)
{
	const struct sched_dialect *d = &info->dialect;
	bool tgid = d->features & DIALECT_TGID, wide = d->pid_width != 5;
	const char *legend = legend_7_digits_no_flags;
	char *p = buf;

	if (part == 0)
		return (size_t)(PUT(p, "# tracer: nop\n#\n") - buf);
	if (d->flag_columns == 0)
		return (size_t)(put_legend(p, legend_oldest, false, false) - buf);
	p = PUT(p, "#\n");
	if (!(d->features & DIALECT_NO_FLAGS))
		return (size_t)(put_flags_legend(info, p, tgid, wide) - buf);
	if (!wide)
		legend = tgid ? legend_5_digits_no_flags_tgid : legend_5_digits_no_flags;
	return (size_t)(put_legend(p, legend, tgid, wide) - buf);
}

size_t ftrace_header_entries(const struct trace_info *info, uint64_t entries, uint64_t written,
			     char *buf)
{
	char *p = buf;

	if (info->dialect.flag_columns == 0)
		return 0;
	p = PUT(p, "# entries-in-buffer/entries-written: ");
	if (entries == FTRACE_ENTRIES_UNKNOWN) {
		p = PUT(p, "-/-");
	} else {
		p = put_u64(p, entries);
		*p++ = '/';
		p = put_u64(p, written);
	}
	p = PUT(p, "   #P:");
	p = put_u32(p, info->cpus);
	*p++ = '\n';
	return (size_t)(p - buf);
}
