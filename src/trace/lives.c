/* SPDX-License-Identifier: MIT */
/*
 * lives: see lives.h. The records lie in one array; a hash table has the current life of each pid, and
 * each record the first life of its pid. Folded records form a list, and are given out again first.
 */
#include "trace/lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct record {
	struct life known;
	bool used;
	bool forked;	    /* its fork was seen, */
	bool started;	    /* its wakeup_new, */
	bool acted;	    /* something else that it did, first at acted_ns, */
	bool woken;	    /* or a wakeup from a sleep */
	uint32_t first;	    /* life of this pid, or LIVES_NONE: it was folded */
	uint32_t next_free; /* unused: the next one of the list */
	uint64_t acted_ns;
};

struct lives {
	struct record *records;
	uint32_t n, room, most;
	uint32_t free;	  /* head of the list of unused records, or LIVES_NONE */
	uint32_t *slots;  /* open addressing: number + 1, 0 is free */
	uint32_t n_slots; /* a power of two, at least twice `room` */
};

struct lives *lives_new(uint32_t most)
{
	struct lives *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->most = most;
	l->free = LIVES_NONE;
	return l;
}

void lives_free(struct lives *l)
{
	if (!l)
		return;
	free(l->records);
	free(l->slots);
	free(l);
}

/* --- the table --- */

static uint32_t slot_of(const struct lives *l, int32_t pid)
{
	uint32_t i = ((uint32_t)pid * 2654435769U) >> 7;

	for (i &= l->n_slots - 1; l->slots[i]; i = (i + 1) & (l->n_slots - 1))
		if (l->records[l->slots[i] - 1].known.pid == pid)
			break;
	return i;
}

/* The current life of each pid stays the one that the old table has. */
static void move_slots(struct lives *l, uint32_t *slots, uint32_t n_slots)
{
	uint32_t *old = l->slots, n_old = l->n_slots, i;

	l->slots = slots;
	l->n_slots = n_slots;
	for (i = 0; i < n_old; i++)
		if (old[i] && l->records[old[i] - 1].used)
			l->slots[slot_of(l, l->records[old[i] - 1].known.pid)] = old[i];
	free(old);
}

static int grow(struct lives *l)
{
	uint32_t room = l->room ? l->room * 2 : 256;
	struct record *records = realloc(l->records, (size_t)room * sizeof(*records));
	uint32_t *slots;

	if (!records)
		return -ENOMEM;
	l->records = records;
	slots = calloc((size_t)room * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	l->room = room;
	move_slots(l, slots, room * 2);
	return 0;
}

static int make_room(struct lives *l)
{
	if (l->free != LIVES_NONE)
		return 0;
	if (l->n >= l->most)
		return -E2BIG;
	return l->n < l->room ? 0 : grow(l);
}

uint32_t lives_find(const struct lives *l, int32_t pid)
{
	return l->n_slots ? l->slots[slot_of(l, pid)] - 1 : LIVES_NONE;
}

/* --- lives --- */

static void set_name(struct life *k, const char *comm)
{
	if (!comm || !comm[0])
		return;
	memcpy(k->comm, comm, SCHED_COMM_LEN);
	if (!k->first_comm[0])
		memcpy(k->first_comm, comm, SCHED_COMM_LEN);
}

/* The next life of a pid; the one before it is over by then. */
static int begin(struct lives *l, const struct life_sight *s, uint32_t *ret)
{
	uint32_t before, i;
	struct record *k;
	int r = make_room(l);

	if (r < 0)
		return r;
	before = lives_find(l, s->pid);
	if (before != LIVES_NONE && !l->records[before].known.ended)
		lives_end(l, before, s->ns);
	i = l->free;
	if (i != LIVES_NONE)
		l->free = l->records[i].next_free;
	else
		i = l->n++;
	k = &l->records[i];
	memset(k, 0, sizeof(*k));
	k->used = true;
	k->known.pid = s->pid;
	k->known.born_ns = s->ns;
	k->known.birth_seen = s->how >= LIFE_STARTS;
	k->known.before = before;
	k->first = before == LIVES_NONE ? i : l->records[before].first;
	l->slots[slot_of(l, s->pid)] = i + 1;
	*ret = i;
	return 1;
}

/* Is it evidence of the pid's next life? */
static bool is_next(const struct record *k, const struct life_sight *s)
{
	switch (s->how) {
	case LIFE_FORKED:
		return k->forked || k->woken || k->known.exited || k->known.ended ||
		       s->ns > k->known.born_ns + LIVES_SKEW_NS;
	case LIFE_STARTS:
		if (k->started || k->known.exited || k->known.ended)
			return true;
		return k->acted && s->ns > k->acted_ns + LIVES_SKEW_NS;
	case LIFE_ACTS:
	case LIFE_WOKEN:
		if (k->known.ended)
			return s->ns > k->known.ended_ns;
		return k->known.exited && s->comm && s->comm[0] && k->known.comm[0] &&
		       memcmp(s->comm, k->known.comm, SCHED_COMM_LEN) != 0;
	default:
		return false;
	}
}

int lives_see(struct lives *l, const struct life_sight *s, uint32_t *ret)
{
	uint32_t i = lives_find(l, s->pid);
	struct record *k;
	int r = 0;

	if (i == LIVES_NONE || is_next(&l->records[i], s)) {
		r = begin(l, s, &i);
		if (r < 0)
			return r;
	}
	k = &l->records[i];
	k->forked |= s->how == LIFE_FORKED;
	k->woken |= s->how == LIFE_WOKEN;
	k->started |= s->how == LIFE_STARTS;
	k->known.birth_seen |= s->how >= LIFE_STARTS;
	if ((s->how == LIFE_ACTS || s->how == LIFE_WOKEN) && !k->acted) {
		k->acted = true;
		k->acted_ns = s->ns;
	}
	set_name(&k->known, s->comm);
	*ret = i;
	return r;
}

void lives_exit(struct lives *l, uint32_t life, uint64_t ns)
{
	l->records[life].known.exited = true;
	l->records[life].known.ended_ns = ns;
}

void lives_end(struct lives *l, uint32_t life, uint64_t ns)
{
	l->records[life].known.ended = true;
	l->records[life].known.ended_ns = ns;
}

void lives_lead(struct lives *l, uint32_t life)
{
	l->records[life].known.leads = true;
}

/* A thread goes on as this one, which has exited. */
static void go_on(struct lives *l, uint32_t leader)
{
	struct life *k = &l->records[leader].known;

	k->exited = k->ended = false;
	k->ended_ns = 0;
	k->leads = true;
}

void lives_replace(struct lives *l, uint32_t leader, uint32_t thread, uint64_t ns)
{
	lives_exit(l, thread, ns);
	go_on(l, leader);
}

uint32_t lives_count(const struct lives *l)
{
	return l->n;
}

bool lives_has(const struct lives *l, uint32_t life)
{
	return life < l->n && l->records[life].used;
}

const struct life *lives_get(const struct lives *l, uint32_t life)
{
	return &l->records[life].known;
}

/* --- events --- */

/* How an event speaks of a pid; -1: not at all. */
static int evidence_of(const struct sched_dialect *d, const struct sched_event *ev, int32_t pid,
		       const char **ret_comm)
{
	bool runs = ev->kind == SCHED_SWITCH ? ev->task.pid == pid
					     : ev->pid == pid && !(d->features & DIALECT_NO_CUR);

	*ret_comm = NULL;
	if (ev->kind == SCHED_EXEC && ev->task.pid == pid)
		return LIFE_NAMED;
	if (ev->kind == SCHED_FORK && ev->other.pid == pid) {
		*ret_comm = ev->other.comm;
		return LIFE_FORKED;
	}
	if ((ev->kind == SCHED_SWITCH && ev->other.pid == pid) || (runs && ev->task.pid == pid)) {
		*ret_comm = ev->task.pid == pid ? ev->task.comm : ev->other.comm;
		return LIFE_ACTS;
	}
	if (ev->task.pid == pid && ev->kind >= SCHED_WAKING && ev->kind <= SCHED_WAKEUP_NEW) {
		*ret_comm = ev->task.comm;
		return ev->kind == SCHED_WAKEUP_NEW ? LIFE_STARTS : LIFE_WOKEN;
	}
	if (runs)
		return LIFE_ACTS;
	return ev->task.pid == pid ? LIFE_NAMED : -1;
}

static bool is_dead(const struct sched_dialect *d, uint64_t state)
{
	uint32_t i;

	for (i = 0; i < DIALECT_STATE_BITS; i++)
		if ((state & d->state_mask) >> i & 1 && d->state_letters[i] &&
		    strchr("ZXx", d->state_letters[i]))
			return true;
	return false;
}

int lives_note(struct lives *l, const struct sched_dialect *d, const struct sched_event *ev,
	       const struct life_sight *pid_and_ns, uint32_t *ret)
{
	struct life_sight s = *pid_and_ns;
	int how = evidence_of(d, ev, s.pid, &s.comm), r;

	*ret = LIVES_NONE;
	if (how < 0)
		return 0;
	s.how = (enum life_evidence)how;
	r = lives_see(l, &s, ret);
	if (r < 0 || ev->task.pid != s.pid)
		return r;
	if (ev->kind == SCHED_EXEC && ev->value > 0 && ev->value != s.pid)
		go_on(l, *ret);
	if (ev->kind == SCHED_EXIT)
		lives_exit(l, *ret, s.ns);
	if (ev->kind == SCHED_SWITCH && is_dead(d, ev->state))
		lives_end(l, *ret, s.ns);
	return r;
}

/* --- room --- */

uint32_t lives_most(const struct lives *l)
{
	return l->most;
}

void lives_allow(struct lives *l, uint32_t most)
{
	l->most = most;
}

int lives_fold(struct lives *l, const uint32_t *folded, uint32_t n)
{
	uint32_t *slots = calloc(l->n_slots, sizeof(*slots)), i;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		l->records[folded[i]].used = false;
	move_slots(l, slots, l->n_slots);
	for (i = 0; i < l->n; i++) {
		if (!lives_has(l, l->records[i].first))
			l->records[i].first = LIVES_NONE;
		if (!lives_has(l, l->records[i].known.before))
			l->records[i].known.before = LIVES_NONE;
	}
	for (i = 0; i < n; i++) {
		l->records[folded[i]].next_free = l->free;
		l->free = folded[i];
	}
	return 0;
}

/* --- the trace's table of tasks --- */

static bool has_name(const struct life *k, const char comm[SCHED_COMM_LEN])
{
	return !memcmp(k->comm, comm, SCHED_COMM_LEN) ||
	       !memcmp(k->first_comm, comm, SCHED_COMM_LEN);
}

/* A task of which no event said a name may have any. */
static bool may_be(const struct life *k, const struct trace_task *t)
{
	return !k->comm[0] || has_name(k, t->comm);
}

const struct trace_task *lives_described(const struct lives *l, const struct trace_info *info,
					 uint32_t life)
{
	const struct record *k = &l->records[life];
	const struct trace_task *t = info_get_task(info, k->known.pid);
	uint32_t last = lives_find(l, k->known.pid), owner;
	const struct life *first;

	if (!t)
		return NULL;
	first = k->first == LIVES_NONE || l->records[k->first].known.birth_seen
			? NULL
			: &l->records[k->first].known;
	if (first && (info->agent_tgid || may_be(first, t)))
		owner = k->first;
	else if (info->agent_tgid)
		return NULL;
	else if (last != LIVES_NONE && (last == k->first || may_be(&l->records[last].known, t)))
		owner = last;
	else
		owner = first ? k->first : LIVES_NONE;
	return owner == life ? t : NULL;
}

int32_t lives_tgid(const struct lives *l, const struct trace_info *info, uint32_t life)
{
	const struct trace_task *t;

	if (l->records[life].known.leads)
		return l->records[life].known.pid;
	t = lives_described(l, info, life);
	return t ? t->tgid : -1;
}
