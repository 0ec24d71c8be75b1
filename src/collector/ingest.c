/* SPDX-License-Identifier: MIT */
/*
 * ingest: what a session wants, done with the store, the registry and the counters (session.h,
 * struct session_ops). An owner is a struct connection; all of it runs in the loop's thread, which
 * is the one that puts into the store.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "collector/connection.h"

#define ANSWER_MS 2000U /* to a PING, when somebody else wants the device's place */

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

/* Who speaks for the device now, beside this one. */
static struct connection *find_other(const struct connection *c, const struct message_id *device)
{
	struct connection *other;

	for (other = c->server->connections; other; other = other->next)
		if (other != c && other->has_slot && !session_is_over(&other->session) &&
		    !memcmp(&other->device, device, sizeof(*device)))
			return other;
	return NULL;
}

/* Has the peer closed, though what it sent before was not read yet? */
static bool is_closed_by_peer(struct connection *c)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	uv_os_fd_t fd;

	return uv_fileno((uv_handle_t *)&c->tcp, &fd) == 0 &&
	       getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       info.tcpi_state != TCP_ESTABLISHED;
}

/* Whether somebody is there who speaks for the device. A device that lost power or its way has left a
 * connection that nobody closed: so it is asked, and who does not answer in time has to go. */
static bool is_there(struct connection *old)
{
	uint64_t now_ms = server_now_ms(old->server);
	struct session_now now = session_clock_now();
	bool answered = old->session.frames != old->asked_frames;

	if (is_closed_by_peer(old))
		return false;
	if (old->asked_ms && !answered && old->reading)
		return now_ms - old->asked_ms < ANSWER_MS;
	session_ping(&old->session, &now);
	old->asked_ms = now_ms;
	old->asked_frames = old->session.frames;
	return true;
}

/* Two agents of one machine that have one name, or two machines that are copies of one: the second is told
 * what to do, and tries again ever less often. */
static int refuse_second(struct connection *c, struct connection *old, struct error *e)
{
	uint64_t ago_ms = server_now_ms(c->server) - old->since_ms;
	time_t since = (time_t)((session_clock_now().real_ns / 1000000 - ago_ms) / 1000);
	char text[32] = "?";
	struct tm tm;

	if (gmtime_r(&since, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	session_bye(&c->session, BYE_DUPLICATE,
		    "%s is connected since %s from %s; an agent beside it needs another --name, "
		    "a machine that is a copy another device-id",
		    old->name, text, old->address);
	connection_settle(old);
	return error_set(e, EBUSY, "cannot take the device: it is connected");
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
	struct connection *old;
	uint32_t slot;
	int r = guard_admit(c, &hello, e);

	old = r < 0 || a.beside ? NULL : find_other(c, &hello.device);
	if (old && is_there(old))
		return refuse_second(c, old, e);
	if (r == 0)
		r = registry_arrive(s->o.registry, &a, &slot, &device, e);
	if (r < 0)
		return r;
	memcpy(c->name, device.name, sizeof(c->name));
	c->device = m->device;
	c->boot = m->boot;
	c->is_beside = a.beside;
	if (a.beside)
		c->paces = (uint8_t)(m->abilities / ABILITY_PACE & ((1U << PACES) - 1));
	r = connection_take_place(c, slot, e);
	c->is_known = r == 0;
	if (r < 0)
		return r;
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

static int find_run(void *owner, const struct message_id *run, uint32_t *ret, struct error *e)
{
	struct connection *c = owner;
	struct store_run_ids ids = { .device = c->device, .run = *run, .boot = c->boot };

	return store_find_run(c->server->o.store, &ids, ret, e);
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
	.find = find_run,
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
