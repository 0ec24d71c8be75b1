/* SPDX-License-Identifier: MIT */
/* stream_span: see stream_span.h. */
#include "trace/stream_span.h"

#include "store/ksk.h"

int stream_span_first(struct block_reader *r, uint32_t stream, uint64_t *ret)
{
	uint64_t place = 0, at;
	struct block b;
	int more;

	*ret = 0;
	while ((more = r->ops->next(r, stream, &place, &b, &at)) == 1)
		if (b.flags & BLOCK_KEY && b.events) {
			*ret = b.first_tick;
			return 0;
		}
	return more;
}

int stream_span_last(struct block_reader *r, uint32_t stream, uint64_t *ret)
{
	uint64_t place = r->ops->seek(r, stream, UINT64_MAX), at;
	struct block b;
	int more;

	*ret = 0;
	while ((more = r->ops->next(r, stream, &place, &b, &at)) == 1)
		*ret = ksk_until(*ret, &b);
	return more;
}

int stream_span_add(struct stream_span *s, struct block_reader *r, uint32_t stream)
{
	uint64_t first, last;
	int error = stream_span_first(r, stream, &first);

	if (error == 0)
		error = stream_span_last(r, stream, &last);
	if (error < 0)
		return error;
	s->from = first && first < s->from ? first : s->from;
	s->to = last > s->to ? last : s->to;
	return 0;
}
