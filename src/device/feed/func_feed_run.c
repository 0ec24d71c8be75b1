/* SPDX-License-Identifier: MIT */
/*
 * func_feed_run: the run of calls and its rows; see func_feed_state.h.
 *
 * A thread is kept from one run to the next, with the number of its events that were told by then. A
 * thread that is gone is not: nothing of it comes again.
 */
#include <errno.h>
#include <string.h>

#include "device/feed/func_feed_state.h"
#include "device/feed/func_told.h"

#define TURN_LEAST_MS 1000U /* between two runs, whatever happens */
#define TURN_MS 10000U	    /* if most threads would need a row again */

static uint32_t number_of(const struct func_feed *f, const struct func_feed_program *p)
{
	return (uint32_t)(p - f->programs);
}

/* --- threads --- */

struct func_drain_thread *func_feed_find_thread(struct func_feed *f,
						const struct func_feed_program *p, uint32_t stream)
{
	uint32_t i, process = number_of(f, p);

	for (i = 0; i < f->n_threads; i++)
		if (f->threads[i].stream == stream && f->threads[i].process == process)
			return &f->threads[i];
	return NULL;
}

void func_feed_forget_threads(struct func_feed *f, const struct func_feed_program *p)
{
	uint32_t i, n = 0, process = number_of(f, p);

	for (i = 0; i < f->n_threads; i++) {
		if (f->threads[i].process != process)
			f->threads[n++] = f->threads[i];
		else
			func_feed_remove_os(f, &f->threads[i]);
	}
	f->n_threads = n;
}

/* Where the stream goes on that has no row yet. */
static void find_base(const struct func_feed_program *p, struct func_drain_thread *t)
{
	if (func_told_get(&p->traced, t->stream, &t->base) < 0)
		t->is_adopted = p->is_adopted;
}

int func_feed_take_thread(struct func_feed *f, struct func_feed_program *p,
			  const struct func_traced_slot *who, struct func_drain_thread **ret,
			  struct error *e)
{
	struct func_drain_thread *t = func_feed_find_thread(f, p, who->stream);
	struct func_run_thread row = { .process = p->number,
				       .stream = who->stream,
				       .tid = who->tid };
	int r;

	if (t && t->row != FUNC_FEED_NO_ROW) {
		*ret = t;
		return 0;
	}
	if (!t && f->n_threads == f->most_threads)
		return error_set(e, ENOBUFS, "cannot trace a thread: there are %u already",
				 f->n_threads);
	if (!t) {
		t = &f->threads[f->n_threads];
		*t = (struct func_drain_thread){ .process = number_of(f, p),
						 .stream = who->stream,
						 .tid = who->tid };
		find_base(p, t);
	}
	memcpy(row.comm, who->comm, sizeof(row.comm));
	row.base = t->base;
	r = func_run_take_thread(f->run, &row, &t->row, e);
	if (r < 0) {
		t->row = FUNC_FEED_NO_ROW;
		return r;
	}
	t->base = row.base;
	t->is_adopted &= !func_drain_told(f->drain, t); /* else its row was there */
	f->n_threads += t == &f->threads[f->n_threads];
	func_feed_add_os(f, t);
	*ret = t;
	return 0;
}

/* --- the run --- */

int func_feed_start_run(struct func_feed *f, const struct func_feed_program *p, struct error *e)
{
	bool is_open = func_run_is_open(f->run);

	if (!f->has_pairs || !is_open)
		func_pairs_init(&f->pairs, &p->traced, &f->header);
	f->has_pairs = true;
	if (is_open)
		return 0;
	f->began_ms = f->quiet_ms = f->now_ms;
	return func_run_start(f->run, &f->pairs.line, e);
}

/* Of the threads of a process, those that may come again: they have a chunk or a slot. The others
 * are forgotten. */
static void keep_threads(struct func_feed *f, const struct func_feed_program *p)
{
	uint32_t i, n = 0, process = number_of(f, p), at = 0;
	struct func_traced_slot slot;

	func_traced_get_chunks(&p->traced, &f->chunks);
	for (i = 0; i < f->n_threads; i++)
		if (f->threads[i].process == process)
			f->threads[i].is_kept = f->threads[i].stream == FUNC_FEED_NO_SLOT;
	for (i = 0; i < f->chunks.n; i++) {
		struct func_drain_thread *t = func_feed_find_thread(f, p, f->chunks.at[i].stream);

		if (t)
			t->is_kept = true;
	}
	while (func_traced_next_slot(&p->traced, &at, &slot)) {
		struct func_drain_thread *t = func_feed_find_thread(f, p, slot.stream);

		if (t)
			t->is_kept = true;
	}
	for (i = 0; i < f->n_threads; i++) {
		if (f->threads[i].process != process || f->threads[i].is_kept)
			f->threads[n++] = f->threads[i];
		else
			func_feed_remove_os(f, &f->threads[i]);
	}
	f->n_threads = n;
}

/* A thread that this run had nothing of is where it was. */
static void write_again(struct func_feed *f, const struct func_feed_program *p, FILE *out,
			uint32_t stream)
{
	uint64_t count;

	if (!func_feed_find_thread(f, p, stream) && func_told_get(&p->traced, stream, &count) >= 0)
		func_told_put(out, stream, count);
}

/* Where its threads are, for the next run. The chunks are those of this program. */
static void write_told(struct func_feed *f, const struct func_feed_program *p)
{
	FILE *out = func_told_start(&p->traced, p->was_on);
	uint32_t i, process = number_of(f, p), at = 0;
	struct func_traced_slot slot;

	if (!out)
		return;
	for (i = 0; i < f->chunks.n; i++)
		if (!i || f->chunks.at[i].stream != f->chunks.at[i - 1].stream)
			write_again(f, p, out, f->chunks.at[i].stream);
	while (func_traced_next_slot(&p->traced, &at, &slot))
		write_again(f, p, out, slot.stream);
	write_again(f, p, out, FUNC_FEED_NO_SLOT);
	for (i = 0; i < f->n_threads; i++) {
		const struct func_drain_thread *t = &f->threads[i];

		if (t->process == process)
			func_told_put(out, t->stream, func_drain_told(f->drain, t));
	}
	func_told_stop(out, &p->traced);
}

int func_feed_stop_run(struct func_feed *f, struct error *e)
{
	struct func_drain_thread *t;
	uint32_t i;
	int r;

	if (!func_run_is_open(f->run) && !f->is_ending)
		return 0;
	for (i = 0; i < FUNC_FEED_PROGRAMS; i++) {
		if (!f->programs[i].is_used || !f->programs[i].traced.is_known)
			continue;
		keep_threads(f, &f->programs[i]);
		write_told(f, &f->programs[i]);
	}
	for (t = f->threads; t < f->threads + f->n_threads; t++)
		t->told = func_drain_told(f->drain, t);
	r = func_feed_stop_os(f, !f->n_threads, e);
	if (r >= 0)
		r = func_run_stop(f->run, e);
	if (r < 0)
		return r;
	for (t = f->threads; t < f->threads + f->n_threads; t++) {
		t->base = t->told;
		t->row = FUNC_FEED_NO_ROW;
	}
	for (i = 0; i < FUNC_FEED_PROGRAMS; i++) {
		f->programs[i].is_announced = false;
		func_maps_init(&f->programs[i].maps);
		f->programs[i].maps_size = 0;
	}
	f->has_pairs = false;
	return 0;
}

int func_feed_turn_run(struct func_feed *f)
{
	uint64_t age = f->now_ms - f->began_ms;
	uint32_t i;

	if (age < TURN_LEAST_MS)
		return -ENOBUFS;
	for (i = 0; i < FUNC_FEED_PROGRAMS; i++)
		if (f->programs[i].is_used && f->programs[i].traced.is_known)
			keep_threads(f, &f->programs[i]);
	if (f->n_threads > f->most_threads / 2 && age < TURN_MS)
		return -ENOBUFS;
	return func_feed_stop_run(f, NULL);
}
