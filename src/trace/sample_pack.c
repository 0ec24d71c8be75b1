/* SPDX-License-Identifier: MIT */
/* sample_pack: see sample_pack.h. */
#include "trace/sample_pack.h"

#include <errno.h>
#include <stdlib.h>

#include "store/ksk_writer.h"
#include "trace/info_meta.h"
#include "wire/meta_encode.h"
#include "wire/sample_lane.h"

#define CLOCK_ROOM 512U

struct packer {
	struct block_out out; /* first: lanes put into it */
	struct ksk_writer *writer;
	struct error *e;
	int failed; /* the first error of the writer */
	uint64_t meta_sequence;
	struct sample_lane *lanes[STREAM_SAMPLE_CPUS]; /* by CPU, made when needed */
	uint64_t lost_until[STREAM_SAMPLE_CPUS];
};

static int put(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct packer *p = (struct packer *)o;
	uint8_t *bytes;
	uint32_t len;

	(void)must;
	if (p->failed)
		return p->failed;
	bytes = block_encode(b, payload, &len);
	p->failed = ksk_writer_put(p->writer, b, bytes, len, p->e);
	o->bytes += len;
	return p->failed;
}

static void free_lanes(struct packer *p)
{
	uint32_t i;

	for (i = 0; i < STREAM_SAMPLE_CPUS; i++)
		free(p->lanes[i]);
}

/* --- the description --- */

static int put_meta(struct packer *p, uint8_t *payload, uint32_t len)
{
	struct block b = { .codec = CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_META,
			   .sequence = p->meta_sequence++,
			   .payload_len = len };

	return put(&p->out, &b, payload, true);
}

static int copy_description(struct packer *p, struct block_reader *r)
{
	_cleanup_free_ uint8_t *room = NULL;
	uint32_t size = 0;
	struct block b;
	uint64_t place = 0, at;
	int got;

	while ((got = r->ops->next(r, STREAM_META, &place, &b, &at)) == 1) {
		if (b.codec != CODEC_META || !b.payload)
			continue;
		if (b.payload_len > size) {
			free(room);
			size = b.payload_len;
			room = malloc(BLOCK_HEADER_MAX + (size_t)size);
		}
		if (!room)
			return error_set(p->e, ENOMEM, "out of memory");
		memcpy(room + BLOCK_HEADER_MAX, b.payload, b.payload_len);
		if (put_meta(p, room + BLOCK_HEADER_MAX, b.payload_len) < 0)
			return p->failed;
	}
	return got < 0 ? error_set(p->e, -got, "cannot read the description: %s", strerror(-got))
		       : 0;
}

/* The one that a collector has measured is better than the device's own, and replaces it. */
static int put_clock(struct packer *p, const struct trace_clock *clock)
{
	uint8_t room[BLOCK_HEADER_MAX + CLOCK_ROOM], *payload = room + BLOCK_HEADER_MAX;
	struct meta_clock c = info_get_clock(clock);

	if (!clock->is_measured || c.name_len > CLOCK_ROOM / 2)
		return 0;
	return put_meta(p, payload, (uint32_t)(meta_put_clock(payload, &c) - payload));
}

/* --- records --- */

static struct sample_lane *lane_of(struct packer *p, uint32_t cpu)
{
	if (cpu >= STREAM_SAMPLE_CPUS)
		return NULL;
	if (!p->lanes[cpu] && (p->lanes[cpu] = malloc(sizeof(*p->lanes[cpu]))))
		sample_lane_init(p->lanes[cpu], &p->out, cpu);
	return p->lanes[cpu];
}

static int put_items(struct packer *p, struct sample_source *s)
{
	struct sample_item item;
	struct sample_lane *l;
	uint32_t i;
	int r;

	while (!p->failed && (r = s->ops->next(s, &item, p->e)) == 1) {
		l = lane_of(p, item.cpu);
		if (!l)
			return error_set(p->e, ENOMEM, "out of memory");
		if (item.type == ITEM_EVENT)
			sample_lane_put(l, &item.event, 0);
		else if (item.loss.cause < LOSS_CAUSES)
			sample_lane_lose(l, (enum loss_cause)item.loss.cause, item.loss.count);
		if (item.type != ITEM_EVENT && item.loss.to_tick > p->lost_until[item.cpu])
			p->lost_until[item.cpu] = item.loss.to_tick;
	}
	for (i = 0; !p->failed && r == 0 && i < STREAM_SAMPLE_CPUS; i++)
		if (p->lanes[i])
			sample_lane_stop(p->lanes[i], p->lost_until[i]);
	return p->failed ? p->failed : r;
}

int sample_pack_file(const char *path, struct sample_source *s, struct block_reader *description,
		     struct error *e)
{
	CLEANUP(ksk_writer) struct ksk_writer *w = NULL;
	_cleanup_free_ struct packer *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_set(e, ENOMEM, "out of memory");
	r = ksk_writer_open(&w, path, e);
	if (r < 0)
		return r;
	p->out = (struct block_out){ .put = put, .cause = LOSS_STORE };
	p->writer = w;
	p->e = e;
	r = copy_description(p, description);
	if (r == 0)
		r = put_clock(p, &s->info.clock);
	if (r == 0)
		r = put_items(p, s);
	free_lanes(p);
	if (r < 0)
		return r;
	return s->is_cut ? ksk_writer_commit_cut(w, e) : ksk_writer_commit(w, e);
}
