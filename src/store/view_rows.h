/* SPDX-License-Identifier: MIT */
/*
 * view_rows: the three long lists of a log view (log_view.h), in few bytes: where the blocks of a
 * stream are, which of them are KEY blocks, and the ledger of a run.
 *
 * A collector has them in memory for the file that it is writing, and devices may send very small
 * blocks: so each is a chain of varints, every number less the one before it. They can only be
 * walked from the first on; who wants to search makes an array of them (local_reader.c) or an index
 * (log_index.h). A walk that is at its end goes on when more was added.
 */
#ifndef KISEKI_STORE_VIEW_ROWS_H
#define KISEKI_STORE_VIEW_ROWS_H

#include "store/chain.h"
#include "store/store.h"

/* A KEY block: where its segment starts. */
struct view_key {
	uint64_t tick; /* no event of the stream before the segment is later */
	uint32_t row;
};

struct view_rows {
	struct chain chain;
	uint32_t n;
	uint32_t last;
};

struct view_keys {
	struct chain chain;
	uint32_t n;
	uint64_t first_tick;
	struct view_key last;
};

struct view_losses {
	struct chain chain;
	uint32_t n;
	uint64_t last_tick; /* at which the last ended */
};

/* All zero: before the first. */
struct rows_walk {
	struct chain_place place;
	uint32_t last;
};

struct keys_walk {
	struct chain_place place;
	struct view_key last;
};

struct losses_walk {
	struct chain_place place;
	uint64_t last_tick;
};

/* Room for one more row or key, or for n losses; 0, -ENOMEM, -E2BIG. Without it nothing may be
 * pushed. */
int view_rows_reserve(struct view_rows *l);
int view_keys_reserve(struct view_keys *l);
int view_losses_reserve(struct view_losses *l, size_t n);

void view_rows_push(struct view_rows *l, uint32_t offset);
void view_keys_push(struct view_keys *l, const struct view_key *key);
void view_losses_push(struct view_losses *l, const struct store_loss *row);

bool view_rows_next(const struct view_rows *l, struct rows_walk *w, uint32_t *ret);
bool view_keys_next(const struct view_keys *l, struct keys_walk *w, struct view_key *ret);
/* All but the run's number, which the caller knows. */
bool view_losses_next(const struct view_losses *l, struct losses_walk *w, struct store_loss *ret);

#endif
