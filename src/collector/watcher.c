/* SPDX-License-Identifier: MIT */
/* watcher: see watcher.h. */
#include "collector/watcher.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/siphash.h"
#include "store/array.h"

#define POLL_MS 3000U
#define WINDOW_S (15U * FACT_MINUTE_S) /* what is older is not watched any more */
#define SETS_MAX (1U << 20)	       /* in that time */

/* A minute that is there: which, in short. */
struct seen {
	uint64_t hash;
	uint64_t start_s;
	struct message_id device;
	uint8_t kind;
	bool is_old; /* it was looked at */
};

struct seen_list {
	struct seen *list;
	size_t n, room;
};

struct watcher {
	struct watcher_options o;
	pthread_t thread;
	bool is_running;
	_Atomic(struct alerts *) alerts;
	pthread_mutex_t lock; /* of the next two */
	pthread_cond_t changed;
	bool ends;

	/* the thread's own */
	bool watches;
	struct seen_list before, now; /* of the last look, by hash; of this one, by time */
	struct error last;
};

static uint64_t hash_of(const struct fact_key *k)
{
	static const uint8_t key[16];
	uint8_t bytes[41];
	size_t i;

	memcpy(bytes, k->device.bytes, 16);
	memcpy(bytes + 16, k->run.bytes, 16);
	for (i = 0; i < 8; i++)
		bytes[32 + i] = (uint8_t)(k->start_s >> 8 * i);
	bytes[40] = k->kind;
	return siphash64(key, bytes, sizeof(bytes));
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->hash > y->hash) - (x->hash < y->hash);
}

static struct seen *find(const struct seen_list *l, uint64_t hash)
{
	const struct seen like = { .hash = hash };

	return l->n ? bsearch(&like, l->list, l->n, sizeof(like), compare_seen) : NULL;
}

/* --- what is there --- */

static int add_head(void *context, const struct facts_head *h)
{
	struct watcher *w = context;
	struct seen_list *l = &w->now;
	const struct seen *before;
	int r = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), SETS_MAX);

	if (r < 0)
		return r == -E2BIG ? 1 : r;
	l->list[l->n] = (struct seen){ .hash = hash_of(&h->key),
				       .start_s = h->key.start_s,
				       .device = h->key.device,
				       .kind = h->key.kind };
	before = find(&w->before, l->list[l->n].hash);
	l->list[l->n++].is_old = before && before->is_old;
	return 0;
}

static int look(struct watcher *w, struct error *e)
{
	uint64_t now_s = clock_real_ns() / CLOCK_NS_PER_S;
	struct facts_query q = { .all_devices = true,
				 .minutes_only = true,
				 .from_s = now_s > WINDOW_S ? now_s - WINDOW_S : 0,
				 .to_s = now_s + FACT_MINUTE_S };
	int r = 0;

	w->now.n = 0;
	for (; r >= 0 && q.kind < FACT_KINDS; q.kind++)
		r = facts_keys(w->o.alerts.facts, &q, add_head, w, e);
	return r < 0 ? r : 0;
}

/* From now on this is what was there before. */
static void settle(struct watcher *w)
{
	struct seen_list l = w->before;

	w->before = w->now;
	w->now = l;
	if (w->before.n)
		qsort(w->before.list, w->before.n, sizeof(*w->before.list), compare_seen);
}

/* --- what is new of it --- */

/* The sets of one kind and minute, of devices that have a new one. */
struct feeding {
	struct watcher *w;
	struct seen *first;
	size_t n;
};

static int feed_set(void *context, const struct fact_set *s)
{
	struct feeding *f = context;
	uint64_t hash = hash_of(&s->key);
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->first[i].hash == hash && !f->first[i].is_old) {
			f->first[i].is_old = true;
			alerts_put(atomic_load(&f->w->alerts), s);
		}
	return 0;
}

static int feed_minute(struct feeding *f, struct error *e)
{
	_cleanup_free_ struct message_id *devices = calloc(f->n, sizeof(*devices));
	struct facts_query q = { .minutes_only = true,
				 .kind = f->first->kind,
				 .devices = devices,
				 .from_s = f->first->start_s,
				 .to_s = f->first->start_s + FACT_MINUTE_S };
	size_t i;

	if (!devices)
		return error_set(e, ENOMEM, "cannot watch for alerts: out of memory");
	for (i = 0; i < f->n; i++)
		if (!f->first[i].is_old)
			devices[q.n_devices++] = f->first[i].device;
	if (!q.n_devices)
		return 0;
	facts_sort_devices(devices, q.n_devices);
	return facts_scan(f->w->o.alerts.facts, &q, feed_set, f, e);
}

/* Heads come kind by kind, and by time. */
static int feed(struct watcher *w, struct error *e)
{
	struct feeding f = { .w = w };
	size_t at;
	int r = 0;

	for (at = 0; r >= 0 && at < w->now.n; at += f.n) {
		f.first = &w->now.list[at];
		for (f.n = 0; at + f.n < w->now.n && f.first[f.n].kind == f.first->kind &&
			      f.first[f.n].start_s == f.first->start_s;)
			f.n++;
		r = feed_minute(&f, e);
	}
	return r < 0 ? r : 0;
}

/* --- the thread --- */

/* All that is there is past. */
static int begin(struct watcher *w, struct error *e)
{
	struct alerts *a = atomic_load(&w->alerts);
	size_t i;
	int r = look(w, e);

	for (i = 0; i < w->now.n; i++)
		w->now.list[i].is_old = true;
	if (r >= 0 && !a) {
		r = alerts_start(&a, &w->o.alerts, e);
		if (r >= 0)
			atomic_store(&w->alerts, a);
	}
	w->watches = r >= 0;
	return r;
}

/* Whoever sent nothing in all the time that is looked at is silent. */
static void expire(struct watcher *w)
{
	uint64_t now_s = clock_real_ns() / CLOCK_NS_PER_S;

	if (now_s > WINDOW_S)
		alerts_expire(atomic_load(&w->alerts), now_s - WINDOW_S);
}

static void turn(struct watcher *w)
{
	struct error e = ERROR_INIT;
	int r;

	if (!fact_members_watches(w->o.members)) {
		w->watches = false;
		return;
	}
	if (!w->watches) {
		r = begin(w, &e);
	} else {
		r = look(w, &e);
		if (r >= 0)
			r = feed(w, &e);
		if (r >= 0)
			expire(w);
	}
	settle(w);
	if (r < 0 && strcmp(w->last.text, e.text) && w->o.alerts.log)
		w->o.alerts.log(w->o.alerts.log_context, e.text);
	w->last = e;
}

static bool rest(struct watcher *w)
{
	uint64_t until_ms = clock_mono_ms() + POLL_MS;
	bool ends;

	pthread_mutex_lock(&w->lock);
	while (!w->ends && condition_wait(&w->changed, &w->lock, until_ms))
		;
	ends = w->ends;
	pthread_mutex_unlock(&w->lock);
	return !ends;
}

static void *follow(void *context)
{
	struct watcher *w = context;

	do
		turn(w);
	while (rest(w));
	return NULL;
}

int watcher_start(struct watcher **ret, const struct watcher_options *o, struct error *e)
{
	CLEANUP(watcher) struct watcher *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return error_set(e, ENOMEM, "cannot watch for alerts: out of memory");
	pthread_mutex_init(&w->lock, NULL);
	condition_init(&w->changed);
	w->o = *o;
	r = pthread_create(&w->thread, NULL, follow, w);
	if (r)
		return error_set(e, r, "cannot watch for alerts: %s", strerror(r));
	w->is_running = true;
	*ret = take_ptr(w);
	return 0;
}

void watcher_stop(struct watcher *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->is_running)
		pthread_join(w->thread, NULL);
	alerts_stop(atomic_load(&w->alerts));
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->before.list);
	free(w->now.list);
	free(w);
}

struct alerts *watcher_alerts(const struct watcher *w)
{
	return w ? atomic_load(&w->alerts) : NULL;
}
