/* SPDX-License-Identifier: MIT */
/*
 * func_os: see func_os.h. The way of a record: os_instance makes the kernel write it, os_rings reads
 * and orders, os_threads keeps and encodes.
 */
#include "device/feed/func_os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device/feed/os_instance.h"
#include "device/feed/os_rings.h"
#include "device/feed/os_threads.h"

/* A record is stamped before it can be read. It takes a microsecond, or as long as whoever lends the
 * CPU to this machine takes it away in between. */
#define SAFE_NS 2000000U

#define TURN_RECORDS 65536U /* that one drain takes; the agent has other things to do */
#define BUSY_MS 100U	    /* that nobody may come for */
#define STALE_MAX 256U	    /* pids in the kernel's list that nobody watches any more */

struct func_os {
	struct os_instance instance;
	struct os_rings *rings;
	struct os_threads *threads;
	struct os_clock clock;
	uint64_t ring_bytes; /* of one CPU, */
	uint32_t cpus;	     /* and how many there are */
	uint64_t drained_ms;
	uint64_t last_ns; /* up to here all records are with the threads */
	uint32_t stale;
	int32_t tids[OS_THREADS_MAX];
};

int func_os_open(struct func_os **ret, const struct func_os_options *o, struct error *e)
{
	CLEANUP(func_os) struct func_os *f = calloc(1, sizeof(*f));
	uint32_t kib = o->ring_kib ? o->ring_kib : FUNC_OS_RING_KIB;
	struct os_threads_options to = { .run = o->run };
	int r;

	if (!f)
		return error_set(e, ENOMEM, "cannot watch threads: out of memory");
	os_clock_init(&f->clock, o->clock, o->shift);
	r = os_instance_open(&f->instance, o->instance, kib, e);
	if (r == 0)
		r = os_rings_open(&f->rings, f->instance.folder, o->cpus, e);
	to.clock = &f->clock;
	to.is_heir = f->instance.was_there;
	if (r == 0)
		r = os_threads_new(&f->threads, &to, e);
	if (r < 0)
		return r;
	f->ring_bytes = (uint64_t)kib << 10;
	f->cpus = o->cpus;
	*ret = take_ptr(f);
	return 0;
}

void func_os_close(struct func_os *o)
{
	if (!o)
		return;
	if (o->threads)
		func_os_stop(o, NULL);
	os_threads_free(o->threads);
	os_rings_close(o->rings);
	os_instance_close(&o->instance);
	free(o);
}

/* The kernel is told first: what is true from now on is then true. */
int func_os_watch(struct func_os *o, int32_t tid, struct error *e)
{
	int r = os_instance_put(&o->instance, tid, e);

	if (r == 0)
		r = os_threads_watch(o->threads, tid, clock_mono_ns());
	if (r == -ENOBUFS)
		return error_set(e, ENOBUFS, "cannot watch thread %d: %u are watched already", tid,
				 OS_THREADS_MAX);
	return r < 0 ? r : 0;
}

int func_os_add(struct func_os *o, int32_t tid, uint32_t row, struct error *e)
{
	int r = os_threads_set_row(o->threads, tid, row);

	if (r == -ENOENT) {
		r = func_os_watch(o, tid, e);
		if (r == 0)
			r = os_threads_set_row(o->threads, tid, row);
	}
	return r;
}

/* The kernel's list forgets who ends by itself, or it is written anew from time to time. */
void func_os_remove(struct func_os *o, int32_t tid, uint32_t row)
{
	os_threads_remove(o->threads, tid, row, clock_mono_ns());
	if (o->instance.follows || ++o->stale < STALE_MAX)
		return;
	o->stale = 0;
	os_instance_put_all(&o->instance, o->tids, os_threads_get_tids(o->threads, o->tids), NULL);
}

/* Takes records up to safe_ns. enum func_os_drained; -ENOSPC: there are more, but no room. */
static int take_records(struct func_os *o, uint64_t safe_ns, uint32_t most, struct error *e)
{
	struct os_record record;
	int r;

	os_rings_begin(o->rings);
	while (most--) {
		if (!os_threads_has_room(o->threads)) {
			r = os_threads_flush(o->threads, o->last_ns, true);
			if (r)
				return r < 0 ? r : FUNC_OS_ROWS;
		}
		r = os_rings_next(o->rings, safe_ns, &record, e);
		if (r <= 0)
			return r < 0 ? r : FUNC_OS_ALL;
		os_threads_push(o->threads, &record, o->instance.follows);
		o->last_ns = record.ns;
	}
	return FUNC_OS_MORE;
}

/* At the rate of this drain, would a ring be a quarter full in so many milliseconds? */
static bool is_busy(struct func_os *o, uint64_t now_ms)
{
	uint64_t ms = now_ms - o->drained_ms, taken = os_rings_get_taken(o->rings);

	o->drained_ms = now_ms;
	return taken && ms && taken / ms * BUSY_MS > o->ring_bytes / 4;
}

int func_os_drain(struct func_os *o, uint64_t now_ms, struct error *e)
{
	struct os_clock_pair now = os_clock_read(&o->clock);
	uint64_t safe = now.ns - SAFE_NS;
	bool busy;
	int more, r;

	os_clock_push(&o->clock, now);
	more = take_records(o, safe, TURN_RECORDS, e);
	busy = is_busy(o, now_ms);
	if (more == FUNC_OS_ALL)
		o->last_ns = safe;
	if (more == -ENOSPC)
		return FUNC_OS_ALL;
	if (more < 0 || more == FUNC_OS_ROWS)
		return more;
	r = os_threads_flush(o->threads, o->last_ns, false);
	if (r > 0)
		return FUNC_OS_ROWS;
	if (r < 0 && r != -ENOSPC)
		return r;
	return more || busy ? FUNC_OS_MORE : FUNC_OS_ALL;
}

int func_os_stop(struct func_os *o, struct error *e)
{
	struct os_clock_pair now = os_clock_read(&o->clock);
	int r;

	os_clock_push(&o->clock, now);
	do
		r = take_records(o, now.ns, TURN_RECORDS, e);
	while (r > 0);
	if (r == 0)
		r = os_threads_stop(o->threads, now.ns);
	if (r == -ENOSPC)
		return error_set(e, ENOSPC, "cannot end the records of threads: no room");
	return r;
}

uint64_t func_os_fixed_bytes(const struct func_os *o)
{
	return sizeof(*o) + o->cpus * o->ring_bytes + os_rings_fixed_bytes(o->rings) +
	       os_threads_fixed_bytes();
}
