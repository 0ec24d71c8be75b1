/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lane: see lane.h.
 *
 * A block is begun only for an event that will be in it, so it never ends empty, and never while
 * there is none. An event is lost only when no block can be begun, hence when none is open: a header's
 * counts are those that were pending when its block was begun, and what they mean is "before its
 * first event". Only the header of a KEY block has the tick of that: before another, a block without events
 * tells the losses, and ends at that tick (wire.md, 3.5). At every moment
 *
 *	events taken = count + pending + events of the open block
 *
 * A frame is made from its end: the payload first, then the block's header right before it, then the
 * head of the frame. How much room the two may need is known when the block is begun, but for the
 * three numbers that depend on what it will hold.
 */
#include "device/driver/core/lane.h"

#include "device/driver/core/atomics.h"
#include "wire/frame.h"

#define BLOCK_FIXED 8U /* magic, version, flags, checksum */
#define TICKS_LEN 10U
#define EVENTS_LEN 4U	  /* BLOCK_EVENTS_MAX */
#define PAYLOAD_LEN 3U	  /* BLOCK_PAYLOAD_MAX */
#define FRAME_HEAD_LEN 4U /* type, and the length of header and payload */
#define PIECE_LEAST 1024U /* payload that is worth a block at the end of the memory */
#define LAST_ROOM 128U	  /* kept for the block that tells what was lost last */
#define SECOND_NS 1000000000U

static void begin_change(struct lane *l)
{
	WRITE_ONCE(l->version, l->version + 1);
	smp_wmb();
}

static void end_change(struct lane *l)
{
	smp_store_release(&l->version, l->version + 1);
}

static uint64_t sum_pending(const struct lane *l)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		sum += shared_read64(&l->pending[i]);
	return sum;
}

static uint32_t varint_len(uint64_t v)
{
	uint32_t len = 1;

	for (; v >= 0x80; v >>= 7)
		len++;
	return len;
}

/* The most that frame head and block header of the next block may take. A flight recorder learns only by
 * taking the room that its block must be a KEY. */
static uint32_t head_room(const struct lane *l, uint64_t first_tick)
{
	uint64_t told = sum_pending(l);
	uint32_t i, len = FRAME_HEAD_LEN + BLOCK_FIXED + TICKS_LEN + EVENTS_LEN + PAYLOAD_LEN;

	len += varint_len(STREAM_CPU(l->cpu)) + varint_len(l->sequence);
	if (l->is_key || l->settings.policy == POLICY_FLIGHT)
		len += varint_len(first_tick) + varint_len(l->count + told);
	if (!told)
		return len;
	for (i = 0; i < LOSS_CAUSES; i++)
		len += l->pending[i] ? varint_len(l->pending[i]) : 0;
	return len + 1;
}

/* Where the payload of a block goes that may have `least` to `most` bytes, with `head` before it; l->room
 * is what it may really have. NULL: there is no room. */
static uint8_t *reserve(struct lane *l, uint32_t head, uint32_t least, uint32_t most)
{
	uint32_t piece = block_ring_piece(&l->ring);
	bool fits = piece < head + most && piece >= head + least + PIECE_LEAST;
	uint32_t want = fits ? piece : head + most;
	bool flight = l->settings.policy == POLICY_FLIGHT;
	uint8_t *room;

	if (most && !flight && l->ring.size - block_ring_used(&l->ring) < want + LAST_ROOM)
		return NULL;
	room = block_ring_reserve(&l->ring, want, flight);

	if (l->ring.is_cut) {
		/* Blocks that the decoder needs for this segment are gone. */
		l->ring.is_cut = false;
		l->is_key = true;
	}
	if (!room)
		return NULL;
	l->room = l->ring.open_room - head;
	return room + head;
}

/* The header by the rules of wire.md, 3.3 and 3.4, and all of it to the consumer. */
static enum lane_wish put_block(struct lane *l, uint32_t events, uint32_t payload_len)
{
	struct block b = { .codec = l->settings.codec,
			   .flags = l->is_key ? BLOCK_KEY : 0,
			   .stream = STREAM_CPU(l->cpu),
			   .sequence = l->sequence,
			   .first_tick = l->first_tick,
			   .ticks = l->until - l->from,
			   .events = events,
			   .payload_len = payload_len };
	struct ring_entry entry = { .run = l->settings.run,
				    .sequence = l->sequence,
				    .key = l->is_key };
	uint32_t len, head_len, i, half = l->ring.size / 2, used = block_ring_used(&l->ring);
	uint8_t head[FRAME_HEAD_MAX], *start;

	memcpy(b.lost, l->pending, sizeof(b.lost));
	b.before = l->count + block_told(&b);
	start = block_encode_open(&b, l->payload, &len);
	head_len = frame_encode_head(head, FRAME_BLOCK, len);
	start -= head_len;
	memcpy(start, head, head_len);
	entry.len = head_len + len;
	block_ring_commit(&l->ring, start, &entry);

	l->sequence++;
	l->count = b.before + events;
	l->segment_bytes = (l->is_key ? 0 : l->segment_bytes) + payload_len;
	l->segment_blocks = (l->is_key ? 0 : l->segment_blocks) + 1;
	l->is_key =
		l->settings.codec == CODEC_BSF || l->segment_bytes >= l->segment_size ||
		(l->settings.policy == POLICY_FLIGHT && l->segment_blocks >= LANE_SEGMENT_BLOCKS);
	begin_change(l);
	WRITE_ONCE(l->payload, NULL);
	WRITE_ONCE(l->events, 0);
	for (i = 0; i < LOSS_CAUSES; i++)
		shared_write64(&l->pending[i], 0);
	l->lost_tick = 0;
	shared_write64(&l->counts.events, l->counts.events + events);
	shared_write64(&l->counts.blocks, l->counts.blocks + 1);
	shared_write64(&l->counts.bytes, l->counts.bytes + len);
	end_change(l);
	return used < half && block_ring_used(&l->ring) >= half ? LANE_WAKE : LANE_GO_ON;
}

static enum lane_wish end_block(struct lane *l)
{
	bool bsf = l->settings.codec == CODEC_BSF;

	if (!l->payload)
		return LANE_GO_ON;
	return put_block(l, l->events, bsf ? l->bsf_len : sched_encoder_end(&l->codec.sched));
}

static void begin_segment(struct lane *l)
{
	sched_encoder_init(&l->codec.sched, l->cpu);
	if (l->settings.hash)
		sched_encoder_set_hash(&l->codec.sched, l->settings.hash);
}

/* Is there room for a block, so that telling losses takes it from no event? */
static bool has_room(const struct lane *l)
{
	bool flight = l->settings.policy == POLICY_FLIGHT;
	uint32_t room = l->ring.size - (flight ? 0 : block_ring_used(&l->ring));

	return room >= l->settings.block_bytes + SCHED_EVENT_ROOM + 2 * BLOCK_HEADER_MAX;
}

/* A block without events, only to tell, until `tick`. The model of the codec is new if it is a KEY, and as it was
 * if not. */
static void put_losses(struct lane *l, uint64_t tick)
{
	uint8_t *payload = reserve(l, head_room(l, l->until), 0, 0);

	if (!payload)
		return;
	WRITE_ONCE(l->payload, payload);
	l->first_tick = l->from = l->until;
	if (tick > l->until)
		l->until = tick;
	if (l->is_key && l->settings.codec == CODEC_SCHED) {
		begin_segment(l);
		sched_encoder_begin(&l->codec.sched, l->payload, l->room, l->from);
	}
	put_block(l, 0, 0);
}

/* `stamp` is the tick as headers have it. */
static NOINLINE void lose(struct lane *l, uint64_t tick, uint64_t stamp)
{
	bool first = !sum_pending(l);

	begin_change(l);
	if (first)
		shared_write64(&l->since, tick);
	shared_write64(&l->pending[LOSS_BUFFER], l->pending[LOSS_BUFFER] + 1);
	shared_write64(&l->counts.lost[LOSS_BUFFER], l->counts.lost[LOSS_BUFFER] + 1);
	shared_write64(&l->counts.events, l->counts.events + 1);
	end_change(l);
	if (stamp > l->lost_tick)
		l->lost_tick = stamp;
}

static uint64_t add_ticks(uint64_t tick, uint64_t more)
{
	return tick <= UINT64_MAX - more ? tick + more : UINT64_MAX;
}

/* `tick` is that of the first event, `stamp` the same as the block's header has it. */
static void begin_block(struct lane *l, uint8_t *payload, uint64_t tick, uint64_t stamp)
{
	uint64_t flush = l->settings.flush_ticks;

	l->first_tick = stamp;
	l->from = l->is_key ? stamp : l->until;
	l->deadline = add_ticks(tick, flush);
	l->late = add_ticks(l->deadline, flush / 2);
	begin_change(l);
	WRITE_ONCE(l->payload, payload);
	shared_write64(&l->since, tick);
	end_change(l);
}

/* Ends the block, begins one that has room for this event, and puts it there. */
static NOINLINE enum lane_wish take_anew(struct lane *l, const struct sched_event *ev)
{
	uint32_t least = SCHED_EVENT_ROOM + ev->filename_len;
	uint32_t most = l->settings.block_bytes + SCHED_EVENT_ROOM;
	enum lane_wish wish = end_block(l);
	uint8_t *payload;

	if (sum_pending(l) && !l->is_key && has_room(l))
		put_losses(l, ev->tick > l->lost_tick ? ev->tick : l->lost_tick);
	payload = reserve(l, head_room(l, ev->tick), least, most < least ? least : most);
	if (!payload) {
		lose(l, ev->tick, ev->tick);
		return wish;
	}
	begin_block(l, payload, ev->tick, ev->tick);
	if (l->is_key)
		begin_segment(l);
	sched_encoder_begin(&l->codec.sched, l->payload, l->room, ev->tick);
	sched_encode(&l->codec.sched, ev);
	return wish;
}

/* The same for a record of bsf. */
static NOINLINE enum lane_wish take_record(struct lane *l, const struct bsf_record *r,
					   uint64_t tick)
{
	uint64_t stamp = r->secs * SECOND_NS + (uint64_t)r->usec_rem * 1000;
	uint32_t most = l->settings.block_bytes + BSF_RECORD_MAX;
	enum lane_wish wish = end_block(l);
	uint8_t *payload = reserve(l, head_room(l, stamp), BSF_RECORD_MAX,
				   most < BSF_BLOCK_MAX ? most : BSF_BLOCK_MAX);

	if (!payload) {
		lose(l, tick, stamp);
		return wish;
	}
	begin_block(l, payload, tick, stamp);
	if (l->room > BSF_BLOCK_MAX)
		l->room = BSF_BLOCK_MAX;
	bsf_encoder_init(&l->codec.bsf.encoder);
	l->bsf_len = (uint32_t)bsf_encode(&l->codec.bsf.encoder, l->payload, l->room, r);
	return wish;
}

/* A block is full, or late. */
static NOINLINE enum lane_wish end_or_wait(struct lane *l, uint64_t tick, uint32_t len)
{
	if (len < l->settings.block_bytes && tick < l->late && l->events < LANE_FEW) {
		l->deadline = l->late;
		return LANE_GO_ON;
	}
	return end_block(l);
}

/* What an event that was put means for its block: it may have been the last one. */
static inline enum lane_wish follow(struct lane *l, uint64_t tick, uint64_t stamp, uint32_t len)
{
	WRITE_ONCE(l->events, l->events + 1);
	if (stamp > l->until)
		l->until = stamp;
	if (len >= l->settings.block_bytes || tick >= l->deadline || l->events == BLOCK_EVENTS_MAX)
		return end_or_wait(l, tick, len);
	return LANE_GO_ON;
}

/* tick * mult >> shift, with 96 bits in between. */
static uint64_t to_ns(const struct lane_settings *s, uint64_t tick)
{
	uint64_t low = (tick & UINT32_MAX) * s->mult;
	uint64_t high = (tick >> 32) * s->mult + (low >> 32);

	if (s->shift >= 32)
		return high >> (s->shift - 32);
	return high << (32 - s->shift) | (low & UINT32_MAX) >> s->shift;
}

static enum lane_wish take_bsf(struct lane *l, const struct sched_event *ev)
{
	uint64_t ns = to_ns(&l->settings, ev->tick) + (uint64_t)(int64_t)ev->tick_off_ns;
	enum lane_wish wish = LANE_GO_ON;
	struct bsf_record r;
	uint32_t len = 0;

	if (!bsf_from_event(&l->codec.bsf.context, ev, ns, &r) || !bsf_record_valid(&r)) {
		lane_pass(l);
		return LANE_GO_ON;
	}
	if (l->payload)
		len = (uint32_t)bsf_encode(&l->codec.bsf.encoder, l->payload + l->bsf_len,
					   l->room - l->bsf_len, &r);
	l->bsf_len += len;
	if (!len)
		wish = take_record(l, &r, ev->tick);
	if (!l->payload)
		return wish;
	if (follow(l, ev->tick, r.secs * SECOND_NS + (uint64_t)r.usec_rem * 1000, l->bsf_len))
		wish = LANE_WAKE;
	return wish;
}

enum lane_wish lane_take(struct lane *l, const struct sched_event *ev)
{
	enum lane_wish wish = LANE_GO_ON;

	if (l->settings.codec == CODEC_BSF)
		return take_bsf(l, ev);
	if (!l->payload || sched_encode(&l->codec.sched, ev) != WIRE_OK) {
		wish = take_anew(l, ev);
		if (!l->payload)
			return wish;
	}
	if (follow(l, ev->tick, ev->tick, l->codec.sched.rc.pos))
		wish = LANE_WAKE;
	return wish;
}

static NOINLINE void fold_passed(struct lane *l)
{
	begin_change(l);
	shared_write64(&l->counts.passed_over, l->counts.passed_over + l->passed);
	WRITE_ONCE(l->passed, 0);
	end_change(l);
}

void lane_pass(struct lane *l)
{
	if (l->passed == UINT32_MAX)
		fold_passed(l);
	WRITE_ONCE(l->passed, l->passed + 1);
}

void lane_flush(struct lane *l)
{
	if (l->payload)
		end_block(l);
	else if (sum_pending(l))
		put_losses(l, l->lost_tick);
}

bool lane_is_due(const struct lane *l, uint64_t tick, uint64_t few_tick)
{
	uint32_t version = smp_load_acquire(&l->version);
	bool is_open = READ_ONCE(l->payload);
	bool has_few = is_open && READ_ONCE(l->events) < LANE_FEW;
	uint64_t since = shared_read64(&l->since), pending = sum_pending(l);

	smp_rmb();
	if (version & 1 || READ_ONCE(l->version) != version)
		return false; /* it is at work */
	return since < (has_few ? few_tick : tick) && (is_open || (pending && has_room(l)));
}

void lane_seal(struct ring_entry *e)
{
	struct frame f;

	if (frame_decode(e->bytes, e->len, &f) == WIRE_OK)
		block_seal(e->bytes + (f.len - f.body_len), f.body_len);
}

void lane_get_end(const struct lane *l, struct message_stream_end *ret)
{
	ret->stream = STREAM_CPU(l->cpu);
	ret->next_sequence = l->sequence;
	ret->events = l->count + l->events + sum_pending(l);
}

void lane_get_counts(const struct lane *l, struct lane_counts *ret)
{
	uint32_t version, i;

	do {
		version = smp_load_acquire(&l->version);
		ret->events = shared_read64(&l->counts.events) + READ_ONCE(l->events);
		ret->passed_over = shared_read64(&l->counts.passed_over) + READ_ONCE(l->passed);
		for (i = 0; i < LOSS_CAUSES; i++)
			ret->lost[i] = shared_read64(&l->counts.lost[i]);
		ret->blocks = shared_read64(&l->counts.blocks);
		ret->bytes = shared_read64(&l->counts.bytes);
		smp_rmb();
	} while (version & 1 || READ_ONCE(l->version) != version);
}

void lane_init(struct lane *l, uint32_t cpu, uint8_t *memory, uint32_t size)
{
	memset(l, 0, sizeof(*l));
	l->cpu = cpu;
	block_ring_init(&l->ring, memory, size);
}

/* A flight recorder drops whole segments: were they as large as its memory, nothing would be left. */
static uint32_t choose_segment(const struct lane *l)
{
	uint32_t share = l->ring.size / 4;

	return l->settings.policy == POLICY_FLIGHT && share < LANE_SEGMENT ? share : LANE_SEGMENT;
}

static void clear_shared(struct lane *l)
{
	uint32_t i;

	begin_change(l);
	WRITE_ONCE(l->payload, NULL);
	WRITE_ONCE(l->events, 0);
	WRITE_ONCE(l->passed, 0);
	shared_write64(&l->since, 0);
	shared_write64(&l->counts.events, 0);
	shared_write64(&l->counts.passed_over, 0);
	shared_write64(&l->counts.blocks, 0);
	shared_write64(&l->counts.bytes, 0);
	for (i = 0; i < LOSS_CAUSES; i++) {
		shared_write64(&l->pending[i], 0);
		shared_write64(&l->counts.lost[i], 0);
	}
	end_change(l);
}

void lane_start(struct lane *l, const struct lane_settings *s)
{
	uint32_t most = l->ring.size / 8 < CONFIG_BLOCK_MOST ? l->ring.size / 8 : CONFIG_BLOCK_MOST;

	block_ring_give_up(&l->ring);
	l->settings = *s;
	if (l->settings.block_bytes > most)
		l->settings.block_bytes = most;
	l->segment_size = choose_segment(l);
	l->segment_bytes = l->segment_blocks = 0;
	l->sequence = l->count = l->until = l->lost_tick = 0;
	l->is_key = true;
	if (s->codec == CODEC_BSF)
		bsf_context_init(&l->codec.bsf.context, s->dialect, l->cpu);
	clear_shared(l);
}
