/* SPDX-License-Identifier: MIT */
/*
 * fact_frontier: how far a run has come, and which of its minutes have something that was not worked out yet.
 *
 * Each stream of a run is followed by its sequence numbers: a block that is new makes the minutes that it lies in wait. A minute is
 * ripe when every stream has something behind it; when one stream shows nothing and others are far ahead, its CPU has nothing to say;
 * and when nothing comes any more. A block that comes later all the same makes its minute wait again.
 *
 * What is remembered of a run goes with the facts themselves, in one transaction: so each block makes its minutes wait once, whoever is
 * killed when.
 */
#ifndef KISEKI_FACTS_FACT_FRONTIER_H
#define KISEKI_FACTS_FACT_FRONTIER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "store/block_reader.h"
#include "trace/clock.h"

#define FACT_STREAMS_MAX 8192U	    /* of CPUs */
#define FACT_MINUTES_MAX (1U << 20) /* that wait: two years */

struct fact_frontier_stream {
	uint32_t stream;
	uint64_t sequence; /* of the block that is wanted next */
	uint64_t tick;	   /* where the last one ended */
};

struct fact_frontier {
	/* What of the run was looked at. */
	uint64_t bytes;
	bool is_ended;
	/* CLOCK_REALTIME - the run's clock, once and for all: borders of minutes must not move when that is measured again. */
	bool has_off;
	int64_t off_ns;
	uint64_t done_to_s; /* minutes before this were worked out at least once */

	struct fact_frontier_stream *streams; /* by number */
	size_t n_streams, room_streams;
	uint64_t *minutes; /* that wait: their starts in s of real time, rising */
	size_t n_minutes, room_minutes;
};

/* Whether a stream of this number makes minutes wait: of the scheduler, or of samples. */
static inline bool fact_frontier_follows(uint32_t stream)
{
	return stream_is_sample(stream) || (stream > STREAM_META && stream < STREAM_BOOT);
}

/* A zeroed struct is a run of which nothing was seen. */
void fact_frontier_done(struct fact_frontier *f);

/* The tick from which on a reader must give blocks so that none is missed. */
uint64_t fact_frontier_from(const struct fact_frontier *f);

/* Looks at all blocks that are new; has_off must be. 0, -ENOMEM, -E2BIG, or what the reader says. */
int fact_frontier_look(struct fact_frontier *f, struct block_reader *r,
		       const struct trace_clock *clock);

/* The END came: it tells what was lost behind the last block of each stream, so that minute waits again. -ENOMEM, -E2BIG. */
int fact_frontier_want_ends(struct fact_frontier *f, const struct trace_clock *clock);

/* How far the slowest and the fastest of its streams are, in ns of real time; false: there are none. */
bool fact_frontier_span(const struct fact_frontier *f, const struct trace_clock *clock,
			uint64_t *ret_least_ns, uint64_t *ret_most_ns);

/* It was worked out; or has to be, after all. */
void fact_frontier_settle(struct fact_frontier *f, uint64_t minute_s);
int fact_frontier_want(struct fact_frontier *f, uint64_t minute_s); /* -ENOMEM, -E2BIG */

/* As bytes, to be freed (docs/format/facts.md). -ENOMEM. */
int fact_frontier_encode(const struct fact_frontier *f, uint8_t **ret, size_t *ret_len);
int fact_frontier_decode(struct fact_frontier *f, const uint8_t *data, size_t len); /* -EBADMSG */

#endif
