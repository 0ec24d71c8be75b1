/* SPDX-License-Identifier: MIT */
/* fact_members: see fact_members.h. */
#include "facts/fact_members.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/siphash.h"

#define BEAT_MS 2000U
#define HEARD_MS (FACTS_MEMBER_GONE_S * 1000U / 2)

struct list {
	struct facts_member *members;
	size_t n;
};

struct fact_members {
	struct fact_members_options o;
	struct facts_member me; /* of the thread */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	bool ends;
	struct list list;
	struct facts_member done;
	uint64_t heard_ms; /* when it was last told that this one is there */
};

/* --- the thread --- */

static int take(void *context, const struct facts_member *m)
{
	struct list *l = context;

	if (l->n < FACTS_MEMBERS_MAX)
		l->members[l->n++] = *m;
	return 0;
}

static int beat(struct fact_members *m, struct error *e)
{
	struct list list = { .members = calloc(FACTS_MEMBERS_MAX, sizeof(*list.members)) };
	uint64_t asked_ms = clock_mono_ms();
	int r;

	if (!list.members)
		return error_set(e, ENOMEM, "cannot say who works: out of memory");
	pthread_mutex_lock(&m->lock);
	m->me.threads = m->done.threads;
	m->me.minutes = m->done.minutes;
	m->me.waiting = m->done.waiting;
	m->me.behind_s = m->done.behind_s;
	pthread_mutex_unlock(&m->lock);
	r = facts_beat(m->o.facts, &m->me, take, &list, e);
	if (r < 0 || !list.n) {
		free(list.members);
		return r;
	}
	m->me.since_s = list.members[0].since_s;
	pthread_mutex_lock(&m->lock);
	free(m->list.members);
	m->list = list;
	m->heard_ms = asked_ms;
	pthread_mutex_unlock(&m->lock);
	return 0;
}

static bool rest(struct fact_members *m)
{
	uint64_t until_ms = clock_mono_ms() + BEAT_MS;
	bool ends;

	pthread_mutex_lock(&m->lock);
	while (!m->ends && condition_wait(&m->changed, &m->lock, until_ms))
		;
	ends = m->ends;
	pthread_mutex_unlock(&m->lock);
	return !ends;
}

static void *follow(void *context)
{
	struct fact_members *m = context;
	struct error e = ERROR_INIT;

	/* If it cannot, whoever works cannot either, and says so. */
	while (rest(m))
		beat(m, &e);
	return NULL;
}

static void name_me(struct facts_member *me)
{
	char host[FACTS_MEMBER_NAME_MAX - 16] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(me->name, sizeof(me->name), "%s/%d", host, (int)getpid());
	if (getrandom(&me->token, sizeof(me->token), 0) != (ssize_t)sizeof(me->token) || !me->token)
		me->token = clock_mono_ns() | 1;
}

int fact_members_start(struct fact_members **ret, const struct fact_members_options *o,
		       struct error *e)
{
	CLEANUP(fact_members) struct fact_members *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return error_set(e, ENOMEM, "cannot share the work: out of memory");
	pthread_mutex_init(&m->lock, NULL);
	condition_init(&m->changed);
	m->o = *o;
	m->me.works = o->works;
	m->me.watches = o->watches;
	name_me(&m->me);
	r = beat(m, e);
	if (r < 0)
		return r;
	r = pthread_create(&m->thread, NULL, follow, m);
	if (r)
		return error_set(e, r, "cannot share the work: %s", strerror(r));
	m->is_running = true;
	*ret = take_ptr(m);
	return 0;
}

static int ignore(void *context, const struct facts_member *m)
{
	(void)context;
	(void)m;
	return 0;
}

void fact_members_stop(struct fact_members *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	m->ends = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	if (m->is_running)
		pthread_join(m->thread, NULL);
	m->me.works = m->me.watches = false;
	if (m->heard_ms) /* whoever does not hear it, will miss it soon */
		facts_beat(m->o.facts, &m->me, ignore, NULL, NULL);
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m->list.members);
	free(m);
}

void fact_members_tell(struct fact_members *m, const struct facts_member *done)
{
	pthread_mutex_lock(&m->lock);
	m->done = *done;
	pthread_mutex_unlock(&m->lock);
}

/* --- what is whose --- */

static uint64_t weigh(const struct message_id *device, uint64_t token)
{
	static const uint8_t key[16];
	uint8_t bytes[24];
	size_t i;

	memcpy(bytes, device->bytes, 16);
	for (i = 0; i < 8; i++)
		bytes[16 + i] = (uint8_t)(token >> 8 * i);
	return siphash64(key, bytes, sizeof(bytes));
}

bool fact_members_owns(struct fact_members *m, const struct message_id *device)
{
	uint64_t mine = weigh(device, m->me.token), other;
	bool owns = true;
	size_t i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; owns && i < m->list.n; i++) {
		if (!m->list.members[i].works || m->list.members[i].token == m->me.token)
			continue;
		other = weigh(device, m->list.members[i].token);
		owns = other < mine || (other == mine && m->list.members[i].token < m->me.token);
	}
	pthread_mutex_unlock(&m->lock);
	return owns;
}

static bool is_before(const struct facts_member *a, const struct facts_member *b)
{
	return a->since_s < b->since_s || (a->since_s == b->since_s && a->token < b->token);
}

/* Whether it is the first of those that can. */
static bool is_first(const struct list *l, bool watches)
{
	const struct facts_member *me = l->members, *m;
	size_t i;

	for (i = 1; i < l->n; i++) {
		m = &l->members[i];
		if ((watches ? m->watches : m->works) && is_before(m, me))
			return false;
	}
	return l->n && (watches ? me->watches : me->works);
}

bool fact_members_leads(struct fact_members *m)
{
	bool leads;

	pthread_mutex_lock(&m->lock);
	leads = is_first(&m->list, false);
	pthread_mutex_unlock(&m->lock);
	return leads;
}

bool fact_members_watches(struct fact_members *m)
{
	bool watches;

	pthread_mutex_lock(&m->lock);
	watches = is_first(&m->list, true) && clock_mono_ms() - m->heard_ms < HEARD_MS;
	pthread_mutex_unlock(&m->lock);
	return watches;
}

int fact_members_dup(struct fact_members *m, struct facts_member **ret, size_t *ret_n)
{
	struct facts_member *list;

	pthread_mutex_lock(&m->lock);
	list = calloc(m->list.n + 1, sizeof(*list));
	if (list && m->list.n)
		memcpy(list, m->list.members, m->list.n * sizeof(*list));
	*ret_n = m->list.n;
	pthread_mutex_unlock(&m->lock);
	*ret = list;
	return list ? 0 : -ENOMEM;
}
