/* SPDX-License-Identifier: MIT */
/*
 * slot: see slot.h. Here is what happens once in a chunk, or less: taking a slot, changing chunks, and
 * counting what found no room.
 */
#include "device/func/slot.h"

#include <sys/prctl.h>

#include "device/func/chunk.h"
#include "device/func/sys.h"

#define STARVED_LOOK 4096U /* events after which chunks are looked for without being told of any */

/* What stands for a chunk where there is none. */
static uint32_t no_chunk[FUNC_CHUNK_HEAD / 4];

/* No gate has this epoch. Who sees a gate half made, as other processors may, finds no chunk here. */
struct slot slot_unborn = { .epoch = UINT32_MAX, .chunk = (uint8_t *)no_chunk };
struct slot slot_orphan = { .epoch = UINT32_MAX, .chunk = (uint8_t *)no_chunk };

static struct slot *slot_at(const struct gate *g, uint32_t n)
{
	return (struct slot *)(void *)(g->slots + (size_t)n * g->slot_bytes);
}

/* Its thread is gone: what it did not tell is told by the header. */
static void take_back(struct gate *g, struct slot *t)
{
	uint32_t n = word_get(&t->chunk_number);

	if (n < g->n_chunks)
		word_put(chunk_get(g, n) + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FULL);
	word_add64(g->header + FUNC_BUFFER_AT_LOST_THREADS, word_get64(&t->lost));
	word_add64(g->header + FUNC_BUFFER_AT_FILTERED, word_get64(&t->filtered));
	word_put(&t->chunk_number, FUNC_NO_CHUNK);
	word_put64(&t->lost, 0);
	word_put64(&t->filtered, 0);
	word_put(&t->tid, 0);
}

/* One that nobody had yet. Its pages come first: even to read a page that the file does not have takes
 * one of the file system's, and ends the program where that has none. */
static struct slot *find_new(struct gate *g)
{
	struct slot *t = slot_at(g, g->slots_ready);

	if (g->slots_ready == g->n_slots || !chunk_populate(g, t, g->slot_bytes))
		return NULL;
	g->slots_ready++;
	return t;
}

/* A free one; else one whose thread is gone. A number of a thread that is used again does not mean
 * the thread that had it: ours is not in use by us. */
static struct slot *find(struct gate *g, uint32_t tid)
{
	struct slot *found = NULL;
	uint32_t i;

	for (i = 0; i < g->slots_ready; i++) {
		struct slot *t = slot_at(g, i);

		if (word_get(&t->tid) == tid)
			take_back(g, t);
		if (!found && word_get(&t->tid) == 0)
			found = t;
	}
	if (!found)
		found = find_new(g);
	for (i = 0; i < g->slots_ready && !found; i++) {
		struct slot *t = slot_at(g, i);

		if (!sys_thread_is_gone(g->pid, word_get(&t->tid)))
			continue;
		take_back(g, t);
		found = t;
	}
	return found;
}

struct slot *slot_open(struct gate *g, uint32_t tid)
{
	struct slot *t = find(g, tid);
	size_t bytes = gate_settings.choosy ? sizeof(*t) : offsetof(struct slot, choice);

	if (!t)
		return NULL;
	memset(t, 0, bytes);
	func_hook_init(&t->hook);
	prctl(PR_GET_NAME, t->comm);
	t->chunk = (uint8_t *)no_chunk;
	t->key = 1;
	t->generation = 1;
	t->epoch = g->epoch;
	t->freed = word_get(g->header + FUNC_BUFFER_AT_FREED) - 1;
	word_put(&t->chunk_number, FUNC_NO_CHUNK);
	word_put(&t->stream, word_get(g->header + FUNC_BUFFER_AT_STREAMS));
	word_put(&t->tid, tid);
	word_add(g->header + FUNC_BUFFER_AT_STREAMS, 1);
	return t;
}

static void close_chunk(struct slot *t)
{
	if (t->chunk == (uint8_t *)no_chunk)
		return;
	t->segment += word_get(t->chunk + FUNC_CHUNK_AT_USED);
	word_put(t->chunk + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FULL);
	word_put(&t->depth, t->hook.model.stack.depth);
	word_put(&t->chunk_number, FUNC_NO_CHUNK);
	t->chunk = (uint8_t *)no_chunk;
	t->limit = 0;
}

static void fill_head(struct slot *t, uint8_t *head, bool key, uint64_t tick)
{
	uint64_t lost = word_get64(&t->lost), before = word_get64(&t->events) + lost;

	word_put(head + FUNC_CHUNK_AT_STREAM, word_get(&t->stream));
	word_put(head + FUNC_CHUNK_AT_TID, word_get(&t->tid));
	word_put(head + FUNC_CHUNK_AT_FLAGS, key ? FUNC_CHUNK_KEY : 0);
	word_put64(head + FUNC_CHUNK_AT_SEQUENCE, t->sequence++);
	word_put64(head + FUNC_CHUNK_AT_TICK, key ? tick : t->hook.model.tick);
	word_put64(head + FUNC_CHUNK_AT_BEFORE, before);
	word_put64(head + FUNC_CHUNK_AT_LOST, lost);
	word_put(head + FUNC_CHUNK_AT_USED, 0);
	word_put(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_WRITING);
	t->began_events = (uint32_t)before;
	word_put64(&t->events, before);
	word_add64(&t->lost, 0 - lost);
}

static void put_event(struct slot *t, const struct func_event *ev)
{
	uint8_t *out = t->chunk + FUNC_CHUNK_HEAD + word_get(t->chunk + FUNC_CHUNK_AT_USED);

	slot_begin(t);
	word_put64(&t->events, word_get64(&t->events) + 1);
	if (ev->kind == FUNC_ENTER)
		out = func_hook_enter(&t->hook, out, ev->value, ev->tick);
	else if (ev->kind == FUNC_EXIT)
		out = func_hook_exit(&t->hook, out, ev->value, ev->tick);
	else
		out = func_hook_os(&t->hook, out, ev->os, ev->value, ev->tick);
	slot_commit(t->chunk, out);
}

static void tell_generation(struct gate *g, struct slot *t, uint64_t tick)
{
	struct func_event ev = { .tick = tick, .kind = FUNC_OS, .os = FUNC_OS_MAPS };

	t->generation = gate_generation(g);
	ev.value = t->generation;
	put_event(t, &ev);
}

/* A segment starts: what is open, and which maps hold. */
static void begin_segment(struct gate *g, struct slot *t, uint64_t tick)
{
	uint8_t *bytes = t->chunk + FUNC_CHUNK_HEAD;

	t->segment = 0;
	word_put(t->chunk + FUNC_CHUNK_AT_USED, func_hook_begin(&t->hook, bytes, tick));
	if (gate_generation(g) > 1)
		tell_generation(g, t, tick);
	slot_begin(t);
}

/* Whether to look for a chunk after there was none: when some were given back, and now and then. */
static bool is_time_to_look(struct gate *g, struct slot *t, bool *ret_given_back)
{
	uint32_t freed = word_get(g->header + FUNC_BUFFER_AT_FREED);

	*ret_given_back = freed != t->freed;
	if (!*ret_given_back && ++t->starved < STARVED_LOOK && g->policy != FUNC_FLIGHT)
		return false;
	t->starved = 0;
	return true;
}

/* Not if its process is the parent of this one. */
static bool is_of(const struct gate *g, const struct slot *t)
{
	return (uintptr_t)t - (uintptr_t)g->slots < (uint64_t)g->n_slots * g->slot_bytes;
}

/* False: there is no chunk. Who is left by a jump halfway would have told what was lost twice, and a
 * chunk would be nobody's: so no signal comes in between. */
static bool open_chunk(struct gate *g, struct slot *t, uint64_t tick)
{
	uint32_t n, freed = word_get(g->header + FUNC_BUFFER_AT_FREED);
	bool key, may_wait = true;
	struct sys_signals held;

	if (t->chunk == (uint8_t *)no_chunk && !is_time_to_look(g, t, &may_wait))
		return false;
	sys_hold_signals(&held);
	close_chunk(t);
	n = is_of(g, t) ? chunk_take(g, may_wait, &held) : FUNC_NO_CHUNK;
	if (n == FUNC_NO_CHUNK) {
		t->freed = freed;
		slot_break(t);
		sys_release_signals(&held);
		return false;
	}
	key = t->key || word_get64(&t->lost) || t->segment >= SLOT_SEGMENT_BYTES || g->keyed;
	fill_head(t, chunk_get(g, n), key, tick);
	t->chunk = chunk_get(g, n);
	t->key = 0;
	word_put(&t->chunk_number, n);
	if (key)
		begin_segment(g, t, tick);
	gate_sync(g, false);
	sys_release_signals(&held);
	return true;
}

static bool has_room(const struct gate *g, const struct slot *t)
{
	uint32_t used = word_get(t->chunk + FUNC_CHUNK_AT_USED);

	return t->chunk != (uint8_t *)no_chunk &&
	       used + FUNC_HOOK_ROOM <= g->chunk_bytes - FUNC_CHUNK_HEAD;
}

static void lose(struct slot *t, const struct func_event *ev)
{
	if (ev->kind == FUNC_ENTER)
		func_hook_pass_enter(&t->hook, ev->value);
	else if (ev->kind == FUNC_EXIT)
		func_hook_pass_exit(&t->hook, ev->value);
	if (ev->kind != FUNC_OS)
		slot_lose(t);
}

/* Looks for the object of an address, in the maps anew if they do not have it. Functions are mostly of
 * the object that the last one was of: then nobody has to be asked. */
static void know(struct gate *g, struct slot *t, uint64_t address)
{
	const struct maps_range *r;

	if (address - t->near_from < t->near_to - t->near_from &&
	    t->near_generation == gate_generation(g))
		return;
	if (!gate_lock(g)) /* it was interrupted while it did the same */
		return;
	r = g->maps ? maps_find(g->maps, address) : NULL; /* there may be none after a fork */
	if (!r && g->maps) {
		gate_map(g);
		r = maps_find(g->maps, address);
	}
	t->near_from = r ? r->from : 0;
	t->near_to = r ? r->to : 0;
	t->near_generation = g->generation;
	gate_unlock(g);
}

bool slot_knows(struct gate *g, struct slot *t, uint64_t address)
{
	int saved = errno;

	if (!g->maps)
		return true;
	know(g, t, address);
	errno = saved;
	return t->generation == gate_generation(g);
}

/* The chunk is changed if it must be; false: there is none. */
static bool make_room(struct gate *g, struct slot *t, uint64_t tick)
{
	if (!t->key && has_room(g, t))
		return true;
	return open_chunk(g, t, tick);
}

void slot_push(struct gate *g, struct slot *t, const struct func_event *ev)
{
	struct sys_signals held;

	/* What a segment that ends knew may be of an object that is closed. */
	if (g->maps && (t->key || !func_hook_model_find(&t->hook.model, ev->value)))
		know(g, t, ev->value);
	if (make_room(g, t, ev->tick) && t->generation != gate_generation(g)) {
		sys_hold_signals(&held); /* left right behind its record, it would look done */
		tell_generation(g, t, ev->tick);
		slot_begin(t);
		sys_release_signals(&held);
	}
	slot_begin(t);
	if (make_room(g, t, ev->tick))
		put_event(t, ev);
	else
		lose(t, ev);
	if (!gate_settings.choosy && t->chunk != (uint8_t *)no_chunk)
		t->limit = g->chunk_bytes - FUNC_CHUNK_HEAD - FUNC_HOOK_ROOM + 1;
}
