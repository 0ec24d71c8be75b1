/* SPDX-License-Identifier: MIT */
/*
 * sample_source: anything that yields the records of a profile in order of time.
 *
 * The sample streams of a .ksk file or of a run in a store (sample_ksk.h) are such a source; reports, trees and
 * exports take any of them. CPUs come merged by tick, and of one tick by number; within a CPU the order is that of its
 * stream. What is missing comes as an item where it belongs.
 *
 * Processes are those of `spaces`, which says what lay where in whom, and when.
 */
#ifndef KISEKI_TRACE_SAMPLE_SOURCE_H
#define KISEKI_TRACE_SAMPLE_SOURCE_H

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/info.h"
#include "trace/sample_guests.h"
#include "trace/sample_pace.h"
#include "trace/sample_spaces.h"
#include "trace/source.h"
#include "wire/sample_event.h"
#include "wire/sample_meta.h"

struct sample_item {
	enum item_type type;
	uint32_t cpu;
	struct sample_event event; /* ITEM_EVENT; its chain is borrowed until the next call */
	struct trace_loss loss;	   /* ITEM_LOSS */
};

/* What items are ordered by. */
static inline uint64_t sample_item_tick(const struct sample_item *i)
{
	return i->type == ITEM_EVENT ? i->event.tick : i->loss.from_tick;
}

struct sample_source;

struct sample_source_ops {
	/* 1: *ret is the next item; 0: the end; < 0: failed, e says why. */
	int (*next)(struct sample_source *s, struct sample_item *ret, struct error *e);
	int (*rewind)(struct sample_source *s, struct error *e);
	void (*progress)(const struct sample_source *s, uint64_t *ret_done, uint64_t *ret_total);
	void (*free)(struct sample_source *s); /* frees s itself, too */
};

/* Embedded as the first member of every source of samples. All but the items is complete after opening. */
struct sample_source {
	const struct sample_source_ops *ops;
	struct trace_info info; /* its clock is that of the ticks */
	struct sample_sampling sampling;
	struct sample_pace pace;
	struct sample_spaces *spaces;
	struct sample_guests *guests; /* what virtual machines said of themselves */
	/* The trace's end was not seen: power or link was cut, or it is still being recorded. */
	bool is_cut;
};

static inline void sample_source_free(struct sample_source *s)
{
	if (s)
		s->ops->free(s);
}
DEFINE_CLEANUP(sample_source, sample_source_free)

#endif
