/* SPDX-License-Identifier: MIT */
/*
 * boot_marks: marks, what they say about the machine, and what is missing.
 *
 * Facts are marks like all others, and those that a boot has a field for go there, too. The axis is the run's
 * clock, so a real time that was set moves nothing: it is a mark. What it was at each time is kept, to find
 * out what a trace that began then means by it; the last one says what the real time is, unless a collector knows better.
 * A loss of what the recorder had written makes everybody's state unknown there. Process events that the kernel had
 * no room for do not: samples go on, only processes may be missing; that is a gap, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_build.h"
#include "trace/word.h"

static int take_text(char **field, const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

static bool is_fact(const struct boot_event *ev, const char *name, const char **ret,
		    size_t *ret_len)
{
	size_t len = strlen(name);

	if (ev->text_len <= len || memcmp(ev->text, name, len) != 0 || ev->text[len] != '=')
		return false;
	*ret = ev->text + len + 1;
	*ret_len = ev->text_len - len - 1;
	return true;
}

static int put_fact(struct boot *boot, const struct boot_event *ev)
{
	char number[24] = "";
	const char *value;
	size_t len;

	if (is_fact(ev, "command_line", &value, &len))
		return take_text(&boot->command_line, value, len);
	if (is_fact(ev, "release", &value, &len))
		return take_text(&boot->release, value, len);
	if (is_fact(ev, "interval_ns", &value, &len) && len < sizeof(number)) {
		memcpy(number, value, len);
		boot->interval_ns = strtoull(number, NULL, 10);
	}
	return 0;
}

static int put_gap(struct boot_build *b, uint64_t from_ns, uint64_t to_ns, const char *why)
{
	struct boot *boot = b->boot;
	char *copy;
	int r;

	r = boot_build_grow(&boot->gaps, &b->room_gaps, boot->n_gaps, sizeof(*boot->gaps),
			    BOOT_GAPS_MAX);
	if (r < 0)
		return r == -E2BIG ? 0 : r; /* there are many already */
	copy = strdup(why);
	if (!copy)
		return -ENOMEM;
	boot->gaps[boot->n_gaps++] =
		(struct boot_gap){ .from_ns = from_ns, .to_ns = to_ns, .why = copy };
	return 0;
}

int boot_marks_put_realtime(struct boot_build *b, uint64_t from_ns, int64_t off_ns)
{
	struct boot *boot = b->boot;
	int r = boot_build_grow(&boot->realtimes, &b->room_realtimes, boot->n_realtimes,
				sizeof(*boot->realtimes), BOOT_REALTIMES_MAX);

	if (r < 0)
		return r == -E2BIG ? 0 : r;
	boot->realtimes[boot->n_realtimes++] =
		(struct boot_realtime){ .from_ns = from_ns, .off_ns = off_ns };
	if (!boot->is_measured)
		boot->realtime_ns = off_ns;
	return 0;
}

/* Of the types of which there is more to know. */
static int put_meaning(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot *boot = b->boot;

	switch (ev->key) {
	case BOOT_MARK_FACT:
		return put_fact(boot, ev);
	case BOOT_MARK_TARGET:
		if (boot->target_ns)
			return 0;
		boot->target_ns = ns;
		return take_text(&boot->target, ev->text, ev->text_len);
	case BOOT_MARK_CLOCK:
		return boot_marks_put_realtime(b, ns, (int64_t)ev->number[BOOT_MARK_VALUE]);
	case BOOT_MARK_STOP:
		b->has_stop = true;
		return 0;
	default:
		return 0;
	}
}

int boot_marks_put(struct boot_build *b, const struct boot_event *ev)
{
	uint64_t ns = boot_build_ns(b, ev->number[BOOT_MARK_TICK]);
	struct boot *boot = b->boot;
	struct boot_mark *m;
	int r;

	if (ev->key >= BOOT_MARK_TYPES || !ev->text)
		return 0;
	r = put_meaning(b, ev, ns);
	if (r >= 0)
		r = boot_build_grow(&boot->marks, &b->room_marks, boot->n_marks,
				    sizeof(*boot->marks), BOOT_MARKS_MAX);
	if (r < 0)
		return r == -E2BIG ? 0 : r;
	m = &boot->marks[boot->n_marks];
	m->text = strndup(ev->text, ev->text_len);
	if (!m->text)
		return -ENOMEM;
	boot->n_marks++;
	m->ns = ns;
	m->type = (uint8_t)ev->key;
	m->level = (uint8_t)(ev->number[BOOT_MARK_LEVEL] & 7);
	m->process = (uint32_t)(ev->number[BOOT_MARK_PID] & INT32_MAX); /* its pid, so far */
	return 0;
}

static int put_blind(struct boot_build *b, uint64_t from_ns, uint64_t to_ns)
{
	struct boot_blind *last = b->n_blinds ? &b->blinds[b->n_blinds - 1] : NULL;
	int r;

	if (last && from_ns <= last->to_ns) { /* they come in order */
		if (to_ns > last->to_ns)
			last->to_ns = to_ns;
		return 0;
	}
	r = boot_build_grow(&b->blinds, &b->room_blinds, b->n_blinds, sizeof(*b->blinds),
			    BOOT_GAPS_MAX);
	if (r < 0)
		return r;
	b->blinds[b->n_blinds++] = (struct boot_blind){ .from_ns = from_ns, .to_ns = to_ns };
	return 0;
}

int boot_marks_loss(struct boot_build *b, const struct trace_loss *loss)
{
	uint64_t from = boot_build_ns(b, loss->from_tick), to = boot_build_ns(b, loss->to_tick);
	char count[32] = "some", why[128];
	int r;

	if (!loss->from_tick) /* what came before the first record is not in the chart */
		from = to;
	if (to > b->last_ns)
		b->last_ns = to;
	if (loss->count != LOSS_UNKNOWN)
		snprintf(count, sizeof(count), "%" PRIu64, loss->count);
	snprintf(why, sizeof(why),
		 loss->cause == LOSS_RING ? "%s process events lost (%s): processes may be missing"
					  : "%s records lost (%s)",
		 count, word_cause(loss->cause));
	r = put_gap(b, from, to, why);
	if (loss->cause == LOSS_RING) {
		b->has_ring_loss = true;
		return r;
	}
	boot_life_loss(b, from, to);
	return r < 0 || to <= from ? r : put_blind(b, from, to);
}

/* --- the end --- */

static int compare_marks(const void *pa, const void *pb)
{
	const struct boot_mark *a = pa, *b = pb;
	int c;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	c = a->type - b->type;
	if (!c)
		c = strcmp(a->text, b->text);
	return c ? c : (a->process > b->process) - (a->process < b->process);
}

static int compare_gaps(const void *pa, const void *pb)
{
	const struct boot_gap *a = pa, *b = pb;

	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return (a->to_ns > b->to_ns) - (a->to_ns < b->to_ns);
}

/* What a segment said again stands twice. */
static void drop_same(struct boot *boot)
{
	size_t i, n = 0;

	for (i = 0; i < boot->n_marks; i++) {
		if (n && !compare_marks(&boot->marks[n - 1], &boot->marks[i]))
			free(boot->marks[i].text);
		else
			boot->marks[n++] = boot->marks[i];
	}
	boot->n_marks = n;
}

int boot_marks_finish(struct boot_build *b)
{
	struct boot *boot = b->boot;
	struct boot_mark *m;
	size_t i;
	int r = 0;

	if (boot->n_marks)
		qsort(boot->marks, boot->n_marks, sizeof(*boot->marks), compare_marks);
	drop_same(boot);
	for (i = 0; i < boot->n_marks && r >= 0; i++) {
		m = &boot->marks[i];
		m->process = m->process ? boot_find(boot, (int32_t)m->process, m->ns) : BOOT_NONE;
		if (m->type == BOOT_MARK_MISSING)
			r = put_gap(b, m->ns, boot->to_ns, m->text);
	}
	if (boot->n_gaps)
		qsort(boot->gaps, boot->n_gaps, sizeof(*boot->gaps), compare_gaps);
	return r;
}
