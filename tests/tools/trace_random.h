/* SPDX-License-Identifier: MIT */
/*
 * trace_random: a whole trace out of a seed: the events of several CPUs, with losses, merged as a
 * source gives them. What goes into a file is kept, so that a test can compare what comes out.
 */
#ifndef KISEKI_TESTS_TRACE_RANDOM_H
#define KISEKI_TESTS_TRACE_RANDOM_H

#include "convert/sink_ksk.h"
#include "trace/source.h"

struct trace_random_options {
	uint64_t seed;
	uint32_t cpus;
	uint32_t events;     /* of each CPU, about */
	unsigned style;	     /* of sched_random */
	uint32_t loss_every; /* a loss after so many events, about; 0: none */
	bool damage_unknown; /* losses by damage may have an unknown count */
	uint32_t tick_grain; /* ticks are multiples of it: many are equal */
	bool shuffled;	     /* events of one tick are in any order of the CPUs */
};

struct trace_random {
	struct trace_info info;
	struct trace_item *items; /* with file names of their own */
	size_t n;
};

/* Exits if there is no memory: these are tests. */
void trace_random_init(struct trace_random *t, const struct trace_random_options *o);
void trace_random_done(struct trace_random *t);

/* The bytes of the .ksk file of this trace, to be freed; fails the program if that fails. */
uint8_t *trace_random_ksk(const struct trace_random *t, const struct sink_ksk_options *o,
			  size_t *ret_len);

bool trace_item_equal(const struct trace_item *a, const struct trace_item *b);

/* All items of a source; items and their file names are freed by trace_items_free(). */
size_t trace_items_read(struct trace_source *s, struct trace_item **ret);
void trace_items_free(struct trace_item *items, size_t n);

#endif
