/* SPDX-License-Identifier: MIT */
/* work: see work.h. */
#include "collector/work.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"
#include "collector/watcher.h"

#define AGAIN_MS 5000U

struct work {
	struct work_options o;
	_Atomic(struct facts *) facts;
	_Atomic(struct alerts *) alerts;
	_Atomic(struct fact_workers *) workers;
	/* where facts are shared; then `alerts` are the watcher's */
	_Atomic(struct fact_members *) members;
	_Atomic(struct watcher *) watcher;
	pthread_t thread; /* that tries again */
	bool is_running;
	pthread_mutex_t lock; /* of the next two */
	pthread_cond_t changed;
	bool ends;
};

static void say(struct work *w, const char *line)
{
	if (w->o.log)
		w->o.log(w->o.log_context, line);
}

/* What cannot be read any more is kept beside, and all facts that the blocks still have are made again. */
static int open_facts(struct work *w, struct error *e)
{
	struct facts *f = NULL;
	int r;

	if (atomic_load(&w->facts))
		return 0;
	r = facts_open(&f, w->o.place, e);
	if (r == -EBADMSG) {
		say(w, e->text);
		r = facts_set_aside(w->o.place, e);
		if (r >= 0)
			r = facts_open(&f, w->o.place, e);
	}
	if (r >= 0)
		atomic_store(&w->facts, f);
	return r;
}

static struct alerts_options alerts_options(struct work *w)
{
	return (struct alerts_options){ .facts = atomic_load(&w->facts),
					.store = w->o.store,
					.webhook = w->o.webhook,
					.log = w->o.log,
					.log_context = w->o.log_context };
}

static int start_members(struct work *w, struct error *e)
{
	const struct fact_members_options o = { .facts = atomic_load(&w->facts),
						.works = w->o.has_workers,
						.watches = true };
	struct fact_members *m = NULL;
	int r = atomic_load(&w->members) ? 0 : fact_members_start(&m, &o, e);

	if (m)
		atomic_store(&w->members, m);
	return r;
}

static int start_watcher(struct work *w, struct error *e)
{
	const struct watcher_options o = { .members = atomic_load(&w->members),
					   .alerts = alerts_options(w) };
	struct watcher *watcher = NULL;
	int r = atomic_load(&w->watcher) ? 0 : watcher_start(&watcher, &o, e);

	if (watcher)
		atomic_store(&w->watcher, watcher);
	return r;
}

static int start_alerts(struct work *w, struct error *e)
{
	const struct alerts_options o = alerts_options(w);
	struct alerts *a = NULL;
	int r = atomic_load(&w->alerts) ? 0 : alerts_start(&a, &o, e);

	if (a)
		atomic_store(&w->alerts, a);
	return r;
}

static int start_workers(struct work *w, struct error *e)
{
	const struct fact_workers_options o = { .store = w->o.store,
						.facts = atomic_load(&w->facts),
						.members = atomic_load(&w->members),
						.symbols = w->o.symbols,
						.threads = w->o.threads,
						.put = w->o.is_shared ? NULL : alerts_put,
						.passed = w->o.is_shared ? NULL : alerts_expire,
						.put_context = atomic_load(&w->alerts),
						.log = w->o.log,
						.log_context = w->o.log_context };
	struct fact_workers *workers = NULL;
	int r = fact_workers_start(&workers, &o, e);

	if (r >= 0)
		atomic_store(&w->workers, workers);
	return r;
}

static int start(struct work *w, struct error *e)
{
	int r = open_facts(w, e);

	if (r >= 0 && w->o.is_shared)
		r = start_members(w, e);
	if (r >= 0 && w->o.is_shared)
		r = start_watcher(w, e);
	else if (r >= 0 && w->o.has_workers)
		r = start_alerts(w, e);
	return r < 0 || !w->o.has_workers ? r : start_workers(w, e);
}

/* The lock is held before and after; false: it shall end. */
static bool wait_for_next(struct work *w)
{
	uint64_t until_ms = clock_mono_ms() + AGAIN_MS;

	while (!w->ends && condition_wait(&w->changed, &w->lock, until_ms))
		;
	return !w->ends;
}

static void *try_again(void *context)
{
	struct work *w = context;
	struct error e = ERROR_INIT;
	int r = -EAGAIN;

	pthread_mutex_lock(&w->lock);
	while (r < 0 && wait_for_next(w)) {
		pthread_mutex_unlock(&w->lock);
		r = start(w, &e);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	if (r >= 0)
		say(w, "facts are worked out again");
	return NULL;
}

int work_start(struct work **ret, const struct work_options *o, struct error *e)
{
	CLEANUP(work) struct work *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return error_set(e, ENOMEM, "cannot work facts out: out of memory");
	pthread_mutex_init(&w->lock, NULL);
	condition_init(&w->changed);
	w->o = *o;
	r = start(w, e);
	if (r == -EINVAL || r == -ENOMEM)
		return r;
	if (r < 0) {
		say(w, e->text);
		r = pthread_create(&w->thread, NULL, try_again, w);
		if (r)
			return error_set(e, r, "cannot work facts out: %s", strerror(r));
		w->is_running = true;
	}
	*ret = take_ptr(w);
	return 0;
}

void work_stop(struct work *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->is_running)
		pthread_join(w->thread, NULL);
	fact_workers_stop(atomic_load(&w->workers));
	watcher_stop(atomic_load(&w->watcher));
	fact_members_stop(atomic_load(&w->members));
	alerts_stop(atomic_load(&w->alerts));
	facts_free(atomic_load(&w->facts));
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

struct facts *work_facts(const struct work *w)
{
	return w ? atomic_load(&w->facts) : NULL;
}

struct fact_workers *work_workers(const struct work *w)
{
	return w ? atomic_load(&w->workers) : NULL;
}

struct alerts *work_alerts(const struct work *w)
{
	struct watcher *watcher = w ? atomic_load(&w->watcher) : NULL;

	return watcher ? watcher_alerts(watcher) : w ? atomic_load(&w->alerts) : NULL;
}

struct fact_members *work_members(const struct work *w)
{
	return w ? atomic_load(&w->members) : NULL;
}
