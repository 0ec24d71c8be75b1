/* SPDX-License-Identifier: MIT */
/* keeper: see keeper.h. */
#include "collector/keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"

#define SETTLE_MS 1000U /* between two looks at most */
#define RETAIN_MS 10000U

struct keeper {
	struct keeper_options o;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool committed, full, stopping; /* with the lock */
	/* The thread's own. */
	uint64_t last_ms, last_retain_ms;
};

/* Sleeps until there is something to do. False: it is to stop. */
static bool wait_for_work(struct keeper *k, bool *ret_retain)
{
	uint64_t retain_due = k->last_retain_ms + RETAIN_MS, until, now;
	bool go_on;

	pthread_mutex_lock(&k->lock);
	for (;;) {
		until = k->committed ? k->last_ms + SETTLE_MS : retain_due;
		until = until < retain_due ? until : retain_due;
		now = clock_mono_ms();
		if (k->stopping || k->full || now >= until)
			break;
		condition_wait(&k->wake, &k->lock, until);
	}
	*ret_retain = k->full || now >= retain_due;
	k->committed = k->full = false;
	go_on = !k->stopping;
	pthread_mutex_unlock(&k->lock);
	return go_on;
}

static void say(const struct keeper *k, const struct error *e)
{
	k->o.log(k->o.log_context, e->text);
}

static void retain(struct keeper *k)
{
	struct error e = ERROR_INIT;

	if (store_retain(k->o.store, &e) < 0)
		say(k, &e);
	if (store_waiting(k->o.store))
		k->o.put(k->o.put_context);
	k->last_retain_ms = clock_mono_ms();
}

static void *run(void *context)
{
	struct keeper *k = context;
	struct error e = ERROR_INIT;
	bool wants_retain, failed = false;
	int r;

	pthread_setname_np(pthread_self(), "kiseki-keep");
	while (wait_for_work(k, &wants_retain)) {
		r = store_settle(k->o.store, &e);
		if (r < 0 && !failed)
			say(k, &e);
		failed = r < 0;
		if (wants_retain)
			retain(k);
		k->last_ms = clock_mono_ms();
	}
	return NULL;
}

int keeper_start(struct keeper **ret, const struct keeper_options *o, struct error *e)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return error_set(e, ENOMEM, "cannot start the keeper: out of memory");
	k->o = *o;
	k->last_retain_ms = clock_mono_ms();
	pthread_mutex_init(&k->lock, NULL);
	condition_init(&k->wake);
	r = pthread_create(&k->thread, NULL, run, k);
	if (r) {
		pthread_mutex_destroy(&k->lock);
		pthread_cond_destroy(&k->wake);
		free(k);
		return error_set(e, r, "cannot start the keeper: %s", strerror(r));
	}
	*ret = k;
	return 0;
}

static void set(struct keeper *k, bool *what)
{
	pthread_mutex_lock(&k->lock);
	if (!*what) {
		*what = true;
		pthread_cond_signal(&k->wake);
	}
	pthread_mutex_unlock(&k->lock);
}

void keeper_stop(struct keeper *k)
{
	if (k->stopping)
		return;
	set(k, &k->stopping);
	pthread_join(k->thread, NULL);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	keeper_stop(k);
	pthread_mutex_destroy(&k->lock);
	pthread_cond_destroy(&k->wake);
	free(k);
}

void keeper_wake(struct keeper *k)
{
	set(k, &k->committed);
}

void keeper_make_room(struct keeper *k)
{
	set(k, &k->full);
}
