/* SPDX-License-Identifier: MIT */
/* driver_peer: see driver_peer.h. */
#include "tools/driver_peer.h"

#define session_init driver_session_init
#define session_push driver_session_push
#define session_bye driver_session_bye
#include "device/driver/core/session.c"

#include <assert.h>

#include "wire/block.h"

#define STREAMS 2U
#define BLOCKS_MAX 64U
#define ENTRIES_MAX (STREAMS * BLOCKS_MAX + 1)
#define PAYLOAD 700U
#define ENTRY_ROOM (FRAME_HEAD_MAX + BLOCK_HEADER_MAX + PAYLOAD)
#define EVENTS 10U

struct entry {
	uint32_t stream, len;
	uint64_t sequence;
	bool is_end, gone;
	uint8_t bytes[ENTRY_ROOM];
};

static struct session peer;
static uint8_t peer_in[1U << 14];
static struct entry entries[ENTRIES_MAX];
static uint32_t n_entries, next_entry;
static uint32_t order[ENTRIES_MAX], n_order; /* entries in the order of this connection */
static uint64_t acked_frames;
static uint8_t rest[ENTRY_ROOM]; /* of a frame that was cut */
static uint32_t rest_len;
static bool run_said;
static uint32_t last_verb;
static uint64_t time_ms;

static int instruct(void *context, const struct message_instruction *m, char why[SESSION_WHY_LEN])
{
	(void)context;
	why[0] = 0;
	last_verb = m->verb;
	return 0;
}

static bool clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = *ret_realtime_ns = time_ms * 1000000;
	return true;
}

static void resume(void *context, uint32_t run, uint32_t stream, uint64_t next_sequence)
{
	uint32_t i;

	(void)context;
	assert(run == 0);
	for (i = 0; i < n_entries; i++)
		if (!entries[i].is_end && entries[i].stream == stream &&
		    entries[i].sequence < next_sequence)
			entries[i].gone = true;
}

static void acked(void *context, uint64_t frames)
{
	(void)context;
	assert(frames <= n_order);
	for (; acked_frames < frames; acked_frames++)
		entries[order[acked_frames]].gone = true;
}

static void add(struct entry *e, uint32_t type, const uint8_t *body, uint32_t len)
{
	uint32_t head = frame_encode_head(e->bytes, type, len);

	assert(head + len <= ENTRY_ROOM);
	memcpy(e->bytes + head, body, len);
	e->len = head + len;
}

static void add_block(uint32_t stream, uint64_t sequence)
{
	struct entry *e = &entries[n_entries++];
	uint8_t room[BLOCK_HEADER_MAX + PAYLOAD] = { 0 };
	struct block b = { .codec = CODEC_SCHED,
			   .flags = BLOCK_KEY,
			   .stream = stream,
			   .sequence = sequence,
			   .before = sequence * EVENTS,
			   .events = EVENTS,
			   .payload_len = PAYLOAD };
	uint32_t len;
	uint8_t *bytes = block_encode(&b, room + BLOCK_HEADER_MAX, &len);

	*e = (struct entry){ .stream = stream, .sequence = sequence };
	add(e, FRAME_BLOCK, bytes, len);
}

static void add_end(uint32_t blocks)
{
	struct message_end m = { .n_rows = STREAMS };
	struct entry *e = &entries[n_entries++];
	struct byte_writer w;
	uint8_t body[64];
	uint32_t i;

	writer_init(&w, body, sizeof(body));
	end_encode(&w, &m);
	for (i = 0; i < STREAMS; i++) {
		struct message_stream_end row = { i + 1, blocks, (uint64_t)blocks * EVENTS };

		end_put(&w, &row);
	}
	*e = (struct entry){ .is_end = true };
	add(e, FRAME_RUN_END, body, (uint32_t)writer_len(&w));
}

void driver_peer_init(uint32_t blocks)
{
	static const struct session_hooks hooks = { NULL, instruct, clocks, resume, acked };
	uint32_t i, size = session_in_size(STREAMS, 1);

	assert(blocks <= BLOCKS_MAX && size <= sizeof(peer_in));
	n_entries = last_verb = 0;
	time_ms = 1000;
	for (i = 0; i < blocks * STREAMS; i++)
		add_block(1 + i % STREAMS, i / STREAMS);
	add_end(blocks);
	session_init(&peer, &hooks, peer_in, size);
}

void driver_peer_open(void)
{
	static const struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.device = { { 1 } },
		.boot = { { 2 } },
		.name = { "board", 5 },
		.cpus = STREAMS,
		.origins = 1U << ORIGIN_DRIVER,
		.state = DEVICE_TRACING,
		.n_runs = 1,
		.runs = { { { 10 } } },
	};

	next_entry = n_order = rest_len = 0;
	acked_frames = 0;
	run_said = false;
	session_open(&peer, &hello, time_ms++);
}

void driver_peer_close(void)
{
	session_close(&peer, time_ms++);
}

/* The next frame to `rest`, if it may go. */
static void take_entry(void)
{
	static const struct message_id run = { { 10 } };
	struct entry *e;

	while (next_entry < n_entries && entries[next_entry].gone)
		next_entry++;
	e = &entries[next_entry];
	if (next_entry == n_entries || !session_may_send(&peer, e->len))
		return;
	if (!run_said) {
		run_said = session_put_run(&peer, &run);
		return;
	}
	memcpy(rest, e->bytes, e->len);
	rest_len = e->len;
	session_sent(&peer, e->len);
	order[n_order++] = next_entry++;
}

size_t driver_peer_pull(uint8_t *out, size_t room)
{
	const uint8_t *bytes;
	uint32_t len;

	if (!rest_len)
		take_entry();
	if (rest_len) {
		len = rest_len < room ? rest_len : (uint32_t)room;
		memcpy(out, rest, len);
		rest_len -= len;
		memmove(rest, rest + len, rest_len);
		return len;
	}
	bytes = session_get(&peer, &len);
	len = len < room ? len : (uint32_t)room;
	memcpy(out, bytes, len);
	session_pop(&peer, len);
	return len;
}

int driver_peer_push(const uint8_t *bytes, size_t len)
{
	uint32_t room;
	uint8_t *at = session_room(&peer, &room);

	assert(len <= room);
	if (len)
		memcpy(at, bytes, len);
	return session_push(&peer, (uint32_t)len, time_ms++);
}

const char *driver_peer_why(void)
{
	return peer.why;
}

bool driver_peer_is_done(void)
{
	uint32_t i;

	for (i = 0; i < n_entries; i++)
		if (!entries[i].gone)
			return false;
	return true;
}

uint32_t driver_peer_verb(void)
{
	return last_verb;
}
