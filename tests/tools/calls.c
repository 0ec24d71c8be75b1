/* SPDX-License-Identifier: MIT */
/* calls: see calls.h. */
#undef NDEBUG /* what is asserted here is also done here */
#include "tools/calls.h"

#include <assert.h>
#include <string.h>

#include "device/agent/spool_ring.h"

const struct meta_clock calls_clock = {
	.name = "mono", .name_len = 4, .mult = 1, .print_digits = 9
};

void calls_open(struct calls *f, uint8_t policy)
{
	struct spool_options so = { .memory = f->memory, .policy = policy };
	struct func_run_options fo = { .device = "box" };

	assert(spool_open(&f->spool, &so, NULL) == 0);
	fo.spool = f->spool;
	assert(func_run_new(&f->run, &fo, NULL) == 0);
}

void calls_close(struct calls *f)
{
	func_run_free(f->run);
	spool_free(f->spool);
	f->run = NULL;
	f->spool = NULL;
}

void calls_begin(struct calls *f, uint8_t policy)
{
	struct memory_options mo = {
		.cpus = CALLS_CPUS, .slots = 1, .spool_bytes = CALLS_SPOOL, .func_rows = CALLS_ROWS
	};

	memset(f, 0, sizeof(*f));
	assert(memory_open(&f->memory, &mo, NULL) == 0);
	calls_open(f, policy);
	assert(!func_run_is_open(f->run));
	assert(func_run_start(f->run, &calls_clock, NULL) == 0);
	assert(func_run_is_open(f->run));
	assert(func_run_left(f->run) == CALLS_ROWS);
}

void calls_end(struct calls *f)
{
	calls_close(f);
	memory_free(f->memory);
}

/* The agent dies, and the next one takes up what it left. */
void calls_die(struct calls *f)
{
	calls_close(f);
	calls_open(f, POLICY_OLDEST);
}

uint32_t calls_process(struct calls *f, int32_t pid)
{
	struct func_run_process p = { .start_tick = 1000 + (uint64_t)pid,
				      .about = { .pid = pid,
						 .parent = 1,
						 .number = 77,
						 .command = { "worker", 6 },
						 .exe = { "/bin/worker", 11 } } };

	assert(func_run_take_process(f->run, &p, NULL) == 0);
	return p.about.number;
}

int calls_take_thread(struct calls *f, uint32_t process, uint32_t stream, uint32_t *ret_row)
{
	struct func_run_thread t = { .process = process,
				     .stream = stream,
				     .tid = 50 + (int32_t)stream,
				     .comm = "loop",
				     .base = 9000 + stream };

	return func_run_take_thread(f->run, &t, ret_row, NULL);
}

uint32_t calls_thread(struct calls *f, uint32_t process, uint32_t stream)
{
	uint32_t row = UINT32_MAX;

	assert(calls_take_thread(f, process, stream, &row) == 0);
	return row;
}

int calls_put(struct calls *f, struct func_run_block b)
{
	static uint8_t room[BLOCK_HEADER_MAX + FUNC_RUN_PAYLOAD_MOST + 1];

	b.payload = room + BLOCK_HEADER_MAX;
	memset(room, 0xee, sizeof(room));
	return func_run_put(f->run, &b);
}

struct func_run_block calls_block(uint32_t row, enum func_run_lane lane, uint32_t events,
				  uint64_t first, uint64_t until)
{
	return (struct func_run_block){
		.row = row,
		.lane = lane,
		.until = until,
		.block = { .events = events, .first_tick = first, .payload_len = 1 + events },
	};
}

/* --- a collector --- */

static void see_meta(struct calls_seen *s, const struct block *b)
{
	struct meta_reader m;

	assert(b->codec == CODEC_META);
	if (b->sequence < s->next_meta)
		return; /* it came again */
	s->next_meta = b->sequence + 1;
	s->metas++;
	meta_reader_init(&m, b->payload, b->payload_len);
	while (meta_reader_next(&m) == WIRE_OK) {
		s->items |= 1U << m.type;
		s->processes += m.type == META_PROCESSES;
		s->threads += m.type == META_THREADS;
		s->mappings += m.type == META_MAPPINGS;
	}
	assert(!m.bytes.bad);
}

static void see_block(struct calls_seen *s, const struct block *b)
{
	struct calls_stream *t = &s->streams[b->stream - STREAM_FUNC_FIRST];
	uint32_t i;

	assert(b->stream - STREAM_FUNC_FIRST < CALLS_STREAMS);
	assert(b->codec == CODEC_FUNC);
	assert(b->flags & BLOCK_KEY);
	if (b->sequence < t->next_sequence)
		return; /* it came again */
	assert(b->before >= t->seen + block_told(b));
	if (b->sequence == t->next_sequence)
		assert(b->before == t->seen + block_told(b));
	if (!b->events)
		assert(b->first_tick == t->until);
	assert(b->first_tick + b->ticks >= t->until);
	for (i = 0; i < LOSS_CAUSES; i++)
		t->lost[i] += b->lost[i] == LOSS_UNKNOWN ? 0 : b->lost[i];
	t->next_sequence = b->sequence + 1;
	t->seen = b->before + b->events;
	t->until = b->first_tick + b->ticks;
	t->blocks++;
}

static void see_end(struct calls_seen *s, const struct spool_entry *e)
{
	struct message_stream_end row;
	struct byte_reader r;
	uint64_t n;

	reader_init(&r, e->bytes, e->len);
	for (n = reader_varint(&r); n; n--) {
		row.stream = (uint32_t)reader_varint(&r);
		row.next_sequence = reader_varint(&r);
		row.events = reader_varint(&r);
		s->end_rows++;
		if (row.stream == STREAM_META) {
			assert(row.next_sequence >= s->next_meta);
			continue;
		}
		row.stream -= STREAM_FUNC_FIRST;
		assert(row.stream < CALLS_STREAMS && row.next_sequence);
		assert(row.next_sequence == s->streams[row.stream].next_sequence);
		assert(row.events == s->streams[row.stream].seen);
	}
	assert(!r.bad && r.at == r.end);
	s->ends++;
}

/* All that would be sent; of the run with this number. */
void calls_collect(struct calls *f, uint32_t number, struct calls_seen *s)
{
	struct spool_entry e;
	struct block b;

	for (; spool_peek(f->spool, &e); spool_sent(f->spool), s->n_frames++) {
		if (e.run != number)
			continue;
		if (e.kind == FRAME_RUN_END) {
			see_end(s, &e);
			continue;
		}
		assert(block_decode(e.bytes, e.len, &b) == WIRE_OK);
		assert(b.stream == e.stream);
		assert(b.sequence == e.sequence);
		if (b.stream == STREAM_META)
			see_meta(s, &b);
		else
			see_block(s, &b);
	}
}

uint32_t calls_number(const struct calls *f)
{
	return f->spool->mark.func >> 2;
}

uint32_t calls_count_streams(const struct calls_seen *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < CALLS_STREAMS; i++)
		n += s->streams[i].blocks > 0;
	return n;
}
