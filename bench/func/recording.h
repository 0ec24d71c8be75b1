/* SPDX-License-Identifier: MIT */
/*
 * recording: the events of a program's threads, from what a recorder wrote: files of raw_hook.c, one for
 * each thread, or the file of libkiseki-func, which has all of them.
 */
#ifndef KISEKI_BENCH_FUNC_RECORDING_H
#define KISEKI_BENCH_FUNC_RECORDING_H

#include <stddef.h>

#include "wire/func_event.h"

#define RECORDING_THREADS_MAX 1024U
#define RECORDING_RECORD 16U

struct thread {
	struct func_event *events;
	size_t count;
};

struct recording {
	struct thread *threads;
	size_t count;
	uint64_t events; /* of all threads */
};

/* Reads the files, at most `limit` events of each thread. 0 or a negative errno. */
int recording_open(struct recording *r, char *const *paths, size_t n, size_t limit);

/* The same from a record of libkiseki-func (docs/format/func-buffer.md); -EBADMSG: it is damaged, or a
 * chunk is missing. */
int recording_open_buffer(struct recording *r, const char *path, size_t limit);
int recording_push(struct thread *t, const struct func_event *ev);
void recording_close(struct recording *r);

/* The bytes that one thread's file has: what the packers are given. */
void recording_format(const struct thread *t, uint8_t *out);

#endif
