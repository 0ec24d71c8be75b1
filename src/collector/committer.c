/* SPDX-License-Identifier: MIT */
/* committer: see committer.h. */
#include "collector/committer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/condition.h"
#include "collector/keeper.h"

#define RETRY_FIRST_MS 100U
#define RETRY_LAST_MS 5000U

struct committer {
	struct committer_options o;
	struct keeper *keeper;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool waiting, stopping; /* with the lock */
	struct committer_counters counters;
	atomic_uint_fast64_t begun;
	/* The thread's own. */
	uint64_t last_begin_ms, failing_since_ms;
	unsigned int retry_ms; /* 0: the last commit succeeded */
};

static void note_failure(struct committer *c, const struct error *e)
{
	char line[700];

	if (!c->retry_ms) {
		c->failing_since_ms = clock_mono_ms();
		snprintf(line, sizeof(line),
			 "nothing is acknowledged until it works again, devices keep their "
			 "blocks: %s",
			 e->text);
		c->o.log(c->o.context, line);
	}
	c->retry_ms = c->retry_ms ? c->retry_ms * 2 : RETRY_FIRST_MS;
	if (c->retry_ms > RETRY_LAST_MS)
		c->retry_ms = RETRY_LAST_MS;
}

static void note_success(struct committer *c)
{
	char line[100];

	if (!c->retry_ms)
		return;
	snprintf(line, sizeof(line), "storing again, after %" PRIu64 " ms",
		 clock_mono_ms() - c->failing_since_ms);
	c->o.log(c->o.context, line);
	c->retry_ms = 0;
}

static void commit(struct committer *c)
{
	struct error e = ERROR_INIT;
	uint64_t durable = 0, start = clock_mono_ns(), took;
	int r;

	c->last_begin_ms = start / 1000000;
	atomic_fetch_add(&c->begun, 1);
	r = store_commit(c->o.store, &durable, &e);
	took = clock_mono_ns() - start;
	pthread_mutex_lock(&c->lock);
	c->counters.commits += r >= 0;
	c->counters.errors += r < 0;
	c->counters.commit_ns += took;
	pthread_mutex_unlock(&c->lock);
	if (r < 0) {
		note_failure(c, &e);
		if (r == -ENOSPC)
			keeper_make_room(c->keeper);
		return;
	}
	note_success(c);
	c->o.done(c->o.context, durable);
	keeper_wake(c->keeper);
}

/* Sleeps until something waits and its time has come. False: it is to stop. */
static bool wait_for_work(struct committer *c)
{
	uint64_t due_ms = c->last_begin_ms + (c->retry_ms ? c->retry_ms : c->o.commit_ms);
	bool go_on;

	pthread_mutex_lock(&c->lock);
	while (!c->stopping) {
		bool has_work = c->waiting || c->retry_ms;

		if (has_work && clock_mono_ms() >= due_ms)
			break;
		if (has_work)
			condition_wait(&c->wake, &c->lock, due_ms);
		else
			pthread_cond_wait(&c->wake, &c->lock);
	}
	go_on = !c->stopping;
	pthread_mutex_unlock(&c->lock);
	return go_on;
}

static bool take_waiting(struct committer *c)
{
	bool waiting;

	pthread_mutex_lock(&c->lock);
	waiting = c->waiting;
	c->waiting = false;
	pthread_mutex_unlock(&c->lock);
	return waiting;
}

static void *run(void *context)
{
	struct committer *c = context;

	pthread_setname_np(pthread_self(), "kiseki-commit");
	while (wait_for_work(c)) {
		take_waiting(c);
		commit(c);
	}
	if (take_waiting(c) || c->retry_ms)
		commit(c);
	return NULL;
}

static void wake(void *context)
{
	committer_wake(context);
}

static int start_threads(struct committer *c, struct error *e)
{
	const struct keeper_options o = { .store = c->o.store,
					  .put = wake,
					  .put_context = c,
					  .log = c->o.log,
					  .log_context = c->o.context };
	int r = keeper_start(&c->keeper, &o, e);

	if (r < 0)
		return r;
	r = pthread_create(&c->thread, NULL, run, c);
	if (r) {
		keeper_free(c->keeper);
		return error_set(e, r, "cannot start the committer: %s", strerror(r));
	}
	return 0;
}

int committer_start(struct committer **ret, const struct committer_options *o, struct error *e)
{
	struct committer *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot start the committer: out of memory");
	c->o = *o;
	pthread_mutex_init(&c->lock, NULL);
	condition_init(&c->wake);
	r = start_threads(c, e);
	if (r < 0) {
		pthread_mutex_destroy(&c->lock);
		pthread_cond_destroy(&c->wake);
		free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void committer_stop(struct committer *c)
{
	if (!c)
		return;
	keeper_stop(c->keeper); /* what it has put goes with the last commit */
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	keeper_free(c->keeper); /* the last commit told it, too */
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->wake);
	free(c);
}

void committer_wake(struct committer *c)
{
	pthread_mutex_lock(&c->lock);
	if (!c->waiting) {
		c->waiting = true;
		pthread_cond_signal(&c->wake);
	}
	pthread_mutex_unlock(&c->lock);
}

uint64_t committer_get_begun(const struct committer *c)
{
	return atomic_load(&c->begun);
}

void committer_count(struct committer *c, struct committer_counters *ret)
{
	pthread_mutex_lock(&c->lock);
	*ret = c->counters;
	pthread_mutex_unlock(&c->lock);
}
