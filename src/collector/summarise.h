/* SPDX-License-Identifier: MIT */
/*
 * summarise: decodes what came of a run since it was last asked, segment by segment and each once,
 * and adds it to the summaries.
 *
 * A stream's last segment waits until another begins or the run ends: a decoder's memory would be
 * needed to stop within one. What a segment adds and the place behind it are committed together.
 * The memory is that of one stream, however many there are.
 */
#ifndef KISEKI_COLLECTOR_SUMMARISE_H
#define KISEKI_COLLECTOR_SUMMARISE_H

#include <stdatomic.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/summary_db.h"
#include "store/block_reader.h"
#include "store/store.h"
#include "trace/info.h"
#include "trace/stream_cursor.h"

struct summariser;

/* Both must outlive it; `stop` ends work between two commits when it becomes true. */
int summariser_new(struct summariser **ret, struct store *s, struct summary_db *db,
		   const atomic_bool *stop);
void summariser_free(struct summariser *m);
DEFINE_CLEANUP(summariser, summariser_free)

/* -ENOENT: the run is gone. -EINTR: stopped. -EBADMSG: the summaries are damaged. */
int summarise_run(struct summariser *m, uint32_t run, struct error *e);

/* Events that were decoded so far. */
uint64_t summariser_events(const struct summariser *m);

/* Puts the mark's place right: places change when the store removes old files, sequence numbers do
 * not. 1: it is where the next block is; 0: there is none yet; < 0. */
int summarise_find(struct block_reader *r, uint32_t stream, struct stream_mark *m);

#endif
