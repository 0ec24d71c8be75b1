/* SPDX-License-Identifier: MIT */
/*
 * raw_hook: the reference recorder, preloaded into a program that was built with
 * -finstrument-functions. It writes what happened and does nothing clever with it.
 *
 * Each thread has a file of its own, RAW_DIR/THREAD.raw, threads numbered from 0 as they make their
 * first call. A record has 16 bytes: le64 address of the function, with bit 63 set if it was
 * left; le64 counter, as it is read. The file is a mapping that moves along, so that nothing
 * that ends the process loses anything; behind the last record it has zeros, which are no record, and
 * which whoever reads it cuts off. RAW_MAX limits the records of a thread.
 *
 * The program must not notice: no locks, no allocation, nothing to do at its end.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counter.h"

#define WINDOW (64UL << 20)
#define THREADS_MAX 1024U
#define RECORD 16U
#define LEFT (UINT64_C(1) << 63)
#define HOOK __attribute__((__visibility__("default"), __no_instrument_function__))

struct recording {
	int fd;
	uint64_t *at;
	uint64_t *end; /* of the window, or of what may be recorded */
	uint64_t *window;
	uint64_t records; /* in the windows before this one */
};

static struct recording recordings[THREADS_MAX];
static atomic_uint threads;
static uint64_t records_max = UINT64_MAX;
static const char *folder;
static __thread struct recording *mine __attribute__((tls_model("initial-exec")));
static __thread bool done __attribute__((tls_model("initial-exec")));

/* The next window of the file. False, for good: there is no room, or it has been enough. */
static bool move(struct recording *r)
{
	uint64_t so_far = r->records + (uint64_t)(r->at - r->window) / 2;
	off_t from = (off_t)(so_far * RECORD);
	void *p;

	if (so_far >= records_max)
		return false;
	if (ftruncate(r->fd, from + (off_t)WINDOW))
		return false;
	p = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, from);
	if (p == MAP_FAILED)
		return false;
	if (r->window)
		munmap(r->window, WINDOW);
	r->records = so_far;
	r->window = r->at = p;
	r->end = r->window + WINDOW / sizeof(uint64_t);
	if (records_max - so_far < WINDOW / RECORD)
		r->end = r->window + 2 * (records_max - so_far);
	return true;
}

static struct recording *open_mine(void)
{
	unsigned number;
	char path[4096];

	done = true;
	if (!folder)
		return NULL;
	number = atomic_fetch_add(&threads, 1);
	if (number >= THREADS_MAX)
		return NULL;
	snprintf(path, sizeof(path), "%s/%u.raw", folder, number);
	recordings[number].fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (recordings[number].fd < 0 || !move(&recordings[number]))
		return NULL;
	done = false;
	return &recordings[number];
}

static inline void push(uint64_t what)
{
	if (__builtin_expect(!mine || mine->at == mine->end, 0)) {
		if (done)
			return;
		if (!mine)
			mine = open_mine();
		else
			done = !move(mine);
		if (done)
			return;
	}
	mine->at[1] = counter_read();
	mine->at[0] = what;
	mine->at += 2;
}

HOOK void __cyg_profile_func_enter(void *function, void *caller);
HOOK void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	push((uintptr_t)function);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	push((uintptr_t)function | LEFT);
}

__attribute__((constructor)) static void start(void)
{
	const char *limit = getenv("RAW_MAX");

	folder = getenv("RAW_DIR");
	if (limit)
		records_max = strtoull(limit, NULL, 10);
}
