/* SPDX-License-Identifier: MIT */
/* connection: see connection.h. */
#include "collector/connection.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define LINGER_MS 1000U
#define WRITE_MAX (1U << 20) /* bytes that a peer may leave unread */
#define KEEPALIVE_S 60U
#define FIRST_PINGS 4U /* … follow quickly, to know the clock soon */
#define FIRST_PING_MS 250U
#define BEYOND_MAX 64U /* connections that get to hear that there are too many */

struct queued_write {
	uv_write_t request;
	uint8_t bytes[];
};

uint64_t server_now_ms(const struct server *s)
{
	return uv_now(&s->loop);
}

struct session_now session_clock_now(void)
{
	return (struct session_now){ .mono_ns = clock_mono_ns(), .real_ns = clock_real_ns() };
}

void connection_log(const struct connection *c, const char *fmt, ...)
{
	char text[400], line[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(line, sizeof(line), "%s (session %llu, %s): %s",
		 c->name[0] ? c->name : "a stranger", (unsigned long long)c->session.number,
		 c->address, text);
	c->server->o.log(c->server->o.log_context, line);
}

/* --- writing --- */

static void on_written(uv_write_t *request, int status)
{
	struct connection *c = request->handle->data;

	if (status < 0)
		c->broken = true; /* the read side will hear of it, too */
	free(request);
}

static void queue(struct connection *c, const uint8_t *bytes, size_t len)
{
	struct queued_write *q = NULL;
	uv_buf_t buf;

	if (c->tcp.write_queue_size + len <= WRITE_MAX)
		q = malloc(sizeof(*q) + len);
	if (!q) {
		c->broken = true;
		return;
	}
	memcpy(q->bytes, bytes, len);
	buf = uv_buf_init((char *)q->bytes, (unsigned int)len);
	if (uv_write(&q->request, (uv_stream_t *)&c->tcp, &buf, 1, on_written) < 0) {
		free(q);
		c->broken = true;
	}
}

void connection_send_raw(struct connection *c, const uint8_t *bytes, size_t len)
{
	uv_buf_t buf = uv_buf_init((char *)bytes, (unsigned int)len);
	int n = 0;

	if (c->closing || c->broken || c->lingering)
		return;
	if (!c->tcp.write_queue_size)
		n = uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
	if (n < 0 && n != UV_EAGAIN) {
		c->broken = true;
		return;
	}
	n = n < 0 ? 0 : n;
	if ((size_t)n < len)
		queue(c, bytes + n, len - (size_t)n);
}

void connection_send(struct connection *c, const uint8_t *bytes, size_t len)
{
	if (!guard_send(c, bytes, len))
		connection_send_raw(c, bytes, len);
}

/* --- lists --- */

static void set_waiting(struct connection *c, bool waiting)
{
	struct server *s = c->server;

	if (waiting == c->is_waiting)
		return;
	c->is_waiting = waiting;
	if (waiting) {
		c->prev_waiting = NULL;
		c->next_waiting = s->waiting;
		if (s->waiting)
			s->waiting->prev_waiting = c;
		s->waiting = c;
		return;
	}
	if (c->next_waiting)
		c->next_waiting->prev_waiting = c->prev_waiting;
	if (c->prev_waiting)
		c->prev_waiting->next_waiting = c->next_waiting;
	else
		s->waiting = c->next_waiting;
}

static void link_connection(struct connection *c)
{
	struct server *s = c->server;

	c->next = s->connections;
	if (s->connections)
		s->connections->prev = c;
	s->connections = c;
	s->n_connections++;
	atomic_store(&s->counters.connections_now, s->n_connections);
	atomic_fetch_add(&s->counters.connections, 1);
}

static void unlink_connection(struct connection *c)
{
	struct server *s = c->server;

	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		s->connections = c->next;
	s->n_connections--;
	atomic_store(&s->counters.connections_now, s->n_connections);
}

/* --- ending --- */

/* Was it the last recorder of a kind beside the device's agent, nobody answers what it was told. */
static void leave_recorders(struct connection *c)
{
	const struct connection *other;
	uint32_t of, left = c->paces;

	c->paces = 0;
	for (other = c->server->connections; other && left; other = other->next)
		if (other->slot == c->slot && other->greeted)
			left &= ~(uint32_t)other->paces;
	for (of = 0; of < PACES; of++)
		if (left & 1U << of)
			registry_push_absent(c->server->o.registry, c->slot, of);
}

static void leave_registry(struct connection *c)
{
	struct server *s = c->server;

	leave_recorders(c);
	if (!c->has_slot)
		return;
	connection_push_traffic(c);
	if (s->by_slot[c->slot] == c)
		s->by_slot[c->slot] = NULL;
	registry_leave(s->o.registry, c->slot, c->session.number, session_clock_now().real_ns);
	c->has_slot = false;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void connection_close(struct connection *c)
{
	if (c->closing)
		return;
	c->closing = true;
	leave_registry(c);
	if (c->has_objects)
		objects_leave(c->server->o.objects, c->session.number);
	set_waiting(c, false);
	wheel_unset(&c->deadline);
	session_done(&c->session);
	guard_done(c);
	unlink_connection(c);
	uv_close((uv_handle_t *)&c->tcp, on_closed);
}

static void on_shut(uv_shutdown_t *request, int status)
{
	(void)status;
	free(request);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

/* What is read while the batch is full would have to be held, for each connection: it is better
 * left to the kernel. No buffer means no read (UV_ENOBUFS). */
static bool is_batch_full(const struct server *s)
{
	return store_waiting(s->o.store) + sizeof(s->buffer) > s->o.batch_bytes;
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
	struct connection *c = handle->data;
	size_t room = c->guard.state == GUARD_OFF ? sizeof(c->server->buffer) : GUARD_READ_MAX;

	(void)wanted;
	c->paused = !c->lingering && is_batch_full(c->server);
	*buf = uv_buf_init((char *)c->server->buffer, c->paused ? 0 : (unsigned int)room);
}

static void set_reading(struct connection *c, bool reading)
{
	if (reading == c->reading)
		return;
	c->reading = reading;
	if (!reading)
		uv_read_stop((uv_stream_t *)&c->tcp);
	else if (uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read) < 0)
		c->broken = true;
}

/* The session has said its last word. */
static void linger(struct connection *c)
{
	uv_shutdown_t *request = malloc(sizeof(*request));

	leave_registry(c);
	set_waiting(c, false);
	if (c->guard.channel)
		channel_bye(c->guard.channel);
	if (!request || uv_shutdown(request, (uv_stream_t *)&c->tcp, on_shut) < 0) {
		free(request);
		connection_close(c);
		return;
	}
	c->lingering = true;
	set_reading(c, true);
	wheel_set(&c->server->wheel, &c->deadline, server_now_ms(c->server) + LINGER_MS);
}

/* --- reading --- */

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct connection *c = stream->data;
	const uint8_t *bytes = (const uint8_t *)buf->base;
	struct session_now now;
	size_t len = (size_t)n;

	if (n == UV_ENOBUFS) {
		connection_settle(c);
		return;
	}
	if (n < 0) {
		if (!c->lingering)
			session_end(&c->session);
		connection_close(c);
		return;
	}
	if (!n || c->lingering)
		return;
	now = session_clock_now();
	atomic_fetch_add_explicit(&c->server->counters.bytes, (uint64_t)n, memory_order_relaxed);
	c->traffic.bytes += (uint64_t)n;
	if (guard_take(c, &bytes, &len))
		session_push(&c->session, bytes, len, &now);
	connection_settle(c);
}

/* Once, behind WELCOME: what it was told while it was away, and the first PING. */
static void greet(struct connection *c)
{
	struct message_instruction desired[REGISTRY_DESIRED_MAX];
	struct session_now now = session_clock_now();
	uint32_t n, i;

	c->greeted = true;
	n = c->has_slot ? registry_get_desired(c->server->o.registry, c->slot, desired) : 0;
	for (i = 0; i < n; i++)
		session_instruct(&c->session, &desired[i]);
	for (i = 0; i < PACES; i++)
		if (c->paces & 1U << i &&
		    registry_get_pace(c->server->o.registry, c->slot, i, &desired[0]))
			session_instruct(&c->session, &desired[0]);
	session_ping(&c->session, &now);
	c->next_ping_ms = server_now_ms(c->server) + FIRST_PING_MS;
	wheel_set(&c->server->wheel, &c->deadline, c->next_ping_ms);
}

static void count_frames(struct connection *c)
{
	uint64_t n = c->session.frames - c->frames_seen;

	if (!n)
		return;
	c->frames_seen = c->session.frames;
	c->traffic.frames += n;
	atomic_fetch_add_explicit(&c->server->counters.frames, n, memory_order_relaxed);
	c->last_frame_ms = server_now_ms(c->server);
}

void connection_settle(struct connection *c)
{
	const struct session *session = &c->session;

	if (c->closing || c->lingering)
		return;
	count_frames(c);
	if (c->broken) {
		connection_log(c, "closed: it does not read what it is sent");
		connection_close(c);
		return;
	}
	if (session_is_over(session)) {
		linger(c);
		return;
	}
	if (session->state == SESSION_OPEN && !c->greeted)
		greet(c);
	set_waiting(c, session->n_batches || session->stalled || c->paused);
	if (c->is_waiting)
		committer_wake(c->server->committer);
	set_reading(c, !session->stalled && !c->paused && !c->server->stopping);
}

void connection_commit(struct connection *c, uint64_t durable)
{
	struct session_now now;

	session_durable(&c->session, durable);
	if (c->session.stalled || c->paused)
		c->last_frame_ms = server_now_ms(c->server); /* it was us who did not listen */
	c->paused = false;
	if (c->session.stalled && !c->server->stopping) {
		now = session_clock_now();
		session_resume(&c->session, &now);
	}
	connection_settle(c);
}

void connection_push_traffic(struct connection *c)
{
	if (!c->has_slot)
		return;
	c->traffic.waiting_bytes = c->session.waiting_bytes;
	c->traffic.run = c->run;
	if (!c->run && c->session.run != c->func_run && c->session.run != c->boot_run)
		c->traffic.run = c->session.run;
	c->traffic.func_run = c->func_run;
	registry_push_traffic(c->server->o.registry, c->slot, &c->traffic);
	memset(&c->traffic, 0, sizeof(c->traffic));
}

/* --- time --- */

static void check_open(struct connection *c, uint64_t now_ms)
{
	const struct server_options *o = &c->server->o;
	struct session_now now;

	if (!c->session.stalled && !c->paused && now_ms >= c->last_frame_ms + o->idle_timeout_ms) {
		session_bye(&c->session, BYE_LIMIT, "no whole frame within %u ms",
			    o->idle_timeout_ms);
		return;
	}
	if (now_ms >= c->next_ping_ms) {
		now = session_clock_now();
		session_ping(&c->session, &now);
		c->next_ping_ms =
			now_ms + (c->session.pings < FIRST_PINGS ? FIRST_PING_MS : o->ping_ms);
	}
	wheel_set(&c->server->wheel, &c->deadline, c->next_ping_ms);
}

void connection_deadline(struct connection *c)
{
	uint64_t now_ms = server_now_ms(c->server);

	if (c->lingering) {
		connection_close(c);
		return;
	}
	if ((c->session.stalled || c->paused) && c->session.state == SESSION_NEW)
		wheel_set(&c->server->wheel, &c->deadline, now_ms + c->server->o.hello_timeout_ms);
	else if (c->session.state == SESSION_NEW)
		session_bye(&c->session, BYE_PROTOCOL, "no HELLO within %u ms",
			    c->server->o.hello_timeout_ms);
	else if (c->session.state == SESSION_OPEN)
		check_open(c, now_ms);
	connection_settle(c);
}

/* --- beginning --- */

static void start(struct connection *c)
{
	struct server *s = c->server;
	struct sockaddr_storage peer;
	int len = sizeof(peer);

	memset(&peer, 0, sizeof(peer));
	uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&peer, &len);
	endpoint_format(&peer, c->address);
	guard_init(c, endpoint_is_loopback(&peer));
	uv_tcp_nodelay(&c->tcp, 1);
	uv_tcp_keepalive(&c->tcp, 1, KEEPALIVE_S);
	c->since_ms = c->last_frame_ms = server_now_ms(s);
	wheel_set(&s->wheel, &c->deadline, c->since_ms + s->o.hello_timeout_ms);
	if (s->n_connections > s->o.connections_max)
		session_bye(&c->session, BYE_LIMIT, "the collector has %u connections, its limit",
			    s->o.connections_max);
	connection_settle(c);
}

bool connection_accept(struct server *s)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c || uv_tcp_init(&s->loop, &c->tcp) < 0) {
		free(c);
		return false;
	}
	c->server = s;
	session_init(&c->session, &s->env, c, ++s->sessions);
	c->tcp.data = c;
	link_connection(c);
	if (uv_accept((uv_stream_t *)&s->listener, (uv_stream_t *)&c->tcp) < 0 ||
	    s->n_connections > s->o.connections_max + BEYOND_MAX)
		connection_close(c);
	else
		start(c);
	return true;
}
