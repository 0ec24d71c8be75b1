/* SPDX-License-Identifier: MIT */
/*
 * fact_workers: see fact_workers.h.
 *
 * The runs are looked at once a second at most. A run has its turn when bytes have come since its last, or when minutes of it wait:
 * a thousand quiet devices cost a look at a list. Turns are taken together, so that many short jobs fill all threads.
 */
#include "facts/fact_workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/condition.h"
#include "facts/fact_turn.h"
#include "store/array.h"

#define PASS_MS 1000U
#define KEEP_MS 60000U /* between two looks at hours and at what is too old */
#define ROLL_AFTER_S 120U
#define NICENESS 15
#define RUNS_MAX (1U << 20)
#define TURNS 16U	  /* taken together */
#define PACE_MINUTES 256U /* after so many, older ones count half */

struct fact_workers {
	struct fact_workers_options o;
	pthread_t thread;
	bool is_running;
	atomic_bool stop;
	struct fact_pool *pool;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	uint64_t asked, answered; /* passes that somebody waits for */
	bool asked_all;
	struct fact_workers_counters counters;

	/* the thread's own */
	struct fact_run *runs; /* by number */
	size_t n_runs, room_runs;
	struct store_run *list; /* of this pass, by number */
	size_t n_list, room_list;
	uint64_t kept_ms;
	uint64_t pace_minutes, pace_ns;
};

void fact_pace_judge(struct fact_pace *p)
{
	double each = p->t0_s + p->t2_s, round = p->t0_s + p->t1_s, most;

	p->holds = round > each * (double)p->hosts;
	p->hosts_max = 0;
	if (each <= 0)
		return;
	most = round / each;
	p->hosts_max = most < 1e15 ? (uint64_t)most : 1000000000000000ULL;
	if ((double)p->hosts_max == most && p->hosts_max)
		p->hosts_max--; /* it must be more, not as much */
}

/* --- the list of runs --- */

static int list_run(void *context, const struct store_run *r)
{
	struct fact_workers *w = context;
	int rc;

	if ((!r->samplers && !r->cpus) ||
	    (w->o.members && !fact_members_owns(w->o.members, &r->device)))
		return 0;
	rc = array_grow(&w->list, w->n_list, &w->room_list, sizeof(*w->list), RUNS_MAX);
	if (rc < 0)
		return rc == -E2BIG ? 1 : rc;
	w->list[w->n_list++] = *r;
	return 0;
}

static int by_number(const void *pa, const void *pb)
{
	const struct store_run *a = pa, *b = pb;

	return (a->number > b->number) - (a->number < b->number);
}

/* What the store has forgotten is forgotten here; what another works out from now on is not. */
static void leave_run(struct fact_workers *w, struct fact_run *run)
{
	struct error e = ERROR_INIT;
	struct store_run r;

	if (store_get_run(w->o.store, run->number, &r, &e) == -ENOENT)
		facts_drop_carry(w->o.facts, &run->id, &e);
	fact_run_done(run);
}

/* What is no longer here goes; what is new comes. Both lists rise by number. */
static int merge_runs(struct fact_workers *w, struct error *e)
{
	struct fact_run *runs = calloc(w->n_list + 1, sizeof(*runs));
	size_t i, at = 0;

	if (!runs)
		return error_set(e, ENOMEM, "cannot list the runs: out of memory");
	for (i = 0; i < w->n_list; i++) {
		for (; at < w->n_runs && w->runs[at].number < w->list[i].number; at++)
			leave_run(w, &w->runs[at]);
		if (at < w->n_runs && w->runs[at].number == w->list[i].number)
			runs[i] = w->runs[at++];
		else
			runs[i] = (struct fact_run){ .number = w->list[i].number,
						     .id = w->list[i].id,
						     .device = w->list[i].device };
	}
	for (; at < w->n_runs; at++)
		leave_run(w, &w->runs[at]);
	free(w->runs);
	w->runs = runs;
	w->n_runs = w->n_list;
	return 0;
}

static int list_runs(struct fact_workers *w, struct error *e)
{
	int r;

	w->n_list = 0;
	r = store_runs(w->o.store, NULL, list_run, w, e);
	if (r < 0)
		return r == -ENOMEM ? error_set(e, ENOMEM, "cannot list the runs: out of memory")
				    : r;
	if (w->n_list)
		qsort(w->list, w->n_list, sizeof(*w->list), by_number);
	return merge_runs(w, e);
}

/* --- turns --- */

/* Of a run once, however often it is tried again: a few of them would fill the log by turns. */
static void complain(struct fact_workers *w, struct fact_run *of, const struct error *e)
{
	char line[sizeof(e->text) + 32];
	bool is_new;

	pthread_mutex_lock(&w->lock);
	w->counters.errors++;
	is_new = strncmp(w->counters.last_error, e->text, sizeof(w->counters.last_error) - 1) != 0;
	snprintf(w->counters.last_error, sizeof(w->counters.last_error), "%s", e->text);
	pthread_mutex_unlock(&w->lock);
	if (of) {
		is_new = !of->is_told;
		of->is_told = true;
	}
	if (!is_new || !w->o.log)
		return;
	if (of)
		snprintf(line, sizeof(line), "facts of run %u: %s", of->number, e->text);
	else
		snprintf(line, sizeof(line), "facts: %s", e->text);
	w->o.log(w->o.log_context, line);
}

/* A run that is not understood stays so until there is more of it. */
static void note_failure(struct fact_workers *w, struct fact_run *s, const struct store_run *r,
			 int result, const struct error *e)
{
	complain(w, s, e);
	if (result == -EBADMSG || result == -EBADE || result == -EINVAL || result == -EPROTO)
		s->failed_blocks = r->blocks;
}

static void account(struct fact_workers *w, const struct fact_turn *t)
{
	struct fact_workers_counters *c = &w->counters;

	pthread_mutex_lock(&w->lock);
	c->minutes += t->put;
	c->again += t->again;
	c->late += t->late;
	c->events += t->events;
	c->work_ns += t->work_ns;
	pthread_mutex_unlock(&w->lock);
	w->pace_minutes += t->minutes;
	w->pace_ns += t->work_ns;
	if (w->pace_minutes > PACE_MINUTES) {
		w->pace_minutes /= 2;
		w->pace_ns /= 2;
	}
}

static void pass_on(struct fact_workers *w, const struct fact_turn *t)
{
	size_t i;

	for (i = 0; w->o.put && t->put && i < t->n_jobs; i++)
		if (t->jobs[i].result >= 0)
			w->o.put(w->o.put_context, &t->jobs[i].set);
}

/* Whether it may be a set's fault, and not the engine's. */
static bool is_of_one(int r)
{
	return r == -EEXIST || r == -E2BIG || r == -EINVAL || r == -ENOMEM;
}

/* All together; or one by one, where the failure of one would be that of all. */
static void put_turns(struct fact_workers *w, struct fact_turn *turns, size_t n)
{
	struct facts_batch batches[TURNS];
	struct error e = ERROR_INIT;
	size_t i;
	int r, together;

	for (i = 0; i < n; i++)
		batches[i] = turns[i].batch;
	together = facts_put_batches(w->o.facts, batches, n, &e);
	for (i = 0; i < n; i++) {
		r = together;
		if (r >= 0)
			turns[i].batch = batches[i];
		else if (n > 1 && is_of_one(r))
			r = facts_put_batch(w->o.facts, &turns[i].batch, &e);
		if (r < 0 && !atomic_load(&w->stop))
			complain(w, NULL, &e);
		fact_turn_end(&turns[i], r);
	}
}

static void settle_turns(struct fact_workers *w, struct fact_turn *turns, size_t n)
{
	struct error e = ERROR_INIT;
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		r = fact_turn_settle(&turns[i], &e);
		if (r < 0 && !atomic_load(&w->stop))
			note_failure(w, turns[i].state, &turns[i].run, r, &e);
	}
	if (n)
		put_turns(w, turns, n);
	for (i = 0; i < n; i++) {
		account(w, &turns[i]);
		pass_on(w, &turns[i]);
	}
}

/* The jobs of some turns, done together. */
static void take_turns(struct fact_workers *w, struct fact_turn *turns, size_t n)
{
	struct fact_job *jobs;
	size_t n_jobs = 0, i, at = 0;

	for (i = 0; i < n; i++)
		n_jobs += turns[i].n_jobs;
	jobs = n_jobs ? malloc(n_jobs * sizeof(*jobs)) : NULL;
	if (n_jobs && !jobs)
		return; /* they stay as they are, and wait */
	for (i = 0; i < n; i++) {
		memcpy(jobs + at, turns[i].jobs, turns[i].n_jobs * sizeof(*jobs));
		at += turns[i].n_jobs;
	}
	fact_pool_run(w->pool, jobs, n_jobs);
	for (i = 0, at = 0; i < n; i++) {
		memcpy(turns[i].jobs, jobs + at, turns[i].n_jobs * sizeof(*jobs));
		at += turns[i].n_jobs;
	}
	free(jobs);
	settle_turns(w, turns, n);
}

static bool needs_turn(const struct fact_run *s, const struct store_run *r)
{
	const struct fact_frontier *f = &s->frontier;

	if (s->failed_blocks && s->failed_blocks == r->blocks)
		return false;
	return !s->is_loaded || f->n_minutes || f->bytes != r->bytes || f->is_ended != r->ended;
}

struct pass {
	struct fact_turn turns[TURNS];
	size_t n;
	bool all, has_more;
	uint64_t waiting, hosts, now_ns, oldest_s;
};

static void end_turns(struct fact_workers *w, struct pass *p)
{
	size_t i;

	take_turns(w, p->turns, p->n);
	for (i = 0; i < p->n; i++) {
		p->has_more = p->has_more || p->turns[i].has_more;
		if (p->turns[i].state->frontier.n_minutes && p->turns[i].has_more &&
		    (!p->oldest_s || p->turns[i].oldest_s < p->oldest_s))
			p->oldest_s = p->turns[i].oldest_s;
		fact_turn_done(&p->turns[i]);
	}
	p->n = 0;
	fact_runs_shed(w->runs, w->n_runs, FACT_TOLD_BYTES_MAX);
}

static void begin_turn(struct fact_workers *w, struct pass *p, size_t i)
{
	struct fact_turn *t = &p->turns[p->n];
	struct error e = ERROR_INIT;
	int r;

	*t = (struct fact_turn){ .store = w->o.store,
				 .facts = w->o.facts,
				 .run = w->list[i],
				 .state = &w->runs[i],
				 .now_ns = p->now_ns,
				 .all = p->all };
	r = fact_turn_begin(t, &e);
	if (r < 0 || !t->n_jobs) {
		fact_turn_done(t);
		if (r < 0 && r != -ENOENT)
			note_failure(w, &w->runs[i], &w->list[i], r, &e);
		return;
	}
	if (++p->n == TURNS)
		end_turns(w, p);
}

static void take_pass(struct fact_workers *w, struct pass *p)
{
	size_t i;

	for (i = 0; i < w->n_list && !atomic_load(&w->stop); i++) {
		p->hosts += !w->list[i].ended &&
			    p->now_ns - w->list[i].last_ns < FACT_MINUTE_S * CLOCK_NS_PER_S;
		if (needs_turn(&w->runs[i], &w->list[i]))
			begin_turn(w, p, i);
	}
	end_turns(w, p);
	for (i = 0; i < w->n_runs; i++)
		p->waiting += w->runs[i].frontier.n_minutes;
}

/* --- the thread --- */

static void keep(struct fact_workers *w)
{
	uint64_t now_ms = clock_mono_ms(), now_s = clock_real_ns() / CLOCK_NS_PER_S;
	struct facts_ages ages = w->o.keep_s;
	struct error e = ERROR_INIT;

	if ((w->kept_ms && now_ms - w->kept_ms < KEEP_MS) ||
	    (w->o.members && !fact_members_leads(w->o.members)))
		return;
	w->kept_ms = now_ms;
	ages.minutes_to_s =
		ages.minutes_to_s && now_s > ages.minutes_to_s ? now_s - ages.minutes_to_s : 0;
	ages.hours_to_s = ages.hours_to_s && now_s > ages.hours_to_s ? now_s - ages.hours_to_s : 0;
	if (facts_roll(w->o.facts, now_s - ROLL_AFTER_S, &e) < 0 ||
	    facts_retain(w->o.facts, &ages, &e) < 0)
		complain(w, NULL, &e);
}

/* All that was recorded before is worked out. A device whose clock is ahead says nothing of the others. */
static uint64_t get_reached(const struct pass *p)
{
	uint64_t now_s = p->now_ns / CLOCK_NS_PER_S;

	return p->oldest_s && p->oldest_s < now_s ? p->oldest_s : now_s;
}

static void publish(struct fact_workers *w, const struct pass *p)
{
	struct fact_workers_counters *c = &w->counters;

	pthread_mutex_lock(&w->lock);
	c->passes++;
	c->waiting = p->waiting;
	c->behind_s = p->now_ns / CLOCK_NS_PER_S - get_reached(p);
	c->pace.hosts = p->hosts;
	c->pace.t1_s = FACT_MINUTE_S;
	c->pace.t2_s = w->pace_minutes ? (double)w->pace_ns / 1e9 / (double)w->pace_minutes /
						 fact_pool_threads(w->pool)
				       : 0;
	fact_pace_judge(&c->pace);
	if (w->o.members)
		fact_members_tell(w->o.members,
				  &(const struct facts_member){ .threads = c->threads,
								.minutes = c->minutes,
								.waiting = c->waiting,
								.behind_s = c->behind_s });
	pthread_mutex_unlock(&w->lock);
}

static bool run_pass(struct fact_workers *w, bool all)
{
	struct pass *p = calloc(1, sizeof(*p));
	struct error e = ERROR_INIT;
	bool has_more = false;

	if (!p)
		return false;
	p->all = all;
	p->now_ns = clock_real_ns();
	if (list_runs(w, &e) < 0) {
		complain(w, NULL, &e);
	} else {
		take_pass(w, p);
		publish(w, p);
		if (w->o.passed)
			w->o.passed(w->o.put_context, get_reached(p));
		has_more = p->has_more;
	}
	free(p);
	return has_more;
}

static void rest(struct fact_workers *w)
{
	uint64_t until_ms = clock_mono_ms() + PASS_MS;

	pthread_mutex_lock(&w->lock);
	while (!atomic_load(&w->stop) && w->asked == w->answered &&
	       condition_wait(&w->changed, &w->lock, until_ms))
		;
	pthread_mutex_unlock(&w->lock);
}

static void *follow(void *context)
{
	struct fact_workers *w = context;
	uint64_t asked;
	bool all, has_more = false;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
	while (!atomic_load(&w->stop)) {
		pthread_mutex_lock(&w->lock);
		asked = w->asked;
		all = w->asked_all && asked != w->answered;
		pthread_mutex_unlock(&w->lock);
		has_more = run_pass(w, all);
		keep(w);
		if (has_more)
			continue;
		pthread_mutex_lock(&w->lock);
		w->answered = asked;
		if (w->asked == asked)
			w->asked_all = false;
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
		rest(w);
	}
	return NULL;
}

/* --- for others --- */

int fact_workers_start(struct fact_workers **ret, const struct fact_workers_options *o,
		       struct error *e)
{
	CLEANUP(fact_workers) struct fact_workers *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return error_set(e, ENOMEM, "cannot start workers: out of memory");
	pthread_mutex_init(&w->lock, NULL);
	condition_init(&w->changed);
	w->o = *o;
	r = fact_pool_new(&w->pool,
			  &(const struct fact_pool_options){ .threads = o->threads,
							     .symbols = o->symbols,
							     .niceness = NICENESS,
							     .stop = &w->stop },
			  e);
	if (r < 0)
		return r;
	w->counters.threads = fact_pool_threads(w->pool);
	r = pthread_create(&w->thread, NULL, follow, w);
	if (r)
		return error_set(e, r, "cannot start workers: %s", strerror(r));
	w->is_running = true;
	*ret = take_ptr(w);
	return 0;
}

void fact_workers_stop(struct fact_workers *w)
{
	size_t i;

	if (!w)
		return;
	atomic_store(&w->stop, true);
	pthread_mutex_lock(&w->lock);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->is_running)
		pthread_join(w->thread, NULL);
	fact_pool_free(w->pool);
	for (i = 0; i < w->n_runs; i++)
		fact_run_done(&w->runs[i]);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->runs);
	free(w->list);
	free(w);
}

int fact_workers_wait(struct fact_workers *w, bool all, unsigned int timeout_ms)
{
	uint64_t wanted, until_ms = clock_mono_ms() + timeout_ms;
	int r;

	pthread_mutex_lock(&w->lock);
	wanted = ++w->asked;
	w->asked_all = w->asked_all || all;
	pthread_cond_broadcast(&w->changed);
	while (w->answered < wanted && condition_wait(&w->changed, &w->lock, until_ms))
		;
	r = w->answered < wanted ? -ETIMEDOUT : 0;
	pthread_mutex_unlock(&w->lock);
	return r;
}

void fact_workers_count(struct fact_workers *w, struct fact_workers_counters *ret)
{
	pthread_mutex_lock(&w->lock);
	*ret = w->counters;
	pthread_mutex_unlock(&w->lock);
}
