/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exporter_send: from the export buffers to the socket, and freeing what the collector has.
 *
 * Frames of the oldest run go first, then its END, then the next run's: so the collector hears of
 * each run once. Within a run the description goes first, then each CPU has its turn, a frame at a
 * time.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched.h>

#include "device/driver/exporter.h"

#define FRAMES_AT_ONCE 128 /* in one turn, then others may have the lock */

void exporter_rewind(struct exporter *e)
{
	struct block_ring *ring;
	u32 stream;

	for (stream = 0; stream <= e->controller.cpus; stream++) {
		ring = controller_get_ring(&e->controller, stream);
		e->positions[stream] = ring ? block_ring_oldest(ring) : 0;
	}
	manifest_init(&e->manifest);
	e->rest_at = e->rest_len = 0;
	e->said_run = e->ended_run = 0;
	e->is_starved = false;
}

/* --- freeing --- */

/* Of the run, and of those before it, all below the sequence. */
static void forget(struct exporter *e, const struct manifest_entry *until)
{
	struct block_ring *ring = controller_get_ring(&e->controller, until->stream);
	struct ring_entry entry;
	u32 position;

	if (!ring)
		return;
	position = block_ring_oldest(ring);
	while (block_ring_pin(ring, &position, &entry)) {
		if (entry.run > until->run ||
		    (entry.run == until->run && entry.sequence >= until->sequence))
			break;
		block_ring_free(ring, entry.end);
		position = entry.end;
	}
	block_ring_unpin(ring);
}

void exporter_resume(void *context, u32 run, u32 stream, u64 next_sequence)
{
	struct exporter *e = context;
	struct manifest_entry until = { .sequence = next_sequence, .stream = stream };
	struct block_ring *ring = controller_get_ring(&e->controller, stream);

	if (run >= CONTROLLER_RUNS || !ring)
		return;
	until.run = e->hello_runs[run];
	forget(e, &until);
	e->positions[stream] = block_ring_oldest(ring);
}

void exporter_acked(void *context, u64 frames)
{
	struct exporter *e = context;
	struct manifest_entry entry;

	while (manifest_pop(&e->manifest, frames, &entry)) {
		e->counts.frames_acked++;
		if (entry.stream == MANIFEST_END) {
			controller_forget(&e->controller, entry.run, e->now_ms);
			continue;
		}
		entry.sequence++;
		forget(e, &entry);
	}
}

/* --- sending --- */

/* 0: all is gone; -EAGAIN: the socket is full. */
static int send_rest(struct exporter *e)
{
	int n;

	while (e->rest_at < e->rest_len) {
		n = link_send(&e->link, e->rest + e->rest_at, e->rest_len - e->rest_at, true);
		if (n <= 0)
			return n ? n : -EAGAIN;
		e->rest_at += (u32)n;
		e->counts.bytes_sent += (u32)n;
	}
	e->rest_at = e->rest_len = 0;
	return 0;
}

/* What the session says itself. */
static int send_own(struct exporter *e)
{
	const u8 *bytes;
	u32 len;
	int n;

	for (;;) {
		bytes = session_get(&e->session, &len);
		if (!len)
			return 0;
		n = link_send(&e->link, bytes, len, true);
		if (n <= 0)
			return n ? n : -EAGAIN;
		session_pop(&e->session, (u32)n);
		e->counts.bytes_sent += (u32)n;
	}
}

/* 1: it is on its way, or the RUN before it; 0: not now. */
static int send_frame(struct exporter *e, const struct run *run, const u8 *bytes, u32 len)
{
	int n;

	if (e->said_run != run->number) {
		if (!session_put_run(&e->session, &run->id))
			return -EAGAIN;
		e->said_run = run->number;
		n = send_own(e);
		if (n < 0)
			return n;
	}
	e->is_starved = manifest_is_full(&e->manifest) || !session_may_send(&e->session, len);
	if (e->is_starved)
		return 0;
	if (WARN_ON_ONCE(len > e->rest_size))
		return -EMSGSIZE;
	n = link_send(&e->link, bytes, len, true);
	if (n <= 0)
		return n ? n : -EAGAIN;
	e->rest_len = len - (u32)n;
	memcpy(e->rest, bytes + n, e->rest_len);
	session_sent(&e->session, len);
	e->counts.frames_sent++;
	e->counts.bytes_sent += (u32)n;
	return 1;
}

/* What the stream has next of the run; it is pinned then. */
static bool get_next(struct exporter *e, const struct run *run, u32 stream, struct ring_entry *ret)
{
	struct block_ring *ring = controller_get_ring(&e->controller, stream);

	if (!ring)
		return false;
	while (block_ring_pin(ring, &e->positions[stream], ret)) {
		if (ret->run == run->number)
			return true;
		if (ret->run > run->number)
			break;
		/* Nobody waits for it any more. */
		block_ring_free(ring, ret->end);
		e->positions[stream] = ret->end;
	}
	block_ring_unpin(ring);
	return false;
}

/* One frame of one stream of the run. 1: it went; 0: there is none, or it must wait. */
static int send_block(struct exporter *e, const struct run *run, u32 stream)
{
	struct manifest_entry sent = { .run = run->number, .stream = stream };
	struct ring_entry entry;
	int r;

	if (!get_next(e, run, stream, &entry))
		return 0;
	lane_seal(&entry);
	r = send_frame(e, run, entry.bytes, entry.len);
	block_ring_unpin(controller_get_ring(&e->controller, stream));
	if (r <= 0)
		return r;
	e->positions[stream] = entry.end;
	sent.sequence = entry.sequence;
	manifest_push(&e->manifest, &sent);
	return 1;
}

static int send_run(struct exporter *e, const struct run *run)
{
	struct manifest_entry sent = { .run = run->number, .stream = MANIFEST_END };
	u32 i, cpus = e->controller.cpus, stream;
	int r;

	r = send_block(e, run, STREAM_META);
	for (i = 0; !r && !e->is_starved && i < cpus; i++) {
		stream = 1 + (e->last_stream + i) % cpus; /* behind the one that was last */
		r = send_block(e, run, stream);
		if (r > 0)
			e->last_stream = stream;
	}
	if (r || e->is_starved || !run->is_over)
		return r;
	r = send_frame(e, run, run->end, run->end_len);
	if (r > 0) {
		manifest_push(&e->manifest, &sent);
		e->ended_run = run->number;
	}
	return r;
}

static int send_next(struct exporter *e)
{
	const struct run *run;
	u32 i;
	int r = 0;

	e->is_starved = false;
	for (i = 0; !r && !e->is_starved && i < e->controller.n_runs; i++) {
		run = &e->controller.runs[i];
		if (run->number > e->ended_run)
			r = send_run(e, run);
	}
	return r;
}

int exporter_send(struct exporter *e)
{
	int i, r = 1;

	for (i = 0; r > 0 && i < FRAMES_AT_ONCE; i++) {
		r = send_rest(e);
		if (!r)
			r = send_own(e);
		if (!r && e->session.phase == SESSION_WELCOME)
			r = send_next(e);
	}
	link_push(&e->link);
	if (r > 0)
		exporter_signal(e, SIGNAL_GO_ON);
	return r == -EAGAIN || r > 0 ? 0 : r;
}
