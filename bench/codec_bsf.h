/* SPDX-License-Identifier: MIT */
/*
 * codec_bsf: a whole trace through codec `bsf`, which holds switches and wakeups only.
 */
#ifndef KISEKI_BENCH_CODEC_BSF_H
#define KISEKI_BENCH_CODEC_BSF_H

#include "blocks.h"
#include "events.h"

#define CODEC_BSF_BLOCK_BYTES (32U * 1024)

size_t codec_bsf_encoder_size(void);

/* Events that have no record are left out; out->events counts the others. */
int codec_bsf_encode(struct blocks *out, const struct events *ev);
int codec_bsf_decode(const struct blocks *in, const struct events *ev);

#endif
