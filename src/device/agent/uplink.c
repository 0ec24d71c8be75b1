/* SPDX-License-Identifier: MIT */
/*
 * uplink: see uplink.h. Its two halves: what comes in (push) and what goes out (get). The
 * window is counted in wire/flight.h, the waiting between connections in wire/retry.h.
 */
#include "device/agent/uplink.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/flight.h"
#include "wire/frame.h"
#include "wire/retry.h"

#define SMALL_BODY_MAX 2048U /* of what a device says: HELLO is the largest, with its four texts */
#define ANSWER_ROOM 512U     /* a RESULT or a PONG with its head */
#define RUN_FRAME 18U
#define PIECE_FRAME                                                                                \
	(FRAME_HEAD_MAX + MESSAGE_PIECE_ROOM + ANSWER_ROOM) /* with room for an answer */
#define WELCOME_HEAD (5U * VARINT_MAX)
#define WELCOME_ROW (1U + 3U + VARINT_MAX)

enum phase {
	PHASE_CLOSED,
	PHASE_GREETING, /* HELLO is said */
	PHASE_WELCOME,
	PHASE_OVER, /* a BYE came or was put */
};

struct uplink {
	struct uplink_options o;
	enum phase phase;
	struct flight flight;
	struct retry retry;
	uint64_t opened_ms, heard_ms;
	uint64_t session;
	uint64_t realtime_ns; /* as WELCOME had it */
	uint32_t n_runs;      /* as HELLO had them */
	uint32_t runs[MESSAGE_RUNS_MAX];
	uint32_t run; /* of the last RUN frame */
	bool run_said;
	bool starved;  /* the window is why nothing more was put */
	uint32_t skip; /* bytes of an unknown frame that are still to come */
	uint32_t in_len, in_size;
	uint32_t out_len, out_size;
	uint8_t *in, *out;
};

int uplink_new(struct uplink **ret, const struct uplink_options *o, struct error *e)
{
	CLEANUP(uplink) struct uplink *u = calloc(1, sizeof(*u));
	uint32_t rows = 1 + (2 * o->threads > o->cpus ? 2 * o->threads : o->cpus);
	uint32_t welcome = WELCOME_HEAD + WELCOME_ROW * MESSAGE_RUNS_MAX * rows;

	assert(rows <= MESSAGE_STREAMS_MAX && o->entry_max <= FRAME_BODY_MAX);
	if (u) {
		u->o = *o;
		u->in_size = FRAME_HEAD_MAX + (welcome > MESSAGE_ROOM ? welcome : MESSAGE_ROOM);
		u->out_size = RUN_FRAME + FRAME_HEAD_MAX + o->entry_max + MESSAGE_ROOM;
		if (o->hooks.piece && u->out_size < PIECE_FRAME)
			u->out_size = PIECE_FRAME;
		u->in = malloc(u->in_size);
		u->out = malloc(u->out_size);
		retry_init(&u->retry, o->seed);
	}
	if (!u || !u->in || !u->out)
		return error_set(e, ENOMEM, "cannot make the uplink: out of memory");
	*ret = take_ptr(u);
	return 0;
}

void uplink_free(struct uplink *u)
{
	if (!u)
		return;
	free(u->in);
	free(u->out);
	free(u);
}

/* --- what goes out --- */

static uint32_t out_room(const struct uplink *u)
{
	return u->out_size - u->out_len;
}

static void put_frame(struct uplink *u, uint32_t type, const uint8_t *body, uint32_t len)
{
	uint8_t head[FRAME_HEAD_MAX];
	uint32_t head_len = frame_encode_head(head, type, len);

	assert(head_len + len <= out_room(u));
	memcpy(u->out + u->out_len, head, head_len);
	memcpy(u->out + u->out_len + head_len, body, len);
	u->out_len += head_len + len;
}

static void put_small(struct uplink *u, uint32_t type, const struct byte_writer *w)
{
	assert(!w->full);
	put_frame(u, type, w->start, (uint32_t)writer_len(w));
}

/* What is longer than MESSAGE_TEXT_MAX the encoders cut. */
static struct message_text text_of(const char *s)
{
	return (struct message_text){ s, (uint32_t)strlen(s) };
}

static void put_hello(struct uplink *u, enum device_state state)
{
	uint8_t body[SMALL_BODY_MAX];
	struct message_hello m = {
		.version = PROTOCOL_VERSION,
		.device = u->o.device,
		.boot = u->o.boot,
		.name = text_of(u->o.name),
		.agent = text_of(u->o.agent),
		.kernel = text_of(u->o.kernel),
		.machine = text_of(u->o.machine),
		.cpus = u->o.cpus,
		.origins = u->o.origins,
		.state = (uint8_t)state,
		.role = u->o.role,
		.abilities = u->o.abilities,
	};
	struct byte_writer w;
	uint32_t i;

	m.n_runs = u->n_runs = spool_get_runs(u->o.spool, u->runs);
	for (i = 0; i < u->n_runs; i++)
		m.runs[i] = *spool_get_run(u->o.spool, u->runs[i]);
	writer_init(&w, body, sizeof(body));
	hello_encode(&w, &m);
	put_small(u, FRAME_HELLO, &w);
}

void uplink_set_origins(struct uplink *u, uint32_t origins)
{
	u->o.origins = origins;
}

void uplink_set_abilities(struct uplink *u, uint32_t abilities)
{
	u->o.abilities = abilities;
}

void uplink_open(struct uplink *u, enum device_state state, uint64_t now_ms)
{
	assert(u->phase == PHASE_CLOSED);
	u->phase = PHASE_GREETING;
	u->opened_ms = u->heard_ms = now_ms;
	u->skip = u->in_len = u->out_len = 0;
	u->run_said = u->starved = false;
	flight_init(&u->flight, 0);
	spool_rewind(u->o.spool);
	put_hello(u, state);
}

void uplink_close(struct uplink *u, uint64_t now_ms)
{
	bool lived = u->phase != PHASE_CLOSED && now_ms - u->opened_ms >= UPLINK_LIVED_MS;

	retry_failed(&u->retry, now_ms, lived);
	u->phase = PHASE_CLOSED;
	u->in_len = u->out_len = 0;
}

static void put_run(struct uplink *u, uint32_t number)
{
	if (u->run_said && u->run == number)
		return;
	put_frame(u, FRAME_RUN, spool_get_run(u->o.spool, number)->bytes,
		  sizeof(struct message_id));
	u->run = number;
	u->run_said = true;
}

/* Moves one entry of the spool into the buffer, if it may. */
static bool put_entry(struct uplink *u)
{
	struct spool_entry entry;
	uint32_t len;

	u->starved = false;
	if (!spool_peek(u->o.spool, &entry))
		return false;
	assert(entry.len <= u->o.entry_max);
	len = FRAME_HEAD_MAX + entry.len;
	u->starved = !flight_has_room(&u->flight, len);
	if (u->starved || out_room(u) < RUN_FRAME + len + MESSAGE_ROOM)
		return false;
	put_run(u, entry.run);
	put_frame(u, entry.kind, entry.bytes, entry.len);
	spool_sent(u->o.spool);
	flight_sent(&u->flight, len);
	return true;
}

/* Only where nothing waits, neither here nor in the spool: so there is room, as uplink_new() has made it. */
static void put_piece(struct uplink *u)
{
	uint8_t body[MESSAGE_PIECE_ROOM];
	struct spool_entry entry;
	uint32_t len;

	if (!u->o.hooks.piece || u->out_len || spool_peek(u->o.spool, &entry))
		return;
	len = u->o.hooks.piece(u->o.hooks.context, body);
	if (len)
		put_frame(u, FRAME_PIECE, body, len);
}

const uint8_t *uplink_get(struct uplink *u, size_t *ret_len)
{
	while (u->phase == PHASE_WELCOME && put_entry(u))
		;
	if (u->phase == PHASE_WELCOME)
		put_piece(u);
	*ret_len = u->out_len;
	return u->out;
}

void uplink_pop(struct uplink *u, size_t len)
{
	assert(len <= u->out_len);
	u->out_len -= (uint32_t)len;
	memmove(u->out, u->out + len, u->out_len);
}

bool uplink_status(struct uplink *u, const struct message_status *m)
{
	uint8_t body[SMALL_BODY_MAX];
	struct byte_writer w;

	if (u->phase != PHASE_WELCOME || out_room(u) < 2 * ANSWER_ROOM)
		return false;
	writer_init(&w, body, sizeof(body));
	status_encode(&w, m);
	put_small(u, FRAME_STATUS, &w);
	return true;
}

void uplink_bye(struct uplink *u, enum bye_code code, const char *text)
{
	struct message_bye m = { .code = code, .text = text_of(text) };
	uint8_t body[SMALL_BODY_MAX];
	struct byte_writer w;

	if (u->phase == PHASE_CLOSED || u->phase == PHASE_OVER)
		return;
	u->phase = PHASE_OVER;
	writer_init(&w, body, sizeof(body));
	bye_encode(&w, &m);
	if (out_room(u) >= ANSWER_ROOM)
		put_small(u, FRAME_BYE, &w);
}

/* --- what comes in --- */

static int refuse(struct uplink *u, enum bye_code code, struct error *e, const char *what)
{
	uplink_bye(u, code, what);
	retry_punish(&u->retry);
	return error_set(e, EPROTO, "cannot understand the collector: %s", what);
}

static int broke(struct uplink *u, struct error *e, const char *what)
{
	return refuse(u, BYE_PROTOCOL, e, what);
}

static int take_welcome(struct uplink *u, const struct frame *f, struct error *e)
{
	struct message_welcome m;
	struct message_resume row;

	if (welcome_decode(&m, f->body, f->body_len) != WIRE_OK)
		return broke(u, e, "a damaged WELCOME");
	if (!m.version || m.version > PROTOCOL_VERSION)
		return refuse(u, BYE_VERSION, e, "a WELCOME of a version that was not offered");
	while (welcome_next(&m, &row)) {
		if (row.run >= u->n_runs)
			return broke(u, e, "a WELCOME for a run that HELLO did not have");
		spool_resume(u->o.spool, u->runs[row.run], row.stream, row.next_sequence);
	}
	u->session = m.session;
	u->realtime_ns = m.realtime_ns;
	flight_init(&u->flight, m.window);
	u->phase = PHASE_WELCOME;
	return 0;
}

static int take_ack(struct uplink *u, const struct frame *f, struct error *e)
{
	uint64_t frames;

	if (ack_decode(&frames, f->body, f->body_len) != WIRE_OK)
		return broke(u, e, "a damaged ACK");
	if (spool_ack(u->o.spool, frames) < 0)
		return broke(u, e, "an ACK of more than was sent");
	flight_acked(&u->flight, frames); /* it has counted the same */
	return 0;
}

static int take_instruction(struct uplink *u, const struct frame *f, struct error *e)
{
	struct error why = ERROR_INIT;
	struct message_instruction m;
	struct message_result answer;
	uint8_t body[SMALL_BODY_MAX];
	struct byte_writer w;
	int r;

	if (instruction_decode(&m, f->body, f->body_len) != WIRE_OK)
		return broke(u, e, "a damaged INSTRUCTION");
	r = u->o.hooks.instruct(u->o.hooks.context, &m, &why);
	answer.id = m.id;
	answer.code = r < 0 ? (uint32_t)-r : 0;
	answer.text = text_of(r < 0 ? why.text : "");
	writer_init(&w, body, sizeof(body));
	result_encode(&w, &answer);
	put_small(u, FRAME_RESULT, &w);
	return 0;
}

static int take_ping(struct uplink *u, const struct frame *f, struct error *e)
{
	struct message_ping ping;
	struct message_pong pong;
	uint8_t body[SMALL_BODY_MAX];
	struct byte_writer w;

	if (ping_decode(&ping, f->body, f->body_len) != WIRE_OK)
		return broke(u, e, "a damaged PING");
	pong.id = ping.id;
	pong.sent_ns = ping.sent_ns;
	u->o.hooks.clocks(u->o.hooks.context, &pong.device_ns, &pong.realtime_ns);
	writer_init(&w, body, sizeof(body));
	pong_encode(&w, &pong);
	put_small(u, FRAME_PONG, &w);
	return 0;
}

static int take_want(struct uplink *u, const struct frame *f, struct error *e)
{
	struct message_want m;

	if (want_decode(&m, f->body, f->body_len) != WIRE_OK)
		return broke(u, e, "a damaged WANT");
	u->o.hooks.want(u->o.hooks.context, &m);
	return 0;
}

static int take_bye(struct uplink *u, const struct frame *f, struct error *e)
{
	struct message_bye m;

	if (bye_decode(&m, f->body, f->body_len) != WIRE_OK)
		return broke(u, e, "a damaged BYE");
	u->phase = PHASE_OVER;
	u->out_len = 0; /* nobody reads it */
	if (m.code == BYE_PROTOCOL || m.code == BYE_VERSION || m.code == BYE_LIMIT ||
	    m.code == BYE_REFUSED)
		retry_punish(&u->retry);
	return error_set(e, ECONNRESET, "the collector said BYE %u: %.*s", m.code, (int)m.text.len,
			 m.text.at);
}

static int take_frame(struct uplink *u, const struct frame *f, struct error *e)
{
	if (f->type == FRAME_BYE)
		return take_bye(u, f, e);
	if ((u->phase == PHASE_GREETING) != (f->type == FRAME_WELCOME))
		return broke(u, e, "a first frame that is no WELCOME, or a second one that is");
	switch (f->type) {
	case FRAME_WELCOME:
		return take_welcome(u, f, e);
	case FRAME_ACK:
		return take_ack(u, f, e);
	case FRAME_INSTRUCTION:
		return take_instruction(u, f, e);
	case FRAME_PING:
		return take_ping(u, f, e);
	case FRAME_WANT:
		return take_want(u, f, e);
	default:
		return broke(u, e, "a frame that only a device may send");
	}
}

/* Who has no objects need not know that they can be asked for. */
static bool is_unknown(const struct uplink *u, uint32_t type)
{
	return type > FRAME_PIECE || (type == FRAME_WANT && !u->o.hooks.want);
}

/* One frame, or the part of it that is here, at the start of `in`: how many bytes of it are done
 * with, 0 if more must come. */
static int take_next(struct uplink *u, const uint8_t *in, uint32_t len, struct error *e)
{
	struct frame f;
	enum wire_status status = frame_decode(in, len, &f);
	int r;

	if (status == WIRE_CORRUPT)
		return broke(u, e, "bytes that are no frame");
	if (!f.len)
		return 0;
	if (is_unknown(u, f.type) && u->phase == PHASE_WELCOME) {
		u->skip = status == WIRE_MORE ? f.len - len : 0;
		return (int)(f.len - u->skip);
	}
	if (f.len > u->in_size)
		return broke(u, e, "a frame that is too long for its type");
	if (status == WIRE_MORE)
		return 0;
	r = take_frame(u, &f, e);
	return r < 0 ? r : (int)f.len;
}

size_t uplink_room(const struct uplink *u)
{
	return u->skip ? u->in_size : u->in_size - u->in_len;
}

int uplink_push(struct uplink *u, const uint8_t *data, size_t len, uint64_t now_ms, struct error *e)
{
	uint32_t at = 0, skip = len < u->skip ? (uint32_t)len : u->skip;
	int r = 1;

	if (u->phase != PHASE_GREETING && u->phase != PHASE_WELCOME)
		return 0; /* it is over: what still comes does not matter */
	if (len)
		u->heard_ms = now_ms;
	u->skip -= skip;
	assert(len - skip <= u->in_size - u->in_len);
	if (len > skip)
		memcpy(u->in + u->in_len, data + skip, len - skip);
	u->in_len += (uint32_t)(len - skip);
	while (r > 0 && at < u->in_len && out_room(u) >= ANSWER_ROOM) {
		r = take_next(u, u->in + at, u->in_len - at, e);
		at += r > 0 ? (uint32_t)r : 0;
	}
	memmove(u->in, u->in + at, u->in_len - at);
	u->in_len -= at;
	return r < 0 ? r : 0;
}

/* --- what the loop asks --- */

uint64_t uplink_next(const struct uplink *u)
{
	return u->phase == PHASE_CLOSED ? u->retry.at_ms : u->heard_ms + UPLINK_SILENCE_MS;
}

bool uplink_is_closed(const struct uplink *u)
{
	return u->phase == PHASE_CLOSED;
}

bool uplink_is_welcome(const struct uplink *u)
{
	return u->phase == PHASE_WELCOME;
}

bool uplink_is_silent(const struct uplink *u, uint64_t now_ms)
{
	return u->phase != PHASE_CLOSED && now_ms >= u->heard_ms + UPLINK_SILENCE_MS;
}

bool uplink_waits(const struct uplink *u)
{
	return u->phase == PHASE_GREETING || (u->phase == PHASE_WELCOME && u->starved);
}

uint64_t uplink_session(const struct uplink *u)
{
	return u->session;
}

uint64_t uplink_realtime_ns(const struct uplink *u)
{
	return u->realtime_ns;
}

size_t uplink_memory(const struct uplink *u)
{
	return sizeof(*u) + u->in_size + u->out_size;
}
