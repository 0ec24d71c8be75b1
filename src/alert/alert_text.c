/* SPDX-License-Identifier: MIT */
/* alert_text: an alert in one line (alert_watch.h). */
#include <stdio.h>
#include <time.h>

#include "alert/alert_watch.h"

#define VALUE_TEXT 32U

const char *const alert_end_words[ALERT_ENDS + 1] = { "goes-on", "in-line", "usual", "silent",
						      NULL };

static const char *format_value(const struct alert *a, double value, char text[VALUE_TEXT])
{
	if (a->kind == ALERT_WAIT)
		snprintf(text, VALUE_TEXT, "%.3f ms", value * 1e3);
	else
		snprintf(text, VALUE_TEXT, "%.2f %%", value * 100);
	return text;
}

static void format_subject(const struct alert *a, char *text, size_t room)
{
	static const char *const forms[ALERT_KINDS] = {
		[ALERT_PROCESS] = "process %s takes",
		[ALERT_STEAL] = "machine %s loses to others",
		[ALERT_VMM] = "machine %s loses to its VMM",
		[ALERT_TASK] = "task %s takes",
		[ALERT_WAIT] = "task %s waits for a CPU (99th percentile)",
	};

	if (a->kind == ALERT_FUNCTION || a->kind == ALERT_GUEST)
		snprintf(text, room, "%s: function %s (%s) takes", a->scope, a->name, a->object);
	else
		snprintf(text, room, forms[a->kind], a->name);
}

const char *alert_format(const struct alert *a, char *text, size_t room)
{
	static const char *const ends[ALERT_ENDS] = {
		[ALERT_GOES_ON] = "it is over",
		[ALERT_IN_LINE] = "it is over",
		[ALERT_USUAL] = "that is usual now",
		[ALERT_SILENT] = "the device sends nothing any more",
	};
	char subject[3 * ALERT_TEXT + 64], value[VALUE_TEXT], usual[VALUE_TEXT], since[32];
	time_t at = (time_t)a->since_s;
	struct tm tm;
	int n;

	gmtime_r(&at, &tm);
	strftime(since, sizeof(since), "%Y-%m-%d %H:%M UTC", &tm);
	format_subject(a, subject, sizeof(subject));
	n = snprintf(text, room, "%s %s, usually %s, since %s", subject,
		     format_value(a, a->value, value), format_value(a, a->usual, usual), since);
	if (a->cause[0] && n >= 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, ", most by %s", a->cause);
	if (a->build[0] && n >= 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, "; %s has a new build, %.12s", a->object,
			      a->build);
	if (a->until_s && n >= 0 && (size_t)n < room)
		snprintf(text + n, room - (size_t)n, "; %s", ends[a->end]);
	return text;
}
