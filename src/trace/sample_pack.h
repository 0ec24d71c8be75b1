/* SPDX-License-Identifier: MIT */
/*
 * sample_pack: a source of samples into a .ksk file.
 *
 * What the source says about itself is copied block by block from where it lies: nothing between there and here knows all
 * of its items. Records are encoded anew, each CPU in a lane of its own, so that what is missing is told in headers
 * with its cause, also where the source knows it from a gap.
 */
#ifndef KISEKI_TRACE_SAMPLE_PACK_H
#define KISEKI_TRACE_SAMPLE_PACK_H

#include "store/block_reader.h"
#include "trace/sample_source.h"

/* The file has no index if the source was cut: then whoever reads it knows. */
int sample_pack_file(const char *path, struct sample_source *s, struct block_reader *description,
		     struct error *e);

#endif
