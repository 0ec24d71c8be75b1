/* SPDX-License-Identifier: MIT */
/* sample_pace: see sample_pace.h. */
#include "trace/sample_pace.h"

#include <errno.h>
#include <string.h>

#include "store/array.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

void sample_pace_done(struct sample_pace *p)
{
	free(p->parts);
	memset(p, 0, sizeof(*p));
}

static int take_rows(struct sample_pace *p, struct byte_reader *r)
{
	struct sample_pace_row row;
	int failed;

	while (reader_left(r)) {
		if (!sample_meta_get_pace(r, &row))
			return -EBADMSG;
		if (row.what >= SAMPLE_PACE_WHATS)
			continue;
		failed = array_grow(&p->parts, p->n, &p->room, sizeof(*p->parts),
				    SAMPLE_PACE_ROWS_MAX);
		if (failed < 0)
			return failed;
		p->parts[p->n++].row = row;
	}
	return 0;
}

int sample_pace_decode(struct sample_pace *p, const uint8_t *in, size_t len)
{
	struct meta_reader r;
	enum wire_status status;
	int ret = 0;

	meta_reader_init(&r, in, len);
	while (ret == 0 && (status = meta_reader_next(&r)) == WIRE_OK)
		if (r.type == META_PACE)
			ret = take_rows(p, &r.item);
	if (ret < 0)
		return ret;
	return status == WIRE_MORE ? 0 : -EBADMSG;
}

static int compare(const void *a, const void *b)
{
	const struct sample_pace_row *x = &((const struct sample_pace_part *)a)->row;
	const struct sample_pace_row *y = &((const struct sample_pace_part *)b)->row;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	return x->period < y->period ? -1 : x->period > y->period;
}

static bool is_sorted(const struct sample_pace *p)
{
	size_t i = 1;

	while (i < p->n && compare(&p->parts[i - 1], &p->parts[i]) <= 0)
		i++;
	return i >= p->n;
}

void sample_pace_settle(struct sample_pace *p)
{
	uint64_t sum = 0;
	size_t i;

	if (!is_sorted(p))
		qsort(p->parts, p->n, sizeof(*p->parts), compare);
	for (i = 0; i < p->n; i++) {
		p->parts[i].paused_before = sum;
		if (p->parts[i].row.what == SAMPLE_PACE_PAUSES && i + 1 < p->n)
			sum += p->parts[i + 1].row.tick - p->parts[i].row.tick;
	}
}

bool sample_pace_span(const struct sample_pace *p, uint64_t *ret_from, uint64_t *ret_to)
{
	if (!p->n)
		return false;
	*ret_from = p->parts[0].row.tick;
	*ret_to = p->parts[p->n - 1].row.tick;
	return true;
}

/* How many rows are not above a tick. */
static size_t count_until(const struct sample_pace *p, uint64_t tick)
{
	size_t from = 0, to = p->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (p->parts[middle].row.tick <= tick)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

void sample_pace_forget(struct sample_pace *p, uint64_t tick)
{
	size_t n = count_until(p, tick);

	if (n < 2)
		return;
	memmove(p->parts, p->parts + n - 1, (p->n - n + 1) * sizeof(*p->parts));
	p->n -= n - 1;
	sample_pace_settle(p);
}

/* Ticks of pauses before this one. */
static uint64_t paused_until(const struct sample_pace *p, uint64_t tick)
{
	size_t n = count_until(p, tick);
	const struct sample_pace_part *last;

	if (!n)
		return 0;
	last = &p->parts[n - 1];
	return last->paused_before +
	       (last->row.what == SAMPLE_PACE_PAUSES ? tick - last->row.tick : 0);
}

uint64_t sample_pace_paused(const struct sample_pace *p, uint64_t from, uint64_t to)
{
	return from < to ? paused_until(p, to) - paused_until(p, from) : 0;
}

bool sample_pace_periods(const struct sample_pace *p, uint64_t from, uint64_t to,
			 uint64_t *ret_least, uint64_t *ret_most)
{
	uint64_t least = UINT64_MAX, most = 0, period;
	size_t i;

	i = count_until(p, from);
	for (i -= i > 0; i < p->n && p->parts[i].row.tick < to; i++) {
		period = p->parts[i].row.period;
		if (!period)
			continue;
		least = period < least ? period : least;
		most = period > most ? period : most;
	}
	*ret_least = least;
	*ret_most = most;
	return most;
}

bool sample_pace_is_complete(const struct sample_pace *p)
{
	return p->n && p->parts[p->n - 1].row.what == SAMPLE_PACE_COMPLETE;
}

static uint64_t find_pause(const struct sample_pace *p, uint64_t after)
{
	size_t i;

	for (i = p ? count_until(p, after) : 0; p && i < p->n; i++)
		if (p->parts[i].row.what == SAMPLE_PACE_PAUSES)
			return p->parts[i].row.tick;
	return UINT64_MAX;
}

bool sample_pauses_next(struct sample_pauses *p, uint64_t tick, uint64_t *ret_tick)
{
	if (!p->is_known)
		p->next = find_pause(p->pace, p->done);
	p->is_known = true;
	if (p->next == UINT64_MAX || p->next > tick)
		return false;
	*ret_tick = p->done = p->next;
	p->is_known = false;
	return true;
}
