/* SPDX-License-Identifier: MIT */
/*
 * boot_idle: see boot_idle.h.
 *
 * A stretch goes on over a short time in which somebody ran, as long as it stays quiet in all: a timer that fires does
 * not end a wait. Who waited is told by what came next: a process that did something as soon as the stretch was
 * over had waited for its end; one that slept on had not. One that ended within it, after it had waited for a good part of
 * it, kept somebody else waiting, and is told, too.
 */
#include "analysis/boot_idle.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/boot_load.h"
#include "base/saturate.h"

#define BUSY_MOST 20U	/* a twentieth */
#define BLIP_PART 4U	/* of the shortest stretch: so long may somebody run within one */
#define IDLES_MAX 4096U /* the longest ones */
#define SOON_PART 20U	/* of its length: what begins so soon behind it was waiting for its end */
#define LONG_PART 10U	/* of its length: who waited so long and ended is told */
#define SOON_PASSES 2U	/* or so many passes, if that is longer */

struct idle_build {
	const struct boot *boot;
	const struct boot_load *load;
	struct boot_idles *idles;
	uint64_t min_ns;
	size_t room;
};

/* --- stretches --- */

static bool is_quiet(const struct idle_build *b, uint64_t busy_ns, uint64_t length_ns)
{
	return busy_ns < length_ns / BUSY_MOST * b->load->cpus;
}

/* The stretch that begins with piece i, which is quiet. The last one of it. */
static size_t extend(const struct idle_build *b, size_t i, uint64_t *ret_busy_ns)
{
	const struct boot_load_piece *p = b->load->list;
	uint64_t busy = p[i].busy_ns, more = 0, from = p[i].from_ns;
	size_t k, last = i;

	for (k = i + 1; k < b->load->n; k++) {
		more += p[k].busy_ns;
		if (is_quiet(b, p[k].busy_ns, p[k].to_ns - p[k].from_ns)) {
			if (!is_quiet(b, busy + more, p[k].to_ns - from))
				break;
			busy += more;
			more = 0;
			last = k;
		} else if (p[k].to_ns - p[last].to_ns > b->min_ns / BLIP_PART) {
			break;
		}
	}
	*ret_busy_ns = busy;
	return last;
}

static int compare_idles(const void *pa, const void *pb)
{
	const struct boot_idle *a = pa, *b = pb;
	uint64_t x = a->to_ns - a->from_ns, y = b->to_ns - b->from_ns;

	if (x != y)
		return x < y ? 1 : -1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static int push_idle(struct idle_build *b, uint64_t from_ns, uint64_t to_ns, uint64_t busy_ns)
{
	struct boot_idles *l = b->idles;
	double all = (double)(to_ns - from_ns) * b->load->cpus;
	void *grown;

	if (l->n == b->room) {
		b->room = b->room ? b->room * 2 : 64;
		grown = reallocarray(l->list, b->room, sizeof(*l->list));
		if (!grown)
			return -ENOMEM;
		l->list = grown;
	}
	l->list[l->n++] = (struct boot_idle){
		.from_ns = from_ns,
		.to_ns = to_ns,
		.busy_permille = (uint32_t)saturate_u64((double)busy_ns * 1000 / all),
		.ended_by = BOOT_NONE,
	};
	return 0;
}

static int find_stretches(struct idle_build *b)
{
	const struct boot_load_piece *p = b->load->list;
	uint64_t busy;
	size_t i, last;
	int r = 0;

	for (i = 0; i < b->load->n && r >= 0; i = last + 1) {
		last = i;
		if (!is_quiet(b, p[i].busy_ns, p[i].to_ns - p[i].from_ns))
			continue;
		last = extend(b, i, &busy);
		if (p[last].to_ns - p[i].from_ns >= b->min_ns)
			r = push_idle(b, p[i].from_ns, p[last].to_ns, busy);
	}
	if (b->idles->n)
		qsort(b->idles->list, b->idles->n, sizeof(*b->idles->list), compare_idles);
	if (b->idles->n > IDLES_MAX)
		b->idles->n = IDLES_MAX;
	return r;
}

/* --- the disk --- */

static uint64_t overlap(uint64_t from, uint64_t to, const struct boot_idle *i)
{
	from = from > i->from_ns ? from : i->from_ns;
	to = to < i->to_ns ? to : i->to_ns;
	return to > from ? to - from : 0;
}

static bool was_busy(const struct boot_disk *d, const struct boot_idle *i)
{
	double busy = 0;
	size_t k;

	for (k = 1; k < d->n_points; k++)
		busy += (double)d->points[k].busy_ns *
			(double)overlap(d->points[k - 1].ns, d->points[k].ns, i) /
			(double)(d->points[k].ns - d->points[k - 1].ns);
	return busy > (double)(i->to_ns - i->from_ns) / 2;
}

/* --- who waited --- */

static bool is_active(const struct boot_span *s)
{
	return s->share || s->state == BOOT_RUNNING || s->state == BOOT_RUNNABLE;
}

/* The span at this time. */
static size_t find_span(const struct boot_process *p, uint64_t ns)
{
	size_t low = 0, high = p->n_spans, middle;

	while (low + 1 < high) {
		middle = low + (high - low) / 2;
		if (p->spans[middle].from_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint64_t waited_in(const struct boot_process *p, const struct boot_idle *i)
{
	uint64_t sum = 0;
	size_t k;

	for (k = find_span(p, i->from_ns); k < p->n_spans && p->spans[k].from_ns < i->to_ns; k++)
		if (p->spans[k].state != BOOT_RUNNING && p->spans[k].state != BOOT_ZOMBIE)
			sum += overlap(p->spans[k].from_ns, p->spans[k].to_ns, i);
	return sum;
}

/* When it did something next; UINT64_MAX: not soon. A zombie does nothing any more. */
static uint64_t active_at(const struct boot_process *p, const struct boot_idle *i, uint64_t soon_ns)
{
	size_t k;

	for (k = find_span(p, i->to_ns - 1) + 1; k < p->n_spans; k++) {
		if (p->spans[k].from_ns > i->to_ns + soon_ns)
			return UINT64_MAX;
		if (is_active(&p->spans[k]) || p->spans[k].state == BOOT_ZOMBIE)
			return p->spans[k].from_ns;
	}
	return !p->is_alive && p->to_ns <= i->to_ns + soon_ns ? p->to_ns : UINT64_MAX;
}

static int compare_waiters(const void *pa, const void *pb)
{
	const struct boot_waiter *a = pa, *b = pb;

	if (a->waited_ns != b->waited_ns)
		return a->waited_ns < b->waited_ns ? 1 : -1;
	return (a->process > b->process) - (a->process < b->process);
}

/* Programs are of more interest than kernel threads, which often only do what those want. */
static bool is_before(const struct boot *b, uint32_t x, uint64_t x_ns, uint32_t y, uint64_t y_ns)
{
	if (y == BOOT_NONE || x_ns != y_ns)
		return y == BOOT_NONE || x_ns < y_ns;
	return !b->processes[x].is_kernel && b->processes[y].is_kernel;
}

static uint64_t soon_after(const struct boot *b, const struct boot_idle *i)
{
	uint64_t soon = (i->to_ns - i->from_ns) / SOON_PART;

	return !b->is_exact && soon < SOON_PASSES * b->interval_ns ? SOON_PASSES * b->interval_ns
								   : soon;
}

static void push_waiter(struct boot_idle *i, const struct boot_process *p, uint32_t process,
			const struct boot_span *s)
{
	uint64_t waited = waited_in(p, i);

	if (waited && s->state != BOOT_ZOMBIE)
		i->waiters[i->n_waiters++] = (struct boot_waiter){ .process = process,
								   .state = s->state,
								   .waited_ns = waited,
								   .whom = s->whom,
								   .where = s->where };
}

/* The longest of its waits in the stretch. */
static const struct boot_span *longest_span(const struct boot_process *p, const struct boot_idle *i)
{
	size_t k = find_span(p, i->from_ns);
	const struct boot_span *s = p->spans, *best = &s[k];

	for (; k < p->n_spans && s[k].from_ns < i->to_ns; k++)
		if (!is_active(&s[k]) &&
		    overlap(s[k].from_ns, s[k].to_ns, i) > overlap(best->from_ns, best->to_ns, i))
			best = &s[k];
	return best;
}

static void see_process(const struct idle_build *b, struct boot_idle *i, uint32_t process,
			uint64_t *first_ns)
{
	const struct boot_process *p = &b->boot->processes[process];
	uint64_t active;

	if (p->is_self || p->from_ns >= i->to_ns || p->to_ns <= i->from_ns)
		return;
	if (p->to_ns < i->to_ns) {
		if (waited_in(p, i) >= (i->to_ns - i->from_ns) / LONG_PART)
			push_waiter(i, p, process, longest_span(p, i));
		return;
	}
	active = active_at(p, i, soon_after(b->boot, i));
	if (active == UINT64_MAX)
		return;
	if (is_before(b->boot, process, active, i->ended_by, *first_ns)) {
		i->ended_by = process;
		*first_ns = active;
	}
	push_waiter(i, p, process, &p->spans[find_span(p, i->to_ns - 1)]);
}

/* Nobody who was there did anything, so one that came did. */
static void see_start(const struct idle_build *b, struct boot_idle *i)
{
	const struct boot_process *p = b->boot->processes;
	uint64_t most = i->to_ns + soon_after(b->boot, i);
	size_t k;

	for (k = 0; k < b->boot->n_processes; k++)
		if (!p[k].is_self && p[k].from_ns >= i->to_ns && p[k].from_ns <= most &&
		    (i->ended_by == BOOT_NONE || p[k].from_ns < p[i->ended_by].from_ns))
			i->ended_by = (uint32_t)k;
}

static int find_waiters(const struct idle_build *b, struct boot_idle *i)
{
	uint64_t first_ns = UINT64_MAX;
	void *fitted;
	size_t k;

	i->waiters = calloc(b->boot->n_processes + 1, sizeof(*i->waiters));
	if (!i->waiters)
		return -ENOMEM;
	for (k = 0; k < b->boot->n_processes; k++)
		see_process(b, i, (uint32_t)k, &first_ns);
	if (i->ended_by == BOOT_NONE)
		see_start(b, i);
	qsort(i->waiters, i->n_waiters, sizeof(*i->waiters), compare_waiters);
	fitted = reallocarray(i->waiters, i->n_waiters + 1, sizeof(*i->waiters));
	if (fitted)
		i->waiters = fitted;
	for (k = 0; k < b->boot->n_disks; k++)
		if (!b->boot->disks[k].is_part && was_busy(&b->boot->disks[k], i))
			i->is_disk = true;
	return 0;
}

/* Leaves out what comes behind it. */
static void cut_load(struct boot_load *l, uint64_t to_ns)
{
	struct boot_load_piece *last;

	while (l->n && l->list[l->n - 1].from_ns >= to_ns)
		l->n--;
	last = l->n ? &l->list[l->n - 1] : NULL;
	if (!last || last->to_ns <= to_ns)
		return;
	last->busy_ns = saturate_u64((double)last->busy_ns * (double)(to_ns - last->from_ns) /
				     (double)(last->to_ns - last->from_ns));
	last->to_ns = to_ns;
}

int boot_idles_new(struct boot_idles **ret, const struct boot *b, uint64_t min_ns)
{
	return boot_idles_new_until(ret, b, min_ns, UINT64_MAX);
}

int boot_idles_new_until(struct boot_idles **ret, const struct boot *b, uint64_t min_ns,
			 uint64_t to_ns)
{
	CLEANUP(boot_idles) struct boot_idles *idles = calloc(1, sizeof(*idles));
	CLEANUP(boot_load) struct boot_load *load = NULL;
	struct idle_build build = { .boot = b, .idles = idles, .min_ns = min_ns };
	size_t i;
	int r = idles ? boot_load_new(&load, b) : -ENOMEM;

	if (r < 0)
		return r;
	cut_load(load, to_ns);
	build.load = load;
	r = find_stretches(&build);
	for (i = 0; i < idles->n && r >= 0; i++)
		r = find_waiters(&build, &idles->list[i]);
	if (r < 0)
		return r;
	*ret = take_ptr(idles);
	return 0;
}

void boot_idles_free(struct boot_idles *idles)
{
	size_t i;

	if (!idles)
		return;
	for (i = 0; i < idles->n; i++)
		free(idles->list[i].waiters);
	free(idles->list);
	free(idles);
}
