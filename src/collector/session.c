/* SPDX-License-Identifier: MIT */
/*
 * session: see session.h.
 *
 * Frames are used where they lie in what was read; only the start of one that is not whole is copied
 * and kept. Room for it grows with what really came, not with what its length claims, so a peer pays
 * for the memory it takes.
 *
 * An ACK counts the frames of the connection, a commit the puts of all devices. Between the two
 * stands a short row of batches: the frames that came between two commits, and the last put among
 * them. A duplicate waits for the commit, too: what it repeats may not be on disk yet.
 *
 * Of the clock, the sample with the smallest error stands; its error grows with its age, as two
 * quartzes drift apart, so that a later one replaces it in time.
 */
#include "collector/session.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/checksum.h"
#include "trace/description_check.h"

#define HELD_MAX (FRAME_HEAD_MAX + FRAME_BODY_MAX + SESSION_READ_MAX)
#define HELD_LEAST 1024U
#define ROWS_MAX (MESSAGE_RUNS_MAX * MESSAGE_STREAMS_MAX)
#define ROW_BYTES 16U /* of a row of WELCOME, at most */
#define END_BODY_MAX ((1 + 3 * MESSAGE_STREAMS_MAX) * VARINT_MAX)
#define UNKNOWN_BODY_MAX 65536U	  /* of a frame of a later version */
#define CLOCK_RESOLUTION_NS 1000U /* of both readings together: the slowest counters tick each us */
#define CLOCK_DRIFT_SHIFT 13U	  /* 1/8192, 122 ppm: two bad quartzes against each other */

struct session_room {
	struct message_resume rows[ROWS_MAX];
	uint8_t out[FRAME_HEAD_MAX + MESSAGE_ROOM + ROWS_MAX * ROW_BYTES];
};

struct session_room *session_room_new(void)
{
	return malloc(sizeof(struct session_room));
}

void session_room_free(struct session_room *r)
{
	free(r);
}

void session_init(struct session *s, const struct session_env *env, void *owner, uint64_t number)
{
	memset(s, 0, sizeof(*s));
	s->env = env;
	s->owner = owner;
	s->number = number;
}

void session_done(struct session *s)
{
	free(s->held);
	s->held = NULL;
	s->held_len = s->held_room = 0;
}

static void drop_held(struct session *s)
{
	session_done(s);
}

/* --- what goes out --- */

/* A message's body stands behind FRAME_HEAD_MAX bytes of room: its head is put right before it. */
static void send_message(struct session *s, uint32_t type, struct byte_writer *w)
{
	uint8_t head[FRAME_HEAD_MAX];
	uint32_t n;

	assert(!w->full);
	n = frame_encode_head(head, type, (uint32_t)writer_len(w));
	memcpy(w->start - n, head, n);
	s->env->ops->send(s->owner, w->start - n, n + writer_len(w));
}

void session_bye(struct session *s, enum bye_code code, const char *fmt, ...)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_TEXT_MAX + 2 * VARINT_MAX];
	char text[MESSAGE_TEXT_MAX + 1], line[MESSAGE_TEXT_MAX + 32];
	struct message_bye m = { .code = code };
	struct byte_writer w;
	va_list ap;

	if (s->state == SESSION_OVER)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	m.text.at = text;
	m.text.len = (uint32_t)strlen(text);
	writer_init(&w, room + FRAME_HEAD_MAX, sizeof(room) - FRAME_HEAD_MAX);
	bye_encode(&w, &m);
	send_message(s, FRAME_BYE, &w);
	snprintf(line, sizeof(line), "%s: %s", code == BYE_DONE ? "closed" : "refused", text);
	s->env->ops->log(s->owner, line);
	s->state = SESSION_OVER;
	s->stalled = s->yielded = false;
	drop_held(s);
}

static void send_ack(struct session *s)
{
	uint8_t room[FRAME_HEAD_MAX + VARINT_MAX];
	struct byte_writer w;

	writer_init(&w, room + FRAME_HEAD_MAX, VARINT_MAX);
	ack_encode(&w, s->acknowledged);
	send_message(s, FRAME_ACK, &w);
}

void session_ping(struct session *s, const struct session_now *now)
{
	uint8_t room[FRAME_HEAD_MAX + 2 * VARINT_MAX];
	struct message_ping m = { .id = ++s->pings, .sent_ns = now->mono_ns };
	struct byte_writer w;

	if (s->state != SESSION_OPEN)
		return;
	s->ping_id = m.id;
	s->ping_sent = *now;
	writer_init(&w, room + FRAME_HEAD_MAX, 2 * VARINT_MAX);
	ping_encode(&w, &m);
	send_message(s, FRAME_PING, &w);
}

void session_instruct(struct session *s, const struct message_instruction *m)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_ROOM];
	struct byte_writer w;

	if (s->state != SESSION_OPEN)
		return;
	writer_init(&w, room + FRAME_HEAD_MAX, MESSAGE_ROOM);
	instruction_encode(&w, m);
	send_message(s, FRAME_INSTRUCTION, &w);
}

void session_want(struct session *s, const struct message_want *m)
{
	uint8_t room[FRAME_HEAD_MAX + MESSAGE_BUILD_ID_MAX + 2 * VARINT_MAX];
	struct byte_writer w;

	if (s->state != SESSION_OPEN)
		return;
	writer_init(&w, room + FRAME_HEAD_MAX, sizeof(room) - FRAME_HEAD_MAX);
	want_encode(&w, m);
	send_message(s, FRAME_WANT, &w);
}

/* --- ACKs --- */

/* One more BLOCK or END that was put, or was there already. */
static void add_waiting(struct session *s, uint32_t bytes)
{
	uint64_t commit = s->env->ops->commits(s->owner);
	struct session_batch *b = s->n_batches ? &s->batches[s->n_batches - 1] : NULL;

	if (!b || (b->commit != commit && s->n_batches < SESSION_BATCHES)) {
		b = &s->batches[s->n_batches++];
		*b = (struct session_batch){ .commit = commit };
	}
	b->put = s->env->ops->puts(s->owner);
	b->frames++;
	b->bytes += bytes;
	s->waiting_bytes += bytes;
}

void session_durable(struct session *s, uint64_t put)
{
	uint32_t n;

	for (n = 0; n < s->n_batches && s->batches[n].put <= put; n++) {
		s->acknowledged += s->batches[n].frames;
		s->waiting_bytes -= s->batches[n].bytes;
	}
	if (!n)
		return;
	s->n_batches -= n;
	memmove(s->batches, s->batches + n, s->n_batches * sizeof(s->batches[0]));
	if (s->state == SESSION_OPEN)
		send_ack(s);
}

/* --- what comes in; each says BYE if it does not like it --- */

/* The owner did not take something: a lie, a limit, or not now; then false, and the frame stays. */
static bool judge_refusal(struct session *s, int r, const struct error *e)
{
	if (r == -EAGAIN) {
		s->stalled = true;
		return false;
	}
	if (r == -EKEYREJECTED)
		session_bye(s, BYE_REFUSED, "%s", e->text);
	else
		session_bye(s, r == -EPROTO ? BYE_PROTOCOL : BYE_LIMIT, "%s", e->text);
	return true;
}

static bool send_welcome(struct session *s, const struct message_hello *hello,
			 const struct session_now *now)
{
	struct session_room *room = s->env->room;
	struct message_welcome m = { .version = PROTOCOL_VERSION,
				     .session = s->number,
				     .realtime_ns = now->real_ns,
				     .window = s->env->window };
	struct error e = ERROR_INIT;
	struct byte_writer w;
	uint32_t i, number;
	size_t n, k;
	int r;

	for (i = 0; i < hello->n_runs; i++) {
		r = s->env->ops->find(s->owner, &hello->runs[i], &number, &e);
		if (r < 0)
			return judge_refusal(s, r, &e);
		if (!number)
			continue;
		n = s->env->ops->next_sequences(s->owner, number, room->rows + m.n_rows,
						MESSAGE_STREAMS_MAX);
		n = n < MESSAGE_STREAMS_MAX ? n : MESSAGE_STREAMS_MAX;
		for (k = 0; k < n; k++)
			room->rows[m.n_rows++].run = i;
	}
	writer_init(&w, room->out + FRAME_HEAD_MAX, sizeof(room->out) - FRAME_HEAD_MAX);
	welcome_encode(&w, &m);
	for (i = 0; i < m.n_rows; i++)
		welcome_put(&w, &room->rows[i]);
	send_message(s, FRAME_WELCOME, &w);
	s->state = SESSION_OPEN;
	return true;
}

/* False: not now. */
static bool take_hello(struct session *s, const struct frame *f, const struct session_now *now)
{
	struct error e = ERROR_INIT;
	struct message_fault fault;
	struct message_hello m;
	int r;

	if (f->type == FRAME_BYE) {
		s->env->ops->log(s->owner, "closed before HELLO");
		s->state = SESSION_OVER;
		return true;
	}
	if (hello_decode(&m, f->body, f->body_len) != WIRE_OK &&
	    hello_find_fault(f->body, f->body_len, &fault)) {
		session_bye(s, BYE_PROTOCOL, "HELLO: %s at offset %zu is %s", fault.field,
			    fault.offset, fault.is_cut ? "cut short" : "out of bounds");
		return true;
	}
	if (m.version < PROTOCOL_VERSION) {
		session_bye(s, BYE_VERSION, "version %" PRIu32 " of the protocol; this is %d",
			    m.version, PROTOCOL_VERSION);
		return true;
	}
	r = s->env->ops->arrive(s->owner, &m, &e);
	return r < 0 ? judge_refusal(s, r, &e) : send_welcome(s, &m, now);
}

/* In place of HELLO; with the answer it is over. */
static void take_enroll(struct session *s, const struct frame *f)
{
	uint8_t room[FRAME_HEAD_MAX + ENROLL_ROOM];
	struct message_certificate answer;
	struct error e = ERROR_INIT;
	struct message_enroll m;
	struct byte_writer w;
	int r;

	if (enroll_decode(&m, f->body, f->body_len) != WIRE_OK) {
		session_bye(s, BYE_PROTOCOL, "ENROLL is cut short or has a field out of bounds");
		return;
	}
	r = s->env->ops->enroll(s->owner, &m, &answer, &e);
	if (r < 0) {
		judge_refusal(s, r == -EAGAIN ? -EIO : r, &e);
		return;
	}
	writer_init(&w, room + FRAME_HEAD_MAX, ENROLL_ROOM);
	certificate_encode(&w, &answer);
	send_message(s, FRAME_CERTIFICATE, &w);
	session_bye(s, BYE_DONE, "it has its certificate");
}

static void tell_clock(struct session *s)
{
	if (s->clock.round_trip_ns)
		s->env->ops->clock(s->owner, s->run, &s->clock);
}

static void take_run(struct session *s, const struct frame *f)
{
	struct message_id id;

	if (run_decode(&id, f->body, f->body_len) != WIRE_OK) {
		session_bye(s, BYE_PROTOCOL, "RUN has %" PRIu32 " bytes, not 16", f->body_len);
		return;
	}
	s->run_id = id;
	s->has_run = true;
	s->run = 0;
}

/* The run that a frame is put into. */
static int get_run(struct session *s, uint32_t *ret, struct error *e)
{
	*ret = s->run;
	return s->run ? 0 : s->env->ops->run(s->owner, &s->run_id, ret, e);
}

/* What the store said of a frame; false: it stays where it is, and the session stalls. A run that
 * did not get it need not be there any more, and is asked for again. */
static bool judge_put(struct session *s, const struct frame *f, uint32_t run, int r,
		      const struct error *e)
{
	if (r < 0)
		return judge_refusal(s, r, e);
	if (!s->run) {
		s->run = run;
		tell_clock(s);
	}
	add_waiting(s, f->len);
	if (s->waiting_bytes >= s->env->window)
		s->stalled = true;
	return true;
}

static bool take_block(struct session *s, const struct frame *f)
{
	struct error e = ERROR_INIT;
	struct block b;
	uint32_t run;
	int r;

	if (!s->has_run) {
		session_bye(s, BYE_PROTOCOL, "BLOCK before any RUN");
		return true;
	}
	if (checksum_decode_block(f->body, f->body_len, &b) != WIRE_OK || b.len != f->body_len) {
		session_bye(s, BYE_PROTOCOL,
			    "BLOCK of %" PRIu32
			    " bytes holds no whole block, or its checksum is wrong",
			    f->body_len);
		return true;
	}
	if (b.stream >= MESSAGE_STREAMS_MAX && !stream_is_boot(b.stream) &&
	    !stream_is_sample(b.stream) && !stream_is_func(b.stream)) {
		session_bye(s, BYE_PROTOCOL,
			    "a block of stream %" PRIu32 ", which is of no CPU and no thread",
			    b.stream);
		return true;
	}
	/* Before there is a run of it. */
	r = b.stream == STREAM_META && b.codec == CODEC_META
		    ? description_check(b.payload, b.payload_len, &e)
		    : 0;
	if (r < 0) {
		session_bye(s, r == -ENOMEM ? BYE_LIMIT : BYE_PROTOCOL, "%s", e.text);
		return true;
	}
	r = get_run(s, &run, &e);
	if (r == 0)
		r = s->env->ops->put(s->owner, run, &b, f->body, &e);
	return judge_put(s, f, run, r, &e);
}

static bool take_end(struct session *s, const struct frame *f)
{
	struct error e = ERROR_INIT;
	struct message_end m;
	uint32_t run;
	int r;

	if (!s->has_run) {
		session_bye(s, BYE_PROTOCOL, "END before any RUN");
		return true;
	}
	if (end_decode(&m, f->body, f->body_len) != WIRE_OK) {
		session_bye(s, BYE_PROTOCOL, "END is cut short or has a field out of bounds");
		return true;
	}
	r = get_run(s, &run, &e);
	if (r == 0)
		r = s->env->ops->end(s->owner, run, &m, &e);
	return judge_put(s, f, run, r, &e);
}

static void take_status(struct session *s, const struct frame *f)
{
	struct message_status m;

	if (status_decode(&m, f->body, f->body_len) == WIRE_OK)
		s->env->ops->status(s->owner, &m);
	else
		session_bye(s, BYE_PROTOCOL, "STATUS is cut short or has a field out of bounds");
}

static void take_result(struct session *s, const struct frame *f)
{
	struct message_result m;

	if (result_decode(&m, f->body, f->body_len) == WIRE_OK)
		s->env->ops->result(s->owner, &m);
	else
		session_bye(s, BYE_PROTOCOL, "RESULT is cut short or has a field out of bounds");
}

static void take_piece(struct session *s, const struct frame *f)
{
	struct message_piece m;

	if (piece_decode(&m, f->body, f->body_len) != WIRE_OK)
		session_bye(s, BYE_PROTOCOL, "PIECE is cut short or has a field out of bounds");
	else if (s->env->ops->piece)
		s->env->ops->piece(s->owner, &m);
}

/* What the sample that stands is worth now. */
static uint64_t aged_err(const struct session *s, const struct session_now *now)
{
	return s->clock.err_ns + ((now->mono_ns - s->clock_mono_ns) >> CLOCK_DRIFT_SHIFT);
}

static void take_pong(struct session *s, const struct frame *f, const struct session_now *now)
{
	struct session_clock c;
	struct message_pong m;

	if (pong_decode(&m, f->body, f->body_len) != WIRE_OK || m.id > s->pings || !m.id) {
		session_bye(s, BYE_PROTOCOL, "PONG is cut short, or to no PING");
		return;
	}
	if (m.id != s->ping_id) /* a late one; a younger PING is on its way */
		return;
	s->ping_id = 0;
	if (now->mono_ns <= s->ping_sent.mono_ns)
		return;
	c.round_trip_ns = now->mono_ns - s->ping_sent.mono_ns;
	c.device_ns = m.device_ns;
	c.off_ns = (int64_t)(s->ping_sent.real_ns + c.round_trip_ns / 2 - m.device_ns);
	c.err_ns = c.round_trip_ns / 2 + CLOCK_RESOLUTION_NS;
	if (s->clock.round_trip_ns && c.err_ns > aged_err(s, now))
		return;
	s->clock = c;
	s->clock_mono_ns = now->mono_ns;
	tell_clock(s);
}

static void take_bye(struct session *s, const struct frame *f)
{
	char line[MESSAGE_TEXT_MAX + 64];
	struct message_bye m;

	if (bye_decode(&m, f->body, f->body_len) == WIRE_OK)
		snprintf(line, sizeof(line), "said BYE %" PRIu32 ": %.*s", m.code, (int)m.text.len,
			 m.text.at);
	else
		snprintf(line, sizeof(line), "said BYE, without a reason");
	s->env->ops->log(s->owner, line);
	s->state = SESSION_OVER;
}

/* False: the frame could not be taken yet. */
static bool take_frame(struct session *s, const struct frame *f, const struct session_now *now)
{
	if (s->state == SESSION_NEW && f->type == FRAME_ENROLL) {
		take_enroll(s, f);
		return true;
	}
	if (s->state == SESSION_NEW)
		return take_hello(s, f, now);
	switch (f->type) {
	case FRAME_BLOCK:
		return take_block(s, f);
	case FRAME_RUN_END:
		return take_end(s, f);
	case FRAME_RUN:
		take_run(s, f);
		break;
	case FRAME_STATUS:
		take_status(s, f);
		break;
	case FRAME_RESULT:
		take_result(s, f);
		break;
	case FRAME_PONG:
		take_pong(s, f, now);
		break;
	case FRAME_PIECE:
		take_piece(s, f);
		break;
	case FRAME_BYE:
		take_bye(s, f);
		break;
	case FRAME_HELLO:
		session_bye(s, BYE_PROTOCOL, "a second HELLO");
		break;
	case FRAME_ENROLL:
		session_bye(s, BYE_PROTOCOL, "ENROLL behind HELLO");
		break;
	case FRAME_CERTIFICATE:
	case FRAME_WELCOME:
	case FRAME_ACK:
	case FRAME_INSTRUCTION:
	case FRAME_PING:
	case FRAME_WANT:
		session_bye(s, BYE_PROTOCOL,
			    "a frame of type %" PRIu32 ", which only a collector sends", f->type);
		break;
	default: /* of a later version */
		break;
	}
	return true;
}

/* Who does not begin with HELLO is not waited for: a browser, say, whose request looks like the start
 * of a long frame. Until there is a device, nobody may make us hold more than a message. */
static bool is_stranger(struct session *s, const struct frame *f, uint8_t type)
{
	if (s->state != SESSION_NEW)
		return false;
	if (type != FRAME_HELLO && type != FRAME_BYE &&
	    (type != FRAME_ENROLL || !s->env->ops->enroll))
		session_bye(s, BYE_PROTOCOL, "the first frame is of type %u, not HELLO", type);
	else if (f->len > FRAME_HEAD_MAX + MESSAGE_ROOM)
		session_bye(s, BYE_PROTOCOL, "HELLO of %" PRIu32 " bytes", f->len);
	return s->state == SESSION_OVER;
}

/* What a peer makes us hold in part is only what a frame of its type can need. */
static bool is_too_long(struct session *s, const struct frame *f)
{
	uint32_t most = MESSAGE_ROOM;

	if (f->type == FRAME_BLOCK)
		most = FRAME_BODY_MAX;
	else if (f->type == FRAME_RUN_END)
		most = END_BODY_MAX;
	else if (f->type == FRAME_PIECE)
		most = MESSAGE_PIECE_ROOM;
	else if (!frame_is_known(f->type))
		most = UNKNOWN_BODY_MAX;
	if (f->body_len <= most)
		return false;
	session_bye(s, BYE_PROTOCOL,
		    "a frame of type %" PRIu32 " with %" PRIu32 " bytes; it has at most %" PRIu32,
		    f->type, f->body_len, most);
	return true;
}

static bool is_held_up(const struct session *s)
{
	return s->stalled || s->yielded;
}

/* Counts a frame against the turn. */
static void spend(struct session *s, uint32_t len)
{
	if (!s->env->turn_bytes)
		return;
	s->taken += len + SESSION_FRAME_COST;
	s->yielded = s->state != SESSION_OVER && s->taken >= s->env->turn_bytes;
}

/* Takes whole frames, and says how many bytes they had. */
static size_t take_frames(struct session *s, const uint8_t *bytes, size_t len,
			  const struct session_now *now)
{
	enum wire_status status = WIRE_OK;
	size_t at = 0;
	struct frame f;

	while (at < len && s->state != SESSION_OVER && !is_held_up(s)) {
		status = frame_decode(bytes + at, len - at, &f);
		if (is_stranger(s, &f, bytes[at]) || is_too_long(s, &f) || status != WIRE_OK ||
		    !take_frame(s, &f, now))
			break;
		s->frames++;
		at += f.len;
		spend(s, f.len);
	}
	if (status == WIRE_CORRUPT)
		session_bye(s, BYE_PROTOCOL,
			    "no frame after %" PRIu64
			    " frames: type %u, or its length, is out of bounds",
			    s->frames, bytes[at]);
	return at;
}

/* Room for n more bytes behind those that are held. */
static bool make_room(struct session *s, size_t n)
{
	size_t need = s->held_len + n, room = s->held_room * 2;
	uint8_t *held;

	if (need <= s->held_room)
		return true;
	assert(need <= HELD_MAX);
	room = room < HELD_LEAST ? HELD_LEAST : room;
	room = room > HELD_MAX ? HELD_MAX : room;
	room = room < need ? need : room;
	held = realloc(s->held, room);
	if (!held)
		return false;
	s->held = held;
	s->held_room = (uint32_t)room;
	return true;
}

static bool hold(struct session *s, const uint8_t *bytes, size_t n)
{
	if (s->state == SESSION_OVER || !n)
		return true;
	if (!make_room(s, n)) {
		session_bye(s, BYE_LIMIT, "the collector is out of memory");
		return false;
	}
	memcpy(s->held + s->held_len, bytes, n);
	s->held_len += (uint32_t)n;
	return true;
}

/* How much is missing to the frame that is held in part; if that is not known, to its head. Whole frames are held where it is held up only, and
 * a head that is whole and says no length is the end of the session. */
static size_t get_missing(const struct session *s)
{
	struct frame f;

	frame_decode(s->held, s->held_len, &f);
	return (f.len ? f.len : FRAME_HEAD_MAX) - s->held_len;
}

static void take_held(struct session *s, const struct session_now *now)
{
	size_t n = take_frames(s, s->held, s->held_len, now);

	if (s->state == SESSION_OVER || n == s->held_len) {
		drop_held(s);
		return;
	}
	memmove(s->held, s->held + n, s->held_len - n);
	s->held_len -= (uint32_t)n;
}

void session_push(struct session *s, const uint8_t *bytes, size_t len,
		  const struct session_now *now)
{
	size_t n;

	assert(len <= SESSION_READ_MAX && !is_held_up(s));
	while (s->held_len && len && !is_held_up(s)) {
		n = get_missing(s);
		n = n < len ? n : len;
		if (!hold(s, bytes, n))
			return;
		bytes += n;
		len -= n;
		take_held(s, now);
	}
	n = s->held_len || is_held_up(s) ? 0 : take_frames(s, bytes, len, now);
	hold(s, bytes + n, len - n);
}

void session_resume(struct session *s, const struct session_now *now)
{
	if (!s->stalled || s->waiting_bytes >= s->env->window)
		return;
	s->stalled = false;
	if (s->held_len && !s->yielded)
		take_held(s, now);
}

void session_turn(struct session *s, const struct session_now *now)
{
	bool had_yielded = s->yielded;

	s->taken = 0;
	s->yielded = false;
	if (had_yielded && s->held_len && !s->stalled)
		take_held(s, now);
}

void session_end(struct session *s)
{
	if (s->state == SESSION_NEW)
		s->env->ops->log(s->owner, "closed before HELLO");
	else if (s->state == SESSION_OPEN)
		s->env->ops->log(s->owner, s->held_len ? "connection lost inside a frame"
						       : "connection lost");
	s->state = SESSION_OVER;
	drop_held(s);
}
