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

#define RETRY_FIRST_MS 100U
#define RETRY_LAST_MS 5000U
#define RETAIN_MS 10000U

struct committer {
	struct committer_options o;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool waiting, stopping; /* with the lock */
	struct committer_counters counters;
	atomic_uint_fast64_t begun;
	/* The thread's own. */
	uint64_t last_begin_ms, last_retain_ms, failing_since_ms;
	unsigned int retry_ms; /* 0: the last commit succeeded */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note_failure(struct committer *c, const struct error *e)
{
	char line[700];

	if (!c->retry_ms) {
		c->failing_since_ms = now_ms();
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
		 now_ms() - c->failing_since_ms);
	c->o.log(c->o.context, line);
	c->retry_ms = 0;
}

static void retain(struct committer *c)
{
	struct error e = ERROR_INIT;

	c->last_retain_ms = now_ms();
	if (store_retain(c->o.store, &e) < 0)
		c->o.log(c->o.context, e.text);
	if (store_waiting(c->o.store))
		committer_wake(c); /* what is kept of the files that are to go */
}

static void commit(struct committer *c)
{
	struct error e = ERROR_INIT;
	uint64_t durable = 0, start = now_ns(), took;
	int r;

	c->last_begin_ms = start / 1000000;
	atomic_fetch_add(&c->begun, 1);
	r = store_commit(c->o.store, &durable, &e);
	took = now_ns() - start;
	pthread_mutex_lock(&c->lock);
	c->counters.commits += r >= 0;
	c->counters.errors += r < 0;
	c->counters.commit_ns += took;
	pthread_mutex_unlock(&c->lock);
	if (r < 0) {
		note_failure(c, &e);
		if (r == -ENOSPC)
			retain(c);
		return;
	}
	note_success(c);
	c->o.done(c->o.context, durable);
}

/* Sleeps until something waits and its time has come. False: it is to stop. */
static bool wait_for_work(struct committer *c)
{
	unsigned int pause = c->retry_ms ? c->retry_ms : c->o.commit_ms;
	uint64_t due = c->last_begin_ms + pause, retain_due = c->last_retain_ms + RETAIN_MS, until;
	struct timespec t;
	bool go_on;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		bool has_work = c->waiting || c->retry_ms;

		until = has_work && due < retain_due ? due : retain_due;
		if (c->stopping || now_ms() >= until)
			break;
		t.tv_sec = (time_t)(until / 1000);
		t.tv_nsec = (long)(until % 1000) * 1000000;
		pthread_cond_timedwait(&c->wake, &c->lock, &t);
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

	while (wait_for_work(c)) {
		if (now_ms() >= c->last_begin_ms + (c->retry_ms ? c->retry_ms : c->o.commit_ms) &&
		    (take_waiting(c) || c->retry_ms))
			commit(c);
		if (now_ms() >= c->last_retain_ms + RETAIN_MS)
			retain(c);
	}
	if (take_waiting(c) || c->retry_ms)
		commit(c);
	return NULL;
}

int committer_start(struct committer **ret, const struct committer_options *o, struct error *e)
{
	struct committer *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot start the committer: out of memory");
	c->o = *o;
	c->last_retain_ms = now_ms();
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &attr);
	pthread_condattr_destroy(&attr);
	r = pthread_create(&c->thread, NULL, run, c);
	if (r) {
		free(c);
		return error_set(e, r, "cannot start the committer: %s", strerror(r));
	}
	*ret = c;
	return 0;
}

void committer_stop(struct committer *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
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
