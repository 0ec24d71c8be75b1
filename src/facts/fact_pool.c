/* SPDX-License-Identifier: MIT */
/* fact_pool: see fact_pool.h. */
#include "facts/fact_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "trace/sample_ksk.h"

#define LOOK_EVERY 4096U /* items, for the end */
#define AGAIN_NS                                                                                   \
	(10 * CLOCK_NS_PER_S) /* after which objects that were missing are looked for again */

struct hand {
	struct fact_pool *pool;
	pthread_t thread;
	struct symbols_options guests;
	struct symbols *symbols; /* NULL: none */
	uint64_t opened_ns;
	uint64_t items;
	/* under the pool's lock: */
	struct sample_source *offered; /* others may help with; NULL: nothing */
	unsigned int helpers;	       /* that are at it */
	uint64_t help_ns;	       /* what they did, of this job */
};

struct fact_pool {
	struct fact_pool_options o;
	struct hand *hands; /* the first is that of who gives the jobs */
	unsigned int n, started;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	struct fact_job *jobs;
	size_t n_jobs, next, done;
	bool ends;
};

static int look(void *data)
{
	struct hand *h = data;

	return ++h->items % LOOK_EVERY || !atomic_load(h->pool->o.stop) ? 0 : -EINTR;
}

/* --- helping --- */

static void offer(void *data, struct sample_source *s)
{
	struct hand *h = data;

	pthread_mutex_lock(&h->pool->lock);
	h->offered = s;
	pthread_cond_broadcast(&h->pool->changed);
	pthread_mutex_unlock(&h->pool->lock);
}

static void withdraw(void *data, struct sample_source *s)
{
	struct hand *h = data;

	pthread_mutex_lock(&h->pool->lock);
	sample_ksk_dismiss(s);
	h->offered = NULL;
	while (h->helpers)
		pthread_cond_wait(&h->pool->changed, &h->pool->lock);
	pthread_mutex_unlock(&h->pool->lock);
}

/* Whoever has fewest helpers; NULL: nobody wants any. The lock is held. */
static struct hand *find_offer(struct fact_pool *p)
{
	struct hand *best = NULL, *h;

	for (h = p->hands; h < p->hands + p->n; h++)
		if (h->offered && (!best || h->helpers < best->helpers))
			best = h;
	return best;
}

/* Until nothing is left to decode; the lock is held before and after. False: nobody wants help. */
static bool help(struct fact_pool *p)
{
	struct hand *h = find_offer(p);
	struct sample_source *s;
	uint64_t ns;

	if (!h)
		return false;
	s = h->offered;
	h->helpers++;
	pthread_mutex_unlock(&p->lock);
	ns = sample_ksk_help(s);
	pthread_mutex_lock(&p->lock);
	h->help_ns += ns;
	h->helpers--;
	if (h->offered == s)
		h->offered = NULL; /* all of it is decoded */
	pthread_cond_broadcast(&p->changed);
	return true;
}

/* --- jobs --- */

/* Objects come while workers run: from devices, or into the folder. What was missing when it was first asked for stays so in what is
 * open; so that is opened anew from time to time, for as long as something is missing. Tables are kept, which makes it cheap. */
static void refresh(struct hand *h, uint64_t now_ns)
{
	struct error e = ERROR_INIT;
	struct symbols *anew = NULL;

	if (!h->symbols || !symbols_get_problem(h->symbols, 0) || now_ns - h->opened_ns < AGAIN_NS)
		return;
	h->opened_ns = now_ns;
	if (symbols_new(&h->pool->o.symbols, &anew, &e) < 0)
		return; /* what is open stays */
	symbols_free(h->symbols);
	h->symbols = anew;
}

static void do_job(struct hand *h, struct fact_job *j, size_t n)
{
	struct fact_part parts[FACT_KINDS];
	uint64_t since = clock_mono_ns();
	size_t i;

	h->help_ns = 0;
	refresh(h, since);
	j->build.host = h->symbols;
	j->build.symbols = h->guests;
	j->build.step = look;
	j->build.step_data = h;
	j->build.offer = h->pool->n > 1 ? offer : NULL;
	j->build.withdraw = h->pool->n > 1 ? withdraw : NULL;
	j->build.offer_data = h;
	for (i = 0; i < n; i++)
		parts[i] = (struct fact_part){ &j[i].set, -EINTR, &j[i].error };
	if (!atomic_load(h->pool->o.stop))
		fact_build_run(&j->build, parts, n);
	for (i = 0; i < n; i++)
		j[i].result = parts[i].result;
	j->ns = clock_mono_ns() - since + h->help_ns;
}

/* How many are made together from this one on. */
static size_t count_beside(const struct fact_pool *p, size_t from)
{
	size_t n = 1;

	while (n < FACT_KINDS && from + n < p->n_jobs && p->jobs[from + n].is_beside)
		n++;
	return n;
}

/* Takes jobs until there are none; the lock is held before and after. */
static void do_jobs(struct hand *h)
{
	struct fact_pool *p = h->pool;
	struct fact_job *j;
	size_t n;

	while (p->next < p->n_jobs) {
		j = &p->jobs[p->next];
		n = count_beside(p, p->next);
		p->next += n;
		pthread_mutex_unlock(&p->lock);
		do_job(h, j, n);
		pthread_mutex_lock(&p->lock);
		p->done += n;
		if (p->done == p->n_jobs)
			pthread_cond_broadcast(&p->changed);
	}
}

static void *work(void *data)
{
	struct hand *h = data;
	struct fact_pool *p = h->pool;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), p->o.niceness);
	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		do_jobs(h);
		if (!help(p))
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void fact_pool_run(struct fact_pool *p, struct fact_job *jobs, size_t n)
{
	pthread_mutex_lock(&p->lock);
	p->jobs = jobs;
	p->n_jobs = n;
	p->next = p->done = 0;
	pthread_cond_broadcast(&p->changed);
	do_jobs(&p->hands[0]);
	while (p->done < p->n_jobs)
		if (!help(p))
			pthread_cond_wait(&p->changed, &p->lock);
	p->n_jobs = p->next = 0;
	pthread_mutex_unlock(&p->lock);
}

unsigned int fact_pool_threads(const struct fact_pool *p)
{
	return p->n;
}

/* Objects of guests are believed by their build-ids alone: a path in a guest is no path of the device. */
static int open_hand(struct fact_pool *p, struct hand *h, struct error *e)
{
	const struct symbols_options *o = &p->o.symbols;

	h->pool = p;
	h->opened_ns = clock_mono_ns();
	h->guests = *o;
	h->guests.sysroot = NULL;
	return o->folders && o->folders[0] ? symbols_new(o, &h->symbols, e) : 0;
}

static int start(struct fact_pool *p, struct error *e)
{
	unsigned int i;
	int r = 0;

	for (i = 0; r >= 0 && i < p->n; i++)
		r = open_hand(p, &p->hands[i], e);
	for (i = 1; r >= 0 && i < p->n; i++) {
		r = pthread_create(&p->hands[i].thread, NULL, work, &p->hands[i]);
		if (r)
			return error_set(e, r, "cannot start a worker: %s", strerror(r));
		p->started = i;
	}
	return r;
}

int fact_pool_new(struct fact_pool **ret, const struct fact_pool_options *o, struct error *e)
{
	CLEANUP(fact_pool) struct fact_pool *p = calloc(1, sizeof(*p));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r;

	if (!p)
		return error_set(e, ENOMEM, "cannot start workers: out of memory");
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->o = *o;
	p->n = o->threads ? o->threads : cpus > 0 ? (unsigned int)cpus : 1;
	p->n = p->n < FACT_POOL_THREADS_MAX ? p->n : FACT_POOL_THREADS_MAX;
	p->hands = calloc(p->n, sizeof(*p->hands));
	if (!p->hands)
		return error_set(e, ENOMEM, "cannot start workers: out of memory");
	r = start(p, e);
	if (r < 0)
		return r;
	*ret = take_ptr(p);
	return 0;
}

void fact_pool_free(struct fact_pool *p)
{
	unsigned int i;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (i = 1; i <= p->started; i++)
		pthread_join(p->hands[i].thread, NULL);
	for (i = 0; p->hands && i < p->n; i++)
		symbols_free(p->hands[i].symbols);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p->hands);
	free(p);
}
