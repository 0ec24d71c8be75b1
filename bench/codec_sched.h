/* SPDX-License-Identifier: MIT */
/*
 * codec_sched: a whole trace through codec `sched`, block headers, checksums and keyframes included.
 */
#ifndef KISEKI_BENCH_CODEC_SCHED_H
#define KISEKI_BENCH_CODEC_SCHED_H

#include "blocks.h"
#include "events.h"

#define CODEC_SCHED_BLOCK_BYTES (32U * 1024)
#define CODEC_SCHED_SEGMENT_BYTES (64U * 1024)

size_t codec_sched_encoder_size(void);
size_t codec_sched_decoder_size(void);

/* Each CPU's open block is closed at every multiple of flush_ticks that finds events in it, as a
 * device does that sends what it has; 0: only when it is full, as in a file. -ENOSPC: the blocks do
 * not fit. */
int codec_sched_encode(struct blocks *out, const struct events *ev, uint64_t flush_ticks);

/* Decodes all of it. With `expect`, every event is compared; -EBADMSG if one differs. */
int codec_sched_decode(const struct blocks *in, const struct events *expect);

#endif
