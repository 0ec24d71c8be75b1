/* SPDX-License-Identifier: MIT */
/*
 * boot_pack: a boot source into blocks of a .ksk file.
 *
 * All of it is one segment unless told otherwise: what a segment needs to be read alone only the recorder
 * knows to say again, and a boot has about as many bytes as other traces have in one.
 */
#ifndef KISEKI_TRACE_BOOT_PACK_H
#define KISEKI_TRACE_BOOT_PACK_H

#include "store/ksk_writer.h"
#include "trace/boot_source.h"

struct boot_packing {
	uint32_t block_bytes;	/* a block is closed when it has this many; 0: 32 KiB */
	uint32_t segment_bytes; /* a keyframe after this many; 0: one at the start */
	uint64_t meta_sequence; /* of the file's next metadata block */
	/* What was packed: */
	uint64_t events;
	uint64_t bytes; /* of blocks with records or losses */
};

/* Into a file that is open. What the source says about itself comes first and again at the end (ksk.md,
 * section 2). */
int boot_pack(struct ksk_writer *w, struct boot_source *s, struct boot_packing *p, struct error *e);

/* A whole file. */
int boot_pack_file(const char *path, struct boot_source *s, struct boot_packing *p,
		   struct error *e);

#endif
