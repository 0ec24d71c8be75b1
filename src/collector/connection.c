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
#define STALE_MS                                                                                   \
	1000U /* a frame in part that did not grow whole for so long is nobody's first choice */
#define PLACES_MORE 64U
#define TURNS_AT_ONCE 16U /* of those that have yielded, before the sockets are looked at again */

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

static void turn(struct connection *c)
{
	const struct session_now now = session_clock_now();

	c->turn = c->server->turn;
	session_turn(&c->session, &now);
	connection_settle(c);
}

static void set_ready(struct connection *c, bool is_ready);

/* Some of those that have yielded get another turn, the oldest first. The loop does not sleep as long
 * as anybody waits for one. */
static void on_idle(uv_idle_t *handle)
{
	struct server *s = handle->data;
	uint32_t n = s->n_ready < TURNS_AT_ONCE ? s->n_ready : TURNS_AT_ONCE;
	struct connection *c;

	while (n-- && (c = s->ready)) {
		set_ready(c, false);
		turn(c);
	}
	if (!s->n_ready)
		uv_idle_stop(handle);
}

static void set_ready(struct connection *c, bool is_ready)
{
	struct server *s = c->server;

	if (is_ready == c->is_ready)
		return;
	c->is_ready = is_ready;
	if (is_ready) {
		c->next_ready = NULL;
		c->prev_ready = s->last_ready;
		*(s->last_ready ? &s->last_ready->next_ready : &s->ready) = c;
		s->last_ready = c;
		s->n_ready++;
		uv_idle_start(&s->idle, on_idle);
		return;
	}
	*(c->prev_ready ? &c->prev_ready->next_ready : &s->ready) = c->next_ready;
	*(c->next_ready ? &c->next_ready->prev_ready : &s->last_ready) = c->prev_ready;
	s->n_ready--;
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

/* --- what a device has --- */

static int get_place(struct server *s, uint32_t slot, struct place **ret)
{
	struct place *places;
	uint32_t room;

	if (slot >= s->n_places) {
		room = (slot + PLACES_MORE) * 2;
		places = realloc(s->places, room * sizeof(*places));
		if (!places)
			return -ENOMEM;
		memset(places + s->n_places, 0, (room - s->n_places) * sizeof(*places));
		s->places = places;
		s->n_places = room;
	}
	*ret = &s->places[slot];
	return 0;
}

/* The device's agent has one connection: who has it, has to go. */
static void replace_agent(struct connection *c, struct place *p)
{
	struct connection *old = p->agent == c ? NULL : p->agent;

	p->agent = c;
	c->has_slot = true;
	if (!old)
		return;
	session_bye(&old->session, BYE_DUPLICATE,
		    "another connection has taken this device's place");
	connection_settle(old);
}

int connection_take_place(struct connection *c, uint32_t slot, struct error *e)
{
	struct place *p;
	int r = get_place(c->server, slot, &p);

	if (r < 0)
		return error_set(e, r, "cannot take the device: out of memory");
	if (!c->has_place && c->is_beside && p->connections >= DEVICE_CONNECTIONS_MAX)
		return error_set(e, EUSERS, "the device has %u connections, its limit",
				 p->connections);
	c->slot = slot;
	if (!c->has_place) {
		p->connections++;
		p->held += c->held;
	}
	c->has_place = true;
	if (!c->is_beside)
		replace_agent(c, p);
	return 0;
}

static void count_held(struct connection *c)
{
	struct server *s = c->server;
	uint64_t now = c->session.held_room;

	s->held += now - c->held;
	if (c->has_place)
		s->places[c->slot].held += now - c->held;
	if (!c->held)
		c->held_ms = server_now_ms(s);
	c->held = now;
}

static void leave_place(struct connection *c)
{
	if (!c->has_place)
		return;
	count_held(c);
	c->server->places[c->slot].held -= c->held;
	c->server->places[c->slot].connections--;
	c->has_place = false;
}

/* Who has been waited for longest, of those that have a frame in part. */
static struct connection *find_stale(const struct connection *than)
{
	const struct server *s = than->server;
	struct connection *c, *oldest = NULL;

	for (c = s->connections; c; c = c->next)
		if (c->held && !c->session.stalled && !c->lingering && !c->closing &&
		    server_now_ms(s) >= c->held_ms + STALE_MS &&
		    (!oldest || c->held_ms < oldest->held_ms))
			oldest = c;
	return oldest;
}

/* A peer that holds more of our memory than its share has to go; so that there are others left to do
 * so, the one whose frame has been in part for longest. */
static void bound_held(struct connection *c)
{
	struct server *s = c->server;
	struct connection *victim = c;
	bool is_more = c->session.held_room > c->held;

	count_held(c);
	if (!is_more || session_is_over(&c->session))
		return;
	if (c->has_place && s->places[c->slot].held > DEVICE_HELD_MAX) {
		session_bye(&c->session, BYE_LIMIT,
			    "the device sent %u bytes of frames that are not whole, its limit",
			    DEVICE_HELD_MAX);
		count_held(c);
	}
	if (s->held <= SERVER_HELD_MAX)
		return;
	victim = find_stale(c);
	victim = victim ? victim : c;
	session_bye(&victim->session, BYE_LIMIT,
		    "the collector holds %u bytes of frames that are not whole, its limit",
		    SERVER_HELD_MAX);
	count_held(victim);
	if (victim != c)
		connection_settle(victim);
}

/* Which runs the device sends; a recorder's are of the device, too. */
static void push_sent(struct connection *c)
{
	struct registry_sender sender = { .session = c->session.number };

	if (!c->is_known)
		return;
	if (!c->closing) {
		sender.runs[0] = c->session.run;
		sender.runs[1] = c->run;
		sender.runs[2] = c->func_run;
		sender.runs[3] = c->boot_run;
	}
	if (!memcmp(sender.runs, c->sent, sizeof(c->sent)))
		return;
	memcpy(c->sent, sender.runs, sizeof(c->sent));
	registry_push_sent(c->server->o.registry, c->slot, &sender);
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
	const struct registry_parting now = { c->session.number, session_clock_now().real_ns };
	struct server *s = c->server;
	struct store_device device;

	push_sent(c);
	leave_recorders(c);
	if (!c->has_slot)
		return;
	connection_push_traffic(c);
	if (s->places[c->slot].agent == c)
		s->places[c->slot].agent = NULL;
	/* Only the time is new. A store that fails here tells its error at the next block. */
	if (registry_leave(s->o.registry, c->slot, &now, &device) &&
	    store_device(s->o.store, &device, NULL) == 0)
		committer_wake(s->committer);
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
	leave_place(c);
	if (c->has_objects)
		objects_leave(c->server->o.objects, c->session.number);
	set_waiting(c, false);
	set_ready(c, false);
	wheel_unset(&c->deadline);
	session_done(&c->session);
	count_held(c);
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
	leave_place(c);
	set_waiting(c, false);
	set_ready(c, false);
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
	if (c->turn != c->server->turn) /* libuv reads several times in one turn */
		session_turn(&c->session, &now);
	c->turn = c->server->turn;
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
	c->last_frame_ms = c->held_ms = server_now_ms(c->server);
	c->is_late = false;
}

void connection_settle(struct connection *c)
{
	const struct session *session = &c->session;

	if (c->closing || c->lingering)
		return;
	count_frames(c);
	bound_held(c);
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
	push_sent(c);
	set_waiting(c, session->n_batches || session->stalled || c->paused);
	if (c->is_waiting)
		committer_wake(c->server->committer);
	set_ready(c, session->yielded && !session->stalled);
	set_reading(c,
		    !session->stalled && !session->yielded && !c->paused && !c->server->stopping);
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

static bool does_listen(const struct connection *c)
{
	return !c->session.stalled && !c->session.yielded && !c->paused;
}

/* Who seems to be late may have sent in time, and the loop did not come to read it: it gets another
 * turn, in which all that waits is read. */
static bool is_too_late(struct connection *c)
{
	if (c->is_late && c->server->turn > c->late_turn)
		return true;
	if (!c->is_late)
		c->late_turn = c->server->turn;
	c->is_late = true;
	wheel_set(&c->server->wheel, &c->deadline, server_now_ms(c->server) + WHEEL_STEP_MS);
	return false;
}

static void check_new(struct connection *c, uint64_t now_ms)
{
	uint32_t timeout_ms = c->server->o.hello_timeout_ms;

	if (!does_listen(c))
		wheel_set(&c->server->wheel, &c->deadline, now_ms + timeout_ms);
	else if (is_too_late(c))
		session_bye(&c->session, BYE_PROTOCOL, "no HELLO within %u ms", timeout_ms);
}

static void check_open(struct connection *c, uint64_t now_ms)
{
	const struct server_options *o = &c->server->o;
	struct session_now now;

	if (does_listen(c) && now_ms >= c->last_frame_ms + o->idle_timeout_ms) {
		if (is_too_late(c))
			session_bye(&c->session, BYE_LIMIT, "no whole frame within %u ms",
				    o->idle_timeout_ms);
		return;
	}
	c->is_late = false;
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
	if (c->session.state == SESSION_NEW)
		check_new(c, now_ms);
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
