/* SPDX-License-Identifier: MIT */
/* device_hear: see device_hear.h. */
#include "device_hear.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "link.h"
#include "say.h"

uint64_t device_step(const struct device *d, uint64_t place, uint64_t blocks)
{
	uint64_t to = place + blocks;

	if (place < d->hole_from && to >= d->hole_from)
		to += d->hole_to - d->hole_from;
	return to;
}

/* --- resuming --- */

/* What lies before a place is acknowledged. */
static void set_acked(struct device *d, uint64_t place)
{
	struct tally *t = &d->fleet->tally;
	struct tape_count from = tape_count(d->tape, d->acked), to = tape_count(d->tape, place);
	struct tape_count hole_from = { 0 }, hole_to = { 0 };

	if (d->acked < d->hole_to && place >= d->hole_to) {
		hole_from = tape_count(d->tape, d->hole_from);
		hole_to = tape_count(d->tape, d->hole_to);
		t->blocks_acked -= d->hole_to - d->hole_from;
	}
	t->blocks_acked += place - d->acked;
	t->events_acked += to.events - from.events - (hole_to.events - hole_from.events);
	t->lost_acked += to.lost - from.lost - (hole_to.lost - hole_from.lost);
	d->acked = place;
	d->reached = place > d->reached ? place : d->reached; /* over a hole */
}

/* Where a collector has nothing of what it acknowledged, nothing is right any more: it is told, and the
 * program fails at its end. A stream in which blocks were given up may be behind rightly. */
static void check_promise(struct device *d, const uint64_t *wanted)
{
	uint64_t sequence, events;
	uint32_t i;

	for (i = 0; !d->blocks_given_up && i < d->tape->n_streams; i++) {
		tape_get_stream(d->tape, d->acked, i, &sequence, &events);
		if (wanted[i] >= sequence)
			continue;
		d->fleet->tally.broken_promises += sequence - wanted[i];
		fprintf(stderr,
			"fleet: device %u, stream %u: %llu is wanted, %llu was acknowledged\n",
			d->number, d->tape->streams[i].number, (unsigned long long)wanted[i],
			(unsigned long long)sequence);
	}
}

static int read_rows(struct device *d, struct message_welcome *m, uint64_t *wanted)
{
	struct message_resume row;
	uint32_t i;

	while (welcome_next(m, &row)) {
		for (i = 0; i < d->tape->n_streams && d->tape->streams[i].number != row.stream; i++)
			;
		if (row.run || i == d->tape->n_streams)
			return -EPROTO;
		wanted[i] = row.next_sequence;
	}
	return 0;
}

/* A device that was away for longer than its memory lasts has only what it had sent, and begins anew with
 * the next pass. */
static void give_up(struct device *d)
{
	uint64_t due = tape_find(d->tape, device_get_played_ns(d)), to;
	struct tape_count from, until;

	if (!d->fleet->o.spool_bytes || d->hole_from < d->hole_to || due > d->end)
		return;
	from = tape_count(d->tape, d->acked);
	until = tape_count(d->tape, due);
	if (due < d->acked || until.bytes - from.bytes <= d->fleet->o.spool_bytes)
		return;
	to = tape_next_pass(d->tape, due);
	to = to < d->end ? to : d->end;
	if (to <= d->reached || d->reached < d->tape->n_meta)
		return;
	d->hole_from = d->reached;
	d->hole_to = to;
	from = tape_count(d->tape, d->hole_from);
	until = tape_count(d->tape, to);
	d->blocks_given_up += to - d->hole_from;
	d->events_given_up += until.events - from.events;
	d->fleet->tally.blocks_given_up += to - d->hole_from;
	d->fleet->tally.events_given_up += until.events + until.lost - from.events - from.lost;
	if (d->acked == d->hole_from)
		set_acked(d, d->hole_to);
}

static int take_welcome(struct device *d, const struct frame *f)
{
	_cleanup_free_ uint64_t *wanted = calloc(d->tape->n_streams, sizeof(*wanted));
	struct message_welcome m;

	if (!wanted || welcome_decode(&m, f->body, f->body_len) != WIRE_OK ||
	    read_rows(d, &m, wanted) < 0)
		return -EPROTO;
	check_promise(d, wanted);
	while (d->acked < d->reached &&
	       tape_get_sequence(d->tape, d->acked) < wanted[tape_get_slot(d->tape, d->acked)])
		set_acked(d, device_step(d, d->acked, 1));
	if (d->acked >= d->hole_to)
		d->hole_from = d->hole_to = 0;
	give_up(d);
	flight_init(&d->flight, m.window);
	d->base = d->next = d->acked;
	d->status_ms = d->fleet->now_ms;
	d->phase = PHASE_OPEN;
	d->fleet->tally.connected++;
	d->fleet->tally.welcomed++;
	return 0;
}

/* --- frames --- */

static int take_ack(struct device *d, const struct frame *f)
{
	uint64_t frames, blocks;

	if (ack_decode(&frames, f->body, f->body_len) != WIRE_OK ||
	    !flight_acked(&d->flight, frames))
		return -EPROTO;
	if (d->probe_frames && frames >= d->probe_frames) {
		tally_add_wait(&d->fleet->tally, clock_mono_ns() - d->probe_ns);
		d->probe_frames = 0;
	}
	d->is_end_acked = d->end_sent && frames == d->flight.frames;
	blocks = frames - d->is_end_acked;
	set_acked(d, device_step(d, d->base, blocks));
	return 0;
}

static int take_bye(struct device *d, const struct frame *f)
{
	struct message_bye m;

	d->fleet->tally.byes++;
	if (bye_decode(&m, f->body, f->body_len) == WIRE_OK && m.code != BYE_DONE &&
	    m.code != BYE_DUPLICATE) {
		fprintf(stderr, "fleet: device %u: BYE %u: %.*s\n", d->number, m.code,
			(int)m.text.len, m.text.len ? m.text.at : "");
		retry_punish(&d->retry);
	}
	return -ECONNRESET;
}

static int take_frame(struct device *d, const struct frame *f)
{
	struct message_instruction *told;
	struct message_ping ping;
	int r;

	if (f->type == FRAME_BYE)
		return take_bye(d, f);
	if ((d->phase == PHASE_GREETING) != (f->type == FRAME_WELCOME))
		return -EPROTO;
	switch (f->type) {
	case FRAME_WELCOME:
		return take_welcome(d, f);
	case FRAME_ACK:
		return take_ack(d, f);
	case FRAME_PING:
		return ping_decode(&ping, f->body, f->body_len) == WIRE_OK ? say_pong(d, &ping)
									   : -EPROTO;
	case FRAME_INSTRUCTION:
		told = malloc(sizeof(*told));
		r = told && instruction_decode(told, f->body, f->body_len) == WIRE_OK
			    ? say_refusal(d, told->id)
			    : -EPROTO;
		free(told);
		return r;
	default:
		return f->type > FRAME_BYE ? 0 : -EPROTO;
	}
}

int device_hear(struct device *d)
{
	uint32_t at = 0, len;
	enum wire_status status;
	struct frame f;
	int r = link_receive(d);

	if (r <= 0)
		return r;
	len = (uint32_t)r;
	d->heard_ms = d->fleet->now_ms;
	while ((status = frame_decode(d->fleet->in + at, len - at, &f)) == WIRE_OK) {
		r = take_frame(d, &f);
		if (r < 0)
			return r;
		at += f.len;
	}
	return status == WIRE_CORRUPT ? -EPROTO : link_hold(d, d->fleet->in + at, len - at);
}
