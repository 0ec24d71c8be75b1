/* SPDX-License-Identifier: MIT */
/* ks_decoder: blocks of one CPU into events (<kiseki/block.h>). */
#include <assert.h>
#include <errno.h>
#include <kiseki/block.h>
#include <stdlib.h>
#include <string.h>

#include "library/ks_item.h"
#include "trace/info.h"
#include "wire/block.h"
#include "wire/sched_decode.h"

static_assert(LOSS_CAUSES <= sizeof(((struct ks_block *)0)->lost) / sizeof(uint64_t),
	      "each cause has its count");
static_assert(KS_BLOCK_KEY == BLOCK_KEY && KS_BLOCK_LOST == BLOCK_LOST,
	      "flags are those of the wire");
static_assert(KS_CODEC_META == CODEC_META && KS_CODEC_SCHED == CODEC_SCHED, "so are codecs");

struct ks_decoder {
	uint32_t cpu;
	uint32_t left;	 /* events of the block that were not got yet */
	bool in_segment; /* all blocks since its start were got */
	uint64_t next_sequence;
	struct sched_decoder sched;
};

static void fill_block(struct ks_block *ret, const struct block *b)
{
	memset(ret, 0, sizeof(*ret));
	ret->codec = b->codec;
	ret->flags = b->flags;
	ret->stream = b->stream;
	ret->events = b->events;
	ret->sequence = b->sequence;
	ret->first_tick = b->first_tick;
	ret->before = b->before;
	ret->ticks = b->ticks;
	memcpy(ret->lost, b->lost, sizeof(b->lost));
	ret->payload = b->payload;
	ret->payload_len = b->payload_len;
	ret->len = b->len;
}

static int decode_block(const void *bytes, size_t len, struct block *ret)
{
	enum wire_status status = block_decode((const uint8_t *)bytes, len, ret);

	return status == WIRE_OK ? 0 : status == WIRE_MORE ? -EAGAIN : -EBADMSG;
}

int ks_block_decode(const void *bytes, size_t len, struct ks_block *ret)
{
	struct block b;
	int r = decode_block(bytes, len, &b);

	if (r == 0)
		fill_block(ret, &b);
	return r;
}

int ks_decoder_new(struct ks_decoder **ret, uint32_t cpu)
{
	struct ks_decoder *c;

	if (cpu >= TRACE_CPUS_MAX)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cpu = cpu;
	*ret = c;
	return 0;
}

void ks_decoder_free(struct ks_decoder *c)
{
	free(c);
}

int ks_decoder_push(struct ks_decoder *c, const void *bytes, size_t len, struct ks_block *ret)
{
	bool follows = c->in_segment && !c->left;
	struct block b;

	c->in_segment = false;
	c->left = 0;
	if (decode_block(bytes, len, &b) < 0 || b.codec != CODEC_SCHED ||
	    b.stream != STREAM_CPU(c->cpu))
		return -EBADMSG;
	if (ret)
		fill_block(ret, &b);
	if (b.flags & BLOCK_KEY)
		sched_decoder_init(&c->sched, c->cpu);
	else if (!follows || b.sequence != c->next_sequence)
		return -ESTALE;
	sched_decoder_begin(&c->sched, b.payload, b.payload_len, b.first_tick);
	c->next_sequence = b.sequence + 1;
	c->left = b.events;
	c->in_segment = true;
	return 0;
}

static int corrupt(struct ks_decoder *c)
{
	c->in_segment = false;
	c->left = 0;
	return -EBADMSG;
}

int ks_decoder_next(struct ks_decoder *c, struct ks_event *ret)
{
	struct sched_event ev;

	if (!c->left)
		return 0;
	if (sched_decode(&c->sched, &ev) != WIRE_OK)
		return corrupt(c);
	if (--c->left == 0 && sched_decoder_end(&c->sched) != WIRE_OK)
		return corrupt(c);
	ks_event_from(ret, &ev);
	return 1;
}
