/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * session: see session.h. The window is counted in wire/flight.h, the waiting between connections in
 * wire/retry.h; both are the agent's, too.
 *
 * What it says is encoded in place, in `out`: a kernel's stack has no room for a message. What comes
 * is decoded in place, in `in`. An answer is only begun when `out` has room for the largest; until
 * then the frame that asks for it stays in `in`, and when that is full nothing more is read: a
 * collector that asks and does not listen costs no memory.
 */
#include "device/driver/core/session.h"

#include "device/driver/core/errors.h"

#define WELCOME_HEAD (5U * VARINT_MAX)
#define WELCOME_ROW (1U + 2U + VARINT_MAX)

uint32_t session_in_size(uint32_t cpus, uint32_t runs)
{
	uint32_t streams = cpus < MESSAGE_STREAMS_MAX ? cpus + 1 : MESSAGE_STREAMS_MAX;
	uint32_t welcome;

	if (runs > MESSAGE_RUNS_MAX)
		runs = MESSAGE_RUNS_MAX;
	welcome = WELCOME_HEAD + WELCOME_ROW * runs * streams;
	return FRAME_HEAD_MAX + (welcome > SESSION_IN_LEAST ? welcome : SESSION_IN_LEAST);
}

void session_init(struct session *s, const struct session_hooks *hooks, uint8_t *in,
		  uint32_t in_size)
{
	memset(s, 0, sizeof(*s));
	s->hooks = *hooks;
	s->in = in;
	s->in_size = in_size;
	retry_init(&s->retry, 1);
}

void session_seed(struct session *s, uint64_t seed)
{
	s->retry.random = seed | 1;
}

/* --- texts --- */

static struct message_text text_of(const char *s)
{
	struct message_text t = { s, 0 };

	while (s[t.len] && t.len < MESSAGE_TEXT_MAX)
		t.len++;
	return t;
}

/* Adds to `why` what still fits. It goes to a log: only plain characters of what others wrote. */
static void add_why(struct session *s, const char *text, uint32_t len)
{
	uint32_t at = text_of(s->why).len, i;

	for (i = 0; i < len && at + 1 < SESSION_WHY_LEN; i++, at++)
		s->why[at] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	s->why[at] = 0;
}

static void add_number(struct session *s, uint32_t v)
{
	char digits[10];
	uint32_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	add_why(s, digits + n, (uint32_t)sizeof(digits) - n);
}

static void set_why(struct session *s, const char *text)
{
	s->why[0] = 0;
	add_why(s, text, text_of(text).len);
}

/* --- what goes out --- */

static uint32_t out_room(const struct session *s)
{
	return SESSION_OUT_ROOM - s->out_len;
}

/* The body is written behind room for the longest head; end_frame() moves it up. */
static void begin_frame(struct session *s, struct byte_writer *w)
{
	uint32_t room = out_room(s);

	if (room < FRAME_HEAD_MAX) {
		writer_init(w, s->out, 0);
		w->full = true;
		return;
	}
	writer_init(w, s->out + s->out_len + FRAME_HEAD_MAX, room - FRAME_HEAD_MAX);
}

/* False if it had no room: then there is no part of it either. */
static bool end_frame(struct session *s, uint32_t type, const struct byte_writer *w)
{
	uint32_t len = (uint32_t)writer_len(w), head;

	if (w->full)
		return false;
	head = frame_encode_head(s->out + s->out_len, type, len);
	memmove(s->out + s->out_len + head, w->start, len);
	s->out_len += head + len;
	return true;
}

void session_open(struct session *s, const struct message_hello *hello, uint64_t now_ms)
{
	struct byte_writer w;

	s->phase = SESSION_GREETING;
	s->opened_ms = s->heard_ms = now_ms;
	s->skip = s->in_len = s->out_len = 0;
	s->number = 0;
	s->n_runs = hello->n_runs;
	s->n_streams = hello->cpus + 1;
	s->why[0] = 0;
	flight_init(&s->flight, 0);
	begin_frame(s, &w);
	hello_encode(&w, hello);
	end_frame(s, FRAME_HELLO, &w);
}

void session_close(struct session *s, uint64_t now_ms)
{
	bool lived = s->phase != SESSION_CLOSED && now_ms - s->opened_ms >= SESSION_LIVED_MS;

	retry_failed(&s->retry, now_ms, lived);
	s->phase = SESSION_CLOSED;
	s->skip = s->in_len = s->out_len = 0;
}

const uint8_t *session_get(struct session *s, uint32_t *ret_len)
{
	*ret_len = s->out_len;
	return s->out;
}

void session_pop(struct session *s, uint32_t len)
{
	if (len > s->out_len)
		len = s->out_len;
	s->out_len -= len;
	memmove(s->out, s->out + len, s->out_len);
}

bool session_may_send(const struct session *s, uint32_t len)
{
	return s->phase == SESSION_WELCOME && !s->out_len && flight_has_room(&s->flight, len);
}

void session_sent(struct session *s, uint32_t len)
{
	flight_sent(&s->flight, len);
}

/* What nobody has asked for leaves the room of an answer. */
static bool may_put(const struct session *s)
{
	return s->phase == SESSION_WELCOME && out_room(s) >= 2 * SESSION_ANSWER_ROOM;
}

bool session_put_run(struct session *s, const struct message_id *run)
{
	struct byte_writer w;

	if (!may_put(s))
		return false;
	begin_frame(s, &w);
	run_encode(&w, run);
	return end_frame(s, FRAME_RUN, &w);
}

bool session_put_status(struct session *s, const struct message_status *m)
{
	struct byte_writer w;

	if (!may_put(s))
		return false;
	begin_frame(s, &w);
	status_encode(&w, m);
	return end_frame(s, FRAME_STATUS, &w);
}

void session_bye(struct session *s, enum bye_code code, const char *text)
{
	struct message_bye m = { .code = code, .text = text_of(text) };
	struct byte_writer w;

	if (s->phase == SESSION_CLOSED || s->phase == SESSION_OVER)
		return;
	s->phase = SESSION_OVER;
	begin_frame(s, &w);
	bye_encode(&w, &m);
	end_frame(s, FRAME_BYE, &w);
}

/* --- what comes in --- */

static int refuse(struct session *s, enum bye_code code, const char *what)
{
	session_bye(s, code, what);
	retry_punish(&s->retry);
	set_why(s, "cannot understand the collector: ");
	add_why(s, what, text_of(what).len);
	return -EPROTO;
}

static int broke(struct session *s, const char *what)
{
	return refuse(s, BYE_PROTOCOL, what);
}

/* All rows are looked at before the first is believed. */
static bool has_strange_run(const struct session *s, struct message_welcome m)
{
	struct message_resume row;

	while (welcome_next(&m, &row))
		if (row.run >= s->n_runs)
			return true;
	return false;
}

static int take_welcome(struct session *s, const struct frame *f)
{
	struct message_welcome m;
	struct message_resume row;

	if (welcome_decode(&m, f->body, f->body_len) != WIRE_OK)
		return broke(s, "a damaged WELCOME");
	if (!m.version || m.version > PROTOCOL_VERSION)
		return refuse(s, BYE_VERSION, "a WELCOME of a version that was not offered");
	if (has_strange_run(s, m))
		return broke(s, "a WELCOME for a run that HELLO did not have");
	s->number = m.session;
	s->realtime_ns = m.realtime_ns;
	flight_init(&s->flight, m.window);
	s->phase = SESSION_WELCOME;
	while (welcome_next(&m, &row))
		if (row.stream < s->n_streams) /* of others there is nothing to resume */
			s->hooks.resume(s->hooks.context, row.run, row.stream, row.next_sequence);
	return 0;
}

static int take_ack(struct session *s, const struct frame *f)
{
	uint64_t frames;

	if (ack_decode(&frames, f->body, f->body_len) != WIRE_OK)
		return broke(s, "a damaged ACK");
	if (!flight_acked(&s->flight, frames))
		return broke(s, "an ACK of more than was sent");
	s->hooks.acked(s->hooks.context, frames);
	return 0;
}

static int take_instruction(struct session *s, const struct frame *f)
{
	struct message_result answer;
	char why[SESSION_WHY_LEN];
	struct byte_writer w;
	int r;

	if (instruction_decode(&s->instruction, f->body, f->body_len) != WIRE_OK)
		return broke(s, "a damaged INSTRUCTION");
	why[0] = 0;
	r = s->hooks.instruct(s->hooks.context, &s->instruction, why);
	why[SESSION_WHY_LEN - 1] = 0;
	answer.id = s->instruction.id;
	answer.code = r < 0 ? 0U - (uint32_t)r : 0;
	answer.text = text_of(r < 0 ? why : "");
	begin_frame(s, &w);
	result_encode(&w, &answer);
	end_frame(s, FRAME_RESULT, &w);
	return 0;
}

static int take_ping(struct session *s, const struct frame *f)
{
	struct message_ping ping;
	struct message_pong pong;
	struct byte_writer w;

	if (ping_decode(&ping, f->body, f->body_len) != WIRE_OK)
		return broke(s, "a damaged PING");
	pong.id = ping.id;
	pong.sent_ns = ping.sent_ns;
	if (!s->hooks.clocks(s->hooks.context, &pong.device_ns, &pong.realtime_ns))
		return 0;
	begin_frame(s, &w);
	pong_encode(&w, &pong);
	end_frame(s, FRAME_PONG, &w);
	return 0;
}

static int take_bye(struct session *s, const struct frame *f)
{
	struct message_bye m;

	if (bye_decode(&m, f->body, f->body_len) != WIRE_OK)
		return broke(s, "a damaged BYE");
	s->phase = SESSION_OVER;
	s->out_len = 0; /* nobody reads it */
	if (m.code == BYE_PROTOCOL || m.code == BYE_VERSION || m.code == BYE_LIMIT ||
	    m.code == BYE_REFUSED)
		retry_punish(&s->retry);
	set_why(s, "the collector said BYE ");
	add_number(s, m.code);
	add_why(s, ": ", 2);
	add_why(s, m.text.at, m.text.len);
	return -ECONNRESET;
}

static int take_frame(struct session *s, const struct frame *f)
{
	if (f->type == FRAME_BYE)
		return take_bye(s, f);
	if ((s->phase == SESSION_GREETING) != (f->type == FRAME_WELCOME))
		return broke(s, "a first frame that is no WELCOME, or a second one that is");
	switch (f->type) {
	case FRAME_WELCOME:
		return take_welcome(s, f);
	case FRAME_ACK:
		return take_ack(s, f);
	case FRAME_INSTRUCTION:
		return take_instruction(s, f);
	case FRAME_PING:
		return take_ping(s, f);
	default:
		return broke(s, "a frame that only a device may send");
	}
}

/* One frame, or the part of it that is here, at the start of `in`: how many bytes of it are done
 * with, 0 if more must come. */
static int take_next(struct session *s, const uint8_t *in, uint32_t len)
{
	struct frame f;
	enum wire_status status = frame_decode(in, len, &f);
	int r;

	if (status == WIRE_CORRUPT)
		return broke(s, "bytes that are no frame");
	if (!f.len)
		return 0;
	if (f.type > FRAME_BYE && s->phase == SESSION_WELCOME) {
		s->skip = status == WIRE_MORE ? f.len - len : 0;
		return (int)(f.len - s->skip);
	}
	if (f.len > s->in_size)
		return broke(s, "a frame that is too long for its type");
	if (status == WIRE_MORE)
		return 0;
	r = take_frame(s, &f);
	return r < 0 ? r : (int)f.len;
}

static bool is_talking(const struct session *s)
{
	return s->phase == SESSION_GREETING || s->phase == SESSION_WELCOME;
}

uint8_t *session_room(struct session *s, uint32_t *ret_len)
{
	if (s->phase == SESSION_OVER)
		s->in_len = 0; /* what still comes does not matter */
	*ret_len = s->phase == SESSION_CLOSED ? 0 : s->in_size - s->in_len;
	return s->in + s->in_len;
}

int session_push(struct session *s, uint32_t len, uint64_t now_ms)
{
	uint32_t at, room;
	int r = 1;

	if (!is_talking(s))
		return 0;
	session_room(s, &room);
	if (len > room)
		len = room;
	if (len)
		s->heard_ms = now_ms;
	at = len < s->skip ? len : s->skip; /* nothing else is in `in` while something is skipped */
	s->skip -= at;
	s->in_len += len;
	while (r > 0 && at < s->in_len && out_room(s) >= SESSION_ANSWER_ROOM) {
		r = take_next(s, s->in + at, s->in_len - at);
		at += r > 0 ? (uint32_t)r : 0;
	}
	memmove(s->in, s->in + at, s->in_len - at);
	s->in_len -= at;
	return r < 0 ? r : 0;
}

/* --- when to look at it again --- */

uint64_t session_next(const struct session *s)
{
	return s->phase == SESSION_CLOSED ? s->retry.at_ms : s->heard_ms + SESSION_SILENCE_MS;
}

bool session_is_silent(const struct session *s, uint64_t now_ms)
{
	return s->phase != SESSION_CLOSED && now_ms >= s->heard_ms + SESSION_SILENCE_MS;
}
