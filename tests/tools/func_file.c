/* SPDX-License-Identifier: MIT */
/* func_file: see func_file.h. */
#include "tools/func_file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wire/varint.h"

#define PID 4321U
#define START_REALTIME 1700000000000000000ULL

static uint32_t chunks_at(const struct func_file *f)
{
	uint32_t end = FUNC_BUFFER_HEADER + f->slots * FUNC_FILE_SLOT_BYTES;

	return (end + 4095U) & ~4095U;
}

uint8_t *func_file_chunk(const struct func_file *f, uint32_t number)
{
	return f->data + chunks_at(f) + (size_t)number * f->chunk_bytes;
}

static uint8_t *slot_of(const struct func_file *f, uint32_t number)
{
	return f->data + FUNC_BUFFER_HEADER + (size_t)number * FUNC_FILE_SLOT_BYTES;
}

static void add32(uint8_t *p, uint32_t n)
{
	put_le32(p, get_le32(p) + n);
}

static void add64(uint8_t *p, uint64_t n)
{
	put_le64(p, get_le64(p) + n);
}

struct func_file *func_file_new(const struct func_file_layout *l)
{
	struct func_file *f = calloc(1, sizeof(*f));
	uint8_t *h;

	assert(f);
	f->slots = l->slots;
	f->chunks = l->chunks;
	f->chunk_bytes = l->chunk_bytes;
	f->policy = l->policy;
	f->segment_bytes = l->segment_bytes;
	f->len = chunks_at(f) + (size_t)l->chunks * l->chunk_bytes;
	f->data = calloc(1, f->len);
	assert(f->data);
	h = f->data;
	memcpy(h, FUNC_BUFFER_MAGIC, 8);
	put_le32(h + FUNC_BUFFER_AT_VERSION, FUNC_BUFFER_VERSION);
	put_le32(h + FUNC_BUFFER_AT_HEADER_BYTES, FUNC_BUFFER_HEADER);
	put_le32(h + FUNC_BUFFER_AT_SLOTS, l->slots);
	put_le32(h + FUNC_BUFFER_AT_SLOT_BYTES, FUNC_FILE_SLOT_BYTES);
	put_le32(h + FUNC_BUFFER_AT_CHUNKS, l->chunks);
	put_le32(h + FUNC_BUFFER_AT_CHUNK_BYTES, l->chunk_bytes);
	put_le64(h + FUNC_BUFFER_AT_SLOTS_AT, FUNC_BUFFER_HEADER);
	put_le64(h + FUNC_BUFFER_AT_CHUNKS_AT, chunks_at(f));
	put_le32(h + FUNC_BUFFER_AT_PID, PID);
	put_le32(h + FUNC_BUFFER_AT_PARENT, 1);
	put_le32(h + FUNC_BUFFER_AT_POLICY, l->policy);
	put_le32(h + FUNC_BUFFER_AT_ON, 1);
	put_le32(h + FUNC_BUFFER_AT_MAPS, 1);
	memcpy(h + FUNC_BUFFER_AT_COMM, "sample", 6);
	memcpy(h + FUNC_BUFFER_AT_EXE, "/usr/bin/sample", 15);
	func_file_set_clock(f, 1000000000U, 1000, 5000000);
	return f;
}

void func_file_free(struct func_file *f)
{
	uint32_t i;

	if (!f)
		return;
	for (i = 0; i < f->n_threads; i++)
		free(f->threads[i]);
	free(f->data);
	free(f);
}

void func_file_set_clock(struct func_file *f, uint64_t hz, uint64_t tick, uint64_t mono_ns)
{
	put_le64(f->data + FUNC_BUFFER_AT_TICK_HZ, hz);
	put_le64(f->data + FUNC_BUFFER_AT_START_TICK, tick);
	put_le64(f->data + FUNC_BUFFER_AT_START_MONOTONIC, mono_ns);
	put_le64(f->data + FUNC_BUFFER_AT_START_REALTIME, START_REALTIME + mono_ns);
}

void func_file_add_sync(struct func_file *f, uint64_t tick, uint64_t mono_ns)
{
	uint32_t n = get_le32(f->data + FUNC_BUFFER_AT_SYNC_NEXT);
	uint8_t *p = f->data + FUNC_BUFFER_AT_SYNC + 16 * (size_t)(n % FUNC_BUFFER_SYNCS);

	put_le64(p, tick);
	put_le64(p + 8, mono_ns);
	put_le32(f->data + FUNC_BUFFER_AT_SYNC_NEXT, n + 1);
}

uint32_t func_file_add_thread(struct func_file *f, uint32_t tid, const char *comm)
{
	struct func_file_thread *t = calloc(1, sizeof(*t));
	uint8_t *s;

	assert(t && f->n_threads < FUNC_FILE_THREADS);
	t->chunk = FUNC_NO_CHUNK;
	t->key = true;
	func_hook_init(&t->hook);
	for (t->slot = 0; t->slot < f->slots; t->slot++)
		if (!get_le32(slot_of(f, t->slot) + FUNC_SLOT_AT_TID))
			break;
	if (t->slot == f->slots) {
		t->slot = FUNC_FILE_THREADS;
	} else {
		s = slot_of(f, t->slot);
		memset(s, 0, FUNC_FILE_SLOT_BYTES);
		put_le32(s + FUNC_SLOT_AT_TID, tid);
		put_le32(s + FUNC_SLOT_AT_STREAM, get_le32(f->data + FUNC_BUFFER_AT_STREAMS));
		put_le32(s + FUNC_SLOT_AT_CHUNK, FUNC_NO_CHUNK);
		strncpy((char *)s + FUNC_SLOT_AT_COMM, comm, 15);
		add32(f->data + FUNC_BUFFER_AT_STREAMS, 1);
	}
	f->threads[f->n_threads] = t;
	return f->n_threads++;
}

static void close_chunk(struct func_file *f, struct func_file_thread *t)
{
	if (t->chunk == FUNC_NO_CHUNK)
		return;
	t->segment += get_le32(func_file_chunk(f, t->chunk) + FUNC_CHUNK_AT_USED);
	put_le32(func_file_chunk(f, t->chunk) + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FULL);
	t->chunk = FUNC_NO_CHUNK;
}

static void tell_slot(struct func_file *f, const struct func_file_thread *t)
{
	put_le64(slot_of(f, t->slot) + FUNC_SLOT_AT_LOST, t->lost);
	put_le64(slot_of(f, t->slot) + FUNC_SLOT_AT_EVENTS, t->events);
	put_le32(slot_of(f, t->slot) + FUNC_SLOT_AT_CHUNK, t->chunk);
}

void func_file_end_thread(struct func_file *f, uint32_t thread)
{
	struct func_file_thread *t = f->threads[thread];

	close_chunk(f, t);
	if (t->slot == FUNC_FILE_THREADS)
		return;
	add64(f->data + FUNC_BUFFER_AT_LOST_THREADS, t->lost);
	put_le32(slot_of(f, t->slot) + FUNC_SLOT_AT_TID, 0);
	t->slot = FUNC_FILE_THREADS;
	t->lost = 0;
}

static uint32_t find_chunk(struct func_file *f)
{
	uint32_t i, n, state;

	for (i = 0; i < f->chunks; i++) {
		n = (f->cursor + i) % f->chunks;
		state = get_le32(func_file_chunk(f, n) + FUNC_CHUNK_AT_STATE);
		if (state != FUNC_CHUNK_FREE &&
		    (f->policy != FUNC_FLIGHT || state != FUNC_CHUNK_FULL))
			continue;
		f->cursor = (n + 1) % f->chunks;
		return n;
	}
	return FUNC_NO_CHUNK;
}

static bool open_chunk(struct func_file *f, struct func_file_thread *t, uint64_t tick)
{
	static uint8_t begin[FUNC_HOOK_BEGIN_ROOM];
	uint32_t used = 0;
	uint8_t *h;
	bool key;

	close_chunk(f, t);
	t->chunk = find_chunk(f);
	if (t->chunk == FUNC_NO_CHUNK)
		return false;
	key = t->key || t->lost || t->segment >= f->segment_bytes || f->policy == FUNC_FLIGHT;
	h = func_file_chunk(f, t->chunk);
	memset(h, 0, f->chunk_bytes);
	put_le32(h + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_WRITING);
	put_le32(h + FUNC_CHUNK_AT_STREAM, get_le32(slot_of(f, t->slot) + FUNC_SLOT_AT_STREAM));
	put_le32(h + FUNC_CHUNK_AT_TID, get_le32(slot_of(f, t->slot) + FUNC_SLOT_AT_TID));
	put_le32(h + FUNC_CHUNK_AT_FLAGS, key ? FUNC_CHUNK_KEY : 0);
	put_le64(h + FUNC_CHUNK_AT_SEQUENCE, t->sequence++);
	put_le64(h + FUNC_CHUNK_AT_TICK, key ? tick : t->hook.model.tick);
	put_le64(h + FUNC_CHUNK_AT_BEFORE, t->events + t->lost);
	put_le64(h + FUNC_CHUNK_AT_LOST, t->lost);
	t->events += t->lost;
	t->lost = 0;
	t->key = false;
	if (key) {
		t->segment = 0;
		used = func_hook_begin(&t->hook, begin, tick);
		assert(used + FUNC_CHUNK_HEAD + FUNC_HOOK_ROOM <= f->chunk_bytes);
		memcpy(h + FUNC_CHUNK_HEAD, begin, used);
	}
	put_le32(h + FUNC_CHUNK_AT_USED, used);
	return true;
}

static bool has_room(const struct func_file *f, const struct func_file_thread *t)
{
	return t->chunk != FUNC_NO_CHUNK &&
	       FUNC_CHUNK_HEAD + get_le32(func_file_chunk(f, t->chunk) + FUNC_CHUNK_AT_USED) +
			       FUNC_HOOK_ROOM <=
		       f->chunk_bytes;
}

static void record(struct func_file *f, struct func_file_thread *t, const struct func_event *ev)
{
	uint8_t *h = func_file_chunk(f, t->chunk), *bytes = h + FUNC_CHUNK_HEAD;
	uint8_t *out = bytes + get_le32(h + FUNC_CHUNK_AT_USED);

	if (ev->kind == FUNC_ENTER)
		out = func_hook_enter(&t->hook, out, ev->value, ev->tick);
	else if (ev->kind == FUNC_EXIT)
		out = func_hook_exit(&t->hook, out, ev->value, ev->tick);
	else
		out = func_hook_os(&t->hook, out, ev->os, ev->value, ev->tick);
	put_le32(h + FUNC_CHUNK_AT_USED, (uint32_t)(out - bytes));
	t->events++;
}

bool func_file_push(struct func_file *f, uint32_t thread, const struct func_event *ev)
{
	struct func_file_thread *t = f->threads[thread];
	bool made;

	if (t->slot == FUNC_FILE_THREADS) {
		add64(f->data + FUNC_BUFFER_AT_LOST_THREADS, 1);
		return false;
	}
	made = has_room(f, t) || open_chunk(f, t, ev->tick);
	if (made) {
		record(f, t, ev);
	} else {
		t->key = true;
		t->lost++;
		if (ev->kind == FUNC_ENTER)
			func_hook_pass_enter(&t->hook, ev->value);
		else if (ev->kind == FUNC_EXIT)
			func_hook_pass_exit(&t->hook, ev->value);
	}
	tell_slot(f, t);
	return made;
}
