/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_func_encode: see rtc_func_encode.h and docs/format/rtc.md, section 7.
 *
 * Functions get their ids in the order in which they come first. The table of slots is twice as
 * large as there are ids, so that a search soon finds a free one; it never is full.
 */
#include "wire/rtc_func_encode.h"

#include "wire/varint.h"

#define HASH 2654435761U
#define SLOT_BITS 15U
#define SLOTS (1U << SLOT_BITS)
#define EVENTS_MAX (1U << 24) /* of a block */

_Static_assert(SLOTS == 2 * RTC_FUNC_IDS_MAX, "a slot for each hash");
_Static_assert(RTC_FUNC_IDS_MAX <= UINT16_MAX, "a slot holds any id");

bool rtc_func_encoder_init(struct rtc_func_encoder *e, const struct rtc_params *least, uint8_t *out,
			   size_t room)
{
	if (!rtc_params_valid(least))
		return false;
	e->least = *least;
	e->out = out;
	e->room = room;
	e->ids = 0;
	return true;
}

/* The slot that has the address, or the free one where it belongs. */
static uint16_t *find_slot(struct rtc_func_encoder *e, uint64_t address)
{
	uint32_t at = ((uint32_t)address ^ (uint32_t)(address >> 32)) * HASH >> (32 - SLOT_BITS);

	while (e->slot[at] && e->address[e->slot[at] - 1] != address)
		at = (at + 1) & (SLOTS - 1);
	return &e->slot[at];
}

/* False: there is no id left. */
static bool give_id(struct rtc_func_encoder *e, uint64_t address)
{
	uint16_t *slot = find_slot(e, address);

	if (*slot)
		return true;
	if (e->ids == RTC_FUNC_IDS_MAX)
		return false;
	e->address[e->ids++] = address;
	*slot = (uint16_t)e->ids;
	return true;
}

static void widen(uint8_t *bits, uint32_t width)
{
	if (*bits < width)
		*bits = (uint8_t)width;
}

/* First look: ids, and widths. Returns the number of events that one payload can hold. */
static size_t survey(struct rtc_func_encoder *e, struct rtc_params *p,
		     const struct func_event *events, size_t n)
{
	size_t i;

	e->ids = 0;
	memset(e->slot, 0, sizeof(e->slot));
	for (i = 0; i < n && i < EVENTS_MAX; i++) {
		const struct func_event *ev = &events[i];

		if (ev->kind == FUNC_OS) {
			/* All ones are the type of carry records. */
			widen(&p->type_bits, rtc_width((uint64_t)ev->os + 1));
			widen(&p->value_bits, rtc_width(ev->value));
		} else if (ev->kind > FUNC_OS || !give_id(e, ev->value)) {
			break;
		}
	}
	widen(&p->id_bits, rtc_width(e->ids ? e->ids - 1 : 0));
	return i;
}

static size_t put_head(struct rtc_func_encoder *e, const struct rtc_params *p)
{
	uint64_t before = 0;
	uint8_t *out = e->out;
	uint32_t i;

	if (e->room < RTC_FUNC_HEAD + VARINT_MAX * ((size_t)e->ids + 1))
		return 0;
	*out++ = (uint8_t)(RTC_VERSION << 4 | p->placing);
	*out++ = p->time_bits;
	*out++ = p->id_bits;
	*out++ = p->type_bits;
	*out++ = p->value_bits;
	*out++ = p->id_address_bits;
	*out++ = p->type_address_bits;
	*out++ = p->value_address_bits;
	out = varint_put(out, e->ids);
	for (i = 0; i < e->ids; i++) {
		out = varint_put_signed(out, (int64_t)(e->address[i] - before));
		before = e->address[i];
	}
	return (size_t)(out - e->out);
}

size_t rtc_func_encode(struct rtc_func_encoder *e, const struct func_event *events, size_t n,
		       size_t *ret_len)
{
	struct rtc_params p = e->least;
	uint64_t tick = n ? events[0].tick : 0;
	struct rtc_record r;
	size_t head, i;

	n = survey(e, &p, events, n);
	head = put_head(e, &p);
	if (!head || !rtc_encoder_init(&e->bits, &p, e->out + head, e->room - head))
		return 0;
	for (i = 0; i < n; i++) {
		const struct func_event *ev = &events[i];
		bool os = ev->kind == FUNC_OS;

		r.difference = ev->tick - tick;
		r.kind = ev->kind;
		r.type = os ? ev->os : 0;
		r.value = os ? ev->value : *find_slot(e, ev->value) - 1U;
		if (rtc_encode(&e->bits, &r) != WIRE_OK)
			break;
		tick = ev->tick;
	}
	*ret_len = head + rtc_encoder_end(&e->bits);
	return i;
}
