/* SPDX-License-Identifier: MIT */
/*
 * func_pack: a function source into blocks of a .ksk file, in the strong stage of codec `func`.
 *
 * Thread n of the source becomes stream STREAM_FUNC(n): its calls, and the OS records between them
 * where the source has them, so that their order stays. Losses of OS records alone go to the stream
 * behind it. What the source says about itself comes first and again at the end (ksk.md, section 2).
 *
 * An encoder takes half a megabyte, so at most FUNC_PACK_THREADS of them work at a time. A source
 * with more threads is read more than once: first to know when each thread ends, then for as many
 * of them as can be packed at once, until all are.
 */
#ifndef KISEKI_TRACE_FUNC_PACK_H
#define KISEKI_TRACE_FUNC_PACK_H

#include "store/ksk_writer.h"
#include "trace/func_source.h"

#define FUNC_PACK_THREADS 128U

struct func_packing {
	uint32_t block_bytes;	/* a block is closed when it has this many; 0: 32 KiB */
	uint32_t segment_bytes; /* a keyframe after this many; 0: 64 KiB */
	uint32_t threads;	/* at a time; 0: FUNC_PACK_THREADS */
	uint64_t meta_sequence; /* of the file's next metadata block */
	/* What was packed: */
	uint64_t events;
	uint64_t bytes; /* of blocks with events or losses */
};

/* Into a file that is open. */
int func_pack(struct ksk_writer *w, struct func_source *s, struct func_packing *p, struct error *e);

/* A whole file. */
int func_pack_file(const char *path, struct func_source *s, struct func_packing *p,
		   struct error *e);

#endif
