/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * flight: the bytes that were sent and are not acknowledged, against the collector's window.
 *
 * An ACK counts frames, the window counts bytes. To go from one to the other without remembering
 * the size of every frame, a mark is set whenever another 1/128 of the window has been sent: so
 * many frames were so many bytes. What is acknowledged is known up to the last mark below it, which
 * errs to the safe side, and exactly when all is.
 *
 * A frame may always go if nothing is under way, or a window smaller than a block would be the end.
 * The agent and the kernel driver count alike: docs/format/protocol.md, section 1.
 */
#ifndef KISEKI_WIRE_FLIGHT_H
#define KISEKI_WIRE_FLIGHT_H

#include "wire/types.h"

#define FLIGHT_PARTS 128U /* a power of two: a 32-bit kernel cannot divide 64 bits */
#define FLIGHT_MARKS 256U /* at most FLIGHT_PARTS + 2 are in use */

struct flight_mark {
	uint64_t frames, bytes;
};

struct flight {
	uint64_t window;
	uint64_t frames, bytes; /* sent on this connection */
	uint64_t acked_bytes;	/* at least */
	uint64_t marked_bytes;	/* by the latest mark */
	uint32_t first, n;
	struct flight_mark marks[FLIGHT_MARKS];
};

static inline void flight_init(struct flight *f, uint64_t window)
{
	memset(f, 0, sizeof(*f));
	f->window = window;
}

static inline bool flight_has_room(const struct flight *f, uint64_t bytes)
{
	uint64_t ahead = f->bytes - f->acked_bytes;

	return !ahead || (bytes <= f->window && ahead <= f->window - bytes);
}

static inline void flight_sent(struct flight *f, uint64_t bytes)
{
	f->frames++;
	f->bytes += bytes;
	if (f->bytes - f->marked_bytes < f->window / FLIGHT_PARTS || f->n == FLIGHT_MARKS)
		return;
	f->marks[(f->first + f->n++) % FLIGHT_MARKS] = (struct flight_mark){ f->frames, f->bytes };
	f->marked_bytes = f->bytes;
}

/* False, and nothing changes, if there were never so many frames. */
static inline bool flight_acked(struct flight *f, uint64_t frames)
{
	if (frames > f->frames)
		return false;
	while (f->n && f->marks[f->first].frames <= frames) {
		f->acked_bytes = f->marks[f->first].bytes;
		f->first = (f->first + 1) % FLIGHT_MARKS;
		f->n--;
	}
	if (frames == f->frames)
		f->acked_bytes = f->bytes;
	return true;
}

#endif
