/* SPDX-License-Identifier: MIT */
/* boot_heading: see boot_heading.h. A text that cannot be allocated fails the whole at the end. */
#include "chart/boot_heading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MILLISECOND 1000000ULL

static __attribute__((format(printf, 1, 0))) char *format_text(const char *fmt, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

static __attribute__((format(printf, 3, 4))) void say(struct boot_heading *h, const char *label,
						      const char *fmt, ...)
{
	struct boot_fact *fact;
	va_list args;

	if (h->n_facts == BOOT_HEADING_FACTS_MAX)
		return;
	fact = &h->facts[h->n_facts++];
	fact->label = label;
	va_start(args, fmt);
	fact->text = format_text(fmt, args);
	va_end(args);
}

static __attribute__((format(printf, 2, 3))) void note(struct boot_heading *h, const char *fmt, ...)
{
	va_list args;

	if (h->n_notes == BOOT_HEADING_NOTES_MAX)
		return;
	va_start(args, fmt);
	h->notes[h->n_notes++] = format_text(fmt, args);
	va_end(args);
}

const char *boot_heading_time(char text[BOOT_HEADING_TIME_LEN], int64_t ns, uint64_t step_ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, unit = 1000000000ULL;
	const char *sign = ns < 0 ? "\xe2\x88\x92" : "";
	char decimals[12];
	size_t digits = 0;

	while (digits < 9 && step_ns < unit) {
		unit /= 10;
		digits++;
	}
	size += unit / 2;
	snprintf(decimals, sizeof(decimals), "%09u", (unsigned int)(size % 1000000000));
	decimals[digits] = 0;
	snprintf(text, BOOT_HEADING_TIME_LEN, "%s%" PRIu64 "%s%s s", sign, size / 1000000000,
		 digits ? "." : "", decimals);
	return text;
}

/* --- facts --- */

static void say_date(struct boot_heading *h, const struct boot *b)
{
	int64_t ns = b->realtime_ns + (int64_t)b->from_ns;
	time_t seconds = (time_t)(ns / 1000000000);
	char text[40];
	struct tm tm;

	if (!b->realtime_ns || ns < 0 || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		return;
	say(h, "recorded", "%s", text);
}

static void say_method(struct boot_heading *h, const struct boot *b)
{
	const char *told = b->has_events ? ", starts and ends told by the kernel" : "";
	double ms = (double)b->interval_ns / MILLISECOND;

	if (b->is_exact && b->interval_ns)
		say(h, "method", "exact: states from the scheduler's events; machine every %g ms",
		    ms);
	else if (b->is_exact)
		say(h, "method", "exact: states from the scheduler's events");
	else if (b->interval_ns)
		say(h, "method", "sampled every %g ms%s", ms, told);
	else
		say(h, "method", "sampled%s", told);
}

static void say_target(struct boot_heading *h, const struct boot *b, uint64_t base_ns)
{
	char text[BOOT_HEADING_TIME_LEN];

	if (!b->target_ns)
		return;
	boot_heading_time(text, (int64_t)(b->target_ns - base_ns), MILLISECOND);
	if (*b->target)
		say(h, "target", "%s after %s", b->target, text);
	else
		say(h, "target", "after %s", text);
}

static void say_facts(struct boot_heading *h, const struct boot *b, uint64_t base_ns)
{
	char from[BOOT_HEADING_TIME_LEN], to[BOOT_HEADING_TIME_LEN];

	say_target(h, b, base_ns);
	if (*b->kernel)
		say(h, "kernel", "%s", b->kernel);
	if (*b->machine || b->cpus)
		say(h, "machine", "%s%s%" PRIu32 " CPU%s", b->machine, *b->machine ? ", " : "",
		    b->cpus, b->cpus == 1 ? "" : "s");
	if (*b->release)
		say(h, "system", "%s", b->release);
	if (*b->command_line)
		say(h, "command line", "%s", b->command_line);
	say_date(h, b);
	say_method(h, b);
	boot_heading_time(from, (int64_t)(b->from_ns - base_ns), MILLISECOND);
	boot_heading_time(to, (int64_t)(b->to_ns - base_ns), MILLISECOND);
	say(h, "chart", "%s to %s, %zu processes", from, to, b->n_processes);
	if (*b->origin)
		say(h, "origin", "%s", b->origin);
}

/* --- what is missing --- */

static bool has_memory(const struct boot *b)
{
	size_t i;

	for (i = 0; i < b->n_points; i++)
		if (b->points[i].memory_used_kib || b->points[i].memory_free_kib)
			return true;
	return false;
}

static bool has_pressure(const struct boot *b)
{
	size_t i;
	int k;

	for (i = 0; i < b->n_points; i++)
		for (k = 0; k < BOOT_RESOURCES; k++)
			if (b->points[i].some_ns[k])
				return true;
	return false;
}

static void note_rows(struct boot_heading *h, const struct boot *b)
{
	char text[128] = "";

	if (b->n_points < 2)
		strcat(text, ", CPU");
	if (!b->n_disks)
		strcat(text, ", disks");
	if (!has_memory(b))
		strcat(text, ", memory");
	if (!has_pressure(b))
		strcat(text, ", pressure (none, or the kernel does not tell)");
	if (*text)
		note(h, "Not in the chart: %s.", text + 2);
}

static uint64_t gaps_length(const struct boot *b)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < b->n_gaps; i++)
		sum += b->gaps[i].to_ns - b->gaps[i].from_ns;
	return sum;
}

/* Why, where there are several, of the first kind of them. */
static void note_gaps(struct boot_heading *h, const struct boot *b)
{
	char text[BOOT_HEADING_TIME_LEN];
	bool more = false;
	size_t i;

	for (i = 1; i < b->n_gaps; i++)
		more = more || strcmp(b->gaps[i].why, b->gaps[0].why) != 0;
	if (b->n_gaps)
		note(h, "%zu gap%s of %s in all: %s%s.", b->n_gaps, b->n_gaps == 1 ? "" : "s",
		     boot_heading_time(text, (int64_t)gaps_length(b), MILLISECOND), b->gaps[0].why,
		     more ? "; and others" : "");
}

static void note_marks(struct boot_heading *h, const struct boot *b)
{
	size_t i;

	for (i = 0; i < b->n_marks; i++)
		if (b->marks[i].type == BOOT_MARK_MISSING)
			note(h, "%s", b->marks[i].text);
}

static void note_missing(struct boot_heading *h, const struct boot *b, uint64_t base_ns)
{
	char text[BOOT_HEADING_TIME_LEN];

	if (b->is_cut)
		note(h,
		     "The recording was cut off at %s: power or link ended, and what came after is "
		     "not known.",
		     boot_heading_time(text, (int64_t)(b->to_ns - base_ns), MILLISECOND));
	if (*b->target && !b->target_ns)
		note(h, "The target %s did not come.", b->target);
	if (!b->has_events && !b->is_exact)
		note(h, "Starts and ends were not told by the kernel: processes that lived between "
			"two samples may be missing.");
	if (b->is_exact && !b->tells_interrupts)
		note(h, "The trace does not tell wakeups by interrupts from those by tasks: who is "
			"said to "
			"have ended a wait may only have been interrupted.");
	note_gaps(h, b);
	note_rows(h, b);
	note_marks(h, b);
}

/* --- all --- */

static bool is_whole(const struct boot_heading *h)
{
	size_t i;

	for (i = 0; i < h->n_facts; i++)
		if (!h->facts[i].text)
			return false;
	for (i = 0; i < h->n_notes; i++)
		if (!h->notes[i])
			return false;
	return h->title;
}

int boot_heading_new(struct boot_heading **ret, const struct boot *b, uint64_t base_ns,
		     struct error *e)
{
	CLEANUP(boot_heading) struct boot_heading *h = calloc(1, sizeof(*h));

	if (h) {
		if (asprintf(&h->title, "Boot of %s", *b->device ? b->device : "a machine") < 0)
			h->title = NULL;
		say_facts(h, b, base_ns);
		note_missing(h, b, base_ns);
	}
	if (!h || !is_whole(h))
		return error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	*ret = take_ptr(h);
	return 0;
}

void boot_heading_free(struct boot_heading *h)
{
	size_t i;

	if (!h)
		return;
	free(h->title);
	for (i = 0; i < h->n_facts; i++)
		free(h->facts[i].text);
	for (i = 0; i < h->n_notes; i++)
		free(h->notes[i]);
	free(h);
}
