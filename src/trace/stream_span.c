/* SPDX-License-Identifier: MIT */
/* stream_span: see stream_span.h. */
#include "trace/stream_span.h"

#include "store/ksk.h"

uint64_t stream_span_first(struct block_reader *r, uint32_t stream)
{
	uint64_t place = 0, at;
	struct block b;

	while (r->ops->next(r, stream, &place, &b, &at) == 1)
		if (b.flags & BLOCK_KEY && b.events)
			return b.first_tick;
	return 0;
}

uint64_t stream_span_last(struct block_reader *r, uint32_t stream)
{
	uint64_t place = r->ops->seek(r, stream, UINT64_MAX), at, until = 0;
	struct block b;

	while (r->ops->next(r, stream, &place, &b, &at) == 1)
		until = ksk_until(until, &b);
	return until;
}
