/* SPDX-License-Identifier: MIT */
/*
 * cuts: what the removal of log files costs a run beyond the files.
 *
 * A segment of a stream may begin in one file and go on in the next. When the first is gone, the
 * blocks in the second are there, but nothing can decode them: up to the stream's next KEY block
 * their events are lost by the store, as if they were gone, too. They are counted from what is left,
 * not written down: so a store that is opened again comes to the same numbers.
 *
 * A cut is open until the KEY block is found. It takes the run's files one after the other, the one
 * that is being written last: that has its count in its view.
 */
#ifndef KISEKI_STORE_CUTS_H
#define KISEKI_STORE_CUTS_H

#include "store/log_index.h"

struct cut {
	uint32_t stream;
	bool open;
	uint64_t from_tick, to_tick;
	uint64_t events;
};

struct cuts {
	struct cut *list;
	size_t n;
	uint32_t file; /* the last that was taken */
};

/* By the encoded state before the first file that is left. 0, -ENOMEM, -EBADMSG. */
int cuts_init(struct cuts *ret, const uint8_t *in, size_t in_len);
void cuts_done(struct cuts *c);
bool cuts_is_open(const struct cuts *c);

/* The run's next file: as it was written until now, or as its index and its bytes have it. One that
 * was taken is passed over. */
void cuts_take_view(struct cuts *c, uint32_t file, const struct view_run *r);
int cuts_take_index(struct cuts *c, const struct log_index *x, const struct index_run *r,
		    const uint8_t *log, size_t len);

/* With what the file that is being written adds; live may be NULL. */
uint64_t cuts_count(const struct cuts *c, const struct view_run *live);
void cuts_list(const struct cuts *c, const struct view_run *live, const struct run_losses *losses);

#endif
