/* SPDX-License-Identifier: MIT */
/*
 * func_file: the file of a traced process, made in memory by a slow and plain writer, for tests of
 * those who read it (docs/format/func-buffer.md).
 *
 * It does what the runtime does, one event at a time and for any thread, so that a test knows of
 * every event whether it was recorded or lost.
 */
#ifndef KISEKI_TESTS_FUNC_FILE_H
#define KISEKI_TESTS_FUNC_FILE_H

#include <stddef.h>

#include "wire/func_buffer.h"
#include "wire/func_event.h"
#include "wire/func_hook_encode.h"

#define FUNC_FILE_THREADS 64U
#define FUNC_FILE_SLOT_BYTES 128U

struct func_file_thread {
	uint32_t slot;	/* FUNC_FILE_THREADS: it has none */
	uint32_t chunk; /* FUNC_NO_CHUNK: none */
	uint64_t sequence;
	uint64_t events, lost;
	uint32_t segment; /* bytes so far */
	bool key;
	struct func_hook hook;
};

struct func_file {
	uint8_t *data;
	size_t len;
	uint32_t slots, chunks, chunk_bytes, policy;
	uint32_t segment_bytes;
	uint32_t cursor;
	struct func_file_thread *threads[FUNC_FILE_THREADS];
	uint32_t n_threads;
};

struct func_file_layout {
	uint32_t slots, chunks, chunk_bytes;
	uint32_t policy;	/* enum func_buffer_policy */
	uint32_t segment_bytes; /* a segment ends behind this many */
};

struct func_file *func_file_new(const struct func_file_layout *l);
void func_file_free(struct func_file *f);

/* The number of a new thread; it may have no slot. */
uint32_t func_file_add_thread(struct func_file *f, uint32_t tid, const char *comm);
/* Its slot is taken back. */
void func_file_end_thread(struct func_file *f, uint32_t thread);

/* Whether it was recorded, else it is counted as lost. */
bool func_file_push(struct func_file *f, uint32_t thread, const struct func_event *ev);

void func_file_set_clock(struct func_file *f, uint64_t hz, uint64_t tick, uint64_t mono_ns);
void func_file_add_sync(struct func_file *f, uint64_t tick, uint64_t mono_ns);

uint8_t *func_file_chunk(const struct func_file *f, uint32_t number);

#endif
