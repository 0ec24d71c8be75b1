/* SPDX-License-Identifier: MIT */
/*
 * spool_ring: the ring of the spool, for spool.c, which fills it, spool_runs.c, whose runs it has
 * entries of, and spool_recover.c, which finds it again after a death.
 *
 * An entry lies at one piece: a head, its body, and zero to seven bytes, so that all heads are
 * aligned. Where it would not fit before the ring's end, a filler goes there and the entry starts at
 * the ring's start; fewer bytes than a head has need no filler. Places are counted from the spool's
 * first byte on and never wrap; a head repeats its own, so an older lap's is not taken for it.
 */
#ifndef KISEKI_DEVICE_AGENT_SPOOL_RING_H
#define KISEKI_DEVICE_AGENT_SPOOL_RING_H

#include "device/agent/memory.h"
#include "wire/block.h"

#define RING_MAGIC 0x6b73656bU
#define RING_FILLER 0U /* beside FRAME_BLOCK and FRAME_RUN_END */

struct ring_head {
	uint32_t magic;
	uint32_t crc; /* of the fields from `at` to `key` */
	uint64_t at;
	uint64_t sequence;
	uint32_t body_crc;
	uint32_t len; /* of the body */
	uint32_t kind;
	uint32_t run;
	uint32_t stream;
	uint32_t events;
	uint32_t key;
	uint32_t sent; /* number of the connection that it was sent on; means nothing to others */
};

/* What this process knows of a run beside what the file says. */
struct ring_run {
	uint32_t entries;
	uint64_t next_meta;  /* sequence */
	uint64_t *collector; /* by stream: the sequence that the collector should want next */
};

struct spool {
	struct memory *memory;
	uint8_t *ring;
	uint32_t size;
	uint32_t streams;		/* with checkpoints */
	uint32_t func_rows;		/* 0: there are no runs of calls */
	uint32_t largest;		/* body of a description or an end */
	uint32_t keep_free, keep_last;	/* bytes that blocks leave free, and that nothing takes */
	uint32_t keep_end[SPOOL_KINDS]; /* between these: for a run's last words */
	uint32_t beside;		/* the run beside these: number << 2 | enum memory_state */
	bool has_beside;		/* there may be one */
	uint32_t samplers;		/* its streams of samples */
	struct checkpoint beside_meta;	/* of its description */
	uint64_t func_meta;		/* bytes of the descriptions of calls that must stay */
	uint8_t policy;
	struct memory_mark mark; /* as published */
	struct ring_run runs[MESSAGE_RUNS_MAX];
	uint64_t next; /* the first entry not sent */
	uint32_t connection;
	uint64_t sent, gone; /* frames of this connection; of those, whose entries are gone */
	uint32_t sync_ms;
	uint64_t synced_ms;
	bool is_dirty;
	uint8_t *copy; /* of an entry that is moved */
};

static inline uint32_t ring_place(const struct spool *s, uint64_t at)
{
	return (uint32_t)(at % s->size);
}

static inline struct ring_head *ring_get(const struct spool *s, uint64_t at)
{
	return (struct ring_head *)(s->ring + ring_place(s, at));
}

/* The whole entry's bytes. */
static inline uint64_t ring_bytes(uint32_t body_len)
{
	return (sizeof(struct ring_head) + (uint64_t)body_len + 7) & ~7ULL;
}

/* At the ring's end there may be too little room even for a head: the next one is behind that. */
static inline uint64_t ring_align(const struct spool *s, uint64_t at)
{
	uint32_t left = s->size - ring_place(s, at);

	return left < sizeof(struct ring_head) ? at + left : at;
}

static inline uint64_t ring_next(const struct spool *s, uint64_t at)
{
	return ring_align(s, at + ring_bytes(ring_get(s, at)->len));
}

static inline uint32_t ring_head_crc(const struct ring_head *h)
{
	return memory_crc(&h->at,
			  offsetof(struct ring_head, sent) - offsetof(struct ring_head, at));
}

/* The last run of a kind that was begun. */
static inline uint32_t ring_last(const struct spool *s, enum spool_kind kind)
{
	return kind == SPOOL_CALLS    ? s->mark.func >> 2
	       : kind == SPOOL_BESIDE ? s->beside >> 2
				      : s->mark.run;
}

static inline uint32_t ring_state(const struct spool *s, enum spool_kind kind)
{
	return kind == SPOOL_CALLS    ? s->mark.func & 3
	       : kind == SPOOL_BESIDE ? s->beside & 3
				      : s->mark.state;
}

static inline void ring_set_state(struct spool *s, enum spool_kind kind, enum memory_state state)
{
	if (kind == SPOOL_CALLS)
		s->mark.func = (s->mark.func & ~3U) | state;
	else if (kind == SPOOL_BESIDE)
		s->beside = (s->beside & ~3U) | state;
	else
		s->mark.state = state;
}

/* The checkpoint's number of its description. */
static inline uint32_t ring_meta(const struct spool *s, enum spool_kind kind)
{
	return kind == SPOOL_CALLS ? s->streams : 0;
}

static inline enum spool_kind ring_kind(const struct memory_run *run)
{
	return run->origin == MEMORY_ORIGIN_FUNC     ? SPOOL_CALLS
	       : run->origin == MEMORY_ORIGIN_BESIDE ? SPOOL_BESIDE
						     : SPOOL_EVENTS;
}

/* Where a stream is in ring_run.collector; streams of calls have no place there. */
static inline uint32_t ring_row(const struct spool *s, uint32_t stream)
{
	if (stream_is_sample(stream))
		return s->streams + 1 + (stream - STREAM_SAMPLE_FIRST);
	return stream == STREAM_BOOT ? s->streams : stream;
}

/* How many such places there are. */
static inline uint32_t ring_rows(const struct spool *s)
{
	return s->streams + 1 + s->samplers;
}

static inline bool ring_has_row(const struct spool *s, uint32_t stream)
{
	if (stream_is_boot(stream))
		return s->has_beside;
	return ring_row(s, stream) < (stream_is_sample(stream) ? ring_rows(s) : s->streams);
}

/* May entries be of this stream? */
static inline bool ring_has_stream(const struct spool *s, uint32_t stream)
{
	return ring_has_row(s, stream) || (s->func_rows && stream_is_func(stream));
}

/* The row of a run that the file knows; NULL if it does not. */
struct memory_run *spool_find_run(const struct spool *s, uint32_t number);

/* What was changed in the mark holds from now on. */
void spool_publish(struct spool *s);

/* The oldest entry goes; the caller publishes. */
void spool_pop(struct spool *s);

/* One entry more, or less; NULL if it is a filler or of no run. */
struct ring_run *spool_count(struct spool *s, const struct ring_head *h, int by);

/* Takes up what is in the ring: entries that are whole, and the runs they belong to. */
void spool_recover(struct spool *s);

/* The checkpoint that counts, or NULL; *ret_free is the one that may be written. */
const struct memory_checkpoint *spool_find_checkpoint(const struct spool *s, uint32_t stream,
						      struct memory_checkpoint **ret_free);

#endif
