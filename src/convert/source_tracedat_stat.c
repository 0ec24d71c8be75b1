/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_stat: what the kernel counted as lost, beside what the pages say.
 *
 * trace-cmd appends each CPU's `stats` file of tracefs, one option CPUSTAT per CPU of the top
 * instance. Pages flag the losses in front of them, but a file can lack the flagged pages:
 * `trace-cmd record -m` throws the oldest away. An overrun that no page flags happened in front of
 * the first page of that CPU. A gap of unknown length may hold any number of events, so it explains
 * the rest. Events that a full ring refused, and those that came while an interrupted writer held
 * the ring, are flagged nowhere: they are lost somewhere between the CPU's first and last event.
 */
#include <errno.h>
#include <stdlib.h>

#include "convert/text_scan.h"
#include "convert/tracedat.h"
#include "store/array.h"
#include "wire/loss.h"

/* The number behind a word at the beginning of a line. False: there is no such line. */
static bool find_number(const struct tracedat_cursor *c, const char *word, uint64_t *ret)
{
	struct text_scan s = { (const char *)c->data, (const char *)c->data + c->len };
	const char *eol;

	for (; scan_left(&s); s.at = eol + 1) {
		eol = memchr(s.at, '\n', scan_left(&s));
		if (scan_word(&s, word, strlen(word)))
			return scan_u64(&s, ret);
		if (!eol)
			break;
	}
	return false;
}

static uint64_t number_or_none(const struct tracedat_cursor *c, const char *word)
{
	uint64_t n;

	return find_number(c, word, &n) ? n : 0;
}

int tracedat_stat_option(struct tracedat *t, const struct tracedat_cursor *c, struct error *e)
{
	struct tracedat_stat s = { 0 };
	uint64_t cpu, more;
	int r;

	if (!find_number(c, "CPU: ", &cpu) || cpu >= TRACE_CPUS_MAX)
		return 0;
	s.cpu = (uint32_t)cpu;
	s.overrun = number_or_none(c, "overrun: ");
	s.dropped = number_or_none(c, "dropped events: ");
	more = number_or_none(c, "commit overrun: ");
	s.dropped = more > LOSS_UNKNOWN - 1 - s.dropped ? LOSS_UNKNOWN : s.dropped + more;
	if (!s.overrun && !s.dropped)
		return 0;
	r = array_grow(&t->stats, t->n_stats, &t->stats_room, sizeof(*t->stats), TRACE_CPUS_MAX);
	if (r < 0)
		return error_set(e, -r, "cannot read trace.dat: %s",
				 r == -ENOMEM ? "out of memory" : "too many statistics of CPUs");
	t->stats[t->n_stats++] = s;
	return 0;
}

/* The sum of what the pages flag; false if one of them does not say how many. Damage is found, and
 * told, when the records are read. */
static bool sum_gaps(struct tracedat_cpu *c, uint64_t *ret)
{
	uint64_t sum = 0;
	int r;

	while ((r = tracedat_cpu_skip_page(c)) > 0) {
		if (c->page.missed == LOSS_UNKNOWN || c->page.missed > LOSS_UNKNOWN - 1 - sum)
			break;
		sum += c->page.missed;
	}
	tracedat_cpu_rewind(c);
	*ret = sum;
	return r <= 0;
}

void tracedat_stat_apply(struct tracedat_cpu *c)
{
	const struct tracedat *t = c->dat;
	uint64_t flagged;
	size_t i;

	if (!c->buffer->is_top)
		return;
	for (i = 0; i < t->n_stats && t->stats[i].cpu != c->cpu; i++)
		;
	if (i == t->n_stats)
		return;
	c->dropped = t->stats[i].dropped;
	if (t->stats[i].overrun && sum_gaps(c, &flagged) && t->stats[i].overrun > flagged)
		c->missed_first = t->stats[i].overrun - flagged;
	tracedat_cpu_rewind(c);
}
