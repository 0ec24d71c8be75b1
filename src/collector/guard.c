/* SPDX-License-Identifier: MIT */
/*
 * guard: see guard.h.
 *
 * A certificate is judged when the handshake is done, and a refusal is a BYE: the device can say why.
 * Until then the session has seen no byte.
 */
#include "collector/guard.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "collector/connection.h"

#define TURN_MS 250U
#define NS_PER_S 1000000000ULL

_Static_assert(GUARD_READ_MAX + CHANNEL_RECORD_MAX <= SESSION_READ_MAX,
	       "what one read says fits into one push");

static uint64_t now_s(void)
{
	return clock_real_ns() / NS_PER_S;
}

int guard_open(struct server *s, struct error *e)
{
	return s->o.keys ? keys_open(&s->keys, s->o.keys, e) : 0;
}

void guard_close(struct server *s)
{
	keys_close(s->keys);
	s->keys = NULL;
}

void guard_init(struct connection *c, bool is_local)
{
	c->guard.state = c->server->keys ? GUARD_FIRST : GUARD_OFF;
	c->guard.is_local = is_local;
}

void guard_done(struct connection *c)
{
	channel_free(c->guard.channel);
	c->guard.channel = NULL;
}

/* --- what comes --- */

static bool send_raw(void *context, const uint8_t *bytes, size_t len)
{
	struct connection *c = context;

	connection_send_raw(c, bytes, len);
	return !c->broken;
}

static bool refuse(struct connection *c, const char *why)
{
	session_bye(&c->session, BYE_REFUSED, "%s", why);
	return false;
}

/* By the first byte: a handshake, or a frame of somebody who has no keys. */
static bool recognise(struct connection *c, uint8_t first)
{
	const struct channel_hooks hooks = { c, send_raw };
	struct error e = ERROR_INIT;

	if (first != CHANNEL_FIRST_BYTE) {
		c->guard.state = GUARD_PLAIN;
		if (c->guard.is_local && c->server->o.plain_loopback)
			return true;
		return refuse(c, "this collector listens only to devices that have keys: "
				 "kiseki-agent enroll");
	}
	c->guard.state = GUARD_TLS;
	if (channel_new(&c->guard.channel, keys_get_credentials(c->server->keys), &hooks, &e) < 0)
		return refuse(c, e.text);
	return true;
}

static bool judge(struct connection *c)
{
	uint8_t serial[AUTHORITY_SERIAL_LEN];
	struct guard *g = &c->guard;
	struct error e = ERROR_INIT;
	int r = channel_get_serial(g->channel, serial, &e);

	if (r > 0)
		r = keys_judge(c->server->keys, serial, now_s(), &g->peer, &e);
	else if (r == 0)
		return true; /* it may enroll, and nothing else */
	if (g->peer.name[0])
		memcpy(c->name, g->peer.name, sizeof(g->peer.name)); /* for the log */
	if (r < 0)
		return refuse(c, e.text);
	g->has_peer = true;
	return true;
}

bool guard_take(struct connection *c, const uint8_t **bytes, size_t *len)
{
	struct guard *g = &c->guard;
	struct error e = ERROR_INIT;
	int n;

	if (g->state == GUARD_FIRST && !recognise(c, (*bytes)[0]))
		return false;
	if (g->state != GUARD_TLS)
		return true;
	n = channel_push(g->channel, (struct channel_bytes){ *bytes, *len }, c->server->plain,
			 sizeof(c->server->plain), &e);
	if (n < 0)
		return refuse(c, e.text);
	if (!g->is_judged && channel_is_open(g->channel)) {
		g->is_judged = true;
		if (!judge(c))
			return false;
	}
	*bytes = c->server->plain;
	*len = (size_t)n;
	return n > 0;
}

bool guard_send(struct connection *c, const uint8_t *bytes, size_t len)
{
	struct guard *g = &c->guard;

	if (g->state == GUARD_OFF || g->state == GUARD_PLAIN)
		return false;
	if (g->channel && channel_is_open(g->channel) && channel_send(g->channel, bytes, len) < 0)
		c->broken = true;
	return true;
}

/* --- who it is --- */

int guard_admit(struct connection *c, struct message_hello *m, struct error *e)
{
	const struct guard *g = &c->guard;

	if (g->state != GUARD_TLS)
		return 0;
	if (!g->has_peer)
		return error_set(e, EKEYREJECTED, "it has no certificate");
	if (memcmp(&m->device, &g->peer.device, sizeof(m->device)) != 0)
		return error_set(e, EKEYREJECTED, "its certificate is of another device");
	m->name = (struct message_text){ g->peer.name, (uint32_t)strlen(g->peer.name) };
	return 0;
}

int guard_enroll(struct connection *c, const struct message_enroll *m,
		 struct message_certificate *ret, struct error *e)
{
	const struct guard *g = &c->guard;
	struct keys_asking a = { .message = m,
				 .peer = g->has_peer ? &g->peer : NULL,
				 .from = c->address,
				 .now_s = now_s() };
	int r;

	if (g->state != GUARD_TLS)
		return error_set(e, EKEYREJECTED,
				 c->server->keys ? "a secret that was sent in the clear"
						 : "this collector has no keys");
	r = keys_enroll(c->server->keys, &a, ret, e);
	if (r < 0)
		return r;
	memcpy(c->name, keys_get_enrolled(c->server->keys), ROSTER_NAME_MAX); /* for the log */
	return 0;
}

/* --- now and then --- */

static void judge_again(struct connection *c, bool is_changed)
{
	struct error e = ERROR_INIT;
	struct roster_row row;
	int r = 0;

	if (is_changed)
		r = keys_judge(c->server->keys, c->guard.peer.serial, now_s(), &row, &e);
	else if (c->guard.peer.until_s <= now_s())
		r = error_set(&e, EKEYREJECTED, "its certificate has ended");
	if (r >= 0)
		return;
	session_bye(&c->session, BYE_REFUSED, "%s", e.text);
	connection_settle(c);
}

void guard_turn(struct server *s)
{
	struct connection *c, *next;
	struct error e = ERROR_INIT;
	int r;

	if (!s->keys || server_now_ms(s) < s->last_guard_ms + TURN_MS)
		return;
	s->last_guard_ms = server_now_ms(s);
	r = keys_turn(s->keys, now_s(), &e);
	if (r < 0)
		s->o.log(s->o.log_context, e.text);
	for (c = s->connections; c; c = next) {
		next = c->next;
		if (c->guard.has_peer && !c->lingering)
			judge_again(c, r > 0);
	}
}
