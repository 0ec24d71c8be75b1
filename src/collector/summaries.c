/* SPDX-License-Identifier: MIT */
/*
 * summaries: see summaries.h.
 *
 * The thread looks at the runs once a second at most. A run is worth opening when enough bytes have
 * come since it was last: before that, hardly any segment can have ended. So a thousand quiet
 * devices cost a look at a list, and what the thread remembers is a few words for each run.
 */
#include "collector/summaries.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/condition.h"
#include "collector/summarise.h"
#include "collector/summary_db.h"

#define PASS_MS 1000U
#define WAIT_MS 200U		 /* how long it takes to notice that it shall end */
#define WORTH_BYTES (32U * 1024) /* half a segment */
#define NICENESS 15
#define SUMMARIES_RUNS_MAX (1U << 20)

/* What was there of a run when it was last opened. */
struct seen {
	uint32_t run;
	bool ended;
	uint64_t bytes_then, bytes_now;
	bool ended_now;
};

struct summaries {
	char *path;
	struct store *store;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	atomic_bool distrusted;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	uint64_t asked, answered; /* passes that somebody waits for: each takes all there is */
	struct summaries_counters counters;

	/* the thread's own */
	struct summary_db *db;
	struct summariser *summariser;
	struct seen *seen; /* by rising number of the run */
	size_t n_seen, room_seen;
};

static void complain(struct summaries *s, const struct error *e)
{
	pthread_mutex_lock(&s->lock);
	s->counters.errors++;
	snprintf(s->counters.last_error, sizeof(s->counters.last_error), "%s", e->text);
	pthread_mutex_unlock(&s->lock);
}

/* --- the list of runs --- */

static struct seen *find_seen(struct summaries *s, uint32_t run)
{
	size_t lo = 0, hi = s->n_seen, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->seen[mid].run < run)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->n_seen && s->seen[lo].run == run ? &s->seen[lo] : NULL;
}

static int by_run(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return (a->run > b->run) - (a->run < b->run);
}

/* The list of this pass, made beside the one that is searched: the store gives runs in an order of
 * its own. */
struct listing {
	struct summaries *s;
	struct seen *rows;
	size_t n, room;
};

static int list_run(void *context, const struct store_run *r)
{
	struct listing *l = context;
	const struct seen *before = find_seen(l->s, r->number);
	struct seen *rows;
	size_t room = l->room ? l->room * 2 : 64;

	if (l->n == SUMMARIES_RUNS_MAX)
		return 1;
	if (l->n == l->room) {
		rows = realloc(l->rows, room * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		l->rows = rows;
		l->room = room;
	}
	l->rows[l->n] = before ? *before : (struct seen){ .run = r->number };
	l->rows[l->n].bytes_now = r->bytes;
	l->rows[l->n++].ended_now = r->ended;
	return 0;
}

static int list_runs(struct summaries *s, struct error *e)
{
	struct listing l = { .s = s };
	int r = store_runs(s->store, NULL, list_run, &l, e);

	if (r < 0) {
		free(l.rows);
		return r == -ENOMEM ? error_set(e, ENOMEM, "cannot list the runs: out of memory")
				    : r;
	}
	if (l.n)
		qsort(l.rows, l.n, sizeof(*l.rows), by_run);
	free(s->seen);
	s->seen = l.rows;
	s->n_seen = l.n;
	return 0;
}

/* --- a pass --- */

static int open_db(struct summaries *s, struct error *e)
{
	int r;

	if (atomic_exchange(&s->distrusted, false)) {
		summariser_free(s->summariser);
		summary_db_free(s->db);
		s->summariser = NULL;
		s->db = NULL;
		summary_db_remove(s->path);
		s->n_seen = 0;
	}
	if (s->db)
		return 0;
	r = summary_db_open(&s->db, s->path, e);
	if (r < 0)
		return r;
	r = summariser_new(&s->summariser, s->store, s->db, &s->stop);
	if (r == 0)
		return 0;
	summary_db_free(take_ptr(s->db)); /* the next pass tries again */
	return error_set(e, -r, "cannot summarise: out of memory");
}

/* What the store has forgotten. */
static int drop_runs(struct summaries *s, struct error *e)
{
	int64_t after = -1;
	uint32_t run;
	int r;

	while ((r = summary_db_next_run(s->db, after, &run, e)) == 0) {
		after = run;
		if (find_seen(s, run))
			continue;
		r = summary_db_begin(s->db, e);
		if (r == 0)
			r = summary_db_drop_run(s->db, run, e);
		if (r == 0)
			r = summary_db_commit(s->db, e);
		if (r < 0) {
			summary_db_undo(s->db);
			return r;
		}
	}
	return r == -ENOENT ? 0 : r;
}

static bool is_worth(const struct seen *k, bool all)
{
	if (k->ended_now != k->ended)
		return true;
	return k->bytes_now - k->bytes_then >= (all ? 1 : WORTH_BYTES);
}

/* One run that fails does not keep the others waiting. */
static void pass_runs(struct summaries *s, bool all)
{
	struct error e = ERROR_INIT;
	size_t i;
	int r;

	for (i = 0; i < s->n_seen && !atomic_load(&s->stop); i++) {
		struct seen *k = &s->seen[i];

		if (!is_worth(k, all))
			continue;
		r = summarise_run(s->summariser, k->run, &e);
		if (r == 0) {
			k->bytes_then = k->bytes_now;
			k->ended = k->ended_now;
		} else if (r == -EBADMSG) {
			atomic_store(&s->distrusted, true);
		} else if (r != -ENOENT && r != -EINTR) {
			complain(s, &e);
		}
		if (r == -EBADMSG)
			return;
	}
}

static void pass(struct summaries *s, bool all)
{
	struct error e = ERROR_INIT;
	int r = open_db(s, &e);

	if (r == 0)
		r = list_runs(s, &e);
	if (r == 0)
		r = drop_runs(s, &e);
	if (r < 0)
		complain(s, &e);
	else
		pass_runs(s, all);
}

/* Between two passes; returns at once if somebody waits. */
static void rest(struct summaries *s)
{
	uint64_t until_ms = clock_mono_ms() + PASS_MS;

	pthread_mutex_lock(&s->lock);
	while (!atomic_load(&s->stop) && s->asked == s->answered &&
	       condition_wait(&s->changed, &s->lock, until_ms))
		;
	pthread_mutex_unlock(&s->lock);
}

static void *follow(void *context)
{
	struct summaries *s = context;
	uint64_t version = 0, asked;

	pthread_setname_np(pthread_self(), "kiseki-summary");
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
	while (!atomic_load(&s->stop)) {
		pthread_mutex_lock(&s->lock);
		asked = s->asked;
		pthread_mutex_unlock(&s->lock);
		pass(s, asked != s->answered);
		pthread_mutex_lock(&s->lock);
		s->answered = asked;
		s->counters.passes++;
		s->counters.events = s->summariser ? summariser_events(s->summariser) : 0;
		pthread_cond_broadcast(&s->changed);
		pthread_mutex_unlock(&s->lock);
		rest(s);
		store_wait(s->store, &version, WAIT_MS);
	}
	return NULL;
}

/* --- for others --- */

int summaries_open(struct summaries **ret, const char *dir, struct store *store, struct error *e)
{
	CLEANUP(summaries) struct summaries *s = calloc(1, sizeof(*s));
	struct error full = ERROR_INIT;
	int r;

	if (!s || asprintf(&s->path, "%s/summary.sqlite", dir) < 0) {
		free(take_ptr(s)); /* its path is not to be looked at */
		return error_set(e, ENOMEM, "cannot summarise: out of memory");
	}
	s->store = store;
	pthread_mutex_init(&s->lock, NULL);
	condition_init(&s->changed);
	if (open_db(s, &full) < 0) /* a full disk, perhaps: each pass tries again */
		complain(s, &full);
	r = pthread_create(&s->thread, NULL, follow, s);
	if (r)
		return error_set(e, r, "cannot start a thread for summaries: %s", strerror(r));
	s->running = true;
	*ret = take_ptr(s);
	return 0;
}

void summaries_free(struct summaries *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (s->running)
		pthread_join(s->thread, NULL);
	summariser_free(s->summariser);
	summary_db_free(s->db);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->seen);
	free(s->path);
	free(s);
}

int summaries_wait(struct summaries *s, unsigned int timeout_ms)
{
	uint64_t wanted, until_ms = clock_mono_ms() + timeout_ms;
	int r;

	pthread_mutex_lock(&s->lock);
	wanted = ++s->asked;
	pthread_cond_broadcast(&s->changed);
	while (s->answered < wanted && condition_wait(&s->changed, &s->lock, until_ms))
		;
	r = s->answered < wanted ? -ETIMEDOUT : 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

void summaries_count(struct summaries *s, struct summaries_counters *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = s->counters;
	pthread_mutex_unlock(&s->lock);
}

struct store *summaries_store(struct summaries *s)
{
	return s->store;
}

int summaries_read(struct summaries *s, struct summary_db **ret, struct error *e)
{
	return summary_db_open_reader(ret, s->path, e);
}

void summaries_distrust(struct summaries *s)
{
	atomic_store(&s->distrusted, true);
}
