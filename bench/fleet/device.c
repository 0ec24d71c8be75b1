/* SPDX-License-Identifier: MIT */
/* device: see device.h. What comes from the collector is in device_hear.c. */
#include "device.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "device_hear.h"
#include "link.h"
#include "say.h"

#define TURN_BYTES 65536U /* that one device sends before the next has its turn */
#define STATUS_MS 1000U
#define SILENCE_MS 30000U
#define LIVED_MS 10000U
#define SHIFT_MAX_NS (3600ULL * 24 * CLOCK_NS_PER_S)

/* --- who it is --- */

/* By Steele, Lea and Flood's splitmix64. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t own_number(const struct device *d, uint64_t salt)
{
	return mix(mix(d->fleet->o.seed ^ salt << 56) + d->number);
}

void device_get_ids(const struct device *d, struct message_id *ret_device,
		    struct message_id *ret_run)
{
	uint64_t fleet = mix(d->fleet->started_real_ns);

	put_le64(ret_device->bytes, own_number(d, 1));
	put_le64(ret_device->bytes + 8, own_number(d, 2));
	put_le64(ret_run->bytes, own_number(d, 3) ^ fleet);
	put_le64(ret_run->bytes + 8, own_number(d, 4) ^ mix(fleet));
}

static uint64_t first_ns(const struct device *d)
{
	return clock_ns(&d->tape->clock, d->tape->first_tick) + own_number(d, 5) % SHIFT_MAX_NS;
}

/* Nanoseconds of the recording in one of ours; 0: as many as there are. */
static double get_speed(const struct device *d)
{
	double rate = d->fleet->o.rate;

	if (rate <= 0)
		return rate < 0 ? 0 : 1;
	return rate * (double)d->tape->span_ns / 1e9 / (double)d->tape->events;
}

uint64_t device_get_played_ns(const struct device *d)
{
	double speed = get_speed(d), ms = (double)(d->fleet->now_ms - d->born_ms);

	if (!d->born)
		return 0;
	if (speed == 0) /* exact differences of doubles: it is 0 or a rate */
		return tape_get_due_ns(d->tape, d->reached);
	return (uint64_t)(ms * 1e6 * speed);
}

uint64_t device_get_clock_ns(const struct device *d)
{
	return first_ns(d) + device_get_played_ns(d);
}

/* --- its life --- */

void device_init(struct device *d, struct fleet *f, uint32_t number)
{
	memset(d, 0, sizeof(*d));
	d->fleet = f;
	d->number = number;
	d->tape = &f->tapes[number % f->n_tapes];
	d->target = number / f->n_tapes % f->n_targets;
	d->fd = -1;
	d->end = UINT64_MAX;
	retry_init(&d->retry, own_number(d, 6));
}

void device_done(struct device *d)
{
	link_close(d, true);
	wheel_unset(&d->due);
}

static void be_born(struct device *d)
{
	const struct fleet_options *o = &d->fleet->o;
	struct tape_count count;

	if (d->born)
		return;
	d->born = true;
	d->born_ms = d->fleet->now_ms;
	d->born_real_ns = clock_real_ns();
	if (o->seconds <= 0 || d->end != UINT64_MAX)
		return;
	d->end = tape_find(d->tape, (uint64_t)(o->seconds * 1e9));
	count = tape_count(d->tape, d->end);
	d->fleet->tally.blocks_made += d->end;
	d->fleet->tally.events_made += count.events;
	d->fleet->tally.lost_made += count.lost;
}

void device_end(struct device *d)
{
	struct tape_count count;

	if (d->end != UINT64_MAX)
		return;
	d->end = d->born ? tape_find(d->tape, device_get_played_ns(d)) : 0;
	d->end = d->end > d->reached ? d->end : d->reached;
	d->end = d->end > d->hole_to ? d->end : d->hole_to;
	count = tape_count(d->tape, d->end);
	d->fleet->tally.blocks_made += d->end;
	d->fleet->tally.events_made += count.events;
	d->fleet->tally.lost_made += count.lost;
	fleet_wake(d->fleet, d, d->fleet->now_ms);
}

static uint64_t plan_cut(struct device *d)
{
	double mean_ms = d->fleet->o.cuts_s * 1e3, part;

	if (mean_ms <= 0)
		return UINT64_MAX;
	part = (retry_random(&d->retry, 1U << 30) + 1.0) / (1U << 30);
	return d->fleet->now_ms + (uint64_t)(-log(part) * mean_ms) + 1;
}

/* There is no connection now. */
static void go_away(struct device *d, bool reset)
{
	struct fleet *f = d->fleet;
	uint64_t lived_ms = f->now_ms - d->opened_ms;

	link_close(d, reset);
	f->tally.connected -= d->phase == PHASE_OPEN;
	if (d->phase == PHASE_FINISHED)
		return;
	retry_failed(&d->retry, f->now_ms, d->phase == PHASE_OPEN && lived_ms >= LIVED_MS);
	d->phase = PHASE_AWAY;
	if (f->o.failover)
		d->target = (d->target + 1) % f->n_targets;
	fleet_wake(f, d, d->retry.at_ms);
}

static void break_off(struct device *d)
{
	d->fleet->tally.broken++;
	go_away(d, false);
}

static void come(struct device *d)
{
	d->phase = PHASE_CONNECTING;
	d->run_said = d->end_sent = d->is_end_acked = false;
	d->probe_frames = 0;
	d->opened_ms = d->heard_ms = d->fleet->now_ms;
	d->cut_ms = plan_cut(d);
	if (link_open(d) < 0) {
		break_off(d);
		return;
	}
	fleet_wake(d->fleet, d, d->fleet->now_ms + SILENCE_MS);
}

static void finish(struct device *d)
{
	say_bye(d); /* nobody waits for it */
	link_settle(d);
	d->fleet->tally.connected--;
	d->fleet->tally.finished++;
	d->phase = PHASE_FINISHED;
	link_close(d, false);
	wheel_unset(&d->due);
}

/* The link breaks, in the middle of a frame if that is possible: what the collector has got of it, nobody knows. */
static void cut(struct device *d)
{
	const uint8_t torn[] = { FRAME_BLOCK, 200, 1, BLOCK_MAGIC0, BLOCK_MAGIC1 };

	d->fleet->tally.cuts++;
	if (retry_random(&d->retry, 2))
		link_send(d, torn, sizeof(torn));
	link_settle(d);
	go_away(d, retry_random(&d->retry, 2));
}

/* --- sending --- */

static uint64_t get_due_ms(const struct device *d, uint64_t place)
{
	double speed = get_speed(d);

	if (speed == 0 || place >= d->end)
		return d->born_ms;
	return d->born_ms + (uint64_t)((double)tape_get_due_ns(d->tape, place) / 1e6 / speed);
}

static void note_sent(struct device *d, uint32_t len)
{
	flight_sent(&d->flight, len);
	if (d->probe_frames)
		return;
	d->probe_frames = d->flight.frames;
	d->probe_ns = clock_mono_ns();
}

/* A fleet that is late measures itself. What was due before the connection is not late. */
static void note_late(struct device *d)
{
	uint64_t due_ms = get_due_ms(d, d->next), now_ms = d->fleet->now_ms;

	due_ms = due_ms < d->opened_ms ? d->opened_ms : due_ms;
	if (get_speed(d) != 0 && now_ms > due_ms + d->fleet->tally.latest_ms &&
	    d->next == d->reached)
		d->fleet->tally.latest_ms = now_ms - due_ms;
}

static int send_block(struct device *d)
{
	char name[SAY_NAME_MAX];
	struct tape_owner owner = { .name = name, .shift_ns = own_number(d, 5) % SHIFT_MAX_NS };
	uint32_t len;
	uint8_t *bytes;

	note_late(d);
	say_name(d, name);
	owner.realtime_off_ns = (int64_t)(d->born_real_ns - first_ns(d));
	bytes = tape_seal(d->tape, d->next, &owner, d->fleet->out, &len);
	note_sent(d, len);
	d->next = device_step(d, d->next, 1);
	d->reached = d->next > d->reached ? d->next : d->reached;
	d->fleet->tally.blocks_sent++;
	return link_send(d, bytes, len);
}

static int send_end(struct device *d)
{
	uint32_t len;
	int r = say_end(d, &len);

	note_sent(d, len);
	d->end_sent = true;
	return r;
}

/* As many blocks as are due and may go. */
static int send_due(struct device *d)
{
	uint64_t limit = d->flight.bytes + TURN_BYTES, now_ms = d->fleet->now_ms;
	int r = 0;

	while (r == 0 && !d->end_sent && !d->left_len && d->flight.bytes < limit &&
	       get_due_ms(d, d->next) <= now_ms &&
	       flight_has_room(&d->flight,
			       d->next < d->end ? tape_get_bytes(d->tape, d->next) : 1)) {
		if (!d->run_said)
			r = say_run(d);
		d->run_said = true;
		if (r == 0)
			r = d->next < d->end ? send_block(d) : send_end(d);
	}
	return r;
}

static bool may_send(const struct device *d)
{
	return !d->end_sent && !d->left_len &&
	       flight_has_room(&d->flight, d->next < d->end ? tape_get_bytes(d->tape, d->next) : 1);
}

/* When it has to do something again. What waits for an ACK or the socket is woken by them. */
static void plan(struct device *d)
{
	uint64_t at_ms = d->status_ms, due_ms = may_send(d) ? get_due_ms(d, d->next) : UINT64_MAX;

	at_ms = due_ms < at_ms ? due_ms : at_ms;
	at_ms = d->cut_ms < at_ms ? d->cut_ms : at_ms;
	fleet_wake(d->fleet, d, at_ms);
}

static void go_on(struct device *d)
{
	int r = send_due(d);

	if (r == 0 && d->fleet->now_ms >= d->status_ms && !d->left_len) {
		d->status_ms = d->fleet->now_ms + STATUS_MS;
		r = say_status(d);
	}
	if (r == 0)
		r = link_settle(d);
	if (r < 0)
		break_off(d);
	else
		plan(d);
}

void device_turn(struct device *d)
{
	uint64_t now_ms = d->fleet->now_ms;

	if (d->phase == PHASE_FINISHED)
		return;
	if (d->phase == PHASE_AWAY) {
		be_born(d);
		come(d);
	} else if (now_ms >= d->heard_ms + SILENCE_MS) {
		break_off(d);
	} else if (d->phase == PHASE_OPEN && now_ms >= d->cut_ms) {
		cut(d);
	} else if (d->phase == PHASE_OPEN) {
		go_on(d);
	} else {
		fleet_wake(d->fleet, d, d->heard_ms + SILENCE_MS);
	}
}

static int greet(struct device *d)
{
	int r = link_check(d);

	if (r <= 0)
		return r;
	r = say_hello(d);
	d->phase = PHASE_GREETING;
	if (r == 0)
		r = link_settle(d);
	return r < 0 ? r : link_flush(d);
}

void device_poll(struct device *d, uint32_t events)
{
	int r = 0;

	if (d->phase == PHASE_AWAY || d->phase == PHASE_FINISHED)
		return;
	if (d->phase == PHASE_CONNECTING)
		r = greet(d);
	else if (events & DEVICE_CAN_SEND)
		r = link_flush(d);
	if (r == 0 && events & DEVICE_CAN_RECEIVE && d->phase != PHASE_CONNECTING)
		r = device_hear(d);
	if (r >= 0)
		r = link_settle(d);
	if (r < 0)
		break_off(d);
	else if (d->end_sent && d->acked >= d->end && d->is_end_acked)
		finish(d);
	else if (d->phase == PHASE_OPEN)
		go_on(d);
}
