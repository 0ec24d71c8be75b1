/* SPDX-License-Identifier: MIT */
/*
 * pidmap: see pidmap.h. Records lie in chunks that are never moved; an open-addressed table of
 * their numbers (plus one, zero being empty) finds them and is rebuilt at half full.
 */
#include "trace/pidmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/info.h"

#define CHUNK_RECORDS 1024U
#define CHUNKS_MAX (TRACE_TASKS_MAX / CHUNK_RECORDS)
#define FIRST_SLOTS 256U

struct pidmap {
	size_t record_size;
	size_t count;
	uint32_t *slots;
	size_t n_slots; /* a power of two */
	char *chunks[CHUNKS_MAX];
};

struct pidmap *pidmap_new(size_t record_size)
{
	struct pidmap *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->record_size = record_size;
	m->n_slots = FIRST_SLOTS;
	m->slots = calloc(m->n_slots, sizeof(*m->slots));
	if (!m->slots) {
		free(m);
		return NULL;
	}
	return m;
}

void pidmap_free(struct pidmap *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < CHUNKS_MAX && m->chunks[i]; i++)
		free(m->chunks[i]);
	free(m->slots);
	free(m);
}

size_t pidmap_count(const struct pidmap *m)
{
	return m->count;
}

void *pidmap_at(const struct pidmap *m, size_t i)
{
	return m->chunks[i / CHUNK_RECORDS] + i % CHUNK_RECORDS * m->record_size;
}

static int32_t pid_at(const struct pidmap *m, size_t i)
{
	int32_t pid;

	memcpy(&pid, pidmap_at(m, i), sizeof(pid));
	return pid;
}

/* The slot that holds this pid, or the empty one where it belongs. */
static size_t find_slot(const struct pidmap *m, int32_t pid)
{
	uint32_t hash = (uint32_t)pid * 2654435761U;
	size_t i = (hash ^ hash >> 15) & (m->n_slots - 1);

	while (m->slots[i] && pid_at(m, m->slots[i] - 1) != pid)
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

void *pidmap_get(const struct pidmap *m, int32_t pid)
{
	uint32_t number = m->slots[find_slot(m, pid)];

	return number ? pidmap_at(m, number - 1) : NULL;
}

static int grow(struct pidmap *m)
{
	uint32_t *old = m->slots;
	size_t i;

	m->slots = calloc(m->n_slots * 2, sizeof(*m->slots));
	if (!m->slots) {
		m->slots = old;
		return -1;
	}
	m->n_slots *= 2;
	free(old);
	for (i = 0; i < m->count; i++)
		m->slots[find_slot(m, pid_at(m, i))] = (uint32_t)i + 1;
	return 0;
}

void *pidmap_add(struct pidmap *m, int32_t pid)
{
	void *found = pidmap_get(m, pid);
	char **chunk;

	if (found)
		return found;
	if (m->count >= TRACE_TASKS_MAX || (m->count * 2 >= m->n_slots && grow(m) < 0))
		return NULL;
	chunk = &m->chunks[m->count / CHUNK_RECORDS];
	if (!*chunk) {
		*chunk = calloc(CHUNK_RECORDS, m->record_size);
		if (!*chunk)
			return NULL;
	}
	m->slots[find_slot(m, pid)] = (uint32_t)m->count + 1;
	found = pidmap_at(m, m->count++);
	memcpy(found, &pid, sizeof(pid));
	return found;
}

int pidmap_why(const struct pidmap *m)
{
	return m->count >= TRACE_TASKS_MAX ? -E2BIG : -ENOMEM;
}
