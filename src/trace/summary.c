/* SPDX-License-Identifier: MIT */
/* summary: see summary.h. */
#include "trace/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void summary_init(struct trace_summary *s)
{
	memset(s, 0, sizeof(*s));
}

void summary_done(struct trace_summary *s)
{
	free(s->streams);
	free(s->damage);
	summary_init(s);
}

int summary_get_stream(struct trace_summary *s, uint32_t cpu, struct summary_stream **ret)
{
	struct summary_stream *streams;
	uint32_t i;

	if (cpu >= TRACE_CPUS_MAX)
		return -ERANGE;
	if (cpu >= s->n_streams) {
		streams = realloc(s->streams, ((size_t)cpu + 1) * sizeof(*streams));
		if (!streams)
			return -ENOMEM;
		memset(streams + s->n_streams, 0, (cpu + 1 - s->n_streams) * sizeof(*streams));
		for (i = s->n_streams; i <= cpu; i++)
			streams[i].cpu = i;
		s->streams = streams;
		s->n_streams = cpu + 1;
	}
	*ret = &s->streams[cpu];
	(*ret)->used = true;
	return 0;
}

static void add_loss(struct summary_stream *stream, const struct trace_loss *loss)
{
	/* A cause of a newer format is a cause that we cannot name: the store's. */
	uint32_t cause = loss->cause < LOSS_CAUSES ? loss->cause : LOSS_STORE;

	stream->losses[cause]++;
	if (loss->count == LOSS_UNKNOWN)
		stream->uncounted[cause]++;
	else
		stream->lost[cause] += loss->count;
}

int summary_add_item(struct trace_summary *s, const struct trace_clock *clock,
		     const struct trace_item *item, struct error *e)
{
	struct summary_stream *stream;
	uint64_t ns;
	int r = summary_get_stream(s, item->cpu, &stream);

	if (r == -ERANGE)
		return error_set(e, EBADMSG, "cannot count the events: CPU number %u is too high",
				 item->cpu);
	if (r < 0)
		return error_set(e, r, "cannot count the events: %s", strerror(-r));
	if (item->type == ITEM_LOSS) {
		add_loss(stream, &item->loss);
		return 0;
	}
	ns = clock_event_ns(clock, &item->event);
	if (!s->events || ns < s->first_ns)
		s->first_ns = ns;
	if (ns > s->last_ns)
		s->last_ns = ns;
	s->events++;
	if (item->event.kind < SCHED_KINDS)
		s->kinds[item->event.kind]++;
	if (!stream->events || item->event.tick < stream->first_tick)
		stream->first_tick = item->event.tick;
	if (item->event.tick > stream->last_tick)
		stream->last_tick = item->event.tick;
	stream->events++;
	return 0;
}

int summary_add_damage(struct trace_summary *s, uint64_t offset, uint64_t bytes, const char *what)
{
	struct summary_damage *d;
	size_t room;

	s->damaged_places++;
	s->damaged_bytes += bytes;
	if (s->n_damage >= SUMMARY_DAMAGE_MAX)
		return 0;
	if (s->n_damage == s->room_damage) {
		room = s->room_damage ? s->room_damage * 2 : 16;
		d = realloc(s->damage, room * sizeof(*d));
		if (!d)
			return -ENOMEM;
		s->damage = d;
		s->room_damage = room;
	}
	d = &s->damage[s->n_damage++];
	d->offset = offset;
	d->bytes = bytes;
	snprintf(d->what, sizeof(d->what), "%s", what);
	return 0;
}

void summary_lost(const struct trace_summary *s, enum loss_cause cause, uint64_t *ret_losses,
		  uint64_t *ret_lost, uint64_t *ret_uncounted)
{
	uint64_t losses = 0, lost = 0, uncounted = 0;
	uint32_t i;

	for (i = 0; i < s->n_streams; i++) {
		losses += s->streams[i].losses[cause];
		lost += s->streams[i].lost[cause];
		uncounted += s->streams[i].uncounted[cause];
	}
	if (ret_losses)
		*ret_losses = losses;
	if (ret_lost)
		*ret_lost = lost;
	if (ret_uncounted)
		*ret_uncounted = uncounted;
}

bool summary_is_damaged(const struct trace_summary *s)
{
	return s->damaged_places > 0;
}
