/* SPDX-License-Identifier: MIT */
/* store_reader: what the readers of all engines have in common (store_engine.h). */
#include "store/store_reader.h"

#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/store_engine.h"

#define TORN_MAX (1U << 16)

int store_reader_open(struct block_reader **ret, struct store *s, uint32_t run,
		      const struct store_range *range, struct error *e)
{
	return s->ops->open_reader(ret, s, run, range, e);
}

int store_reader_refresh(struct block_reader *r, struct error *e)
{
	return ((struct store_reader *)r)->ops->refresh(r, e);
}

uint64_t store_reader_count(const struct block_reader *r)
{
	return ((const struct store_reader *)r)->ops->count(r);
}

void store_reader_start(struct block_reader *reader, uint32_t stream, struct block_start *ret)
{
	struct store_reader *r = (struct store_reader *)reader;
	const struct stream_state *in = run_state_stream(&r->in, stream);
	uint64_t place, at;
	struct block b;

	memset(ret, 0, sizeof(*ret));
	ret->before = in ? in->seen : 0;
	ret->sequence = in ? in->next_sequence : 0;
	place = stream == STREAM_META ? 0 : reader->ops->seek(reader, stream, r->range.from_tick);
	ret->place = place;
	if (place && reader->ops->next(reader, stream, &place, &b, &at) == 1) {
		ret->before = b.before - block_told(&b);
		ret->sequence = b.sequence;
	}
}

bool store_reader_stream(struct block_reader *reader, uint32_t stream, struct block_stream *ret)
{
	struct store_reader *r = (struct store_reader *)reader;
	const struct stream_state *out = run_state_stream(&r->out, stream);
	const struct stream_state *in = run_state_stream(&r->in, stream);

	memset(ret, 0, sizeof(*ret));
	if (!out)
		return false;
	ret->counted = true;
	ret->start = in ? in->seen : 0;
	ret->end = out->seen;
	ret->end_sequence = out->next_sequence;
	/* What was lost behind the last block belongs to every range that goes beyond that block. */
	ret->goes_on =
		!r->out.ended || (r->range.to_tick != UINT64_MAX && r->range.to_tick <= out->until);
	ret->gap_cause = LOSS_SPOOL;
	ret->start_cause = in && !in->gap ? LOSS_STORE : LOSS_SPOOL;
	return true;
}

uint32_t store_reader_streams(struct block_reader *reader)
{
	const struct store_reader *r = (const struct store_reader *)reader;
	size_t i = r->out.n;

	while (i && r->out.streams[i - 1].stream >= MESSAGE_STREAMS_MAX)
		i--;
	return i ? r->out.streams[i - 1].stream : 0;
}

bool store_reader_find(struct block_reader *reader, uint32_t from, uint32_t *ret)
{
	const struct run_state *s = &((const struct store_reader *)reader)->out;
	size_t lo = 0, hi = s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->streams[mid].stream < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < s->n)
		*ret = s->streams[lo].stream;
	return lo < s->n;
}

bool store_reader_torn(struct block_reader *reader, uint64_t from, uint64_t to)
{
	const struct store_reader *r = (const struct store_reader *)reader;
	size_t i;

	for (i = 0; i < r->n_torn; i++)
		if (r->torn[i] >= from && r->torn[i] < to)
			return true;
	return false;
}

void store_reader_note_torn(struct store_reader *r, uint64_t place)
{
	if (array_grow(&r->torn, r->n_torn, &r->room_torn, sizeof(*r->torn), TORN_MAX) == 0)
		r->torn[r->n_torn++] = place;
}

/* A block that came again: the store gives none, so what it keeps was changed. It is as good as
 * torn. */
void store_reader_note(struct block_reader *r, uint64_t place, uint64_t len, const char *what)
{
	(void)len;
	(void)what;
	store_reader_note_torn((struct store_reader *)r, place);
}

void store_reader_done(struct store_reader *r)
{
	run_state_done(&r->in);
	run_state_done(&r->out);
	free(r->torn);
}
