/* SPDX-License-Identifier: MIT */
/*
 * spool_recover: what an earlier agent left in the ring.
 *
 * After a death in the same boot the mark is right, and so is every entry between its ends; that they
 * are looked at all the same costs nothing. After a loss of power the pages of the file are each as
 * old as the disk happened to have them: the mark may be older or newer than the entries, and pieces
 * in between may be missing. Then the whole ring is searched. An entry counts if its head and its
 * body have the right checksums and it says itself that it belongs to this place of this lap or a
 * later one. Gaps become fillers. What was acknowledged already may be found again: the collector
 * knows it and drops it.
 *
 * Whoever could write the file could make it as slow as he likes with heads that are right and
 * bodies that are not, so there is a limit to the bytes that are checked in vain.
 */
#include "device/agent/spool_ring.h"

#define VAIN_LAPS 8U

/* A head that fits to its place; the body may still be damaged. */
static bool is_head(const struct spool *s, uint32_t place)
{
	const struct ring_head *h = (const struct ring_head *)(s->ring + place);

	return s->size - place >= sizeof(*h) && h->magic == RING_MAGIC &&
	       h->crc == ring_head_crc(h) && h->at % s->size == place && h->len <= FRAME_BODY_MAX &&
	       ring_bytes(h->len) <= s->size - place && h->at < UINT64_MAX / 2;
}

static bool is_entry(const struct spool *s, uint64_t at, uint64_t end, uint64_t *vain)
{
	const struct ring_head *h = ring_get(s, at);

	if (!is_head(s, ring_place(s, at)) || h->at != at || at + ring_bytes(h->len) > end)
		return false;
	if (h->kind == RING_FILLER)
		return true;
	if ((h->kind != FRAME_BLOCK && h->kind != FRAME_RUN_END) ||
	    !ring_has_stream(s, h->stream) || !spool_find_run(s, h->run) ||
	    *vain > (uint64_t)s->size * VAIN_LAPS)
		return false;
	if (memory_crc(h + 1, h->len) == h->body_crc)
		return true;
	*vain += h->len;
	return false;
}

/* From the end of one entry to the start of the next; at most two, as the ring's end divides them.
 * False if a piece is too small for a filler. */
static bool fill(struct spool *s, uint64_t from, uint64_t to)
{
	while ((from = ring_align(s, from)) < to) {
		uint64_t left = s->size - ring_place(s, from);
		uint64_t bytes = to - from < left ? to - from : left;
		struct ring_head *h = ring_get(s, from);

		if (bytes < sizeof(*h))
			return false;
		memset(h, 0, sizeof(*h));
		h->magic = RING_MAGIC;
		h->at = from;
		h->kind = RING_FILLER;
		h->len = (uint32_t)(bytes - sizeof(*h));
		h->crc = ring_head_crc(h);
		from += bytes;
	}
	return true;
}

static void count_entry(struct spool *s, uint64_t at)
{
	struct ring_head *h = ring_get(s, at);
	struct ring_run *run;

	h->sent = 0;
	run = spool_count(s, h, 1);
	if (run && h->kind == FRAME_BLOCK && h->stream == STREAM_META &&
	    h->sequence >= run->next_meta)
		run->next_meta = h->sequence + 1;
}

static void forget_entries(struct spool *s)
{
	uint32_t i;

	for (i = 0; i < MESSAGE_RUNS_MAX; i++)
		s->runs[i].entries = 0;
	s->func_meta = 0;
}

/* All entries from the tail up to `end`; the mark then says where they really are. */
static void take_entries(struct spool *s, uint64_t end)
{
	uint64_t at = ring_align(s, s->mark.tail), behind = s->mark.tail, vain = 0;
	bool is_first = true;

	while (at < end) {
		if (!is_entry(s, at, end, &vain)) {
			at = ring_align(s, at + 8);
			continue;
		}
		/* With nothing before it, or nothing that a filler could bridge, it is the oldest. */
		if (is_first || !fill(s, behind, at)) {
			forget_entries(s);
			s->mark.tail = at;
		}
		is_first = false;
		count_entry(s, at);
		behind = at + ring_bytes(ring_get(s, at)->len);
		at = ring_align(s, behind);
	}
	if (is_first)
		s->mark.tail = s->mark.head > end ? end : s->mark.head;
	s->mark.head = is_first ? s->mark.tail : behind;
}

/* The lap that the disk has: behind the latest head that is anywhere in the ring. */
static uint64_t find_end(const struct spool *s)
{
	uint64_t end = s->mark.head, behind;
	uint32_t place;

	for (place = 0; place < s->size; place += 8) {
		if (!is_head(s, place))
			continue;
		behind = ((const struct ring_head *)(s->ring + place))->at +
			 ring_bytes(((const struct ring_head *)(s->ring + place))->len);
		if (behind > end)
			end = behind;
	}
	return end;
}

/* What a death left half done must not come to life when its number is reached. */
static void drop_checkpoints(struct spool *s, uint64_t above)
{
	struct memory_checkpoint *c;
	uint32_t i, j;

	for (i = 0; i < s->streams + (s->func_rows ? 1 : 0); i++) {
		c = memory_get_checkpoints(s->memory, i);
		for (j = 0; j < 2; j++)
			if (c[j].sequence > above)
				memset(&c[j], 0, sizeof(c[j]));
	}
}

/* A run that was about to begin has no mark that names it. */
static void drop_runs(struct spool *s)
{
	struct memory_run *rows = memory_get_head(s->memory)->runs;
	uint32_t i;

	for (i = 0; i < MESSAGE_RUNS_MAX; i++)
		if (rows[i].number > ring_last(s, SPOOL_EVENTS) &&
		    rows[i].number > ring_last(s, SPOOL_CALLS))
			memset(&rows[i], 0, sizeof(rows[i]));
}

/* Entries of the description may be gone that had the last sequences. */
static void take_meta(struct spool *s, enum spool_kind kind)
{
	const struct memory_run *row = spool_find_run(s, ring_last(s, kind));
	const struct memory_checkpoint *meta = NULL;
	struct ring_run *run;

	if (kind == SPOOL_EVENTS || s->func_rows)
		meta = spool_find_checkpoint(s, ring_meta(s, kind), NULL);
	if (!meta || !row)
		return;
	run = &s->runs[row - memory_get_head(s->memory)->runs];
	if (run->next_meta < meta->at.next_sequence)
		run->next_meta = meta->at.next_sequence;
}

void spool_recover(struct spool *s)
{
	uint64_t end;

	s->mark = *memory_get_mark(s->memory);
	end = s->mark.head;
	if (!memory_is_same_boot(s->memory)) {
		end = find_end(s);
		if (end > s->size && s->mark.tail < end - s->size)
			s->mark.tail = end - s->size;
		ring_set_state(s, SPOOL_EVENTS, MEMORY_IDLE);
		ring_set_state(s, SPOOL_CALLS, MEMORY_IDLE);
	}
	drop_checkpoints(s, s->mark.sequence);
	drop_runs(s);
	take_entries(s, end);
	take_meta(s, SPOOL_EVENTS);
	take_meta(s, SPOOL_CALLS);
	memory_publish(s->memory, &s->mark);
	s->connection = 1;
	s->next = s->mark.tail;
}
