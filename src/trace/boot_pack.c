/* SPDX-License-Identifier: MIT */
/*
 * boot_pack: see boot_pack.h.
 *
 * Losses close the block at hand and go into the header of the next one; those at the very end get an empty
 * block.
 */
#include "trace/boot_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/info_meta.h"
#include "wire/boot_encode.h"

#define DEFAULT_BLOCK_BYTES (32U * 1024)
#define BLOCK_ROOM (DEFAULT_BLOCK_BYTES + BOOT_BLOCK_LEAST)
#define META_ROOM (64U * 1024)

struct packer {
	struct ksk_writer *writer;
	struct boot_packing *packing;
	uint32_t block_bytes;
	bool open;
	bool key;	       /* the open block starts a segment */
	uint32_t segment_used; /* bytes */
	uint64_t sequence;
	uint64_t total;	     /* records so far, encoded or counted as lost */
	uint64_t until;	     /* the header's time: where the last block ended */
	uint64_t first_tick; /* of the open block */
	uint64_t max_tick;
	uint64_t lost[LOSS_CAUSES];
	uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_ROOM];
	struct boot_encoder encoder;
};

static int put_block(struct packer *p, struct block *b, uint8_t *payload, struct error *e)
{
	uint32_t len;
	uint8_t *start = block_encode(b, payload, &len);

	p->packing->bytes += b->codec == CODEC_BOOT ? len : 0;
	return ksk_writer_put(p->writer, b, start, len, e);
}

static int put_info(struct packer *p, const struct trace_info *info, struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + META_ROOM);
	struct block b = { .codec = CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_META,
			   .sequence = p->packing->meta_sequence++ };

	if (!buffer)
		return error_set(e, ENOMEM, "out of memory");
	b.payload_len = (uint32_t)info_encode(info, buffer + BLOCK_HEADER_MAX, META_ROOM);
	return put_block(p, &b, buffer + BLOCK_HEADER_MAX, e);
}

static void open_block(struct packer *p, uint64_t tick)
{
	p->key = !p->sequence ||
		 (p->packing->segment_bytes && p->segment_used >= p->packing->segment_bytes);
	if (p->key) {
		p->until = p->until > tick ? p->until : tick;
		p->segment_used = 0;
		boot_encoder_init(&p->encoder);
	}
	boot_encoder_begin(&p->encoder, p->buffer + BLOCK_HEADER_MAX, BLOCK_ROOM, tick);
	p->first_tick = tick;
	p->max_tick = tick;
	p->open = true;
}

static int close_block(struct packer *p, struct error *e)
{
	struct block b = { .codec = CODEC_BOOT,
			   .flags = p->key ? BLOCK_KEY : 0,
			   .stream = STREAM_BOOT,
			   .sequence = p->sequence,
			   .first_tick = p->first_tick,
			   .events = p->encoder.events };
	uint64_t until = p->until > p->max_tick ? p->until : p->max_tick;

	if (!p->open)
		return 0;
	b.payload_len = boot_encoder_end(&p->encoder);
	b.ticks = until - (p->key ? p->first_tick : p->until);
	memcpy(b.lost, p->lost, sizeof(b.lost));
	memset(p->lost, 0, sizeof(p->lost));
	b.before = p->total + block_told(&b);
	p->total = b.before + b.events;
	p->until = until;
	p->segment_used += b.payload_len;
	p->sequence++;
	p->open = false;
	return put_block(p, &b, p->buffer + BLOCK_HEADER_MAX, e);
}

static int put_event(struct packer *p, const struct boot_event *ev, struct error *e)
{
	enum wire_status status = WIRE_FULL;
	int r = 0, tries;

	if (p->open && p->encoder.rc.pos >= p->block_bytes)
		r = close_block(p, e);
	for (tries = 0; r == 0 && status == WIRE_FULL && tries < 2; tries++) {
		if (!p->open)
			open_block(p, ev->tick);
		status = boot_encode(&p->encoder, ev);
		if (status == WIRE_FULL)
			r = close_block(p, e);
	}
	if (r < 0)
		return r;
	if (status != WIRE_OK)
		return error_set(e, EMSGSIZE, "a record of kind %u does not fit into a block",
				 ev->kind);
	p->packing->events++;
	p->max_tick = ev->tick > p->max_tick ? ev->tick : p->max_tick;
	return 0;
}

static int put_loss(struct packer *p, const struct trace_loss *loss, struct error *e)
{
	uint64_t *sum;
	int r;

	if (loss->cause >= LOSS_CAUSES || !loss->count)
		return 0;
	sum = &p->lost[loss->cause];
	r = close_block(p, e);
	/* A header has one count of a cause: an unknown one beside it needs a block of its own. */
	if (r == 0 && *sum && *sum != loss->count &&
	    (*sum == LOSS_UNKNOWN || loss->count > LOSS_UNKNOWN - 1 - *sum)) {
		open_block(p, p->until);
		r = close_block(p, e);
	}
	if (r == 0 && *sum != LOSS_UNKNOWN)
		*sum += loss->count;
	return r;
}

static int put_items(struct packer *p, struct boot_source *s, struct error *e)
{
	struct boot_item item;
	uint32_t i;
	int r;

	while ((r = s->ops->next(s, &item, e)) == 1) {
		r = item.type == ITEM_EVENT ? put_event(p, &item.event, e)
					    : put_loss(p, &item.loss, e);
		if (r < 0)
			return r;
	}
	for (i = 0; r == 0 && i < LOSS_CAUSES && !p->open; i++)
		if (p->lost[i])
			open_block(p, p->until);
	/* A boot without a record is one, too. */
	if (r == 0 && !p->open && !p->sequence)
		open_block(p, 0);
	return r < 0 ? r : close_block(p, e);
}

int boot_pack(struct ksk_writer *w, struct boot_source *s, struct boot_packing *p, struct error *e)
{
	_cleanup_free_ struct packer *packer = calloc(1, sizeof(*packer));
	int r;

	if (!packer)
		return error_set(e, ENOMEM, "out of memory");
	packer->writer = w;
	packer->packing = p;
	packer->block_bytes = p->block_bytes ? p->block_bytes : DEFAULT_BLOCK_BYTES;
	r = put_info(packer, &s->info, e);
	if (r == 0)
		r = put_items(packer, s, e);
	return r < 0 ? r : put_info(packer, &s->info, e);
}

int boot_pack_file(const char *path, struct boot_source *s, struct boot_packing *p, struct error *e)
{
	CLEANUP(ksk_writer) struct ksk_writer *w = NULL;
	int r = ksk_writer_open(&w, path, e);

	if (r == 0)
		r = boot_pack(w, s, p, e);
	return r < 0 ? r : ksk_writer_commit(w, e);
}
