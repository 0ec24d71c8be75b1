/* SPDX-License-Identifier: MIT */
/* shares: see shares.h. */
#include "shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/rtc_decode.h"
#include "wire/rtc_encode.h"

#define IDS_MAX 65536U
#define SLOTS (4 * IDS_MAX)
#define UNIT_NS 10.0

struct ids {
	uint64_t address[IDS_MAX];
	uint32_t slot[SLOTS]; /* id + 1 */
	uint32_t count;
};

/* One thread at a time. */
struct work {
	struct rtc_record *records;
	size_t count;
	uint8_t *out;
	size_t room, len;
	uint64_t bits;
};

static struct rtc_encoder encoder;
static struct rtc_decoder decoder;
static const struct rtc_params params = RTC_PARAMS_PUBLISHED;

/* The id of an address, or IDS_MAX. */
static uint32_t get_id(struct ids *ids, uint64_t address)
{
	uint32_t at = (uint32_t)(address ^ address >> 32) * 2654435761U >> 14;

	while (ids->slot[at] && ids->address[ids->slot[at] - 1] != address)
		at = (at + 1) % SLOTS;
	if (!ids->slot[at]) {
		if (ids->count == IDS_MAX)
			return IDS_MAX;
		ids->address[ids->count] = address;
		ids->slot[at] = ++ids->count;
	}
	return ids->slot[at] - 1;
}

static int fill(struct work *w, const struct thread *t, struct ids *ids, double tick_ns)
{
	uint64_t time, last = 0;
	uint32_t id;
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct func_event *ev = &t->events[i];

		id = get_id(ids, ev->value);
		if (id == IDS_MAX)
			return -E2BIG;
		time = ev->tick - t->events[0].tick;
		if (tick_ns > 0)
			time = (uint64_t)((double)time * tick_ns / UNIT_NS);
		w->records[i] = (struct rtc_record){ .difference = time - last,
						     .value = id,
						     .kind = ev->kind };
		last = time;
	}
	w->count = t->count;
	return 0;
}

static int encode(void *ctx)
{
	struct work *w = ctx;
	size_t i;

	rtc_encoder_init(&encoder, &params, w->out, w->room);
	for (i = 0; i < w->count; i++)
		if (rtc_encode(&encoder, &w->records[i]) != WIRE_OK)
			return -ENOSPC;
	w->bits = rtc_encoder_bits(&encoder);
	w->len = rtc_encoder_end(&encoder);
	return 0;
}

static int decode(void *ctx)
{
	struct work *w = ctx;
	struct rtc_record r;
	size_t i;

	rtc_decoder_init(&decoder, &params, w->out, w->len);
	for (i = 0; i < w->count; i++)
		if (rtc_decode(&decoder, &r) != WIRE_OK ||
		    r.difference != w->records[i].difference || r.value != w->records[i].value ||
		    r.kind != w->records[i].kind)
			return -EBADMSG;
	return rtc_decoder_end(&decoder) == WIRE_OK ? 0 : -EBADMSG;
}

/* A hit is an address; a miss is one too, and then the start/end bit and the id. What is left of all
 * bits is times, and carry records, which are times as well. */
static void add(struct shares *s, const struct work *w, uint64_t encode_ns, uint64_t decode_ns)
{
	uint64_t n = w->count, misses = encoder.ids.written;
	uint64_t functions = n * params.id_address_bits + misses * (1U + params.id_bits);

	s->records += n;
	s->carries += encoder.carries;
	s->time_in += n * params.time_bits;
	s->time_out += w->bits - n - functions;
	s->function_in += n * params.id_bits;
	s->function_out += functions;
	s->in += n * (params.time_bits + 2U + params.id_bits);
	s->out += w->bits;
	s->encode_ns += encode_ns;
	s->decode_ns += decode_ns;
}

static int measure_thread(struct work *w, const struct stopwatch *watch, struct shares *s)
{
	uint64_t encode_ns, decode_ns;
	int r;

	r = stopwatch_best(watch, encode, w, &encode_ns);
	if (!r)
		r = stopwatch_best(watch, decode, w, &decode_ns);
	if (!r)
		add(s, w, encode_ns, decode_ns);
	return r;
}

int shares_measure(const struct recording *r, double tick_ns, const struct stopwatch *watch,
		   struct shares *ret)
{
	_cleanup_free_ struct ids *ids = calloc(1, sizeof(*ids));
	struct shares s = { 0 };
	int status = 0;
	size_t i;

	for (i = 0; i < r->count && !status; i++) {
		const struct thread *t = &r->threads[i];
		_cleanup_free_ struct rtc_record *records =
			malloc((t->count + 1) * sizeof(struct rtc_record));
		_cleanup_free_ uint8_t *out = malloc(16 * t->count + 4096);
		struct work w = { .records = records, .out = out, .room = 16 * t->count + 4096 };

		if (!ids || !records || !out)
			return -ENOMEM;
		status = fill(&w, t, ids, tick_ns);
		if (!status)
			status = measure_thread(&w, watch, &s);
	}
	if (!status)
		*ret = s;
	return status;
}
