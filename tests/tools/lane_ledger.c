/* SPDX-License-Identifier: MIT */
/* lane_ledger: see lane_ledger.h. */
#include "tools/lane_ledger.h"

#include "wire/frame.h"

static void blame(struct lane_ledger *l, const char *why)
{
	if (l->wrong)
		return;
	l->wrong = why;
	l->wrong_sequence = l->next_sequence;
}

void lane_ledger_init(struct lane_ledger *l, const struct lane *lane)
{
	memset(l, 0, offsetof(struct lane_ledger, entries));
	l->settings = lane->settings;
	l->cpu = lane->cpu;
	l->scale = 1;
	l->is_broken = true;
	bsf_log_init(&l->log, l->entries, BSF_BLOCK_RECORDS_MAX);
	if (l->settings.codec == CODEC_BSF)
		bsf_context_init(&l->bsf, l->settings.dialect, l->cpu);
}

static void see_tick(struct lane_ledger *l, uint64_t *latest, uint64_t tick)
{
	if (tick > *latest)
		*latest = tick;
	l->found++;
}

static void read_sched(struct lane_ledger *l, const struct block *b, uint64_t *latest)
{
	const struct sched_event *given;
	struct sched_event ev;
	uint32_t i;

	if (b->flags & BLOCK_KEY)
		sched_decoder_init(&l->sched, l->cpu);
	sched_decoder_begin(&l->sched, b->payload, b->payload_len, b->first_tick);
	for (i = 0; i < b->events; i++) {
		given = l->get(l->context, l->seen + i);
		if (sched_decode(&l->sched, &ev) != WIRE_OK || !given ||
		    !sched_event_equal(given, &ev)) {
			blame(l, "an event is not what the lane was given");
			return;
		}
		if (i == 0 && b->flags & BLOCK_KEY && ev.tick != b->first_tick)
			blame(l, "first_tick is not that of the first event");
		see_tick(l, latest, ev.tick);
	}
	if (sched_decoder_end(&l->sched) != WIRE_OK)
		blame(l, "a payload does not end with its events");
}

/* Goes on to the given event that is the stream's number `index`; l->record is its record. */
static bool find_record(struct lane_ledger *l, uint64_t index)
{
	const struct sched_event *ev;
	uint64_t ns;

	while (l->held <= index) {
		ev = l->get(l->context, l->asked);
		if (!ev)
			return false;
		l->asked++;
		ns = ev->tick * l->scale + (uint64_t)(int64_t)ev->tick_off_ns;
		if (bsf_from_event(&l->bsf, ev, ns, &l->record) && bsf_record_valid(&l->record))
			l->held++;
		else
			l->passed++;
	}
	return true;
}

static bool same_record(const struct bsf_record *a, const struct bsf_record *b)
{
	return a->secs == b->secs && a->usec_rem == b->usec_rem && a->entry_pid == b->entry_pid &&
	       a->prev_pid == b->prev_pid && a->next_pid == b->next_pid && a->cpu == b->cpu &&
	       a->next_cpu == b->next_cpu && a->prev_prio == b->prev_prio &&
	       a->next_prio == b->next_prio && a->prev_state == b->prev_state &&
	       a->next_state == b->next_state && a->entry_type == b->entry_type &&
	       !memcmp(a->comm, b->comm, BSF_COMM_LEN);
}

static void read_bsf(struct lane_ledger *l, const struct block *b, uint64_t *latest)
{
	const struct bsf_record *r;
	uint64_t tick;
	uint32_t i;

	if (!(b->flags & BLOCK_KEY))
		blame(l, "a block of bsf is no KEY");
	if (bsf_decode(&l->log, b->payload, b->payload_len) != WIRE_OK ||
	    l->log.count != b->events) {
		blame(l, "a block of bsf does not decode");
		return;
	}
	for (i = 0; i < b->events; i++) {
		r = &l->log.first[i].rec;
		if (!find_record(l, l->seen + i) || !same_record(r, &l->record)) {
			blame(l, "a record is not that of the event");
			return;
		}
		tick = r->secs * 1000000000U + (uint64_t)r->usec_rem * 1000;
		if (i == 0 && tick != b->first_tick)
			blame(l, "first_tick is not that of the first record");
		see_tick(l, latest, tick);
	}
}

/* What is told to be lost, `first` on, against the ticks that the lane was given: a loss ends where the block's
 * first event lies, or, of a block without events, where that ends; and not behind the next event. */
static void check_loss_end(struct lane_ledger *l, const struct block *b, uint64_t first)
{
	bool is_key = b->flags & BLOCK_KEY;
	uint64_t end = (is_key ? b->first_tick : l->until) + (b->events ? 0 : b->ticks);
	uint64_t told = block_told(b), latest = l->until, i;
	const struct sched_event *ev;
	uint64_t lost = 0;

	if (!told || l->settings.codec != CODEC_SCHED || l->missing || l->gaps)
		return;
	if (b->events && !is_key)
		return; /* that a loss is told like this is only for want of room */
	for (i = 0; i < told; i++) {
		ev = l->get(l->context, first + i);
		if (!ev)
			blame(l, "more is lost than the lane was given");
		if (ev && ev->tick > lost)
			lost = ev->tick;
	}
	latest = lost > latest ? lost : latest;
	ev = l->get(l->context, first + told);
	/* Ticks may go back; the first event of a KEY block may lie before one that was lost. */
	if (lost > end && lost > l->until && !(b->events && ev && ev->tick < lost))
		blame(l, "an event was lost behind the end of the loss");
	if (ev && ev->tick > latest)
		latest = ev->tick;
	if (end > latest)
		blame(l, "a loss ends behind the next event");
	l->ends++;
}

/* The header against what is known of the stream; false if its payload is not to be read. */
static bool read_header(struct lane_ledger *l, const struct block *b)
{
	bool is_key = b->flags & BLOCK_KEY;

	if (b->sequence > l->next_sequence) {
		l->is_broken = true;
		l->gaps++;
	}
	l->next_sequence = b->sequence + 1;
	l->told += block_told(b);
	l->seen += block_told(b);
	if (is_key) {
		if (b->before < l->seen || (b->before > l->seen && !l->is_broken))
			blame(l, "`before` is not what was before");
		l->missing += b->before - l->seen;
		l->seen = b->before;
		l->segment_bytes = 0;
		l->keys++;
		l->is_broken = false;
	}
	if (l->is_broken)
		blame(l, "a block that nobody can read");
	if (!b->events && !block_told(b))
		blame(l, "a block without anything");
	l->segment_bytes += b->payload_len;
	if (l->segment_bytes > l->segment_bytes_most)
		l->segment_bytes_most = l->segment_bytes;
	l->blocks++;
	l->empty += !b->events;
	return !l->wrong;
}

void lane_ledger_take(struct lane_ledger *l, struct ring_entry *e)
{
	uint64_t start, latest;
	struct frame frame;
	struct block b;
	bool has_gap;

	lane_seal(e);
	if (frame_decode(e->bytes, e->len, &frame) != WIRE_OK || frame.len != e->len ||
	    frame.type != FRAME_BLOCK || block_decode(frame.body, frame.body_len, &b) != WIRE_OK ||
	    b.len != frame.body_len) {
		blame(l, "an entry is no frame with a block");
		return;
	}
	if (b.codec != l->settings.codec || b.stream != STREAM_CPU(l->cpu) ||
	    e->run != l->settings.run || e->sequence != b.sequence ||
	    e->key != (b.flags & BLOCK_KEY))
		blame(l, "an entry is not what its block is");
	if (b.sequence < l->next_sequence)
		return;
	has_gap = b.sequence > l->next_sequence;
	l->bytes += b.len;
	if (!has_gap) /* else it is not known yet which event is the first */
		check_loss_end(l, &b, l->seen);
	if (!read_header(l, &b))
		return;
	start = b.flags & BLOCK_KEY ? b.first_tick : l->until;
	latest = l->until;
	if (l->settings.codec == CODEC_SCHED)
		read_sched(l, &b, &latest);
	else
		read_bsf(l, &b, &latest);
	l->seen += b.events;
	l->until = start + b.ticks;
	if (l->until < latest || (l->until > latest && !has_gap && b.events))
		blame(l, "a block does not end with its latest tick");
}

void lane_ledger_end(struct lane_ledger *l, const struct lane *lane, uint64_t given)
{
	struct message_stream_end end;
	struct lane_counts counts;
	uint64_t untold = 0;
	uint32_t i;

	lane_get_end(lane, &end);
	lane_get_counts(lane, &counts);
	for (i = 0; i < LOSS_CAUSES; i++)
		untold += lane->pending[i];
	while (l->settings.codec == CODEC_BSF && l->asked < given)
		find_record(l, l->held); /* the last one may be passed over */
	if (l->settings.codec == CODEC_BSF)
		given = l->held;
	if (end.stream != STREAM_CPU(l->cpu) || end.next_sequence < l->next_sequence ||
	    end.events != given || counts.events != given || counts.blocks != end.next_sequence)
		blame(l, "the end is not where it should be");
	if (end.next_sequence == l->next_sequence && l->seen + untold != given)
		blame(l, "events are neither found nor lost");
	if (l->settings.policy == POLICY_OLDEST && end.next_sequence == l->next_sequence &&
	    (l->missing || l->gaps || counts.lost[LOSS_BUFFER] != l->told + untold ||
	     counts.bytes != l->bytes))
		blame(l, "the counts are not those of the blocks");
	if (l->settings.codec == CODEC_BSF && counts.passed_over != l->passed)
		blame(l, "passed_over is wrong");
	if (l->found + l->told + l->missing != l->seen)
		blame(l, "the sums differ");
}
