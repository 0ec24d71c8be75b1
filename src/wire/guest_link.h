/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * guest_link: how it went with a guest's program while a host was recorded (docs/format/wire.md, 7.20; META_GUEST_LINK).
 *
 * Names of a guest's processes are as good as what its program told. Where it did not, a report has to say so, and
 * since when.
 */
#ifndef KISEKI_WIRE_GUEST_LINK_H
#define KISEKI_WIRE_GUEST_LINK_H

#include "wire/varint.h"

#define GUEST_LINK_NOTE_MAX 255U
#define GUEST_LINK_ROW_ROOM (4U * VARINT_MAX + GUEST_LINK_NOTE_MAX)

enum guest_link {
	GUEST_LINK_TALKS = 0,	/* it is there, or is there again */
	GUEST_LINK_SILENT = 1,	/* it does not answer */
	GUEST_LINK_GONE = 2,	/* the connection ended */
	GUEST_LINK_REFUSED = 3, /* what it said is no guest's: nothing more is taken */
	GUEST_LINK_MISSED = 4,	/* it lost events of processes, and told anew who is there */
	GUEST_LINK_CLOCK = 5,	/* the error of its ticks, as it was at the end */
};

struct guest_link_row {
	uint64_t tick;
	uint8_t what;	   /* enum guest_link; a reader passes over those that it does not know */
	uint64_t error_ns; /* of the guest's ticks then: half of the fastest answer's time */
	const char *note;  /* borrowed: the guest's name, or a reason */
	uint32_t note_len;
};

static inline uint8_t *guest_link_put(uint8_t *p, const struct guest_link_row *r)
{
	uint32_t len = r->note_len < GUEST_LINK_NOTE_MAX ? r->note_len : GUEST_LINK_NOTE_MAX;

	p = varint_put(p, r->tick);
	p = varint_put(p, r->what);
	p = varint_put(p, r->error_ns);
	p = varint_put(p, len);
	if (len)
		memcpy(p, r->note, len);
	return p + len;
}

#endif
