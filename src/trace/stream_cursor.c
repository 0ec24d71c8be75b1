/* SPDX-License-Identifier: MIT */
/* stream_cursor: see stream_cursor.h. */
#include "trace/stream_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bsf_decode.h"
#include "wire/bsf_event.h"
#include "wire/sched_decode.h"

#define BATCH 256

/* The paper's codec decodes whole blocks, from the tail: they wait here. */
struct bsf_reader {
	struct bsf_context context;
	struct bsf_log log;
	size_t at;
	struct bsf_entry entries[BSF_BLOCK_RECORDS_MAX];
};

struct stream_cursor {
	struct ksk_file *file;
	const struct trace_info *info;
	uint32_t cpu;
	uint64_t offset;

	bool started;	/* a key block was seen */
	bool broken;	/* nothing decodes until the next one */
	bool uncounted; /* blocks are missing of which no header is left */
	uint64_t next_sequence;
	uint64_t seen;	    /* events of the stream accounted for */
	uint64_t skipped;   /* events in blocks that could not be decoded since `broken` */
	uint64_t last_tick; /* of the last event given */

	uint8_t codec;		    /* of the current block */
	uint32_t left;		    /* its events yet to decode */
	uint64_t lost[LOSS_CAUSES]; /* to be told before the next event */

	size_t at, n;
	struct trace_item batch[BATCH + LOSS_CAUSES];
	struct stream_totals totals;
	struct bsf_reader *bsf;
	struct sched_decoder sched;
};

int stream_cursor_new(struct stream_cursor **ret, struct ksk_file *f, uint32_t cpu,
		      const struct trace_info *info)
{
	struct stream_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->file = f;
	c->info = info;
	c->cpu = cpu;
	stream_cursor_seek(c, 0);
	*ret = c;
	return 0;
}

void stream_cursor_free(struct stream_cursor *c)
{
	if (!c)
		return;
	free(c->bsf);
	free(c);
}

void stream_cursor_seek(struct stream_cursor *c, uint64_t tick)
{
	const struct ksk_stream *s = ksk_file_stream(c->file, STREAM_CPU(c->cpu));
	size_t lo = 0, hi = s ? s->n : 0, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->segments[mid].first_tick <= tick)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Blocks before the first key block cannot be decoded, but their loss must be told. */
	c->offset = lo > 1 ? s->segments[lo - 1].offset : 0;
	if (tick == 0)
		c->offset = 0;
	c->started = c->broken = c->uncounted = false;
	c->seen = c->skipped = c->last_tick = 0;
	c->left = 0;
	c->at = c->n = 0;
	memset(c->lost, 0, sizeof(c->lost));
	memset(&c->totals, 0, sizeof(c->totals));
}

static void add_lost(uint64_t *sum, uint64_t count)
{
	if (count == LOSS_UNKNOWN || *sum == LOSS_UNKNOWN)
		*sum = LOSS_UNKNOWN;
	else
		*sum += count;
}

/* A key block ends what was broken, and knows how much that was. */
static void account_key(struct stream_cursor *c, const struct block *b)
{
	uint64_t told = 0, missing;

	if (b->lost[LOSS_SPOOL] != LOSS_UNKNOWN)
		told += b->lost[LOSS_SPOOL];
	if (b->lost[LOSS_STORE] != LOSS_UNKNOWN)
		told += b->lost[LOSS_STORE];
	missing = b->before > c->seen + told ? b->before - c->seen - told : 0;
	if (!c->started)
		missing = c->skipped; /* the file starts within the stream: not our loss */
	if (missing)
		add_lost(&c->lost[LOSS_DAMAGE], missing);
	c->started = true;
	c->broken = c->uncounted = false;
	c->skipped = 0;
	c->seen = b->before;
}

/* Starts a block: its losses, and whether its events can be had. */
static void take_block(struct stream_cursor *c, const struct block *b)
{
	bool gap = c->started && b->sequence != c->next_sequence;
	uint32_t i;

	c->totals.blocks++;
	c->totals.bytes += b->len;
	c->totals.codec = b->codec;
	c->next_sequence = b->sequence + 1;
	if (gap)
		c->broken = c->uncounted = true;
	if (b->flags & BLOCK_KEY) {
		c->totals.segments++;
		account_key(c, b);
	}
	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i])
			add_lost(&c->lost[i], b->lost[i]);
	if (!b->payload || !c->started || c->broken) {
		c->broken = c->started;
		c->skipped += b->events;
		return;
	}
	c->seen += b->events;
	c->left = b->events;
	c->codec = b->codec;
}

/* The rest of the block cannot be decoded although its checksum is right: a wrong encoder. */
static void give_up(struct stream_cursor *c)
{
	c->broken = true;
	c->seen -= c->left;
	c->skipped += c->left;
	c->left = 0;
}

static void begin_payload(struct stream_cursor *c, const struct block *b)
{
	struct bsf_reader *bsf;

	if (b->codec == CODEC_SCHED) {
		if (b->flags & BLOCK_KEY)
			sched_decoder_init(&c->sched, c->cpu);
		sched_decoder_begin(&c->sched, b->payload, b->payload_len, b->first_tick);
		return;
	}
	if (b->codec != CODEC_BSF) {
		give_up(c);
		return;
	}
	if (!c->bsf)
		c->bsf = calloc(1, sizeof(*c->bsf));
	bsf = c->bsf;
	if (!bsf) {
		give_up(c);
		return;
	}
	bsf_context_init(&bsf->context, &c->info->dialect, c->cpu);
	bsf_log_init(&bsf->log, bsf->entries, BSF_BLOCK_RECORDS_MAX);
	bsf->at = 0;
	if (bsf_decode(&bsf->log, b->payload, b->payload_len) != WIRE_OK ||
	    bsf->log.count != b->events)
		give_up(c);
}

/* The name that a record cannot hold: from the records around it, else from the trace's tasks. */
static void name_other(struct stream_cursor *c, struct sched_event *ev)
{
	struct sched_task *t = ev->kind == SCHED_SWITCH ? &ev->other : &ev->task;
	const char *comm = bsf_next_comm(c->bsf->log.first, c->bsf->log.count, c->bsf->at);
	const struct trace_task *known;

	if (!comm) {
		known = info_get_task(c->info, t->pid);
		comm = known ? known->comm : NULL;
	}
	if (comm)
		memcpy(t->comm, comm, SCHED_COMM_LEN);
}

static bool decode_event(struct stream_cursor *c, struct sched_event *ret)
{
	if (c->codec == CODEC_SCHED)
		return sched_decode(&c->sched, ret) == WIRE_OK;
	bsf_to_event(&c->bsf->context, &c->bsf->log.first[c->bsf->at].rec, ret);
	name_other(c, ret);
	c->bsf->at++;
	return true;
}

/* Losses come before the events that follow them; `to` is the tick of the first of those. */
static size_t put_losses(struct stream_cursor *c, struct trace_item *out, uint64_t to)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (!c->lost[i])
			continue;
		out[n].type = ITEM_LOSS;
		out[n].cpu = c->cpu;
		out[n].loss = (struct trace_loss){ .from_tick = c->last_tick,
						   .to_tick = to > c->last_tick ? to : c->last_tick,
						   .count = c->lost[i],
						   .cause = (uint8_t)i };
		if (c->lost[i] == LOSS_UNKNOWN)
			c->totals.lost_unknown[i] = true;
		else
			c->totals.lost[i] += c->lost[i];
		c->lost[i] = 0;
		n++;
	}
	return n;
}

/* Decodes up to a batch; it ends after an exec, whose file name lies in the decoder. */
static void decode_batch(struct stream_cursor *c)
{
	struct trace_item *events = c->batch + LOSS_CAUSES;
	size_t n = 0, losses;
	bool more = true;

	while (c->left && n < BATCH && more) {
		events[n].type = ITEM_EVENT;
		events[n].cpu = c->cpu;
		if (!decode_event(c, &events[n].event)) {
			give_up(c);
			break;
		}
		c->left--;
		more = events[n].event.kind != SCHED_EXEC;
		n++;
	}
	if (!n)
		return;
	if (!c->totals.events)
		c->totals.first_tick = events[0].event.tick;
	losses = put_losses(c, c->batch, events[0].event.tick);
	memmove(c->batch + LOSS_CAUSES - losses, c->batch, losses * sizeof(*c->batch));
	c->at = LOSS_CAUSES - losses;
	c->n = LOSS_CAUSES + n;
	c->totals.events += n;
	c->last_tick = events[n - 1].event.tick;
	if (c->last_tick > c->totals.last_tick)
		c->totals.last_tick = c->last_tick;
}

/* The stream ends: what was broken stays so. */
static void finish(struct stream_cursor *c)
{
	if (c->skipped)
		add_lost(&c->lost[LOSS_DAMAGE], c->skipped);
	if (c->uncounted)
		add_lost(&c->lost[LOSS_DAMAGE], LOSS_UNKNOWN);
	c->skipped = 0;
	c->uncounted = false;
	c->at = 0;
	c->n = put_losses(c, c->batch, c->last_tick);
}

static void fill(struct stream_cursor *c)
{
	struct block b;

	c->at = c->n = 0;
	while (c->n == 0) {
		if (c->left) {
			decode_batch(c);
			continue;
		}
		if (!ksk_file_next(c->file, STREAM_CPU(c->cpu), &c->offset, &b)) {
			finish(c);
			return;
		}
		take_block(c, &b);
		if (c->left)
			begin_payload(c, &b);
	}
}

const struct trace_item *stream_cursor_peek(struct stream_cursor *c)
{
	if (c->at == c->n)
		fill(c);
	return c->at < c->n ? &c->batch[c->at] : NULL;
}

void stream_cursor_pop(struct stream_cursor *c)
{
	c->at++;
}

uint64_t stream_cursor_offset(const struct stream_cursor *c)
{
	return c->offset;
}

const struct stream_totals *stream_cursor_totals(const struct stream_cursor *c)
{
	return &c->totals;
}
