/* SPDX-License-Identifier: MIT */
/*
 * boot_lane: see boot_lane.h; the counts are those of docs/format/wire.md, section 3.3.
 *
 * While a block is open no loss can come in: it ends the block, because a header tells what is missing before
 * its first record.
 */
#include "device/boot/boot_lane.h"

#include <errno.h>

#include "base/clock.h"
#include "wire/block.h"

#define ORIGIN "boot"

static uint8_t *payload_of(struct boot_lane *l)
{
	return l->room + BLOCK_HEADER_MAX;
}

static bool has_known(const struct boot_lane *l)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (l->pending[i])
			return true;
	return false;
}

static int put_block(struct boot_lane *l, struct block *b, uint64_t until)
{
	uint64_t told = block_told(b), all = told + b->events;
	struct spool_entry entry = { .kind = FRAME_BLOCK, .run = l->run };
	int r;

	b->codec = CODEC_BOOT;
	b->stream = STREAM_BOOT;
	b->sequence = l->next_sequence;
	b->before = l->count + told;
	b->ticks = until - (b->flags & BLOCK_KEY ? b->first_tick : l->until);
	entry.bytes = block_encode(b, payload_of(l), &entry.len);
	entry.stream = b->stream;
	entry.sequence = b->sequence;
	entry.key = b->flags & BLOCK_KEY;
	entry.events = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
	r = spool_put(l->spool, &entry, 0, NULL);
	if (r < 0)
		return r;
	l->next_sequence++;
	l->count = b->before + b->events;
	l->until = until;
	l->segment_bytes = (entry.key ? 0 : l->segment_bytes) + b->payload_len;
	l->is_key = false;
	l->blocks++;
	l->bytes += entry.len;
	return 0;
}

/* A block without records, only to tell: known numbers, or those that nobody knows. A key block makes the
 * model new, so the next one must be one again. */
static int put_losses(struct boot_lane *l, bool known)
{
	bool is_key = l->is_key;
	struct block b = { .flags = is_key ? BLOCK_KEY : 0, .first_tick = l->until };
	uint32_t i;
	int r;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (known)
			b.lost[i] = l->pending[i];
		else if (l->unknown & 1U << i)
			b.lost[i] = LOSS_UNKNOWN;
	}
	if (is_key) {
		boot_encoder_init(&l->encoder);
		boot_encoder_begin(&l->encoder, payload_of(l), BOOT_LANE_ROOM, l->until);
		b.payload_len = boot_encoder_end(&l->encoder);
	}
	r = put_block(l, &b, l->until);
	if (r < 0)
		return r;
	l->is_key = is_key;
	if (known)
		memset(l->pending, 0, sizeof(l->pending));
	else
		l->unknown = 0;
	return 0;
}

static void lose(struct boot_lane *l, enum loss_cause cause, uint64_t count)
{
	if (count == LOSS_UNKNOWN) {
		l->unknown |= 1U << cause;
		return;
	}
	l->pending[cause] += count;
	l->lost[cause] += count;
}

static void end_block(struct boot_lane *l)
{
	struct block b = { .flags = l->is_key ? BLOCK_KEY : 0, .first_tick = l->first_tick };
	uint32_t i;

	if (!l->is_open)
		return;
	l->is_open = false;
	b.events = l->encoder.events;
	b.payload_len = boot_encoder_end(&l->encoder);
	for (i = 0; i < LOSS_CAUSES; i++)
		b.lost[i] = l->unknown & 1U << i ? LOSS_UNKNOWN : l->pending[i];
	if (!put_block(l, &b, l->block_until)) {
		memset(l->pending, 0, sizeof(l->pending));
		l->unknown = 0;
		return;
	}
	/* The decoder will never see what the encoder has learned here. */
	lose(l, LOSS_SPOOL, b.events);
	l->is_key = l->is_broken = true;
}

static bool has_room(const struct boot_lane *l)
{
	return spool_has_room(l->spool, BLOCK_HEADER_MAX + BOOT_LANE_ROOM);
}

static bool begin_block(struct boot_lane *l, uint64_t tick)
{
	if (l->is_broken || !has_room(l) || (l->unknown && has_known(l) && put_losses(l, true))) {
		l->is_broken = l->is_key = true;
		return false;
	}
	if (l->is_key)
		boot_encoder_init(&l->encoder);
	boot_encoder_begin(&l->encoder, payload_of(l), BOOT_LANE_ROOM, tick);
	l->first_tick = tick;
	l->block_until = l->until > tick || !l->is_key ? l->until : tick;
	l->since_ms = l->now_ms;
	l->is_open = true;
	return true;
}

static void put_record(struct record_sink *s, const struct boot_event *ev)
{
	struct boot_lane *l = (struct boot_lane *)s;
	enum wire_status status = WIRE_FULL;
	int tries;

	if (!l->is_on)
		return;
	for (tries = 0; tries < 2 && status == WIRE_FULL; tries++) {
		if (!l->is_open && !begin_block(l, ev->tick))
			break;
		status = boot_encode(&l->encoder, ev);
		if (status == WIRE_FULL)
			end_block(l);
	}
	if (status != WIRE_OK) {
		lose(l, LOSS_SPOOL, 1);
		return;
	}
	if (ev->tick > l->block_until)
		l->block_until = ev->tick;
	if (l->encoder.rc.pos >= BOOT_LANE_BLOCK || l->encoder.events == BLOCK_EVENTS_MAX)
		end_block(l);
}

static void take_loss(struct record_sink *s, enum loss_cause cause, uint64_t count)
{
	struct boot_lane *l = (struct boot_lane *)s;

	if (!count || !l->is_on)
		return;
	end_block(l);
	lose(l, cause, count);
}

void boot_lane_init(struct boot_lane *l, struct spool *spool, const char *device)
{
	memset(l, 0, sizeof(*l));
	l->sink.put = put_record;
	l->sink.lose = take_loss;
	l->spool = spool;
	l->meta.spool = spool;
	l->meta.device = device;
	l->meta.kind = SPOOL_BESIDE;
}

int boot_lane_describe(struct boot_lane *l, uint32_t cpus)
{
	uint8_t *p = run_meta_begin(&l->meta);

	p = run_meta_put_machine(&l->meta, p, ORIGIN, cpus);
	p = meta_put_clock(p, &l->clock);
	return run_meta_put(&l->meta, run_meta_put_agent(p), true);
}

int boot_lane_start(struct boot_lane *l, uint32_t cpus, struct error *e)
{
	struct spool_run run = { .kind = SPOOL_BESIDE };
	int r = run_meta_draw(&run.id, e);

	if (!r)
		r = spool_start_run(l->spool, &run, e);
	if (r < 0)
		return r;
	l->run = l->meta.run = run.number;
	l->clock = run_meta_get_clock(0);
	r = boot_lane_describe(l, cpus);
	if (r < 0)
		return error_set(e, -r, "cannot begin a boot chart: the spool is full");
	spool_set_described(l->spool, SPOOL_BESIDE);
	l->is_on = l->is_key = true;
	l->is_broken = true;
	l->now_ms = l->since_ms = clock_mono_ms();
	return 0;
}

int boot_lane_wants_all(struct boot_lane *l)
{
	if (!l->is_on)
		return 0;
	if (!l->is_broken && l->segment_bytes < BOOT_LANE_SEGMENT)
		return 0;
	end_block(l);
	if (!has_room(l))
		return -ENOSPC;
	l->is_broken = false;
	l->is_key = true;
	l->segment_bytes = 0;
	return 1;
}

void boot_lane_flush(struct boot_lane *l, uint64_t now_ms, bool must)
{
	l->now_ms = now_ms;
	if (l->is_open && (must || now_ms - l->since_ms >= BOOT_LANE_FLUSH_MS))
		end_block(l);
}

static int put_end(struct boot_lane *l)
{
	uint8_t bytes[3 * SPOOL_END_ROW];
	struct message_end m = { .n_rows = 2 };
	struct message_stream_end row = { .stream = STREAM_META };
	struct spool_entry entry = { .kind = FRAME_RUN_END, .run = l->run, .bytes = bytes };
	struct checkpoint meta;
	struct byte_writer w;

	spool_get_checkpoint(l->spool, SPOOL_BESIDE_META, &meta);
	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	row.next_sequence = meta.next_sequence;
	end_put(&w, &row);
	row.stream = STREAM_BOOT;
	row.next_sequence = l->next_sequence;
	row.events = l->count;
	end_put(&w, &row);
	entry.len = (uint32_t)writer_len(&w);
	return spool_put(l->spool, &entry, SPOOL_BESIDE_META, NULL);
}

int boot_lane_stop(struct boot_lane *l, struct error *e)
{
	int r = 0;

	if (!l->is_on)
		return 0;
	end_block(l);
	if (has_known(l))
		r = put_losses(l, true);
	if (!r && l->unknown)
		r = put_losses(l, false);
	if (!r)
		r = put_end(l);
	l->is_on = false;
	return r < 0 ? error_set(e, -r, "cannot end the boot chart: the spool is full") : 0;
}

uint64_t boot_lane_count(const struct boot_lane *l)
{
	uint64_t n = l->count + (l->is_open ? l->encoder.events : 0);
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		n += l->pending[i];
	return n;
}
