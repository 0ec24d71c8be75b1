/* SPDX-License-Identifier: MIT */
/* guest_session: see guest_session.h. */
#include "device/guest/guest_session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "device/guest/guest_objects.h"
#include "device/guest/guest_teller.h"

struct session {
	const struct guest_session_options *o;
	struct guest_channel channel;
	struct guest_events *events; /* NULL: the kernel tells none */
	struct guest_teller *teller;
	struct guest_objects objects;
	uint64_t heard_ms, said_ms;
	bool is_welcome;
};

static struct guest_text text_of(const char *text)
{
	return (struct guest_text){ text, (uint32_t)strlen(text) };
}

static void say_hello(struct session *s)
{
	struct guest_hello m = { .version = GUEST_VERSION, .name = text_of(s->o->name) };
	uint8_t frame[GUEST_FRAME_MAX];
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uname(&u);
	m.kernel = text_of(u.release);
	m.machine = text_of(u.machine);
	m.can = (s->events ? GUEST_CAN_EVENTS : 0) | (s->o->tables ? GUEST_CAN_TABLES : 0);
	memcpy(m.uuid, s->o->uuid, sizeof(m.uuid));
	guest_channel_send(&s->channel, frame, (size_t)(guest_put_hello(frame, &m) - frame));
	s->said_ms = clock_mono_ms();
}

/* --- what the host says --- */

static void answer_ping(struct session *s, uint64_t number)
{
	struct guest_pong m = { .number = number };
	uint8_t frame[GUEST_FRAME_MAX];

	/* What was asked for before is answered before. */
	guest_teller_tell_names(s->teller);
	m.ns = clock_mono_ns();
	guest_channel_send(&s->channel, frame, (size_t)(guest_put_pong(frame, &m) - frame));
}

/* Whoever begins from here on is an event: the list comes behind them. */
static void start_telling(struct session *s)
{
	s->is_welcome = true;
	guest_teller_tell_all(s->teller);
}

static bool take_frame(struct session *s, const struct frame *f)
{
	struct guest_names names;
	struct guest_id id;
	uint64_t number;

	switch (f->type) {
	case GUEST_WELCOME:
		if (!guest_get_number(f, &number) || number != GUEST_VERSION)
			return false;
		start_telling(s);
		return true;
	case GUEST_PING:
		if (!guest_get_number(f, &number))
			return false;
		answer_ping(s, number);
		return true;
	case GUEST_NAMES:
		if (!guest_get_names(f, &names))
			return false;
		guest_teller_push_names(s->teller, &names);
		return true;
	case GUEST_FETCH:
		if (!guest_get_fetch(f, &id))
			return false;
		guest_objects_push(&s->objects, &id);
		return true;
	default:
		return true; /* of a later version */
	}
}

static int hear(struct session *s, struct error *e)
{
	struct frame f;
	int r = guest_channel_read(&s->channel);

	while (r >= 0 && (r = guest_channel_next(&s->channel, &f)) > 0) {
		s->heard_ms = clock_mono_ms();
		if (!take_frame(s, &f))
			r = -EPROTO;
	}
	if (r == -EPROTO)
		return error_set(e, EPROTO, "the host says what no host says");
	return r < 0 ? error_set(e, -r, "the host is gone: %s", strerror(-r)) : 0;
}

/* --- what happens here --- */

static void take_event(void *context, const struct guest_event *ev)
{
	struct session *s = context;

	if (s->is_welcome)
		guest_teller_tell(s->teller, ev);
}

static void watch(struct session *s)
{
	uint8_t frame[GUEST_FRAME_MAX];
	int r = s->events ? guest_events_read(s->events, take_event, s) : 0;

	if (r != -ENOBUFS || !s->is_welcome)
		return;
	guest_channel_send(&s->channel, frame,
			   (size_t)(guest_put_number(frame, GUEST_MISSED, clock_mono_ns()) -
				    frame));
	guest_teller_tell_all(s->teller);
}

static int turn(struct session *s, struct error *e)
{
	bool more = guest_objects_turn(&s->objects);
	int wait_ms = guest_teller_turn(s->teller);
	struct pollfd p[] = { { .fd = s->o->fd, .events = POLLIN },
			      { .fd = s->events ? guest_events_fd(s->events) : -1,
				.events = POLLIN } };
	uint64_t now_ms;
	int n = poll(p, 2, more ? 0 : wait_ms), r = 0;

	if (n > 0 && p[1].revents)
		watch(s);
	if (n > 0 && p[0].revents & (POLLIN | POLLHUP | POLLERR))
		r = hear(s, e);
	now_ms = clock_mono_ms();
	if (r < 0)
		return r;
	if (!s->is_welcome && now_ms - s->said_ms >= GUEST_AGAIN_MS)
		say_hello(s);
	if (s->is_welcome && now_ms - s->heard_ms >= GUEST_SILENCE_MS)
		return error_set(e, ETIMEDOUT, "the host is silent");
	r = s->channel.failed;
	return r < 0 ? error_set(e, -r, "the host is gone: %s", strerror(-r)) : 0;
}

int guest_session_run(const struct guest_session_options *o, struct error *e)
{
	static struct session s;
	struct error quiet = ERROR_INIT;
	int r;

	memset(&s, 0, sizeof(s));
	s.o = o;
	s.heard_ms = clock_mono_ms();
	guest_channel_init(&s.channel, o->fd);
	/* Without events it is told who is there, and again whenever that is asked for. */
	if (guest_events_new(&s.events, o->tables, &quiet) < 0)
		s.events = NULL;
	r = guest_teller_new(&s.teller, &s.channel, o->tables, e);
	if (r == 0) {
		guest_objects_init(&s.objects, &s.channel, guest_teller_ids(s.teller));
		say_hello(&s);
		while (r == 0 && !*o->stop)
			r = turn(&s, e);
		guest_objects_done(&s.objects);
	}
	guest_teller_free(s.teller);
	guest_events_free(s.events);
	return r;
}
