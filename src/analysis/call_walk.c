/* SPDX-License-Identifier: MIT */
/* call_walk: see call_walk.h. */
#include "analysis/call_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

/* What a thread has before its first item decides: nothing is made for those without any. */
struct walked {
	struct call_stack *stack;
	bool asked, selected;
	bool counted; /* among those that had any */
};

struct walk {
	const struct call_walk *w;
	struct walked *threads;
	uint32_t *generations; /* of each process's maps: a record of one thread counts for all */
	struct call_totals totals;
	bool any;
	bool waits;	     /* for its window to begin */
	uint64_t since_mark; /* items */
	uint64_t last_tick;
};

static const struct call_listener silent = { .begin = NULL };

static void free_threads(struct walk *k)
{
	size_t i;

	for (i = 0; k->threads && i < k->w->source->n_threads; i++)
		call_stack_free(k->threads[i].stack);
	free(k->threads);
	free(k->generations);
}

static bool is_kernel(const struct walk *k, uint32_t thread)
{
	const struct func_source *s = k->w->source;

	return s->processes[s->threads[thread].process].kernel;
}

/* The thread's state, NULL if it is not looked at. */
static int get_thread(struct walk *k, uint32_t thread, struct walked **ret)
{
	const struct func_source *s = k->w->source;
	struct walked *t = &k->threads[thread];
	struct call_stack_options o = { .thread = thread,
					.listener = k->waits ? &silent : k->w->listener,
					.data = k->w->data,
					.counts = &k->totals.counts };
	int r;

	*ret = NULL;
	if (!t->asked) {
		t->asked = true;
		t->selected = call_select_has(k->w->select, s, thread);
	}
	if (!t->selected)
		return 0;
	if (!t->stack) {
		o.kernel = is_kernel(k, thread);
		r = call_stack_new(&t->stack, &o);
		if (r < 0)
			return r;
	}
	k->totals.threads += !t->counted;
	t->counted = true;
	*ret = t;
	return 0;
}

/* Records of the operating system count as long as calls are open: a thread's first ones may be much
 * older than its first call. */
static uint64_t see_time(struct walk *k, const struct walked *t, const struct func_event *ev)
{
	uint64_t ns = clock_ns(&k->w->source->clock, ev->tick);

	if (ev->kind == FUNC_OS && !call_stack_depth(t->stack))
		return ns;
	if (!k->any || ns < k->totals.from_ns)
		k->totals.from_ns = ns;
	if (!k->any || ns > k->totals.to_ns)
		k->totals.to_ns = ns;
	k->any = true;
	return ns;
}

static void see_maps(struct walk *k, uint32_t thread, const struct func_event *ev)
{
	uint32_t *generation = &k->generations[k->w->source->threads[thread].process];

	if (ev->os == FUNC_OS_MAPS && ev->value > *generation)
		*generation = ev->value < UINT32_MAX ? (uint32_t)ev->value : UINT32_MAX - 1;
}

static bool tells_kernel(const struct func_event *ev)
{
	return ev->os == FUNC_OS_WATCH
		       ? (ev->value & FUNC_WATCH_SYSCALLS) != 0
		       : ev->os >= FUNC_OS_SYSCALL && ev->os <= FUNC_OS_INTERRUPT_RETURN;
}

static int take_event(struct walk *k, struct walked *t, uint32_t thread,
		      const struct func_event *ev)
{
	uint32_t process = k->w->source->threads[thread].process, function;
	uint64_t ns = see_time(k, t, ev);
	int r;

	if (ev->kind == FUNC_OS) {
		see_maps(k, thread, ev);
		k->totals.kernel_known |= is_kernel(k, thread) || tells_kernel(ev);
		call_stack_os(t->stack, ns, ev);
		return 0;
	}
	if (k->w->source->watched)
		call_stack_watch(t->stack);
	r = call_names_find(k->w->names, process, k->generations[process], ev->value, &function);
	if (r < 0)
		return r;
	if (ev->kind == FUNC_EXIT)
		return call_stack_exit(t->stack, ns, function);
	r = call_stack_enter(t->stack, ns, function);
	call_stack_set_address(t->stack, ev->value, k->generations[process]);
	return r;
}

static int take_loss(struct walk *k, struct walked *t, const struct func_item *item)
{
	const struct trace_loss *loss = &item->loss;
	/* 0: nothing came before it, so it is at no time of the thread. */
	uint64_t ns = loss->from_tick ? clock_ns(&k->w->source->clock, loss->from_tick) : 0;

	if (item->os_only) {
		k->totals.os_losses++;
		call_stack_lose_os(t->stack, ns);
		return 0;
	}
	k->totals.losses++;
	if (loss->count == LOSS_UNKNOWN)
		k->totals.lost_unknown++;
	else
		k->totals.lost += loss->count;
	return call_stack_lose(t->stack, ns);
}

static int take_item(struct walk *k, const struct func_item *item)
{
	struct walked *t = NULL;
	int r;

	if (item->thread >= k->w->source->n_threads)
		return -EINVAL;
	r = get_thread(k, item->thread, &t);
	if (r < 0 || !t)
		return r;
	if (item->type == FUNC_ITEM_LOSS)
		return take_loss(k, t, item);
	return take_event(k, t, item->thread, &item->event);
}

static int finish(struct walk *k)
{
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < k->w->source->n_threads; i++) {
		if (!k->threads[i].stack || !k->threads[i].counted)
			continue;
		k->totals.os_threads += call_stack_has_os(k->threads[i].stack);
		r = call_stack_finish(k->threads[i].stack);
	}
	return r;
}

/* --- the window --- */

static uint64_t item_ns(const struct walk *k, const struct func_item *item)
{
	uint64_t tick = func_item_tick(item);

	return tick ? clock_ns(&k->w->source->clock, tick) : 0;
}

/* Had the thread ended before this time? */
static bool is_over(const struct walk *k, size_t thread, uint64_t ns)
{
	const struct call_window *w = k->w->window;

	return w->final && w->last_ns && w->last_ns[thread] < ns;
}

/* What was counted so far is of the time before. `over`: so was all there is. */
static int open_window(struct walk *k, bool over)
{
	uint64_t from_ns = k->w->window->from_ns;
	size_t i;
	int r = 0;

	k->waits = false;
	for (i = 0; r >= 0 && i < k->w->source->n_threads; i++)
		if (k->threads[i].stack && (over || is_over(k, i, from_ns)))
			r = call_stack_finish(k->threads[i].stack);
	k->totals = (struct call_totals){ .kernel_known = k->totals.kernel_known };
	k->any = false;
	for (i = 0; r >= 0 && i < k->w->source->n_threads; i++) {
		struct walked *t = &k->threads[i];

		if (!t->stack)
			continue;
		t->counted = call_stack_depth(t->stack) > 0;
		k->totals.threads += t->counted;
		k->any |= t->counted;
		r = call_stack_start(t->stack, from_ns, k->w->listener);
	}
	k->totals.from_ns = k->totals.to_ns = k->any ? from_ns : 0;
	return r;
}

/* The calls of a thread that goes on behind the window end with it. */
static int close_thread(struct walk *k, struct walked *t)
{
	call_stack_wait(t->stack, k->w->window->to_ns);
	if (k->w->window->to_ns > k->totals.to_ns)
		k->totals.to_ns = k->w->window->to_ns;
	return call_stack_finish(t->stack);
}

/* How many threads have open calls, and nobody knows whether they go on. */
static int close_known(struct walk *k, size_t *ret_left)
{
	const struct call_window *w = k->w->window;
	size_t i;
	int r = 0;

	*ret_left = 0;
	for (i = 0; r >= 0 && i < k->w->source->n_threads; i++) {
		struct walked *t = &k->threads[i];

		if (!t->stack || !call_stack_depth(t->stack) || is_over(k, i, w->to_ns))
			continue;
		if (w->last_ns && w->last_ns[i] >= w->to_ns)
			r = close_thread(k, t);
		else
			(*ret_left)++;
	}
	return r;
}

/* The first item behind the window was found: whoever has one later was there at its end. */
static int close_window(struct walk *k, struct func_item *item, struct error *e)
{
	struct func_source *s = k->w->source;
	size_t left = 0;
	int r = close_known(k, &left), more = 1;

	while (r >= 0 && left && more > 0) {
		struct walked *t = item->thread < s->n_threads ? &k->threads[item->thread] : NULL;

		if (t && t->stack && call_stack_depth(t->stack) &&
		    !is_over(k, item->thread, k->w->window->to_ns)) {
			r = close_thread(k, t);
			left--;
		}
		if (r >= 0 && k->w->step)
			r = k->w->step(k->w->step_data);
		if (r >= 0 && left)
			more = s->ops->next(s, item, e);
	}
	return r < 0 ? r : more < 0 ? more : 0;
}

/* 1: the item is behind the window, and all is done. */
static int see_window(struct walk *k, struct func_item *item, struct error *e)
{
	uint64_t ns = k->w->window ? item_ns(k, item) : 0;
	int r = 0;

	if (!k->w->window)
		return 0;
	if (k->waits && ns >= k->w->window->from_ns)
		r = open_window(k, false);
	if (r < 0 || ns < k->w->window->to_ns)
		return r;
	r = close_window(k, item, e);
	return r < 0 ? r : 1;
}

/* --- marks --- */

static int add_open(struct walk *k, struct call_mark *m, uint32_t thread)
{
	const struct call_stack *stack = k->threads[thread].stack;
	const struct call *calls;
	size_t n = 0, i;
	int r = 0;

	calls = stack ? call_stack_get(stack, &n) : NULL;
	if (n >= CALL_DEPTH_MAX)
		return -E2BIG; /* and what is deeper is not followed */
	for (i = 0; i < n && r == 0; i++) {
		r = array_grow(&m->calls, m->n, &m->room, sizeof(*m->calls), CALL_MARKS_CALLS_MAX);
		if (r == 0)
			m->calls[m->n++] = (struct call_mark_call){ thread, calls[i].generation,
								    calls[i].address };
	}
	return r;
}

/* What is open before any item of this tick. A mark that cannot be made is not needed. */
static void leave_mark(struct walk *k, uint64_t tick)
{
	const struct func_source *s = k->w->source;
	struct call_mark m = { .tick = tick, .n_processes = s->n_processes };
	uint32_t i;
	int r = 0;

	k->since_mark = 0;
	if (!marks_wants(k->w->marks, tick))
		return;
	m.generations = malloc((s->n_processes + 1) * sizeof(*m.generations));
	for (i = 0; m.generations && r == 0 && i < s->n_threads; i++)
		r = add_open(k, &m, i);
	if (!m.generations || r < 0) {
		call_mark_done(&m);
		return;
	}
	memcpy(m.generations, k->generations, s->n_processes * sizeof(*m.generations));
	call_marks_push(k->w->marks, &m);
}

/* True: the item was accounted for before the mark at which this walk began. */
static bool see_marks(struct walk *k, const struct func_item *item)
{
	uint64_t tick = func_item_tick(item);

	if (k->w->resume && tick < k->w->resume->tick)
		return true;
	if (k->w->marks && ++k->since_mark > marks_every(k->w->marks) && tick > k->last_tick)
		leave_mark(k, tick);
	if (tick > k->last_tick)
		k->last_tick = tick;
	return false;
}

static int resume(struct walk *k)
{
	const struct func_source *s = k->w->source;
	const struct call_mark *m = k->w->resume;
	uint64_t ns = clock_ns(&s->clock, m->tick);
	struct walked *t = NULL;
	uint32_t function;
	size_t i;
	int r = 0;

	for (i = 0; i < s->n_processes && i < m->n_processes; i++)
		k->generations[i] = m->generations[i];
	for (i = 0; r >= 0 && i < m->n; i++) {
		const struct call_mark_call *c = &m->calls[i];

		r = c->thread < s->n_threads ? get_thread(k, c->thread, &t) : -EINVAL;
		if (r < 0 || !t)
			continue;
		r = call_names_find(k->w->names, s->threads[c->thread].process, c->generation,
				    c->address, &function);
		if (r >= 0)
			r = call_stack_enter(t->stack, ns, function);
		if (r >= 0)
			call_stack_set_address(t->stack, c->address, c->generation);
	}
	return r;
}

static int take_all(struct walk *k, struct error *e)
{
	struct func_source *s = k->w->source;
	struct func_item item;
	int r = k->w->resume ? resume(k) : 0, more = 0;

	while (r >= 0 && (more = s->ops->next(s, &item, e)) > 0) {
		if (see_marks(k, &item))
			continue;
		r = see_window(k, &item, e);
		if (r)
			break;
		r = take_item(k, &item);
		if (r >= 0 && k->w->step)
			r = k->w->step(k->w->step_data);
		if (r < 0)
			break;
	}
	return more < 0 ? more : r < 0 ? r : 0;
}

static int run(struct walk *k, struct error *e)
{
	int r = take_all(k, e);

	if (r >= 0 && k->waits)
		r = open_window(k, true);
	if (r >= 0)
		r = finish(k);
	if (r == -E2BIG && (!e || !e->text[0]))
		return error_set(e, E2BIG, "cannot follow the calls: more functions than %u",
				 FUNCTIONS_MAX);
	if (r < 0 && (!e || !e->text[0])) /* a listener may have said more */
		error_set(e, -r, "cannot follow the calls: %s", strerror(-r));
	return r < 0 ? r : 0;
}

int call_walk_run(const struct call_walk *w, struct call_totals *ret, struct error *e)
{
	struct walk k = { .w = w, .waits = w->window != NULL };
	size_t i;
	int r;

	k.threads = calloc(w->source->n_threads + 1, sizeof(*k.threads));
	k.generations = calloc(w->source->n_processes + 1, sizeof(*k.generations));
	if (!k.threads || !k.generations) {
		free_threads(&k);
		return error_set(e, ENOMEM, "cannot follow the calls: out of memory");
	}
	for (i = 0; i < w->source->n_processes; i++)
		k.generations[i] = 1;
	r = run(&k, e);
	free_threads(&k);
	if (r >= 0)
		*ret = k.totals;
	return r;
}
