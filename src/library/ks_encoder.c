/* SPDX-License-Identifier: MIT */
/* ks_encoder: events of one CPU into blocks (<kiseki/block.h>), by codec `sched`. */
#include <errno.h>
#include <kiseki/block.h>
#include <stdlib.h>
#include <string.h>

#include "library/ks_item.h"
#include "trace/info.h"
#include "wire/block.h"
#include "wire/sched_encode.h"

#define BLOCK_ROOM (64U * 1024)
#define FILL_BYTES (32U * 1024) /* a block that has as many is full */

struct ks_encoder {
	uint32_t cpu;
	bool open;	 /* there are events in the block, or losses before it */
	bool begun;	 /* its codec has begun: there are events */
	bool in_segment; /* the codec knows something of what was before */
	struct block next;
	uint64_t total; /* events so far, lost ones included */
	uint64_t until; /* where the last block ended */
	uint64_t last_tick;
	struct sched_encoder sched;
	uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_ROOM];
};

int ks_encoder_new(struct ks_encoder **ret, uint32_t cpu)
{
	struct ks_encoder *c;

	if (cpu >= TRACE_CPUS_MAX)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cpu = cpu;
	*ret = c;
	return 0;
}

void ks_encoder_free(struct ks_encoder *c)
{
	free(c);
}

static void begin(struct ks_encoder *c, uint64_t tick)
{
	if (!c->in_segment) {
		c->next.flags |= BLOCK_KEY;
		c->next.first_tick = tick;
		sched_encoder_init(&c->sched, c->cpu);
	}
	sched_encoder_begin(&c->sched, c->buffer + BLOCK_HEADER_MAX, BLOCK_ROOM, tick);
	c->last_tick = c->until > tick ? c->until : tick;
	c->in_segment = true;
	c->begun = true;
	c->open = true;
}

int ks_encoder_push(struct ks_encoder *c, const struct ks_event *event)
{
	struct sched_event ev;

	if (!ks_event_to(&ev, event))
		return -EINVAL;
	if (c->begun && (c->sched.rc.pos >= FILL_BYTES || c->next.events == BLOCK_EVENTS_MAX - 1))
		return -EAGAIN;
	if (!c->begun)
		begin(c, ev.tick);
	if (sched_encode(&c->sched, &ev) != WIRE_OK)
		return -EAGAIN;
	c->next.events++;
	if (ev.tick > c->last_tick)
		c->last_tick = ev.tick;
	return 0;
}

int ks_encoder_push_loss(struct ks_encoder *c, uint32_t cause, uint64_t count)
{
	uint64_t *sum;

	if (cause >= LOSS_CAUSES || !count)
		return -EINVAL;
	sum = &c->next.lost[cause];
	if (c->begun || *sum)
		return -EAGAIN; /* a header tells what is missing before its first event, once */
	*sum = count;
	c->open = true;
	return 0;
}

int ks_encoder_take(struct ks_encoder *c, int key, const uint8_t **ret, size_t *ret_len)
{
	struct block *b = &c->next;
	uint32_t len;

	if (!c->open)
		return 0;
	if (!c->begun)
		begin(c, c->until);
	b->codec = CODEC_SCHED;
	b->stream = STREAM_CPU(c->cpu);
	b->payload_len = sched_encoder_end(&c->sched);
	b->ticks = c->last_tick - (b->flags & BLOCK_KEY ? b->first_tick : c->until);
	b->before = c->total + block_told(b);
	*ret = block_encode(b, c->buffer + BLOCK_HEADER_MAX, &len);
	*ret_len = len;
	c->until = c->last_tick;
	c->total = b->before + b->events;
	*b = (struct block){ .sequence = b->sequence + 1 };
	c->open = c->begun = false;
	c->in_segment = !key;
	return 1;
}
