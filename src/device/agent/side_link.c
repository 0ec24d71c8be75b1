/* SPDX-License-Identifier: MIT */
/* side_link: see side_link.h. */
#include "device/agent/side_link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "device/agent/identity.h"
#include "device/agent/line.h"
#include "device/agent/uplink_socket.h"

#define PIECES_MAX 16U /* in one turn, so that the machine is looked at in time */

struct side_link {
	struct identity identity;
	struct uplink *uplink;
	struct line *line;
	const char *who, *bye;
	struct error last; /* the same again is not worth another line */
	bool is_recording;
	struct side_link_objects objects;
	struct side_link_orders orders;
	uint64_t now_ms; /* of this turn */
};

static int instruct(void *context, const struct message_instruction *m, struct error *e)
{
	const struct side_link *l = context;

	if (l->orders.take)
		return l->orders.take(l->orders.context, m, e);
	return error_set(e, EOPNOTSUPP, "cannot follow: this is %s", l->who);
}

static void tell_clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = clock_mono_ns();
	*ret_realtime_ns = clock_real_ns();
}

static void want(void *context, const struct message_want *m)
{
	const struct side_link *l = context;

	l->objects.want(l->objects.context, m);
}

static uint32_t piece(void *context, uint8_t *body)
{
	const struct side_link *l = context;

	return l->objects.piece(l->objects.context, body, l->now_ms);
}

int side_link_new(struct side_link **ret, const struct side_link_options *o, struct error *e)
{
	CLEANUP(side_link) struct side_link *l = calloc(1, sizeof(*l));
	struct uplink_options u = { .spool = o->spool,
				    .role = ROLE_RECORDER,
				    .agent = KISEKI_VERSION,
				    .entry_max = o->entry_max,
				    .hooks = { l, instruct, tell_clocks } };
	int r;

	if (!l)
		return error_set(e, ENOMEM, "cannot make a connection: out of memory");
	l->objects = o->objects;
	l->orders = o->orders;
	if (l->objects.piece) {
		u.hooks.want = want;
		u.hooks.piece = piece;
	}
	l->who = o->who;
	l->bye = o->bye;
	r = identity_init(&l->identity, o->name, o->state_dir, e);
	if (r < 0)
		return r;
	if (identity_of_driver(&l->identity.device, IDENTITY_DRIVER) == -EAGAIN)
		return error_set(e, EAGAIN,
				 "cannot connect: the driver does not know yet who the "
				 "device is");
	if (getrandom(&u.seed, sizeof(u.seed), GRND_NONBLOCK) < 0)
		u.seed = clock_mono_ns();
	u.device = l->identity.device;
	u.boot = l->identity.boot;
	u.name = o->name;
	u.kernel = l->identity.system.release;
	u.machine = l->identity.system.machine;
	u.cpus = l->identity.cpus;
	r = uplink_new(&l->uplink, &u, e);
	if (r >= 0)
		r = line_new(&l->line,
			     &(struct line_options){ o->collector, o->name, o->state_dir, false },
			     e);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

void side_link_free(struct side_link *l)
{
	if (!l)
		return;
	uplink_free(l->uplink);
	line_free(l->line);
	free(l);
}

static int drop(struct side_link *l, uint64_t now_ms, struct error *e)
{
	bool is_news = strcmp(e->text, l->last.text);

	l->last = *e;
	if (!is_news)
		e->text[0] = 0;
	line_close(l->line);
	uplink_close(l->uplink, now_ms);
	return -EAGAIN;
}

/* 1: there is a connection; 0: not yet. */
static int connect_link(struct side_link *l, uint64_t now_ms, struct error *e)
{
	bool sends_objects;
	int r;

	if (line_fd(l->line) < 0 && now_ms < uplink_next(l->uplink))
		return 0;
	r = line_open(l->line, now_ms, e);
	if (r <= 0)
		return r;
	sends_objects = l->objects.piece && (l->objects.anywhere || line_is_local(l->line));
	uplink_set_abilities(l->uplink,
			     l->orders.abilities | (sends_objects ? ABILITY_OBJECTS : 0));
	uplink_open(l->uplink, l->is_recording ? DEVICE_TRACING : DEVICE_IDLE, now_ms);
	return r;
}

int side_link_turn(struct side_link *l, uint64_t now_ms, bool is_recording, struct error *e)
{
	bool was_welcome;
	int r = 1, w;

	l->is_recording = is_recording;
	l->now_ms = now_ms;
	if (uplink_is_closed(l->uplink))
		r = connect_link(l, now_ms, e);
	if (r < 0)
		return drop(l, now_ms, e);
	if (!r)
		return 0;
	was_welcome = uplink_is_welcome(l->uplink);
	r = uplink_socket_read(l->uplink, l->line, PIECES_MAX, now_ms, e);
	if (!was_welcome && uplink_is_welcome(l->uplink))
		line_set_time(l->line, uplink_realtime_ns(l->uplink), now_ms);
	w = uplink_socket_write(l->uplink, l->line, PIECES_MAX, r < 0 ? NULL : e);
	if (r >= 0 && w >= 0 && uplink_is_silent(l->uplink, now_ms))
		r = error_set(e, ETIMEDOUT, "the collector is silent");
	if (r >= 0 && w >= 0 && line_renew(l->line, now_ms))
		r = error_set(e, ECONNRESET, "connects again, with its next certificate");
	return r < 0 || w < 0 ? drop(l, now_ms, e) : 0;
}

void side_link_tell(struct side_link *l, const struct message_status *m)
{
	uplink_status(l->uplink, m);
}

int side_link_fd(const struct side_link *l)
{
	return line_fd(l->line);
}

short side_link_events(struct side_link *l)
{
	size_t unsent;

	if (uplink_is_closed(l->uplink))
		return line_events(l->line);
	uplink_get(l->uplink, &unsent);
	return (short)((uplink_room(l->uplink) ? POLLIN : 0) | (unsent ? POLLOUT : 0));
}

uint64_t side_link_next(const struct side_link *l)
{
	uint64_t link = uplink_next(l->uplink), renewal, piece;

	if (uplink_is_closed(l->uplink) && line_fd(l->line) >= 0)
		return line_next(l->line);
	if (line_has_unread(l->line) && uplink_room(l->uplink))
		return 0;
	renewal = line_next_renewal(l->line, l->now_ms);
	link = link < renewal ? link : renewal;
	if (!l->objects.next || !uplink_is_welcome(l->uplink))
		return link;
	piece = l->objects.next(l->objects.context);
	return piece < link ? piece : link;
}

bool side_link_is_welcome(const struct side_link *l)
{
	return uplink_is_welcome(l->uplink);
}

void side_link_bye(struct side_link *l, uint64_t now_ms)
{
	struct error e = ERROR_INIT;

	uplink_bye(l->uplink, BYE_DONE, l->bye);
	side_link_turn(l, now_ms, false, &e);
	line_close(l->line);
}
