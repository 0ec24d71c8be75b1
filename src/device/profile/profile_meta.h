/* SPDX-License-Identifier: MIT */
/*
 * profile_meta: what a profile says about itself (wire/sample_meta.h), gathered into blocks of the description.
 *
 * Rows are kept until a block is full or profile_meta_flush() is called, so a recorder that is killed loses at most
 * those of its last turn. What finds no room is counted, and when there is room again whoever knows is asked to say it again.
 */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_META_H
#define KISEKI_DEVICE_PROFILE_PROFILE_META_H

#include "device/agent/spool.h"
#include "wire/block_out.h"
#include "wire/sample_meta_encode.h"

#define PROFILE_META_PATH_MAX 2048U /* of a longer one the end is kept */

struct told_objects;

struct profile_meta {
	struct block_out *out; /* borrowed */
	/* Who else is told of mappings, and what he needs for it; NULL: nobody. */
	void (*tell)(struct told_objects *told, const struct sample_mapping *row);
	struct told_objects *told;
	uint64_t sequence;
	enum meta_item open; /* rows of this item are being put; 0: of none */
	uint8_t *body, *p;   /* of that item; the place behind everything */
	uint64_t missed;     /* blocks that had no room */
	bool is_missing,
		is_back; /* the last one had none; or had some, and one before it had not */
	uint8_t room[BLOCK_HEADER_MAX + SPOOL_META_MOST];
};

void profile_meta_init(struct profile_meta *m, struct block_out *out);

/* Whole items, from `begin` on; SPOOL_META_MOST bytes are there. */
uint8_t *profile_meta_begin(struct profile_meta *m);
void profile_meta_end(struct profile_meta *m, uint8_t *behind);

void profile_meta_put_mapping(struct profile_meta *m, const struct sample_mapping *row);
/* The same, of a row that is encoded already. */
void profile_meta_put_encoded(struct profile_meta *m, const uint8_t *row, uint32_t len);
void profile_meta_put_life(struct profile_meta *m, const struct sample_life_row *row);
void profile_meta_put_kernel_name(struct profile_meta *m, const struct sample_kernel_name *row);

void profile_meta_put_pace(struct profile_meta *m, const struct sample_pace_row *row);

/* True once, when there is room again after some had none. */
bool profile_meta_take_back(struct profile_meta *m);

/* Puts what is there. */
void profile_meta_flush(struct profile_meta *m);

#endif
