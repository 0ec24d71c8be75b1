/* SPDX-License-Identifier: MIT */
/* cuts: see cuts.h. */
#include "store/cuts.h"

#include <errno.h>
#include <stdlib.h>

int cuts_init(struct cuts *ret, const uint8_t *in, size_t in_len)
{
	struct run_state s;
	size_t i;
	int r = run_state_decode(&s, in, in_len);

	*ret = (struct cuts){ 0 };
	if (r < 0 || !s.n)
		return r;
	ret->list = calloc(s.n, sizeof(*ret->list));
	for (i = 0; ret->list && i < s.n; i++) {
		const struct stream_state *t = &s.streams[i];

		/* Descriptions are kept when their file goes. */
		if (t->stream == STREAM_META || !t->started)
			continue;
		ret->list[ret->n++] = (struct cut){ .stream = t->stream,
						    .open = true,
						    .from_tick = t->until,
						    .to_tick = t->until };
	}
	run_state_done(&s);
	return ret->list ? 0 : -ENOMEM;
}

void cuts_done(struct cuts *c)
{
	free(c->list);
	*c = (struct cuts){ 0 };
}

bool cuts_is_open(const struct cuts *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (c->list[i].open)
			return true;
	return false;
}

/* What a view adds to a cut that is open. */
static struct cut follow(const struct cut *c, const struct view_run *r)
{
	const struct view_stream *s = r && c->open ? view_run_stream(r, c->stream) : NULL;
	struct cut cut = *c;

	if (!s)
		return cut;
	cut.events += s->head_events;
	cut.open = !s->keys.n;
	cut.to_tick =
		s->keys.n ? s->keys.first_tick : run_state_stream(&r->state, s->stream)->until;
	return cut;
}

void cuts_take_view(struct cuts *c, uint32_t file, const struct view_run *r)
{
	size_t i;

	if (file <= c->file)
		return;
	c->file = file;
	for (i = 0; i < c->n; i++)
		c->list[i] = follow(&c->list[i], r);
}

/* The events of a stream's blocks before its first KEY block of this file, as far as they follow one
 * another: behind a gap they were never counted as stored. */
static uint64_t count_head(const struct index_stream *s, const struct stream_state *in,
			   const uint8_t *log, size_t len)
{
	uint32_t end = s->n_keys ? index_key(s, 0).row : s->n, i;
	uint64_t next = in->next_sequence, events = 0;
	struct log_record r;

	for (i = 0; i < end && i < s->n && !in->gap; i++, next++) {
		uint32_t at = index_row(s, i);

		if (at >= len || log_record_peek(log + at, len - at, &r) != WIRE_OK ||
		    !log_kind_is_block(r.kind) || r.block.sequence != next)
			break;
		events += r.block.events;
	}
	return events;
}

int cuts_take_index(struct cuts *c, const struct log_index *x, const struct index_run *r,
		    const uint8_t *log, size_t len)
{
	struct index_stream s;
	struct run_state in;
	size_t i;
	int error;

	if (x->number <= c->file)
		return 0;
	error = run_state_decode(&in, r->in, r->in_len);
	if (error < 0)
		return error;
	c->file = x->number;
	for (i = 0; i < c->n; i++) {
		struct cut *cut = &c->list[i];
		const struct stream_state *t = run_state_stream(&in, cut->stream);

		if (!cut->open || !t || !log_index_stream(x, r, cut->stream, &s))
			continue;
		cut->events += count_head(&s, t, log, len);
		if (s.n_keys)
			cut->to_tick = index_key(&s, 0).tick;
		cut->open = !s.n_keys;
	}
	run_state_done(&in);
	return 0;
}

uint64_t cuts_count(const struct cuts *c, const struct view_run *live)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < c->n; i++)
		events += follow(&c->list[i], live).events;
	return events;
}

void cuts_list(const struct cuts *c, const struct view_run *live, const struct run_losses *losses)
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct cut cut = follow(&c->list[i], live);
		const struct store_loss row = { .stream = cut.stream,
						.cause = LOSS_STORE,
						.from_tick = cut.from_tick,
						.to_tick = cut.to_tick,
						.count = cut.events };

		if (row.count)
			losses->add(losses->context, &row);
	}
}
