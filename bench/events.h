/* SPDX-License-Identifier: MIT */
/*
 * events: a whole trace in memory, as the streams of its CPUs, for codecs to be measured on.
 *
 * Loading takes all that is not the codec's out of the measurement: the importer, the merge, the
 * search for the counter behind the stamps. The merged order is kept beside the streams, one number
 * per item, so that the trace can also be read as a source again and go into any sink.
 */
#ifndef KISEKI_BENCH_EVENTS_H
#define KISEKI_BENCH_EVENTS_H

#include "base/error.h"
#include "trace/source.h"

#define EVENTS_MAX (32U << 20) /* 3.5 GB of memory */

struct cpu_loss {
	size_t before; /* number of the event that follows it */
	struct trace_loss loss;
};

struct cpu_events {
	struct sched_event *event;
	size_t n;
	size_t room;
	struct cpu_loss *loss;
	size_t n_losses;
	size_t room_losses;
};

struct events {
	struct trace_info info;
	struct cpu_events *cpu; /* info.cpus of them */
	uint16_t *order;	/* CPU of each item, losses too */
	size_t n_order;
	size_t room_order;
	size_t n;	   /* events of all CPUs */
	size_t n_losses;   /* gaps, not events */
	bool has_counter;  /* ticks are those of a counter, not nanoseconds */
	bool borrows;	   /* file names belong to another one */
	uint64_t ns;	   /* from the first to the last event */
	uint64_t first_ns; /* of the trace's clock */
};

/* A trace.dat, its stamps told in ticks where a counter is behind them. */
int events_load(struct events *ev, const char *path, struct error *e);
void events_done(struct events *ev);

/* The same without the switches out of idle on odd CPUs; on the even ones if the odd ones have
 * none. Borrows from `from`. *ret_removed tells how many went. */
int events_dup_broken(struct events *to, const struct events *from, uint64_t *ret_removed,
		      struct error *e);

/* All items in their order, once more. Borrows from ev. */
int events_source_new(struct trace_source **ret, const struct events *ev, struct error *e);

#endif
