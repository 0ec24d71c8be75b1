/* SPDX-License-Identifier: MIT */
/*
 * vm_lane: one CPU's time as rows for a picture: spans, and where they are too short to be seen, the sums of several.
 *
 * Pieces come in order and touch each other. Those that are alike become one span. A span of at least min_ns is kept; shorter
 * ones are piled up until they are that long together, or a longer one comes. So the rows cover the same time as the
 * pieces, to the nanosecond, and there are never more than two for each min_ns.
 */
#ifndef KISEKI_ANALYSIS_VM_LANE_H
#define KISEKI_ANALYSIS_VM_LANE_H

#include <stddef.h>
#include <stdint.h>

#define VM_LANE_KINDS 9U

struct vm_span {
	uint64_t from_ns, to_ns;
	int32_t kind; /* below VM_LANE_KINDS */
	int32_t cpu;  /* -1: none */
	int32_t what; /* number in a legend; -1: nothing is known */
};

/* Several that follow each other. */
struct vm_pile {
	uint64_t from_ns, to_ns;
	uint64_t ns[VM_LANE_KINDS];
};

/* How many rows there may be, of all lanes together. */
struct vm_lane_room {
	uint64_t n, most;
};

struct vm_lane {
	uint64_t min_ns;
	struct vm_lane_room *room;
	struct vm_span *spans;
	size_t n_spans, room_spans;
	struct vm_pile *piles;
	size_t n_piles, room_piles;
	struct vm_span open;	 /* what still grows; from = to: nothing */
	struct vm_span first;	 /* of the pile */
	struct vm_pile pile;	 /* that still grows */
	uint64_t in_pile;	 /* how many */
	uint64_t from_ns, to_ns; /* of all that came; from = to: nothing did */
};

void vm_lane_init(struct vm_lane *l, uint64_t min_ns, struct vm_lane_room *room);
void vm_lane_done(struct vm_lane *l);

/* 0, -ENOMEM, -E2BIG: there is no room for another row. One without length is nothing. */
int vm_lane_put(struct vm_lane *l, const struct vm_span *s);

/* No more come. */
int vm_lane_end(struct vm_lane *l);

#endif
