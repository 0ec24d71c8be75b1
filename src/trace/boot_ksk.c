/* SPDX-License-Identifier: MIT */
/*
 * boot_ksk: see boot_ksk.h.
 *
 * Losses found in front of a record wait, with that record, until they are taken one by one: its text lies in
 * the decoder, which does not move meanwhile.
 */
#include "trace/boot_ksk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_reader.h"
#include "trace/description_check.h"
#include "trace/info_meta.h"
#include "trace/stream_ledger.h"
#include "wire/boot_decode.h"

struct boot_ksk {
	struct boot_source source;
	struct block_reader *reader;
	struct ksk_file *file; /* the reader, if it is one */
	struct stream_ledger ledger;
	bool foreign;	     /* the segment is of another codec */
	uint64_t first_tick; /* of its key block */
	uint32_t left;	     /* records of the block yet to decode */
	uint64_t last_tick;  /* of the last record given */

	struct trace_loss losses[LOSS_TALLY_ROWS];
	size_t n_losses, next_loss;
	struct boot_event event; /* behind the losses */
	bool has_event;

	struct boot_totals totals;
	struct boot_decoder decoder;
};

static void ksk_free(struct boot_source *s)
{
	struct boot_ksk *k = (struct boot_ksk *)s;

	k->reader->ops->free(k->reader);
	info_done(&s->info);
	free(k);
}

static void rewind_stream(struct boot_ksk *k)
{
	stream_ledger_init(&k->ledger, k->reader, STREAM_BOOT, 0);
	k->left = 0;
	k->last_tick = 0;
	k->n_losses = k->next_loss = 0;
	k->has_event = false;
	k->foreign = false;
	memset(&k->totals, 0, sizeof(k->totals));
}

static int ksk_rewind(struct boot_source *s, struct error *e)
{
	(void)e;
	rewind_stream((struct boot_ksk *)s);
	return 0;
}

static void give_up(struct boot_ksk *k)
{
	stream_ledger_give_up(&k->ledger, k->left);
	k->left = 0;
}

static void take_block(struct boot_ksk *k, const struct block *b, uint64_t at)
{
	bool sound = stream_ledger_take(&k->ledger, b, at);

	k->totals.blocks = k->ledger.blocks;
	k->totals.segments = k->ledger.segments;
	k->totals.bytes = k->ledger.bytes;
	if (!sound)
		return;
	if (b->flags & BLOCK_KEY) {
		k->first_tick = b->first_tick;
		k->foreign = b->codec != CODEC_BOOT;
		boot_decoder_init(&k->decoder);
	}
	k->left = b->events;
	if (!k->left)
		return;
	/* It cannot lean on what another codec learned. */
	if (k->foreign || b->codec != CODEC_BOOT ||
	    boot_decoder_begin(&k->decoder, b->payload, b->payload_len, k->first_tick) != WIRE_OK)
		give_up(k);
}

/* What was found missing lies between the last record given and this tick. */
static void take_losses(struct boot_ksk *k, uint64_t to_tick)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		loss_tally_add(&k->totals.lost, i, k->ledger.tally.lost[i]);
		if (k->ledger.tally.some[i])
			loss_tally_add(&k->totals.lost, i, LOSS_UNKNOWN);
	}
	k->n_losses = loss_tally_take(&k->ledger.tally, k->last_tick, to_tick, k->losses);
	k->next_loss = 0;
}

static void decode(struct boot_ksk *k)
{
	struct boot_totals *t = &k->totals;

	if (boot_decode(&k->decoder, &k->event) != WIRE_OK) {
		give_up(k);
		return;
	}
	k->left--;
	k->has_event = true;
	if (!t->events++ || k->event.tick < t->first_tick)
		t->first_tick = k->event.tick;
	if (k->event.tick > t->last_tick)
		t->last_tick = k->event.tick;
	take_losses(k, k->event.tick);
	k->last_tick = k->event.tick;
}

/* What is ready: losses first, then the record behind them. */
static bool pop(struct boot_ksk *k, struct boot_item *ret)
{
	if (k->next_loss < k->n_losses) {
		ret->type = ITEM_LOSS;
		ret->loss = k->losses[k->next_loss++];
		return true;
	}
	if (!k->has_event)
		return false;
	ret->type = ITEM_EVENT;
	ret->event = k->event;
	k->has_event = false;
	return true;
}

static int ksk_next(struct boot_source *s, struct boot_item *ret, struct error *e)
{
	struct boot_ksk *k = (struct boot_ksk *)s;
	struct block b;
	uint64_t at;
	bool ended;
	int got;

	memset(ret, 0, sizeof(*ret));
	while (!pop(k, ret)) {
		if (k->left) {
			decode(k);
			continue;
		}
		got = stream_ledger_next(&k->ledger, UINT64_MAX, &b, &at);
		if (got < 0)
			return error_set(e, got, "cannot decode: %s", strerror(-got));
		if (got == 1) {
			take_block(k, &b, at);
			continue;
		}
		/* Of a run that goes on the end is not accounted for, but what was told is. */
		ended = stream_ledger_finish(&k->ledger);
		take_losses(k, k->ledger.until);
		if (!ended && !k->n_losses)
			return 0;
	}
	return 1;
}

static const struct boot_source_ops ksk_ops = {
	.next = ksk_next,
	.rewind = ksk_rewind,
	.free = ksk_free,
};

bool boot_ksk_has_boot(struct block_reader *r)
{
	struct block_stream about;

	return r->ops->stream(r, STREAM_BOOT, &about);
}

/* All descriptions, wherever they are. */
static int read_meta(struct boot_ksk *k, struct error *e)
{
	struct block b;
	uint64_t place = 0, at;
	int r;

	while ((r = k->reader->ops->next(k->reader, STREAM_META, &place, &b, &at)) == 1) {
		if (b.codec != CODEC_META || !b.payload)
			continue; /* torn: that is in the list of damage */
		r = info_decode(&k->source.info, NULL, b.payload, b.payload_len);
		if (r < 0) {
			description_explain(b.payload, b.payload_len, r, e);
			return error_prefix(e, r, "metadata at offset %llu",
					    (unsigned long long)at);
		}
	}
	return r < 0 ? error_set(e, r, "%s", strerror(-r)) : 0;
}

/* Takes the reader, also when it fails. */
static int open_source(struct block_reader *reader, struct ksk_file *file, struct boot_source **ret,
		       struct error *e)
{
	struct boot_ksk *k = calloc(1, sizeof(*k));
	int r;

	if (!k || info_init(&k->source.info) < 0) {
		free(k);
		reader->ops->free(reader);
		return error_set(e, ENOMEM, "out of memory");
	}
	k->source.ops = &ksk_ops;
	k->reader = reader;
	k->file = file;
	k->source.is_cut = file && !file->indexed;
	r = boot_ksk_has_boot(reader) ? 0 : error_set(e, ENODATA, "it holds no boot chart");
	if (r == 0)
		r = read_meta(k, e);
	if (r < 0) {
		ksk_free(&k->source);
		return r;
	}
	rewind_stream(k);
	*ret = &k->source;
	return 0;
}

int boot_ksk_open(const char *path, struct boot_source **ret, struct error *e)
{
	struct ksk_file *file;
	struct error reason = ERROR_INIT;
	int r = ksk_file_open(&file, path, e);

	if (r < 0)
		return r;
	r = open_source(&file->reader, file, ret, &reason);
	return r < 0 ? error_set(e, r, "cannot read %s: %s", path, reason.text) : 0;
}

int boot_ksk_open_memory(const uint8_t *data, size_t len, struct boot_source **ret, struct error *e)
{
	struct ksk_file *file;
	int r = ksk_file_open_memory(&file, data, len, e);

	return r < 0 ? r : open_source(&file->reader, file, ret, e);
}

int boot_ksk_open_run(struct store *s, uint32_t run, struct boot_source **ret, struct error *e)
{
	const struct store_range range = { .to_tick = UINT64_MAX };
	struct error reason = ERROR_INIT;
	struct block_reader *reader;
	struct store_clock clock;
	struct store_run about;
	int r = store_get_run(s, run, &about, e);

	if (r == 0)
		r = store_reader_open(&reader, s, run, &range, e);
	if (r < 0)
		return r;
	r = open_source(reader, NULL, ret, &reason);
	if (r < 0)
		return error_set(e, r, "cannot read run %u: %s", run, reason.text);
	(*ret)->is_cut = !about.ended;
	if (store_get_clock(s, run, &clock) == 0)
		clock_set_measured(&(*ret)->info.clock, clock.off_ns, clock.err_ns);
	return 0;
}

const struct boot_totals *boot_ksk_totals(const struct boot_source *s)
{
	return &((const struct boot_ksk *)s)->totals;
}

struct ksk_file *boot_ksk_file(const struct boot_source *s)
{
	return ((const struct boot_ksk *)s)->file;
}
