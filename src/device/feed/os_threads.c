/* SPDX-License-Identifier: MIT */
/*
 * os_threads: see os_threads.h.
 *
 * Threads and records have numbers, 0 is none. A thread stays in the table when it has died, until
 * it is removed, because its row may become known only then; one that gets its tid takes its place
 * in the hash.
 */
#include "device/feed/os_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/feed/os_block.h"

#define HASH_SLOTS 2048U /* a power of two */
#define NO_ROW UINT32_MAX
#define WATCH_ALL ((uint64_t)(FUNC_WATCH_SWITCHES | FUNC_WATCH_SYSCALLS))
#define LOST_MARK 255U /* instead of a type: so many are lost here; no event */

struct record {
	uint64_t tick, value;
	uint32_t next;
	uint8_t os; /* enum func_os_type, or LOST_MARK */
};

/* What a thread is doing, by the records that said so. `os` 0xff: none did. */
struct state {
	struct record cpu;  /* switched in or out */
	struct record wake; /* since then */
	struct record call; /* system call, or its return */
};

struct thread {
	int32_t tid; /* 0: free */
	uint32_t row;
	uint32_t next; /* in its hash slot, or free */
	uint32_t first, last, n;
	bool begun;   /* its stream has */
	bool dead;    /* it left its CPU for good */
	bool removed; /* and since when */
	bool hashed;
	bool asked; /* for its row, before anything of it is forgotten */
	uint64_t removed_ns;
	uint64_t watch, watch_tick; /* FUNC_OS_WATCH that its stream begins with */
	uint64_t ended_tick; /* where it ended the last time, if it goes on; 0: it does not */
	uint64_t last_tick;
	uint32_t last_cpu;
	struct state state; /* before its first record here */
};

struct os_threads {
	struct os_threads_options o;
	struct os_block block;
	uint32_t free_thread, free_record, n_threads, n_free;
	uint64_t latest; /* tick of what was pushed last */
	uint32_t gaps;	 /* CPUs whose records are missing at the moment */
	uint32_t slots[HASH_SLOTS];
	struct thread threads[OS_THREADS_MAX + 1];
	struct record records[OS_POOL_RECORDS + 1];
};

static void clear_state(struct state *s)
{
	memset(s, 0, sizeof(*s));
	s->cpu.os = s->wake.os = s->call.os = LOST_MARK;
}

int os_threads_new(struct os_threads **ret, const struct os_threads_options *o, struct error *e)
{
	CLEANUP(os_threads) struct os_threads *s = calloc(1, sizeof(*s));
	uint32_t i;
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot watch threads: out of memory");
	s->o = *o;
	r = os_block_init(&s->block, o->run, e);
	if (r < 0)
		return r;
	for (i = OS_THREADS_MAX; i; i--) {
		s->threads[i].next = s->free_thread;
		s->free_thread = i;
	}
	for (i = OS_POOL_RECORDS; i; i--) {
		s->records[i].next = s->free_record;
		s->free_record = i;
	}
	s->n_free = OS_POOL_RECORDS;
	*ret = take_ptr(s);
	return 0;
}

void os_threads_free(struct os_threads *s)
{
	if (!s)
		return;
	os_block_done(&s->block);
	free(s);
}

uint64_t os_threads_fixed_bytes(void)
{
	return sizeof(struct os_threads) + sizeof(struct func_encoder) + BLOCK_HEADER_MAX +
	       OS_BLOCK_BYTES;
}

/* --- records --- */

static void free_first(struct os_threads *s, struct thread *t)
{
	uint32_t i = t->first;

	t->first = s->records[i].next;
	if (!t->first)
		t->last = 0;
	t->n--;
	s->records[i].next = s->free_record;
	s->free_record = i;
	s->n_free++;
}

/* The caller has made sure that there is room. */
static void add(struct os_threads *s, struct thread *t, const struct record *from)
{
	uint32_t i = s->free_record;
	struct record *r = &s->records[i];

	if (!i)
		return;
	s->free_record = r->next;
	s->n_free--;
	*r = *from;
	r->next = 0;
	if (t->last)
		s->records[t->last].next = i;
	else
		t->first = i;
	t->last = i;
	t->n++;
	if (r->tick > t->last_tick)
		t->last_tick = r->tick;
}

static void add_watch(struct os_threads *s, struct thread *t, uint64_t tick, uint64_t value)
{
	const struct record r = { .tick = tick, .value = value, .os = FUNC_OS_WATCH };

	add(s, t, &r);
}

/* What a record says about now; nobody will see what was before it. */
static void fold(struct thread *t, const struct record *r)
{
	struct state *s = &t->state;

	if (r->tick > t->watch_tick)
		t->watch_tick = r->tick;
	switch (r->os) {
	case FUNC_OS_SWITCH_IN:
		s->wake.os = LOST_MARK;
		s->cpu = *r;
		break;
	case FUNC_OS_SWITCH_OUT:
		s->cpu = *r;
		break;
	case FUNC_OS_WAKING:
		s->wake = *r;
		break;
	case FUNC_OS_SYSCALL:
	case FUNC_OS_SYSCALL_RETURN:
		s->wake.os = LOST_MARK;
		s->call = *r;
		break;
	case FUNC_OS_WATCH:
		clear_state(s);
		t->watch = r->value;
		break;
	default: /* a count that is no longer anybody's */
		break;
	}
}

static void fold_first(struct os_threads *s, struct thread *t)
{
	fold(t, &s->records[t->first]);
	free_first(s, t);
}

/* --- threads --- */

static uint32_t *slot_of(struct os_threads *s, int32_t tid)
{
	return &s->slots[((uint32_t)tid * 0x9e3779b1U >> 16) & (HASH_SLOTS - 1)];
}

static struct thread *find(struct os_threads *s, int32_t tid)
{
	uint32_t i = tid > 0 ? *slot_of(s, tid) : 0;

	while (i && s->threads[i].tid != tid)
		i = s->threads[i].next;
	return i ? &s->threads[i] : NULL;
}

/* Nobody finds it by its tid any more. */
static void unhash(struct os_threads *s, struct thread *t)
{
	uint32_t *at = slot_of(s, t->tid), i = (uint32_t)(t - s->threads);

	if (!t->hashed)
		return;
	while (*at != i)
		at = &s->threads[*at].next;
	*at = t->next;
	t->hashed = false;
}

static void drop(struct os_threads *s, struct thread *t)
{
	while (t->first)
		free_first(s, t);
	unhash(s, t);
	memset(t, 0, sizeof(*t));
	t->next = s->free_thread;
	s->free_thread = (uint32_t)(t - s->threads);
	s->n_threads--;
}

/* Who has to make room: the dead before those without a row, and of these who was silent longest. */
static void drop_one(struct os_threads *s)
{
	struct thread *best = NULL, *t;
	uint32_t i;

	for (i = 1; i <= OS_THREADS_MAX; i++) {
		t = &s->threads[i];
		if (!t->tid || (t->row != NO_ROW && (!t->dead || t->n || !t->begun)))
			continue;
		if (!best || t->dead > best->dead ||
		    (t->dead == best->dead && t->last_tick < best->last_tick))
			best = t;
	}
	if (best)
		drop(s, best);
}

/* NULL: there are too many. */
static struct thread *make(struct os_threads *s, int32_t tid, uint64_t tick)
{
	struct thread *t;

	if (!s->free_thread)
		drop_one(s);
	if (!s->free_thread)
		return NULL;
	t = &s->threads[s->free_thread];
	s->free_thread = t->next;
	s->n_threads++;
	memset(t, 0, sizeof(*t));
	t->tid = tid;
	t->row = NO_ROW;
	t->watch = s->gaps ? 0 : WATCH_ALL;
	t->watch_tick = t->last_tick = tick;
	clear_state(&t->state);
	t->next = *slot_of(s, tid);
	*slot_of(s, tid) = (uint32_t)(t - s->threads);
	t->hashed = true;
	return t;
}

/* The thread executes another program: what it is doing goes over to the other row. */
static int begin_anew(struct os_threads *s, struct thread *old, uint32_t row)
{
	struct thread was = *old, *t;
	uint32_t i;

	unhash(s, old);
	old->removed = true; /* with what it has */
	old->removed_ns = 0;
	old->dead = true;
	t = make(s, was.tid, was.watch_tick);
	if (!t)
		return -ENOBUFS;
	t->state = was.state;
	t->watch = was.watch;
	for (i = was.first; i; i = s->records[i].next)
		fold(t, &s->records[i]);
	t->row = row;
	t->dead = was.dead;
	return 0;
}

int os_threads_watch(struct os_threads *s, int32_t tid, uint64_t ns)
{
	struct thread *t = find(s, tid);

	if (tid <= 0)
		return -EINVAL;
	if (t && !t->dead && t->row != NO_ROW)
		return begin_anew(s, t, NO_ROW) < 0 ? -ENOBUFS : 1;
	if (t && !t->dead)
		return 1;
	if (t)
		unhash(s, t);
	if (t && t->row == NO_ROW)
		drop(s, t);
	return make(s, tid, os_clock_tick(s->o.clock, ns)) ? 0 : -ENOBUFS;
}

int os_threads_set_row(struct os_threads *s, int32_t tid, uint32_t row)
{
	struct thread *t = find(s, tid);
	struct func_run_place place;

	if (!t)
		return -ENOENT;
	if (t->row == row)
		return 0;
	if (t->row != NO_ROW)
		return begin_anew(s, t, row);
	t->row = row;
	func_run_get_place(s->o.run, row, FUNC_LANE_OS, &place);
	t->ended_tick = place.next_sequence ? place.until : 0;
	return 0;
}

void os_threads_remove(struct os_threads *s, int32_t tid, uint32_t row, uint64_t ns)
{
	struct thread *t = find(s, tid);

	if (!t || t->removed || t->row != row)
		return;
	t->removed = true;
	t->removed_ns = ns;
}

uint32_t os_threads_get_tids(const struct os_threads *s, int32_t *tids)
{
	uint32_t i, n = 0;

	for (i = 1; i <= OS_THREADS_MAX; i++)
		if (s->threads[i].tid && !s->threads[i].dead)
			tids[n++] = s->threads[i].tid;
	return n;
}

/* --- what the kernel says --- */

/* Takes a record of a thread, if it belongs to it. One that is from before it was watched may be there
 * because of another thread; but only who is watched has records of its system calls, so such a one shows
 * that the kernel had followed it earlier. */
static bool take(struct os_threads *s, struct thread *t, const struct record *r, uint32_t cpu)
{
	bool is_call = r->os == FUNC_OS_SYSCALL || r->os == FUNC_OS_SYSCALL_RETURN;

	if (r->tick < t->watch_tick && !t->first && (!is_call || t->begun))
		return false;
	if (r->tick < t->watch_tick && !t->first)
		t->watch_tick = r->tick;
	t->last_cpu = cpu;
	add(s, t, r);
	return true;
}

/* A gap needs two records of every thread; and a few are left for what comes with it. */
bool os_threads_has_room(const struct os_threads *s)
{
	return s->n_free > s->n_threads + 4;
}

static void add_all(struct os_threads *s, uint64_t tick, uint64_t watch)
{
	uint32_t i;

	for (i = 1; i <= OS_THREADS_MAX; i++)
		if (s->threads[i].tid && !s->threads[i].dead)
			add_watch(s, &s->threads[i], tick, watch);
}

/* Whose stream tells what was lost on a CPU: who was there last, and has a row. */
static struct thread *find_teller(struct os_threads *s, uint32_t cpu)
{
	struct thread *best = NULL, *t;
	uint32_t i;

	for (i = 1; i <= OS_THREADS_MAX; i++) {
		t = &s->threads[i];
		if (!t->tid || t->row == NO_ROW || t->dead)
			continue;
		if (!best || (t->last_cpu == cpu) > (best->last_cpu == cpu) ||
		    ((t->last_cpu == cpu) == (best->last_cpu == cpu) &&
		     t->last_tick > best->last_tick))
			best = t;
	}
	return best;
}

static void push_lost(struct os_threads *s, const struct os_record *r, uint64_t tick)
{
	const struct record lost = { .tick = tick, .value = r->value, .os = LOST_MARK };
	struct thread *teller = r->value ? find_teller(s, r->cpu) : NULL;

	if (!r->other && s->gaps++ == 0)
		add_all(s, tick, 0);
	if (teller)
		add(s, teller, &lost);
}

static void push_switch(struct os_threads *s, const struct os_record *r, uint64_t tick)
{
	struct record record = { .tick = tick, .value = r->value, .os = FUNC_OS_SWITCH_OUT };
	struct thread *out = find(s, r->tid), *in = find(s, r->other);

	if (out && !out->dead && take(s, out, &record, r->cpu))
		out->dead = os_state_is_dead(r->value);
	if (in && !in->dead) {
		record.os = FUNC_OS_SWITCH_IN;
		record.value = r->cpu;
		take(s, in, &record, r->cpu);
	}
}

/* Only who is watched has records of its system calls: so one that is met here is. */
static void push_call(struct os_threads *s, const struct os_record *r, uint64_t tick, bool follows)
{
	const struct record record = { .tick = tick,
				       .value = r->value,
				       .os = r->kind == OS_SYSCALL ? FUNC_OS_SYSCALL
								   : FUNC_OS_SYSCALL_RETURN };
	struct thread *t = find(s, r->tid);

	if ((!t || t->dead) && follows && os_threads_watch(s, r->tid, r->ns) >= 0)
		t = find(s, r->tid);
	if (!t || t->dead)
		return;
	take(s, t, &record, r->cpu);
}

void os_threads_push(struct os_threads *s, const struct os_record *r, bool follows)
{
	uint64_t tick = os_clock_tick(s->o.clock, r->ns);
	struct record record = { .tick = tick,
				 .value = (uint64_t)(int64_t)r->other,
				 .os = FUNC_OS_WAKING };
	struct thread *t;

	/* Each new pair bends the clock by some nanoseconds; the order of records is the better one. */
	if (tick < s->latest)
		tick = record.tick = s->latest;
	s->latest = tick;
	switch (r->kind) {
	case OS_SWITCH:
		push_switch(s, r, tick);
		break;
	case OS_WAKING:
		t = find(s, r->tid);
		if (t && !t->dead)
			take(s, t, &record, t->last_cpu);
		break;
	case OS_SYSCALL:
	case OS_RETURN:
		push_call(s, r, tick, follows);
		break;
	case OS_LOST:
		push_lost(s, r, tick);
		break;
	case OS_FOUND:
		if (s->gaps && --s->gaps == 0)
			add_all(s, tick, WATCH_ALL);
		break;
	}
}

/* --- blocks --- */

static void push_event(struct os_threads *s, const struct record *r, enum wire_status *status)
{
	const struct func_event ev = {
		.tick = r->tick, .value = r->value, .kind = FUNC_OS, .os = r->os
	};

	if (*status == WIRE_OK && r->os != LOST_MARK)
		*status = os_block_push(&s->block, &ev);
}

/* A stream that goes on was not watched meanwhile, and may have lost what nobody read. */
static void push_pause(struct os_threads *s, const struct thread *t, enum wire_status *status)
{
	const struct record pause = { .tick = t->ended_tick, .value = 0, .os = FUNC_OS_WATCH };

	if (!t->ended_tick)
		return;
	if (s->o.is_heir)
		os_block_lose(&s->block, LOSS_UNKNOWN);
	push_event(s, &pause, status);
}

/* The stream's first records: from where on they are complete, and what is known of the thread then:
 * records that are earlier, by time. */
static void push_head(struct os_threads *s, const struct thread *t, enum wire_status *status)
{
	const struct record watch = { .tick = t->watch_tick,
				      .value = t->watch,
				      .os = FUNC_OS_WATCH };
	const struct record *known[] = { &t->state.call, &t->state.cpu, &t->state.wake };
	const struct record *swap;
	int i, j;

	push_pause(s, t, status);
	push_event(s, &watch, status);
	for (i = 1; i < 3; i++)
		for (j = i; j > 0 && known[j]->tick < known[j - 1]->tick; j--) {
			swap = known[j];
			known[j] = known[j - 1];
			known[j - 1] = swap;
		}
	for (i = 0; i < 3; i++)
		push_event(s, known[i], status);
}

/* Puts the block that has the thread's first `n` records. */
static int commit(struct os_threads *s, struct thread *t, uint32_t n)
{
	int r = os_block_put(&s->block);

	if (r < 0)
		return r;
	t->begun = true;
	while (n--)
		fold_first(s, t);
	os_block_begin(&s->block, t->row);
	return 0;
}

/* All records of a thread, in as many blocks as they need. */
static int put_thread(struct os_threads *s, struct thread *t)
{
	enum wire_status status = WIRE_OK;
	const struct record *r;
	uint32_t i, n = 0;
	int rc = 0;

	os_block_begin(&s->block, t->row);
	if (!t->begun)
		push_head(s, t, &status);
	for (i = t->first; i && rc == 0; i = s->records[i].next, n++) {
		r = &s->records[i];
		push_event(s, r, &status);
		if (status == WIRE_FULL || (r->os == LOST_MARK && s->block.events)) {
			rc = commit(s, t, n);
			n = 0;
			status = WIRE_OK;
			push_event(s, r, &status);
		}
		if (r->os == LOST_MARK)
			os_block_lose(&s->block, r->value);
	}
	return rc < 0 || !s->block.events ? rc : commit(s, t, n);
}

static bool is_due(const struct os_threads *s, const struct thread *t, uint64_t limit_tick)
{
	uint64_t oldest = t->begun ? s->records[t->first].tick : t->watch_tick;

	if (t->begun && !t->first)
		return false;
	return t->n >= OS_BLOCK_RECORDS || oldest <= limit_tick;
}

/* Those of rows are put by then, if `all`: what is in the way is of threads without. */
static bool has_too_many(const struct os_threads *s, const struct thread *t, bool all)
{
	return t->first && (t->n > OS_HELD_MAX || (all && s->n_free < OS_POOL_RECORDS / 4));
}

static bool is_too_old(const struct os_threads *s, const struct thread *t, uint64_t limit_tick)
{
	return t->first ? s->records[t->first].tick < limit_tick
			: t->dead && t->last_tick < limit_tick;
}

/* Keeps what it says about now. 1: its row is needed first, or this will be forgotten the next time. */
static int hold(struct os_threads *s, struct thread *t, uint64_t limit_tick, bool all)
{
	bool many = has_too_many(s, t, all);

	if (!many && !is_too_old(s, t, limit_tick))
		return 0;
	if (!t->asked) {
		t->asked = true;
		return 1;
	}
	t->asked = !many; /* it may have one by the time there are as many again */
	if (t->dead && t->last_tick < limit_tick) {
		drop(s, t);
		return 0;
	}
	while (has_too_many(s, t, all) || (t->first && is_too_old(s, t, limit_tick)))
		fold_first(s, t);
	return 0;
}

/* 0, or < 0 and it stays. */
static int finish(struct os_threads *s, struct thread *t)
{
	int r = 0;

	if (t->row != NO_ROW) {
		if (!t->dead)
			add_watch(s, t, os_clock_tick(s->o.clock, t->removed_ns), 0);
		t->dead = true;
		r = put_thread(s, t);
	}
	if (r == 0)
		drop(s, t);
	return r;
}

int os_threads_flush(struct os_threads *s, uint64_t ns, bool all)
{
	uint64_t due = os_clock_tick(s->o.clock, ns > OS_BLOCK_NS ? ns - OS_BLOCK_NS : 0);
	uint64_t held = os_clock_tick(s->o.clock, ns > OS_HELD_NS ? ns - OS_HELD_NS : 0);
	struct thread *t;
	uint32_t i;
	int r = 0, asks = 0;

	for (i = 1; i <= OS_THREADS_MAX && r == 0; i++) {
		t = &s->threads[i];
		if (t->tid && t->removed && t->removed_ns < ns)
			r = finish(s, t);
		else if (t->tid && t->row != NO_ROW && (all || is_due(s, t, due)))
			r = put_thread(s, t);
	}
	for (i = 1; i <= OS_THREADS_MAX && r == 0; i++)
		if (s->threads[i].tid && s->threads[i].row == NO_ROW)
			asks |= hold(s, &s->threads[i], held, all);
	return r < 0 ? r : asks;
}

int os_threads_stop(struct os_threads *s, uint64_t ns)
{
	struct thread *t;
	uint32_t i;
	int r;

	for (i = 1; i <= OS_THREADS_MAX; i++) {
		t = &s->threads[i];
		if (!t->tid || t->row == NO_ROW)
			continue;
		if (!t->removed)
			t->removed_ns = ns;
		t->removed = true;
		r = finish(s, t);
		if (r < 0)
			return r;
	}
	return 0;
}
