/* SPDX-License-Identifier: MIT */
/*
 * kiseki/trace: reads a trace of the scheduler, a .ksk file: as `kiseki record` writes it, or as a collector exports it.
 *
 *	struct ks_trace *t;
 *	struct ks_item item;
 *
 *	if (ks_trace_open(&t, "some.ksk", &error) < 0) …
 *	while (ks_trace_next(t, &item, &error) > 0) …
 *	ks_trace_close(t);
 *
 * Items come in order of time, those of all CPUs together; a loss comes where it belongs. A file that is cut or damaged
 * is read as far as it goes, and what is missing is in it as losses. A trace is for one thread at a time.
 */
#ifndef KISEKI_TRACE_H
#define KISEKI_TRACE_H

#include <stddef.h>

#include <kiseki/event.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ks_trace;

/* What a trace says about itself. Texts are never NULL in what the library gives, and may be NULL in what it is given. */
struct ks_description {
	const char *device;  /* host name */
	const char *kernel;  /* release */
	const char *machine; /* as uname -m */
	const char *origin;  /* what recorded it */
	uint32_t cpus;
	/* ns = clock_base_ns + (tick * clock_mult >> clock_shift); 1, 0, 0: ticks are ns. */
	uint32_t clock_mult;
	uint32_t clock_shift;
	uint32_t has_realtime; /* 1: the next one is known */
	uint64_t clock_base_ns;
	int64_t realtime_off_ns; /* CLOCK_REALTIME minus the trace's clock */
	uint64_t reserved[4];
};

/* A row of the table of names. */
struct ks_name {
	int32_t pid;
	int32_t tgid; /* -1: not known */
	char comm[KS_COMM_LEN];
};

int ks_trace_open(struct ks_trace **ret, const char *path, struct ks_error *e);

/* The same of bytes in memory, which must stay as they are until it is closed. */
int ks_trace_open_memory(struct ks_trace **ret, const void *data, size_t len, struct ks_error *e);
void ks_trace_close(struct ks_trace *t);

/* 1: *ret is the next item; 0: the end; < 0: it failed. */
int ks_trace_next(struct ks_trace *t, struct ks_item *ret, struct ks_error *e);

/* To the first item at or after this tick; 0 is the start. */
int ks_trace_seek(struct ks_trace *t, uint64_t tick, struct ks_error *e);

/* Borrowed until it is closed. */
const struct ks_description *ks_trace_get_description(const struct ks_trace *t);
uint64_t ks_trace_get_ns(const struct ks_trace *t, uint64_t tick);

/* Names of tasks that the trace has beside those in its events: the row with this number, or -ENOENT behind the last. */
int ks_trace_get_name(const struct ks_trace *t, size_t number, struct ks_name *ret);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
