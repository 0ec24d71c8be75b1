/* SPDX-License-Identifier: MIT */
/*
 * sink_ksk: writes a .ksk file: encodes each CPU's events as a device would.
 */
#ifndef KISEKI_CONVERT_SINK_KSK_H
#define KISEKI_CONVERT_SINK_KSK_H

#include "convert/sink.h"
#include "trace/func_source.h"
#include "wire/block.h"

struct sink_ksk_options {
	enum block_codec codec;	   /* CODEC_SCHED or CODEC_BSF */
	uint64_t flush_ns;	   /* a block is closed after this time at the latest; 0: never */
	uint32_t block_bytes;	   /* … and when it has this many bytes; 0: 32 KiB */
	uint32_t segment_bytes;	   /* a keyframe after this many bytes; 0: 64 KiB */
	struct func_source *calls; /* packed behind the events; NULL: none. The caller's */
};

/* o may be NULL for the defaults: sched, no flushing by time. */
int sink_ksk_new(struct trace_sink **ret, const char *path, const struct sink_ksk_options *o,
		 struct error *e);

/* After end(): events the codec could not hold (fork, exec, … in bsf). */
uint64_t sink_ksk_dropped(const struct trace_sink *s);

#endif
