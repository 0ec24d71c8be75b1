/* SPDX-License-Identifier: MIT */
/*
 * read_ahead: see read_ahead.h.
 *
 * Batches are large enough that the lock is of no account and small enough that the ring stays in
 * the processor's second cache. A file name is borrowed from the decoder until its next event, so
 * each batch keeps copies.
 */
#include "trace/read_ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/sigmask.h"

#define BATCHES 4U
#define BATCH_ITEMS 256U
#define BATCH_NAMES 16384U /* bytes; a batch ends early if its file names need more */

struct batch {
	size_t n;
	int result;	    /* 1, or what ended the batch: 0 or an error */
	struct error error; /* its text */
	uint64_t progress;
	struct trace_item items[BATCH_ITEMS];
	char names[BATCH_NAMES];
};

struct read_ahead {
	const struct read_ahead_ops *ops;
	void *context;
	pthread_t thread;
	bool joined;
	const struct batch *hand; /* the batch that is being given, */
	size_t at;		  /* and where in it; both the reader's own */
	uint64_t progress;

	pthread_mutex_t lock; /* of the three below; a batch belongs to the side that holds it */
	pthread_cond_t moved;
	size_t made, taken; /* batches so far */
	bool stop;

	struct batch batches[BATCHES];
};

static void fill(struct read_ahead *r, struct batch *b)
{
	size_t names = 0;
	struct trace_item *item;

	b->n = 0;
	b->result = 1;
	while (b->n < BATCH_ITEMS && names + SCHED_FILENAME_MAX <= BATCH_NAMES) {
		item = &b->items[b->n];
		b->result = r->ops->produce(r->context, item, &b->error);
		if (b->result != 1)
			break;
		if (item->type == ITEM_EVENT && item->event.filename_len) {
			memcpy(b->names + names, item->event.filename, item->event.filename_len);
			item->event.filename = b->names + names;
			names += item->event.filename_len;
		}
		b->n++;
	}
	b->progress = r->ops->progress(r->context);
}

static void *run(void *argument)
{
	struct read_ahead *r = argument;
	struct batch *b;
	bool more = true;

	while (more) {
		pthread_mutex_lock(&r->lock);
		while (r->made - r->taken == BATCHES && !r->stop)
			pthread_cond_wait(&r->moved, &r->lock);
		more = !r->stop;
		b = &r->batches[r->made % BATCHES];
		pthread_mutex_unlock(&r->lock);
		if (!more)
			break;
		fill(r, b);
		more = b->result == 1;
		pthread_mutex_lock(&r->lock);
		r->made++;
		pthread_cond_signal(&r->moved);
		pthread_mutex_unlock(&r->lock);
	}
	return NULL;
}

/* The program's signals are for its own threads. */
static int start(struct read_ahead *r)
{
	sigset_t before;
	int error;

	sigmask_leave(&before);
	error = pthread_create(&r->thread, NULL, run, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

struct read_ahead *read_ahead_new(const struct read_ahead_ops *ops, void *context)
{
	struct read_ahead *r = malloc(sizeof(*r));

	if (!r)
		return NULL;
	memset(r, 0, offsetof(struct read_ahead, batches));
	r->ops = ops;
	r->context = context;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->moved, NULL);
	if (start(r)) {
		r->joined = true;
		read_ahead_free(r);
		return NULL;
	}
	return r;
}

static void join(struct read_ahead *r)
{
	if (!r->joined)
		pthread_join(r->thread, NULL);
	r->joined = true;
}

void read_ahead_free(struct read_ahead *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->moved);
	pthread_mutex_unlock(&r->lock);
	join(r);
	pthread_cond_destroy(&r->moved);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* A batch stays in hand until all of it is given, so that file names stay valid as long as source.h
 * promises. */
static void take_batch(struct read_ahead *r)
{
	pthread_mutex_lock(&r->lock);
	if (r->hand) {
		r->taken++;
		pthread_cond_signal(&r->moved);
	}
	while (r->made == r->taken)
		pthread_cond_wait(&r->moved, &r->lock);
	pthread_mutex_unlock(&r->lock);
	r->hand = &r->batches[r->taken % BATCHES];
	r->at = 0;
	r->progress = r->hand->progress;
}

int read_ahead_next(struct read_ahead *r, struct trace_item *ret, struct error *e)
{
	while (!r->hand || (r->at == r->hand->n && r->hand->result == 1))
		take_batch(r);
	if (r->at < r->hand->n) {
		*ret = r->hand->items[r->at++];
		return 1;
	}
	join(r);
	if (r->hand->result < 0 && e)
		*e = r->hand->error;
	return r->hand->result;
}

uint64_t read_ahead_progress(const struct read_ahead *r)
{
	return r->progress;
}
