/* SPDX-License-Identifier: MIT */
/*
 * agent_link: the agent's connection: between the socket (line.h) and the protocol (uplink.h); see
 * agent_state.h.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "device/agent/agent_state.h"
#include "device/agent/uplink_socket.h"

#define PIECES_MAX 64U	 /* in one turn, so that the sources have theirs */
#define ACK_FRAME_MOST 8 /* bytes, up to 2^42 frames; a PING has more in the first minute already */
#define TLS_RECORD_MORE 22 /* bytes around what a record says */

void agent_drop_link(struct agent *a, const struct error *why)
{
	if (why && strcmp(why->text, a->link_failure.text)) {
		a->link_failure = *why; /* the same again is not worth another line */
		agent_log(a, "%s", why->text);
	}
	line_close(a->line);
	uplink_close(a->uplink, a->now_ms);
}

/* Goes on to a connection, if it is time. What the machine could not do before it may have learned
 * since: a file system was mounted, a module loaded. What it could do is not tried again, so this
 * costs nothing where all works. */
static void connect_link(struct agent *a)
{
	struct error e = ERROR_INIT;
	int r;

	if (line_fd(a->line) < 0 && (a->now_ms < uplink_next(a->uplink) || a->is_ending))
		return;
	r = line_open(a->line, a->now_ms, &e);
	if (r < 0)
		agent_drop_link(a, &e);
	if (r <= 0)
		return;
	a->low_mark = 1;
	a->origins = tracing_origins(a->origins);
	uplink_set_origins(a->uplink, a->origins);
	uplink_set_abilities(a->uplink, agent_object_ability(a));
	uplink_open(a->uplink, agent_state(a), a->now_ms);
}

void agent_turn_link(struct agent *a)
{
	struct error e = ERROR_INIT;
	bool was_welcome;
	int r, w;

	if (uplink_is_closed(a->uplink))
		connect_link(a);
	if (uplink_is_closed(a->uplink))
		return;
	was_welcome = uplink_is_welcome(a->uplink);
	r = uplink_socket_read(a->uplink, a->line, PIECES_MAX, a->now_ms, &e);
	if (!was_welcome && uplink_is_welcome(a->uplink)) {
		a->link_failure.text[0] = 0;
		line_set_time(a->line, uplink_realtime_ns(a->uplink), a->now_ms);
		agent_log(a, "is connected to %s as session %llu", a->o.settings->collector,
			  (unsigned long long)uplink_session(a->uplink));
		if (line_is_ahead(a->line, a->now_ms))
			agent_log(a, "has a certificate that was made while the collector's clock "
				     "was ahead, and asks for another");
		agent_tell_status(a);
	}
	w = uplink_socket_write(a->uplink, a->line, PIECES_MAX, r < 0 ? NULL : &e);
	if (r >= 0 && w >= 0 && uplink_is_silent(a->uplink, a->now_ms))
		r = error_set(&e, ETIMEDOUT, "the collector is silent");
	if (r >= 0 && w >= 0 && line_renew(a->line, a->now_ms))
		r = error_set(&e, ECONNRESET, "connects again, with its next certificate");
	if (r < 0 || w < 0)
		agent_drop_link(a, &e);
}

uint64_t agent_next_link(const struct agent *a)
{
	uint64_t next = uplink_next(a->uplink), dialled = line_next(a->line), renewal, piece;

	if (uplink_is_closed(a->uplink) && line_fd(a->line) >= 0)
		return dialled;
	if (line_has_unread(a->line) && uplink_room(a->uplink))
		return 0;
	renewal = line_next_renewal(a->line, a->now_ms);
	next = next < renewal ? next : renewal;
	piece = agent_next_piece(a);
	return next < piece ? next : piece;
}

/* While ticks come anyway, an ACK need not wake the agent; unless blocks wait for it. */
static void set_low_mark(struct agent *a)
{
	bool patient = (agent_is_tracing(a) || agent_is_fed(a)) && !uplink_waits(a->uplink) &&
		       !a->is_ending;
	int most = ACK_FRAME_MOST + (line_is_secure(a->line) ? TLS_RECORD_MORE : 0);
	int mark = patient ? most + 1 : 1;

	if (mark == a->low_mark)
		return;
	a->low_mark = mark;
	setsockopt(line_fd(a->line), SOL_SOCKET, SO_RCVLOWAT, &mark, sizeof(mark));
}

short agent_link_events(struct agent *a)
{
	size_t unsent;

	if (uplink_is_closed(a->uplink))
		return line_events(a->line);
	set_low_mark(a);
	uplink_get(a->uplink, &unsent);
	return (short)((uplink_room(a->uplink) ? POLLIN : 0) | (unsent ? POLLOUT : 0));
}
