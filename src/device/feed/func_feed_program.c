/* SPDX-License-Identifier: MIT */
/*
 * func_feed_program: one program's turn; see func_feed_state.h.
 *
 * Whether the process is gone is asked before its record is looked at: if it was, all that it will
 * ever have recorded is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/feed/func_feed_state.h"
#include "device/feed/func_objects.h"
#include "device/feed/func_told.h"
#include "wire/varint.h"

#define ASK_MS 5000U	/* how often the map of a silent process is looked at */
#define BEGIN_MS 60000U /* until it has its record mapped, at the latest */
#define NO_SLOT_COMM "(no slot)"

/* A turn of one program. */
struct turn {
	struct func_feed *f;
	struct func_feed_program *p;
	bool is_last; /* the process was gone before anything was looked at */
	bool has_more;
	bool is_fast; /* the record will be full before the next tick */
	struct error *e;
};

/* --- the process --- */

/* Gone, or another program by now, whose first record this is not. */
static bool is_over(struct turn *t)
{
	struct func_feed_program *p = t->p;

	if (p->is_replaced || func_traced_is_gone(&p->traced))
		return true;
	if (t->f->now_ms - p->active_ms < ASK_MS || t->f->now_ms - p->asked_ms < ASK_MS)
		return false;
	p->asked_ms = t->f->now_ms;
	p->is_replaced = (p->was_known || t->f->now_ms - p->active_ms >= BEGIN_MS) &&
			 !func_traced_is_mapped(&p->traced);
	return p->is_replaced;
}

/* A program of another clock has said another one at the door. */
static int check_clock(struct turn *t)
{
	struct func_feed *f = t->f;
	const struct func_traced *x = &t->p->traced;

	if (!f->has_clock) {
		f->pairs.clock = x->clock;
		f->pairs.shift = x->shift;
		f->has_clock = true;
	}
	if (func_pairs_is_same(&f->pairs, x->clock, x->shift))
		return 0;
	return error_set(t->e, EBADMSG,
			 "cannot read the record %s: its clock is not that of others", x->name);
}

/* The header for the first time. It may have been switched since it was answered. */
static int begin(struct turn *t)
{
	struct func_feed_program *p = t->p;
	uint32_t on = t->f->mode != FUNC_MODE_OFF && !t->f->is_ending;
	int r = check_clock(t);

	if (r < 0)
		return r;
	p->was_known = true;
	if (t->f->is_ending) /* it came too late to be noted with the others */
		p->was_on = get_le32(t->f->header.bytes + FUNC_BUFFER_AT_ON) != 0;
	if (p->is_adopted)
		func_traced_put(&p->traced, FUNC_BUFFER_AT_DRAINED, (uint32_t)getpid());
	/* One that is off may have switched itself off; unless it was an agent that ended. */
	if (p->on != on || !on || (p->is_adopted && func_told_was_on(&p->traced)))
		func_traced_put(&p->traced, FUNC_BUFFER_AT_ON, on);
	p->on = on;
	return 0;
}

static uint32_t text_len(const uint8_t *text, uint32_t room)
{
	return (uint32_t)strnlen((const char *)text, room);
}

static int announce(struct turn *t)
{
	const uint8_t *h = t->f->header.bytes;
	struct func_run_process about = { .start_tick = t->p->traced.start_tick };
	int r;

	if (t->p->is_announced)
		return 0;
	about.about.pid = t->p->traced.made_for;
	about.about.parent = (int32_t)get_le32(h + FUNC_BUFFER_AT_PARENT);
	about.about.command.text = (const char *)h + FUNC_BUFFER_AT_COMM;
	about.about.command.len = text_len(h + FUNC_BUFFER_AT_COMM, SCHED_COMM_LEN);
	about.about.exe.text = (const char *)h + FUNC_BUFFER_AT_EXE;
	about.about.exe.len = text_len(h + FUNC_BUFFER_AT_EXE, FUNC_BUFFER_EXE_LEN);
	r = func_run_take_process(t->f->run, &about, t->e);
	if (r < 0)
		return r;
	t->p->number = about.about.number;
	t->p->is_announced = true;
	return 0;
}

static int put_mapping(void *context, const struct func_meta_mapping *m)
{
	struct turn *t = context;

	if (t->f->o.told)
		func_objects_tell(t->f->o.told, t->p->traced.made_for, m);
	return func_run_put_mapping(t->f->run, t->p->number, m, NULL);
}

/* The maps, if the process has said that there are others. */
static int put_maps(struct turn *t)
{
	struct func_maps_sink sink = { t, put_mapping };
	uint32_t said = get_le32(t->f->header.bytes + FUNC_BUFFER_AT_MAPS);
	struct func_feed_program *p = t->p;
	struct stat st;
	int fd, r = 0;

	if (said == p->maps.generation && !t->is_last)
		return 0;
	fd = func_traced_beside(&p->traced, FUNC_TRACED_MAPS, O_RDONLY);
	if (fd < 0)
		return 0; /* addresses have no names then */
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size != p->maps_size) {
		r = func_maps_turn(&p->maps, fd, &sink);
		if (r >= 0)
			p->maps_size = (uint64_t)st.st_size;
	}
	close(fd);
	return r;
}

static int describe(struct turn *t)
{
	struct func_feed *f = t->f;
	int r = func_feed_start_run(f, t->p, t->e);

	if (r >= 0)
		r = announce(t);
	if (r >= 0)
		r = put_maps(t);
	if (r >= 0 && func_pairs_next(&f->pairs, &f->header))
		r = func_run_put_sync(f->run, f->pairs.tick, f->pairs.mono_ns, t->e);
	return r;
}

/* --- its threads --- */

/* Who the thread of a chunk is; a thread that is gone has no name but its program's. */
static void find_slot(const struct turn *t, const struct func_traced_chunk *c,
		      struct func_traced_slot *ret)
{
	uint32_t at = 0;

	while (func_traced_next_slot(&t->p->traced, &at, ret))
		if (ret->stream == c->stream && ret->tid == c->tid)
			return;
	ret->stream = c->stream;
	ret->tid = c->tid;
	memcpy(ret->comm, t->f->header.bytes + FUNC_BUFFER_AT_COMM, sizeof(ret->comm));
}

/* Once for each program: what follows from it is counted. */
static void say_broken(struct turn *t)
{
	if (!t->p->has_failed)
		error_set(t->e, EBADMSG,
			  "cannot read a part of the record %s: it is not as it "
			  "should be",
			  t->p->traced.name);
	t->p->has_failed = true;
}

/* Chunks of a stream that has none but these, and these cannot be. */
static bool are_all_bad(const struct func_drain_job *j)
{
	uint32_t i;

	for (i = 0; i < j->n; i++)
		if (!j->chunks[i].is_bad)
			return false;
	return true;
}

static void refuse(struct turn *t, const struct func_drain_job *j)
{
	uint32_t i;

	say_broken(t);
	for (i = 0; i < j->n; i++)
		if (j->chunks[i].state == FUNC_CHUNK_FULL)
			func_traced_give_back(j->traced, &j->chunks[i]);
}

/* Is there something that a block is worth? A little may wait for more. */
static bool is_due(struct turn *t, const struct func_drain_job *j)
{
	struct func_drain_thread *x = j->thread;
	bool due;
	uint64_t pending = func_drain_pending(j, &due);

	if (pending)
		t->p->active_ms = t->f->quiet_ms = t->f->now_ms;
	if (!pending && !due)
		return false;
	if (due || t->is_last || t->f->is_ending || pending >= FUNC_DRAIN_SMALL)
		return true;
	if (!x->waits_ms)
		x->waits_ms = t->f->now_ms;
	return t->f->now_ms - x->waits_ms >= FUNC_DRAIN_WAIT_MS;
}

static int drain_stream(struct turn *t, struct func_drain_job *j)
{
	struct func_feed *f = t->f;
	struct func_traced_slot who;
	int r;

	j->thread = func_feed_find_thread(f, t->p, j->chunks->stream);
	if (!j->thread && are_all_bad(j)) {
		refuse(t, j);
		return 0;
	}
	if (!j->thread || j->thread->row == FUNC_FEED_NO_ROW) {
		if (j->thread && !is_due(t, j))
			return 0; /* in a new run it needs no row before it has something */
		find_slot(t, j->chunks, &who);
		r = func_feed_take_thread(f, t->p, &who, &j->thread, t->e);
		if (r < 0)
			return r;
	}
	if (!is_due(t, j))
		return 0;
	if (func_drain_is_spent(f->drain)) {
		t->has_more = true;
		return 0;
	}
	j->thread->waits_ms = 0;
	r = func_drain_put(f->drain, j);
	if (j->thread->is_broken)
		say_broken(t);
	t->has_more |= r == 1;
	return r < 0 ? r : 0;
}

/* A stream that has no row waits, the others go on. */
static int drain_streams(struct turn *t)
{
	const struct func_traced_chunks *c = &t->f->chunks;
	struct func_drain_job j = { .traced = &t->p->traced, .is_last = t->is_last };
	uint32_t from, to;
	int r, rows = 0;

	t->is_fast = c->full > t->p->traced.chunks / 8 && t->p->traced.policy != FUNC_FLIGHT;
	j.is_behind = t->is_fast && !t->is_last && c->full > t->p->traced.chunks / 2;
	for (from = 0; from < c->n; from = to) {
		for (to = from + 1; to < c->n && c->at[to].stream == c->at[from].stream; to++)
			;
		j.chunks = &c->at[from];
		j.n = to - from;
		r = drain_stream(t, &j);
		if (r == -ENOBUFS)
			rows = r;
		else if (r < 0)
			return r;
	}
	return rows;
}

/* --- its end --- */

static int put_end(struct turn *t, const struct func_traced_slot *s)
{
	struct func_drain_job j = { .traced = &t->p->traced };
	int r;

	if (!s->events && !s->lost)
		return 0;
	r = func_feed_take_thread(t->f, t->p, s, &j.thread, t->e);
	return r < 0 ? r : func_drain_put_end(t->f->drain, &j, s->events, s->lost);
}

/* What a broken chunk had that nothing came after: nobody knows. */
static int put_unknown(struct turn *t)
{
	struct func_drain_job j = { .traced = &t->p->traced };
	uint32_t i;
	int r = 0;

	for (i = 0; i < t->f->n_threads && r >= 0; i++) {
		j.thread = &t->f->threads[i];
		if (j.thread->is_broken && j.thread->row != FUNC_FEED_NO_ROW &&
		    &t->f->programs[j.thread->process] == t->p)
			r = func_drain_put_unknown(t->f->drain, &j);
	}
	return r;
}

/* All that is in chunks was told; now what is not. */
static int finish(struct turn *t)
{
	struct func_traced_slot s, rest = { .stream = FUNC_FEED_NO_SLOT, .comm = NO_SLOT_COMM };
	uint32_t at = 0;
	int r = 0;

	while (r >= 0 && func_traced_next_slot(&t->p->traced, &at, &s))
		r = put_end(t, &s);
	if (r >= 0)
		r = put_unknown(t);
	rest.lost = get_le64(t->f->header.bytes + FUNC_BUFFER_AT_LOST_THREADS);
	if (r >= 0 && rest.lost < LOSS_UNKNOWN / 2)
		r = put_end(t, &rest);
	if (r < 0)
		return r;
	func_feed_drop(t->f, t->p);
	return 0;
}

/* --- all of it --- */

/* Something of it was never told: of a thread that is not known yet, or new bytes. */
static bool has_news(struct turn *t)
{
	const struct func_traced_chunks *c = &t->f->chunks;
	struct func_drain_job j = { .traced = &t->p->traced, .n = 1 };
	bool due;
	uint32_t i;

	for (i = 0; i < c->n; i++) {
		j.chunks = &c->at[i];
		j.thread = func_feed_find_thread(t->f, t->p, c->at[i].stream);
		if (!j.thread || func_drain_pending(&j, &due))
			return true;
	}
	return false;
}

/* Something is missing at its end. */
static bool has_lost(struct turn *t)
{
	uint64_t told, lost = get_le64(t->f->header.bytes + FUNC_BUFFER_AT_LOST_THREADS);
	struct func_drain_thread *x = func_feed_find_thread(t->f, t->p, FUNC_FEED_NO_SLOT);
	struct func_traced_slot s;
	uint32_t at = 0;

	if (lost > (x ? func_drain_told(t->f->drain, x) : 0))
		return true;
	while (func_traced_next_slot(&t->p->traced, &at, &s)) {
		x = func_feed_find_thread(t->f, t->p, s.stream);
		told = x ? func_drain_told(t->f->drain, x) : 0;
		if (s.events + s.lost > told)
			return true;
	}
	return false;
}

/* Whether there is anything to put into a run. A program that is traced is announced. */
static bool needs_run(struct turn *t)
{
	return func_run_is_open(t->f->run) || t->f->mode != FUNC_MODE_OFF || has_news(t) ||
	       (t->is_last && has_lost(t));
}

/* -EBADMSG: this record is of no use. */
static int look(struct turn *t)
{
	int r = func_traced_look(&t->p->traced, &t->f->header, t->e);

	if (r > 0 && !t->p->was_known)
		r = begin(t) < 0 ? -EBADMSG : 1;
	return r;
}

int func_feed_turn_program(struct func_feed *f, struct func_feed_program *p, struct error *e)
{
	struct turn t = { .f = f, .p = p, .e = e };
	int r;

	t.is_last = is_over(&t);
	r = look(&t);
	if (r < 0 || (r == 0 && t.is_last)) {
		if (r < 0) /* the process is left alone with it */
			func_traced_put(&p->traced, FUNC_BUFFER_AT_ON, 0);
		func_feed_drop(f, p);
		return 0;
	}
	if (r == 0)
		return 0;
	func_traced_get_chunks(&p->traced, &f->chunks);
	if (!needs_run(&t)) {
		if (t.is_last)
			func_feed_drop(f, p);
		return 0;
	}
	r = describe(&t);
	if (r >= 0)
		r = drain_streams(&t);
	if (r >= 0 && t.is_last && !t.has_more)
		r = finish(&t);
	return r < 0 ? r : t.has_more || t.is_fast;
}
