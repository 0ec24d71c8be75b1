/* SPDX-License-Identifier: MIT */
/*
 * stage: one way to encode a thread's events, and back. The figures of a stage count only if every
 * event came back.
 */
#ifndef KISEKI_BENCH_FUNC_STAGE_H
#define KISEKI_BENCH_FUNC_STAGE_H

#include "recording.h"

/* Enough for any stage: raw records, and something for those that make them larger. */
#define STAGE_ROOM(events) (24 * (size_t)(events) + (4U << 20))

struct stage {
	const char *key;  /* in the JSON file */
	const char *name; /* in tables */
	bool slow;	  /* one run is enough */
	/* What is not measured; may be NULL. */
	void (*prepare)(const struct thread *t);
	/* The bytes it made, 0 if it failed. */
	size_t (*encode)(const struct thread *t, uint8_t *out, size_t room);
	/* Whether the events in those bytes are the thread's. */
	bool (*decode)(const struct thread *t, const uint8_t *in, size_t len);
};

/* Each NULL-terminated. */
extern const struct stage *const stage_rtc_list[];
extern const struct stage *const stage_packer_list[];
extern const struct stage *const stage_func_list[];

static inline bool stage_same(const struct func_event *a, const struct func_event *b)
{
	return a->tick == b->tick && a->value == b->value && a->kind == b->kind && a->os == b->os;
}

#endif
