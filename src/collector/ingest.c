/* SPDX-License-Identifier: MIT */
/*
 * ingest: what a session wants, done with the store, the registry and the counters (session.h,
 * struct session_ops). An owner is a struct connection; all of it runs in the loop's thread, which
 * is the one that puts into the store.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/connection.h"

static void send_bytes(void *owner, const uint8_t *bytes, size_t len)
{
	connection_send(owner, bytes, len);
}

static void log_text(void *owner, const char *text)
{
	struct connection *c = owner;

	if (!strncmp(text, "refused", 7))
		atomic_fetch_add(&c->server->counters.refused, 1);
	connection_log(c, "%s", text);
}

/* The device's place in the table of connections; who has it, has to go. */
static int take_slot(struct connection *c, uint32_t slot)
{
	struct server *s = c->server;
	struct connection **by_slot, *old;
	uint32_t room;

	if (slot >= s->n_slots) {
		room = (slot + 64) * 2;
		by_slot = realloc(s->by_slot, room * sizeof(struct connection *));
		if (!by_slot)
			return -ENOMEM;
		memset(by_slot + s->n_slots, 0, (room - s->n_slots) * sizeof(*by_slot));
		s->by_slot = by_slot;
		s->n_slots = room;
	}
	old = s->by_slot[slot] == c ? NULL : s->by_slot[slot];
	s->by_slot[slot] = c;
	c->slot = slot;
	c->has_slot = true;
	if (old) {
		session_bye(&old->session, BYE_DUPLICATE,
			    "another connection has taken this device's place");
		connection_settle(old);
	}
	return 0;
}

static int arrive(void *owner, const struct message_hello *m, struct error *e)
{
	struct connection *c = owner;
	struct server *s = c->server;
	struct message_hello hello = *m;
	struct registry_arrival a = { .hello = &hello,
				      .address = c->address,
				      .session = c->session.number,
				      .now_ns = session_clock_now().real_ns,
				      .beside = m->role == ROLE_RECORDER };
	struct store_device device;
	uint32_t slot;
	int r = guard_admit(c, &hello, e);

	if (r == 0)
		r = registry_arrive(s->o.registry, &a, &slot, &device, e);
	if (r < 0)
		return r;
	memcpy(c->name, device.name, sizeof(c->name));
	c->device = m->device;
	c->boot = m->boot;
	if (a.beside) {
		c->slot = slot;
		c->paces = (uint8_t)(m->abilities / ABILITY_PACE & ((1U << PACES) - 1));
	}
	r = a.beside ? 0 : take_slot(c, slot);
	if (r < 0)
		return error_set(e, -r, "cannot take the device: out of memory");
	r = store_device(s->o.store, &device, e);
	if (r < 0)
		return r;
	if (s->o.objects && m->abilities & ABILITY_OBJECTS && !c->has_objects)
		c->has_objects = objects_arrive(s->o.objects, c->session.number, c, c->name);
	committer_wake(s->committer);
	connection_log(c, "connected%s: kernel %s, %s, %u CPUs, agent %s, holds %u runs",
		       a.beside ? " beside the agent" : "", device.kernel, device.machine,
		       device.cpus, device.agent, m->n_runs);
	return 0;
}

static int enroll(void *owner, const struct message_enroll *m, struct message_certificate *ret,
		  struct error *e)
{
	return guard_enroll(owner, m, ret, e);
}

static int get_run(void *owner, const struct message_id *run, uint32_t *ret, struct error *e)
{
	struct connection *c = owner;
	struct store_run_ids ids = { .device = c->device, .run = *run, .boot = c->boot };

	return store_take_run(c->server->o.store, &ids, ret, e);
}

static size_t next_sequences(void *owner, uint32_t run, struct message_resume *rows, size_t n)
{
	struct connection *c = owner;

	return store_next_sequences(c->server->o.store, run, rows, n);
}

static void count_block(struct connection *c, const struct block *b, bool duplicate)
{
	struct loop_counters *n = &c->server->counters;
	int i;

	c->traffic.blocks++;
	atomic_fetch_add_explicit(&n->blocks, 1, memory_order_relaxed);
	if (duplicate) {
		c->traffic.duplicates++;
		atomic_fetch_add_explicit(&n->duplicates, 1, memory_order_relaxed);
		return;
	}
	c->traffic.events += b->events;
	atomic_fetch_add_explicit(&n->events, b->events, memory_order_relaxed);
	if (stream_is_func(b->stream)) {
		c->traffic.func_events += b->events;
		atomic_fetch_add_explicit(&n->func_events, b->events, memory_order_relaxed);
	}
	for (i = 0; b->flags & BLOCK_LOST && i < LOSS_CAUSES; i++)
		if (b->lost[i] != LOSS_UNKNOWN)
			atomic_fetch_add_explicit(&n->lost[i], b->lost[i], memory_order_relaxed);
}

/* A device may send three runs by turns: that of its scheduler, that of its programs, and that of its
 * boot. Which is which, only their streams tell; a description alone is taken for the scheduler's, if
 * nothing else is. */
static void note_run(struct connection *c, uint32_t run, const struct block *b)
{
	if (stream_is_sample(b->stream)) {
		c->run = c->run == run ? 0 : c->run;
	} else if (stream_is_func(b->stream) || stream_is_boot(b->stream)) {
		*(stream_is_boot(b->stream) ? &c->boot_run : &c->func_run) = run;
		c->run = c->run == run ? 0 : c->run;
	} else if (run != c->func_run && run != c->boot_run &&
		   (b->stream != STREAM_META || !c->run)) {
		c->run = run;
	}
}

static int put(void *owner, uint32_t run, const struct block *b, const uint8_t *bytes,
	       struct error *e)
{
	struct connection *c = owner;
	int r = store_put(c->server->o.store, run, b, bytes, e);

	if (r >= 0) {
		note_run(c, run, b);
		if (c->has_objects && b->stream == STREAM_META && r != STORE_DUPLICATE)
			objects_see(c->server->o.objects, c->session.number, b->payload,
				    b->payload_len);
		count_block(c, b, r == STORE_DUPLICATE);
	}
	return r;
}

static int end_run(void *owner, uint32_t run, const struct message_end *m, struct error *e)
{
	struct connection *c = owner;

	return store_end(c->server->o.store, run, m, e);
}

static uint64_t get_puts(void *owner)
{
	struct connection *c = owner;

	return store_puts(c->server->o.store);
}

static uint64_t get_commits(void *owner)
{
	struct connection *c = owner;

	return committer_get_begun(c->server->committer);
}

static void take_piece(void *owner, const struct message_piece *m)
{
	struct connection *c = owner;

	if (c->has_objects)
		objects_take(c->server->o.objects, c->session.number, m);
}

static void take_clock(void *owner, uint32_t run, const struct session_clock *k)
{
	struct connection *c = owner;
	struct store_clock clock = {
		.run = run, .device_ns = k->device_ns, .off_ns = k->off_ns, .err_ns = k->err_ns
	};
	struct error e = ERROR_INIT;

	if (c->has_slot)
		registry_push_clock(c->server->o.registry, c->slot, &clock, k->round_trip_ns);
	/* A note that finds no room is none: the next PING makes another. */
	if (run && store_note(c->server->o.store, &clock, &e) == 0)
		committer_wake(c->server->committer);
}

static void take_status(void *owner, const struct message_status *m)
{
	struct connection *c = owner;

	if (c->has_slot)
		registry_push_status(c->server->o.registry, c->slot, m);
}

static void take_result(void *owner, const struct message_result *m)
{
	struct connection *c = owner;

	if ((c->has_slot || c->paces) && !registry_push_result(c->server->o.registry, c->slot, m) &&
	    m->code)
		connection_log(c, "cannot do what it was told: %.*s (errno %u)", (int)m->text.len,
			       m->text.len ? m->text.at : "", m->code);
}

const struct session_ops ingest_ops = {
	.send = send_bytes,
	.arrive = arrive,
	.enroll = enroll,
	.run = get_run,
	.next_sequences = next_sequences,
	.put = put,
	.end = end_run,
	.puts = get_puts,
	.commits = get_commits,
	.clock = take_clock,
	.status = take_status,
	.result = take_result,
	.piece = take_piece,
	.log = log_text,
};
