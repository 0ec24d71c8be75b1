/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * message: see message.h.
 *
 * A reader that runs out of bytes reads zeros and remembers it, so each decoder reads all of its
 * fields and asks once. Bytes behind the known fields belong to a later version.
 */
#include "wire/message.h"

#include "wire/block.h"

static void put_bytes(struct byte_writer *w, const void *data, size_t len)
{
	if (w->full || len > (size_t)(w->end - w->at)) {
		w->full = true;
		return;
	}
	if (len)
		memcpy(w->at, data, len);
	w->at += len;
}

static void put_number(struct byte_writer *w, uint64_t v)
{
	uint8_t bytes[VARINT_MAX];

	put_bytes(w, bytes, (size_t)(varint_put(bytes, v) - bytes));
}

static void put_text(struct byte_writer *w, const struct message_text *t)
{
	uint32_t len = t->len > MESSAGE_TEXT_MAX ? MESSAGE_TEXT_MAX : t->len;

	put_number(w, len);
	put_bytes(w, t->at, len);
}

static void get_text(struct byte_reader *r, struct message_text *ret)
{
	uint64_t len = reader_varint(r);

	if (len > MESSAGE_TEXT_MAX)
		r->bad = true;
	ret->at = (const char *)reader_bytes(r, len);
	ret->len = ret->at ? (uint32_t)len : 0;
}

static uint32_t get_bounded(struct byte_reader *r, uint32_t most)
{
	uint64_t v = reader_varint(r);

	if (v > most)
		r->bad = true;
	return r->bad ? 0 : (uint32_t)v;
}

static void get_id(struct byte_reader *r, struct message_id *ret)
{
	const uint8_t *p = reader_bytes(r, sizeof(ret->bytes));

	if (p)
		memcpy(ret->bytes, p, sizeof(ret->bytes));
}

static enum wire_status verdict(const struct byte_reader *r)
{
	return r->bad ? WIRE_CORRUPT : WIRE_OK;
}

void hello_encode(struct byte_writer *w, const struct message_hello *m)
{
	uint32_t i;

	put_number(w, m->version);
	put_bytes(w, m->device.bytes, sizeof(m->device.bytes));
	put_bytes(w, m->boot.bytes, sizeof(m->boot.bytes));
	put_text(w, &m->name);
	put_text(w, &m->agent);
	put_text(w, &m->kernel);
	put_text(w, &m->machine);
	put_number(w, m->cpus);
	put_number(w, m->origins);
	put_number(w, m->state);
	put_number(w, m->n_runs);
	for (i = 0; i < m->n_runs; i++)
		put_bytes(w, m->runs[i].bytes, sizeof(m->runs[i].bytes));
	if (m->role != ROLE_AGENT || m->abilities)
		put_number(w, m->role);
	if (m->abilities)
		put_number(w, m->abilities);
}

/* The version comes first and is known even if the rest is not understood. */
enum wire_status hello_decode(struct message_hello *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r, rest;
	uint64_t role, abilities = 0;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->version = get_bounded(&r, UINT32_MAX);
	get_id(&r, &ret->device);
	get_id(&r, &ret->boot);
	get_text(&r, &ret->name);
	get_text(&r, &ret->agent);
	get_text(&r, &ret->kernel);
	get_text(&r, &ret->machine);
	ret->cpus = get_bounded(&r, MESSAGE_STREAMS_MAX - 1);
	ret->origins = get_bounded(&r, UINT32_MAX);
	ret->state = (uint8_t)get_bounded(&r, UINT8_MAX);
	ret->n_runs = get_bounded(&r, MESSAGE_RUNS_MAX);
	for (i = 0; i < ret->n_runs; i++)
		get_id(&r, &ret->runs[i]);
	rest = r; /* what is not understood there is skipped */
	role = !r.bad && reader_left(&rest) ? reader_varint(&rest) : ROLE_AGENT;
	if (!rest.bad && role <= ROLE_RECORDER) {
		ret->role = (uint8_t)role;
		abilities = reader_left(&rest) ? reader_varint(&rest) : 0;
	}
	if (!rest.bad)
		ret->abilities = (uint32_t)abilities;
	return verdict(&r);
}

struct hello_field {
	const char *name;
	uint8_t kind; /* 'n' a number, 't' a text, 'i' an id */
	uint32_t most;
};

static bool is_sound(struct byte_reader *r, const struct hello_field *f)
{
	struct message_text text;
	struct message_id id;

	if (f->kind == 'n')
		get_bounded(r, f->most);
	else if (f->kind == 't')
		get_text(r, &text);
	else
		get_id(r, &id);
	return !r->bad;
}

/* Whether there are too few bytes for the field, whatever they say. */
static bool is_cut(struct byte_reader r, const struct hello_field *f)
{
	size_t left = (size_t)reader_left(&r);
	uint64_t v;

	if (f->kind == 'i')
		return true;
	v = reader_varint(&r);
	if (r.bad) /* it ends with the message, or has too many bytes */
		return left < VARINT_MAX;
	return f->kind == 't' && v <= MESSAGE_TEXT_MAX;
}

bool hello_find_fault(const uint8_t *in, size_t len, struct message_fault *ret)
{
	static const struct hello_field fields[] = {
		{ "version", 'n', UINT32_MAX },
		{ "device", 'i', 0 },
		{ "boot", 'i', 0 },
		{ "name", 't', 0 },
		{ "agent", 't', 0 },
		{ "kernel", 't', 0 },
		{ "machine", 't', 0 },
		{ "cpus", 'n', MESSAGE_STREAMS_MAX - 1 },
		{ "origins", 'n', UINT32_MAX },
		{ "state", 'n', UINT8_MAX },
		{ "runs", 'n', MESSAGE_RUNS_MAX },
	};
	static const struct hello_field run = { "run", 'i', 0 };
	const uint32_t n = sizeof(fields) / sizeof(fields[0]);
	struct byte_reader r, before;
	struct message_hello m;
	uint32_t i;

	hello_decode(&m, in, len);
	reader_init(&r, in, len);
	for (i = 0; i < n + MESSAGE_RUNS_MAX; i++) {
		const struct hello_field *f = i < n ? &fields[i] : &run;

		before = r;
		if (is_sound(&r, f))
			continue;
		*ret = (struct message_fault){ f->name, (size_t)(before.at - in),
					       is_cut(before, f) };
		return i < n + m.n_runs;
	}
	return false;
}

void welcome_encode(struct byte_writer *w, const struct message_welcome *m)
{
	put_number(w, m->version);
	put_number(w, m->session);
	put_number(w, m->realtime_ns);
	put_number(w, m->window);
	put_number(w, m->n_rows);
}

void welcome_put(struct byte_writer *w, const struct message_resume *row)
{
	put_number(w, row->run);
	put_number(w, row->stream);
	put_number(w, row->next_sequence);
}

/* Of the description, a CPU, a boot, a profile or a thread. */
static uint32_t get_stream(struct byte_reader *r)
{
	uint32_t stream = get_bounded(r, UINT32_MAX);

	if (stream >= MESSAGE_STREAMS_MAX && !stream_is_boot(stream) && !stream_is_sample(stream) &&
	    !stream_is_func(stream))
		r->bad = true;
	return stream;
}

static void get_resume(struct byte_reader *r, struct message_resume *ret)
{
	ret->run = get_bounded(r, MESSAGE_RUNS_MAX - 1);
	ret->stream = get_stream(r);
	ret->next_sequence = reader_varint(r);
}

enum wire_status welcome_decode(struct message_welcome *ret, const uint8_t *in, size_t len)
{
	struct message_resume row;
	struct byte_reader r;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->version = get_bounded(&r, UINT32_MAX);
	ret->session = reader_varint(&r);
	ret->realtime_ns = reader_varint(&r);
	ret->window = reader_varint(&r);
	ret->n_rows = get_bounded(&r, MESSAGE_RUNS_MAX * MESSAGE_STREAMS_MAX);
	ret->rows = r;
	for (i = 0; i < ret->n_rows && !r.bad; i++)
		get_resume(&r, &row);
	return verdict(&r);
}

bool welcome_next(struct message_welcome *m, struct message_resume *ret)
{
	if (!m->n_rows)
		return false;
	m->n_rows--;
	get_resume(&m->rows, ret);
	return !m->rows.bad;
}

void run_encode(struct byte_writer *w, const struct message_id *run)
{
	put_bytes(w, run->bytes, sizeof(run->bytes));
}

enum wire_status run_decode(struct message_id *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	reader_init(&r, in, len);
	get_id(&r, ret);
	return verdict(&r);
}

void end_encode(struct byte_writer *w, const struct message_end *m)
{
	put_number(w, m->n_rows);
}

void end_put(struct byte_writer *w, const struct message_stream_end *row)
{
	put_number(w, row->stream);
	put_number(w, row->next_sequence);
	put_number(w, row->events);
}

static void get_stream_end(struct byte_reader *r, struct message_stream_end *ret)
{
	ret->stream = get_stream(r);
	ret->next_sequence = reader_varint(r);
	ret->events = reader_varint(r);
}

enum wire_status end_decode(struct message_end *ret, const uint8_t *in, size_t len)
{
	struct message_stream_end row;
	struct byte_reader r;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->n_rows = get_bounded(&r, MESSAGE_STREAMS_MAX);
	ret->rows = r;
	for (i = 0; i < ret->n_rows && !r.bad; i++)
		get_stream_end(&r, &row);
	return verdict(&r);
}

bool end_next(struct message_end *m, struct message_stream_end *ret)
{
	if (!m->n_rows)
		return false;
	m->n_rows--;
	get_stream_end(&m->rows, ret);
	return !m->rows.bad;
}

void ack_encode(struct byte_writer *w, uint64_t frames)
{
	put_number(w, frames);
}

enum wire_status ack_decode(uint64_t *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	reader_init(&r, in, len);
	*ret = reader_varint(&r);
	return verdict(&r);
}

void instruction_encode(struct byte_writer *w, const struct message_instruction *m)
{
	put_number(w, m->id);
	put_number(w, m->verb);
	config_encode(w, &m->config);
}

enum wire_status instruction_decode(struct message_instruction *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->id = reader_varint(&r);
	ret->verb = (uint8_t)get_bounded(&r, UINT8_MAX);
	if (r.bad)
		return WIRE_CORRUPT;
	return config_decode(&ret->config, &r);
}

void result_encode(struct byte_writer *w, const struct message_result *m)
{
	put_number(w, m->id);
	put_number(w, m->code);
	put_text(w, &m->text);
}

enum wire_status result_decode(struct message_result *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->id = reader_varint(&r);
	ret->code = get_bounded(&r, UINT32_MAX);
	get_text(&r, &ret->text);
	return verdict(&r);
}

void status_encode(struct byte_writer *w, const struct message_status *m)
{
	uint32_t i;

	put_number(w, m->state);
	put_number(w, m->origin);
	put_number(w, m->events);
	put_number(w, m->passed_over);
	for (i = 0; i < LOSS_CAUSES; i++)
		put_number(w, m->lost[i]);
	put_number(w, m->blocks);
	put_number(w, m->bytes);
	put_number(w, m->spool_used);
	put_number(w, m->spool_size);
	put_number(w, m->cpu_us);
	put_number(w, m->rss_kib);
	put_number(w, m->fixed_kib);
	put_number(w, m->wakeups);
	put_text(w, &m->text);
}

enum wire_status status_decode(struct message_status *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->state = (uint8_t)get_bounded(&r, UINT8_MAX);
	ret->origin = (uint8_t)get_bounded(&r, UINT8_MAX);
	ret->events = reader_varint(&r);
	ret->passed_over = reader_varint(&r);
	for (i = 0; i < LOSS_CAUSES; i++)
		ret->lost[i] = reader_varint(&r);
	ret->blocks = reader_varint(&r);
	ret->bytes = reader_varint(&r);
	ret->spool_used = reader_varint(&r);
	ret->spool_size = reader_varint(&r);
	ret->cpu_us = reader_varint(&r);
	ret->rss_kib = reader_varint(&r);
	ret->fixed_kib = reader_varint(&r);
	ret->wakeups = reader_varint(&r);
	get_text(&r, &ret->text);
	return verdict(&r);
}

void ping_encode(struct byte_writer *w, const struct message_ping *m)
{
	put_number(w, m->id);
	put_number(w, m->sent_ns);
}

enum wire_status ping_decode(struct message_ping *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	reader_init(&r, in, len);
	ret->id = reader_varint(&r);
	ret->sent_ns = reader_varint(&r);
	return verdict(&r);
}

void pong_encode(struct byte_writer *w, const struct message_pong *m)
{
	put_number(w, m->id);
	put_number(w, m->sent_ns);
	put_number(w, m->device_ns);
	put_number(w, m->realtime_ns);
}

enum wire_status pong_decode(struct message_pong *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	reader_init(&r, in, len);
	ret->id = reader_varint(&r);
	ret->sent_ns = reader_varint(&r);
	ret->device_ns = reader_varint(&r);
	ret->realtime_ns = reader_varint(&r);
	return verdict(&r);
}

/* --- objects --- */

static void put_build_id(struct byte_writer *w, const struct message_build_id *id)
{
	put_number(w, id->len);
	put_bytes(w, id->bytes, id->len);
}

static void get_build_id(struct byte_reader *r, struct message_build_id *ret)
{
	uint32_t len = get_bounded(r, MESSAGE_BUILD_ID_MAX);
	const uint8_t *p = reader_bytes(r, len);

	r->bad = r->bad || !len;
	ret->len = (uint8_t)len;
	if (p)
		memcpy(ret->bytes, p, len);
}

void want_encode(struct byte_writer *w, const struct message_want *m)
{
	put_build_id(w, &m->id);
	put_number(w, m->offset);
}

enum wire_status want_decode(struct message_want *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	get_build_id(&r, &ret->id);
	ret->offset = reader_varint(&r);
	return verdict(&r);
}

void piece_encode(struct byte_writer *w, const struct message_piece *m)
{
	put_build_id(w, &m->id);
	put_number(w, m->size);
	put_number(w, m->offset);
	put_number(w, m->size ? m->len : 0);
	put_bytes(w, m->bytes, m->size ? m->len : 0);
}

/* What it claims fits together: the piece lies within the file, and is not empty unless all is. */
enum wire_status piece_decode(struct message_piece *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	get_build_id(&r, &ret->id);
	ret->size = reader_varint(&r);
	ret->offset = reader_varint(&r);
	ret->len = get_bounded(&r, MESSAGE_PIECE_MAX);
	ret->bytes = reader_bytes(&r, ret->len);
	if (r.bad || ret->size > MESSAGE_OBJECT_MAX || !ret->len != !ret->size)
		return WIRE_CORRUPT;
	if (ret->size && (ret->offset >= ret->size || ret->len > ret->size - ret->offset))
		return WIRE_CORRUPT;
	return WIRE_OK;
}

void bye_encode(struct byte_writer *w, const struct message_bye *m)
{
	put_number(w, m->code);
	put_text(w, &m->text);
}

enum wire_status bye_decode(struct message_bye *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	ret->code = get_bounded(&r, UINT32_MAX);
	get_text(&r, &ret->text);
	return verdict(&r);
}
