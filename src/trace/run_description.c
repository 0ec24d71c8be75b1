/* SPDX-License-Identifier: MIT */
/* run_description: see run_description.h. */
#include "trace/run_description.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/description_check.h"

#define ROWS_LEAST 65536U /* that are kept without a look at what may be forgotten */

int run_description_new(struct run_description **ret)
{
	CLEANUP(run_description) struct run_description *d = calloc(1, sizeof(*d));

	if (!d || info_init(&d->info) < 0 || sample_spaces_new(&d->spaces) < 0 ||
	    sample_guests_new(&d->guests) < 0)
		return -ENOMEM;
	*ret = take_ptr(d);
	return 0;
}

void run_description_free(struct run_description *d)
{
	if (!d)
		return;
	sample_spaces_free(d->spaces);
	sample_guests_free(d->guests);
	sample_pace_done(&d->pace);
	orders_done(&d->orders);
	info_done(&d->info);
	free(d);
}

static int settle(struct run_description *d)
{
	int r = sample_spaces_settle(d->spaces);

	sample_pace_settle(&d->pace);
	return r < 0 ? r : sample_guests_settle(d->guests);
}

static bool is_torn(const struct run_description *d)
{
	return sample_spaces_is_torn(d->spaces) || sample_guests_is_torn(d->guests);
}

static size_t count_rows(const struct run_description *d)
{
	return sample_spaces_rows(d->spaces) + sample_guests_rows(d->guests);
}

int run_description_forget(struct run_description *d, const struct run_horizon *to)
{
	const struct sample_horizon h = {
		.tick = to->tick,
		.end_tick = to->tick > to->end_ticks ? to->tick - to->end_ticks : 0,
	};
	int r;

	if (!to->tick)
		return 0;
	d->forgotten = to->tick > d->forgotten ? to->tick : d->forgotten;
	sample_pace_forget(&d->pace, h.tick);
	r = sample_spaces_forget(d->spaces, &h);
	return r < 0 ? r : sample_guests_forget(d->guests, &h);
}

/* In the middle of it: rows that are yet to come may be a little older than those that came. */
static int forget_some(struct run_description *d, const struct run_horizon *to)
{
	uint64_t latest = sample_spaces_latest(d->spaces);
	struct run_horizon h = *to;
	int r = settle(d);

	latest = latest > to->late_ticks ? latest - to->late_ticks : 0;
	h.tick = latest < to->tick ? latest : to->tick;
	return r < 0 ? r : run_description_forget(d, &h);
}

int run_description_decode(struct run_description *d, const uint8_t *in, size_t len)
{
	int r = info_decode(&d->info, &d->orders, in, len);

	if (r == 0)
		r = sample_spaces_decode(d->spaces, &d->sampling, in, len);
	if (r == 0)
		r = sample_pace_decode(&d->pace, in, len);
	if (r == 0)
		r = sample_guests_decode(d->guests, in, len);
	return r;
}

int run_description_read(struct run_description *d, struct block_reader *reader,
			 const struct run_horizon *to, struct error *e)
{
	size_t most = 2 * count_rows(d) + ROWS_LEAST;
	uint64_t place = 0, at;
	struct block b;
	int r = 0;

	while (r == 0 && (r = reader->ops->next(reader, STREAM_META, &place, &b, &at)) == 1) {
		r = 0;
		if (b.codec != CODEC_META || !b.payload)
			continue; /* torn: that is in the list of damage */
		r = run_description_decode(d, b.payload, b.payload_len);
		d->has_gap = d->has_gap || b.sequence != d->sequence;
		d->sequence = b.sequence + 1;
		if (r < 0) {
			description_explain(b.payload, b.payload_len, r, e);
			return error_prefix(e, r, "metadata at offset %llu",
					    (unsigned long long)at);
		}
		if (to->tick && count_rows(d) > most) {
			r = forget_some(d, to);
			most = 2 * count_rows(d) + ROWS_LEAST;
		}
	}
	if (r >= 0)
		r = settle(d);
	if (r >= 0 && is_torn(d))
		r = -ESTALE;
	return r < 0 ? error_set(e, r, "%s", strerror(-r)) : run_description_forget(d, to);
}

size_t run_description_bytes(const struct run_description *d)
{
	return sizeof(*d) + d->info.room_tasks * sizeof(*d->info.tasks) +
	       d->orders.room * sizeof(*d->orders.rows) +
	       d->orders.room_cpus * sizeof(*d->orders.cpus) +
	       d->pace.room * sizeof(*d->pace.parts) + sample_spaces_bytes(d->spaces) +
	       sample_guests_bytes(d->guests);
}
