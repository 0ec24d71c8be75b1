/* SPDX-License-Identifier: MIT */
/*
 * sample_ahead: see sample_ahead.h.
 *
 * A batch is in one of three places: on the list of spare ones, with the one thread that fills it, or in its CPU's queue, whose first is
 * the reader's. Helpers sleep until half of what they may have ready is gone: waking up costs as much as some batches.
 */
#include "trace/sample_ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/array.h"
#include "trace/info.h"

#define READY_MAX 4U /* batches of one CPU */

struct lane {
	struct sample_cursor *cursor;
	struct sample_batch *first, *last; /* the queue */
	size_t n;
	bool is_taken; /* the first is with the reader */
	bool is_busy;  /* somebody fills one */
	bool is_over;  /* the last one has the end */
};

struct sample_ahead {
	struct block_reader *reader;
	pthread_mutex_t reader_lock;
	pthread_mutex_t lock; /* of all below, but for what is in batches and cursors */
	pthread_cond_t filled, wanted;
	struct lane *lanes;
	size_t n_lanes, room;
	struct sample_batch *spare;
	size_t n_ready;	 /* in queues */
	size_t n_asleep; /* helpers that wait for `wanted` */
	size_t turn;	 /* where helpers look next */
	bool is_dismissed;
};

int sample_ahead_new(struct sample_ahead **ret, struct block_reader *r)
{
	struct sample_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->reader = r;
	pthread_mutex_init(&a->reader_lock, NULL);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->filled, NULL);
	pthread_cond_init(&a->wanted, NULL);
	*ret = a;
	return 0;
}

static void free_batches(struct sample_batch *b)
{
	struct sample_batch *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
}

void sample_ahead_free(struct sample_ahead *a)
{
	size_t i;

	if (!a)
		return;
	for (i = 0; i < a->n_lanes; i++) {
		sample_cursor_free(a->lanes[i].cursor);
		free_batches(a->lanes[i].first);
	}
	free_batches(a->spare);
	free(a->lanes);
	pthread_cond_destroy(&a->wanted);
	pthread_cond_destroy(&a->filled);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->reader_lock);
	free(a);
}

int sample_ahead_add(struct sample_ahead *a, uint32_t cpu)
{
	int r = array_grow(&a->lanes, a->n_lanes, &a->room, sizeof(*a->lanes), TRACE_CPUS_MAX);
	struct lane *l;

	if (r < 0)
		return -ENOMEM;
	l = &a->lanes[a->n_lanes];
	memset(l, 0, sizeof(*l));
	l->cursor = sample_cursor_new(a->reader, &a->reader_lock, cpu);
	if (!l->cursor)
		return -ENOMEM;
	a->n_lanes++;
	return 0;
}

/* --- batches; the lock is held --- */

static size_t ready_max(const struct sample_ahead *a)
{
	size_t most = READY_MAX * a->n_lanes;

	return most < SAMPLE_AHEAD_BATCHES ? most : SAMPLE_AHEAD_BATCHES;
}

static struct sample_batch *get_spare(struct sample_ahead *a)
{
	struct sample_batch *b = a->spare;

	if (!b)
		return malloc(sizeof(*b));
	a->spare = b->next;
	return b;
}

static void drop_first(struct sample_ahead *a, struct lane *l)
{
	struct sample_batch *b = l->first;

	l->first = b->next;
	l->n--;
	l->is_taken = false;
	b->next = a->spare;
	a->spare = b;
	a->n_ready--;
	if (a->n_asleep && a->n_ready <= ready_max(a) / 2)
		pthread_cond_broadcast(&a->wanted);
}

void sample_ahead_rewind(struct sample_ahead *a)
{
	struct lane *l;

	for (l = a->lanes; l < a->lanes + a->n_lanes; l++) {
		while (l->n)
			drop_first(a, l);
		l->is_over = false;
		sample_cursor_rewind(l->cursor);
	}
}

/* Without the lock meanwhile. */
static int fill(struct sample_ahead *a, struct lane *l)
{
	struct sample_batch *b = get_spare(a);

	if (!b)
		return -ENOMEM;
	l->is_busy = true;
	pthread_mutex_unlock(&a->lock);
	sample_cursor_fill(l->cursor, b);
	pthread_mutex_lock(&a->lock);
	b->next = NULL;
	if (l->n++)
		l->last->next = b;
	else
		l->first = b;
	l->last = b;
	l->is_busy = false;
	l->is_over = b->result != 1;
	a->n_ready++;
	return 0;
}

const struct sample_batch *sample_ahead_take(struct sample_ahead *a, size_t number)
{
	struct lane *l = &a->lanes[number];
	int r = 0;

	pthread_mutex_lock(&a->lock);
	if (l->is_taken)
		drop_first(a, l);
	while (!l->n && r == 0) {
		if (l->is_busy)
			pthread_cond_wait(&a->filled, &a->lock);
		else
			r = fill(a, l);
	}
	l->is_taken = l->n;
	pthread_mutex_unlock(&a->lock);
	return l->is_taken ? l->first : NULL;
}

const struct sample_totals *sample_ahead_totals(const struct sample_ahead *a, size_t number)
{
	return sample_cursor_totals(a->lanes[number].cursor);
}

/* --- helpers --- */

/* The one with least ready that may have more. */
static struct lane *choose(struct sample_ahead *a)
{
	struct lane *best = NULL, *l;
	size_t i;

	if (a->n_ready >= ready_max(a))
		return NULL;
	for (i = 0; i < a->n_lanes; i++) {
		l = &a->lanes[(a->turn + i) % a->n_lanes];
		if (!l->is_busy && !l->is_over && l->n < READY_MAX && (!best || l->n < best->n))
			best = l;
	}
	if (best)
		a->turn = (size_t)(best - a->lanes) + 1;
	return best;
}

static bool is_over(const struct sample_ahead *a)
{
	size_t i = 0;

	while (i < a->n_lanes && a->lanes[i].is_over)
		i++;
	return i == a->n_lanes;
}

static uint64_t sleep_ns(struct sample_ahead *a)
{
	uint64_t since = clock_mono_ns();

	a->n_asleep++;
	pthread_cond_wait(&a->wanted, &a->lock);
	a->n_asleep--;
	return clock_mono_ns() - since;
}

uint64_t sample_ahead_help(struct sample_ahead *a)
{
	uint64_t since = clock_mono_ns(), slept_ns = 0;
	struct lane *l;

	pthread_mutex_lock(&a->lock);
	while (!a->is_dismissed && !is_over(a)) {
		l = choose(a);
		if (!l) {
			slept_ns += sleep_ns(a);
			continue;
		}
		if (fill(a, l) < 0)
			break; /* the reader finds out itself */
		pthread_cond_signal(&a->filled);
	}
	pthread_mutex_unlock(&a->lock);
	return clock_mono_ns() - since - slept_ns;
}

void sample_ahead_dismiss(struct sample_ahead *a)
{
	pthread_mutex_lock(&a->lock);
	a->is_dismissed = true;
	pthread_cond_broadcast(&a->wanted);
	pthread_mutex_unlock(&a->lock);
}
