/* SPDX-License-Identifier: MIT */
/*
 * boot_spans: what a process did, from what was seen of it.
 *
 * Its life is cut into cells. Between two samples of different states these are: up to the last pass before
 * the second one nothing had changed; from there to the middle between that pass and the sample the old state
 * holds, from the middle on the new one. The CPU time that the counters grew by was used in the last two of these,
 * first where the process was seen running; what does not fit there was used before it, since counters are
 * told late at times, but never early. What happened in a stretch of which everything was lost is not known.
 *
 * Cells then become spans: neighbours that say the same are one. A share is rounded to a thousandth, and what that
 * leaves is carried to the next, so that the shares add up to the counters.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/boot_build.h"
#include "base/saturate.h"

struct boot_cell {
	uint64_t from_ns, to_ns;
	uint64_t cpu_ns;
	uint32_t window; /* cells of one window share what the counters grew by */
	uint32_t where;
	uint8_t state;
};

/* Spans as they come out. */
struct spans {
	struct boot_span *list;
	size_t n, room;
	struct boot_cell open; /* that may still grow */
	bool is_open;
	int64_t carry_ns; /* CPU time that was not said, or too much of it */
};

static uint64_t length_of(const struct boot_cell *c)
{
	return c->to_ns - c->from_ns;
}

/* --- cells --- */

static int push_cell(struct boot_build *b, uint64_t to_ns, const struct boot_sample *s,
		     uint32_t window)
{
	uint64_t from = b->n_cells ? b->cells[b->n_cells - 1].to_ns : b->cells_from_ns;
	struct boot_cell *c;
	int r;

	if (to_ns <= from)
		return 0;
	r = boot_build_grow(&b->cells, &b->room_cells, b->n_cells, sizeof(*b->cells),
			    BOOT_SPANS_MAX);
	if (r < 0)
		return r;
	c = &b->cells[b->n_cells++];
	*c = (struct boot_cell){ .from_ns = from,
				 .to_ns = to_ns,
				 .window = window,
				 .state = s->state,
				 .where = s->state == BOOT_RUNNING ? 0 : s->where };
	return 0;
}

/* As much as fits; the rest. */
static uint64_t fill(struct boot_cell *c, uint64_t cpu_ns)
{
	uint64_t room = length_of(c) - c->cpu_ns;

	if (cpu_ns > room) {
		c->cpu_ns += room;
		return cpu_ns - room;
	}
	c->cpu_ns += cpu_ns;
	return 0;
}

/* Evenly over the cells that have room. */
static uint64_t spread(struct boot_cell *c, size_t n, uint64_t cpu_ns)
{
	uint64_t room = 0, part, left = cpu_ns;
	size_t i;

	for (i = 0; i < n; i++)
		room += length_of(&c[i]) - c[i].cpu_ns;
	for (i = 0; i < n && room; i++) {
		part = saturate_u64((double)(length_of(&c[i]) - c[i].cpu_ns) / (double)room *
				    (double)cpu_ns);
		part = part > left ? left : part;
		left -= part - fill(&c[i], part);
	}
	for (i = 0; i < n; i++) /* what rounding left */
		left = fill(&c[i], left);
	return left;
}

/* The window is the cells from `first` on; none before `least` may take any. */
static void put_cpu(struct boot_build *b, size_t first, size_t least, uint64_t cpu_ns)
{
	size_t i;

	for (i = b->n_cells; i-- > first && cpu_ns;)
		if (b->cells[i].state == BOOT_RUNNING)
			cpu_ns = fill(&b->cells[i], cpu_ns);
	if (cpu_ns && b->n_cells > first)
		cpu_ns = spread(&b->cells[first], b->n_cells - first, cpu_ns);
	for (i = first; cpu_ns && i-- > least;)
		cpu_ns = fill(&b->cells[i], cpu_ns);
}

static uint64_t last_look(const struct boot_build *b, uint64_t before_ns, uint64_t least)
{
	uint64_t look = boot_build_pass_before(b, before_ns);

	return look < least ? least : look;
}

/* From the sample before to this one. `least`: as above. */
static int put_sample(struct boot_build *b, const struct boot_life *l, size_t i, size_t least)
{
	static const struct boot_sample nothing = { .state = BOOT_UNKNOWN };
	const struct boot_sample *s = &l->samples[i], *before = i ? s - 1 : &nothing;
	uint64_t at = b->n_cells ? b->cells[b->n_cells - 1].to_ns : b->cells_from_ns;
	uint64_t look = last_look(b, s->ns, at), middle;
	uint32_t window = (uint32_t)i + 1;
	size_t first;
	int r;

	if (look > s->ns) /* seen before it started: stamps of two kinds */
		look = s->ns;
	middle = i ? look + (s->ns - look) / 2 : look;
	r = push_cell(b, look, before, 0);
	first = b->n_cells;
	if (r >= 0)
		r = push_cell(b, middle, before, window);
	if (r >= 0)
		r = push_cell(b, s->ns, s, window);
	if (r >= 0)
		put_cpu(b, first, least, s->cpu_ns - (i ? before->cpu_ns : 0));
	return r;
}

/* What a process of which nobody saw anything spent most of its time with, by its account. */
static uint8_t main_state(const struct boot_life *l, uint64_t length_ns)
{
	uint64_t run = l->account_ns + l->account.waited_ns;
	uint64_t disk = l->account.disk_ns + l->account.swap_ns;
	uint64_t sleep = length_ns > run + disk ? length_ns - run - disk : 0;

	if (run >= disk && run >= sleep)
		return BOOT_RUNNING;
	return disk >= sleep ? BOOT_DISK_WAIT : BOOT_SLEEPING;
}

/* All that it used, by whatever knows most of it. */
static uint64_t total_cpu(const struct boot_life *l)
{
	uint64_t seen = l->n_samples ? l->samples[l->n_samples - 1].cpu_ns : 0;

	return l->has_account && l->account_ns > seen ? l->account_ns : seen;
}

/* From the last of n samples to the end: the state holds, and what it used beyond that was used since the last
 * pass. The account of one that was there and never seen is not of this chart. */
static int put_rest(struct boot_build *b, const struct boot_life *l, size_t n, uint64_t end,
		    bool was_there)
{
	uint64_t at = b->n_cells ? b->cells[b->n_cells - 1].to_ns : b->cells_from_ns;
	bool is_known = n || !was_there;
	struct boot_sample last = { .state = BOOT_UNKNOWN };
	uint64_t look = n ? last_look(b, end, at) : at;
	size_t first;
	int r;

	if (n)
		last = l->samples[n - 1];
	else if (is_known && l->has_account && end > at)
		last.state = main_state(l, end - at);
	r = push_cell(b, look < end ? look : end, &last, 0);
	first = b->n_cells;
	if (r >= 0)
		r = push_cell(b, end, &last, (uint32_t)n + 1);
	if (r >= 0 && is_known)
		put_cpu(b, first, b->cells_least, total_cpu(l) - last.cpu_ns);
	return r;
}

/* When it ended; how many samples there are before that. A zombie that is found has ended some time since the pass
 * before; that of which the kernel told has the time of its end, which is no pass's. */
static uint64_t find_end(const struct boot_build *b, const struct boot_life *l, uint64_t end,
			 size_t *ret_n)
{
	uint64_t ns, look;
	size_t n = 0;

	if (l->is_over && l->by_event && l->exit_ns < end)
		end = l->exit_ns;
	while (n < l->n_samples && l->samples[n].ns <= end && l->samples[n].state != BOOT_ZOMBIE)
		n++;
	*ret_n = n;
	if (n == l->n_samples || l->samples[n].ns > end)
		return end;
	ns = l->samples[n].ns;
	look = last_look(b, ns, n ? l->samples[n - 1].ns : l->start_ns);
	if (boot_build_pass_before(b, ns + 1) != ns || look > ns)
		return ns;
	return look + (ns - look) / 2;
}

/* Of one that was there, what it used before it was first seen is not of this chart. */
static int make_cells(struct boot_build *b, const struct boot_life *l, const struct boot_process *p)
{
	const struct boot_sample zombie = { .state = BOOT_ZOMBIE };
	bool is_old = p->was_there;
	size_t i, n = 0;
	uint64_t end = find_end(b, l, p->to_ns, &n);
	int r = 0;

	b->n_cells = 0;
	b->cells_from_ns = p->from_ns;
	b->cells_least = 0;
	if (is_old && n) {
		r = push_cell(b, l->samples[0].ns, &l->samples[0], 0);
		b->cells_least = b->n_cells;
	}
	for (i = is_old && n ? 1 : 0; i < n && r >= 0; i++)
		r = put_sample(b, l, i, b->cells_least);
	if (r >= 0)
		r = put_rest(b, l, n, end, is_old);
	return r < 0 ? r : push_cell(b, p->to_ns, &zombie, 0);
}

/* --- spans --- */

static uint16_t take_share(struct spans *s, const struct boot_cell *c)
{
	int64_t cpu = (int64_t)c->cpu_ns + s->carry_ns;
	uint64_t length = length_of(c), share;
	struct boot_span said = { .from_ns = c->from_ns, .to_ns = c->to_ns };

	if (c->state == BOOT_ZOMBIE) /* whatever rounding left */
		return 0;
	share = cpu <= 0 ? 0 : saturate_u64((double)cpu * 1000 / (double)length + 0.5);
	said.share = (uint16_t)(share > 1000 ? 1000 : share);
	s->carry_ns = cpu - (int64_t)boot_span_ran(&said);
	return said.share;
}

static int flush(struct spans *s)
{
	struct boot_cell *c = &s->open;
	struct boot_span *last = s->n ? &s->list[s->n - 1] : NULL;
	uint16_t share;
	int r;

	if (!s->is_open)
		return 0;
	s->is_open = false;
	share = take_share(s, c);
	if (last && last->state == c->state && last->where == c->where && last->share == share) {
		last->to_ns = c->to_ns;
		return 0;
	}
	r = boot_build_grow(&s->list, &s->room, s->n, sizeof(*s->list), BOOT_SPANS_MAX);
	if (r < 0)
		return r;
	s->list[s->n++] = (struct boot_span){ .from_ns = c->from_ns,
					      .to_ns = c->to_ns,
					      .state = c->state,
					      .share = share,
					      .whom = BOOT_NONE,
					      .where = c->where };
	return 0;
}

static bool is_full(const struct boot_cell *c)
{
	return c->cpu_ns == length_of(c);
}

static int push_piece(struct spans *s, const struct boot_cell *c)
{
	struct boot_cell *o = &s->open;
	int r = 0;

	if (s->is_open && o->state == c->state && o->where == c->where &&
	    ((o->window && o->window == c->window) || (!o->cpu_ns && !c->cpu_ns) ||
	     (is_full(o) && is_full(c)))) {
		o->to_ns = c->to_ns;
		o->cpu_ns += c->cpu_ns;
		o->window = c->window;
		return 0;
	}
	r = flush(s);
	*o = *c;
	s->is_open = true;
	return r;
}

/* The part of the cell up to `to_ns`, which is left out of it. */
static struct boot_cell cut(struct boot_cell *c, uint64_t to_ns)
{
	struct boot_cell part = *c;

	part.to_ns = to_ns;
	part.cpu_ns =
		saturate_u64((double)c->cpu_ns * (double)length_of(&part) / (double)length_of(c));
	if (part.cpu_ns > c->cpu_ns)
		part.cpu_ns = c->cpu_ns;
	if (part.cpu_ns > length_of(&part))
		part.cpu_ns = length_of(&part);
	c->from_ns = to_ns;
	c->cpu_ns -= part.cpu_ns;
	if (c->cpu_ns > length_of(c)) { /* rounded */
		part.cpu_ns += c->cpu_ns - length_of(c);
		c->cpu_ns = length_of(c);
	}
	return part;
}

static int push_part(struct spans *s, struct boot_cell c, bool is_blind)
{
	if (is_blind) {
		c.state = BOOT_UNKNOWN;
		c.where = 0;
	}
	return push_piece(s, &c);
}

/* A cell with the blind stretches taken out of it; *at: the first that may touch it. */
static int push_whole(const struct boot_build *b, struct spans *s, struct boot_cell c, size_t *at)
{
	const struct boot_blind *blind;
	size_t i;
	int r = 0;

	while (*at < b->n_blinds && b->blinds[*at].to_ns <= c.from_ns)
		++*at;
	for (i = *at; i < b->n_blinds && r >= 0; i++) {
		blind = &b->blinds[i];
		if (blind->from_ns >= c.to_ns)
			break;
		if (blind->from_ns > c.from_ns)
			r = push_part(s, cut(&c, blind->from_ns), false);
		if (blind->to_ns >= c.to_ns)
			return r < 0 ? r : push_part(s, c, true);
		if (r >= 0)
			r = push_part(s, cut(&c, blind->to_ns), true);
	}
	return r < 0 ? r : push_part(s, c, false);
}

static void set_cpu(const struct boot_life *l, struct boot_process *p)
{
	p->cpu_ns = total_cpu(l);
	if (p->was_there && l->n_samples)
		p->cpu_ns -= l->samples[0].cpu_ns;
	else if (p->was_there) /* nobody knows how much of it was before */
		p->cpu_ns = 0;
}

int boot_spans_finish(struct boot_build *b, const struct boot_life *l, struct boot_process *p)
{
	struct spans s = { 0 };
	size_t i, at = 0;
	int r = make_cells(b, l, p);

	for (i = 0; i < b->n_cells && r >= 0; i++)
		r = push_whole(b, &s, b->cells[i], &at);
	if (r >= 0)
		r = flush(&s);
	p->spans = s.list;
	p->n_spans = s.n;
	b->n_spans += s.n;
	if (r >= 0 && b->n_spans > BOOT_SPANS_MAX)
		r = -E2BIG;
	set_cpu(l, p);
	boot_process_sum(p);
	return r;
}
