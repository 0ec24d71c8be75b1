/* SPDX-License-Identifier: MIT */
/*
 * A collector that says anything, in pieces of any size, to a driver that sends blocks in between.
 * The first byte seeds the sizes. Whatever comes: the buffers hold, what is under way fits the
 * window, hooks see only what was checked, and what is said are frames with at most a BYE at the end.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "device/driver/core/session.h"

#define CPUS 100U
#define RUNS 2U
#define SENDS 4096U

static struct session session;
static uint64_t random_state;
static uint64_t sent[SENDS + 1]; /* bytes of the first n frames */
static uint64_t n_sent, n_acked;
static uint8_t said[1U << 22];
static size_t said_len;

static uint32_t below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % n;
}

static int instruct(void *context, const struct message_instruction *m, char why[SESSION_WHY_LEN])
{
	const struct message_config *c = &m->config;

	assert(context == &session && session.phase == SESSION_WELCOME);
	assert(c->origin < ORIGINS && c->policy <= POLICY_FLIGHT);
	assert(!(c->given & 1U << CONFIG_BLOCK_BYTES) ||
	       (c->block_bytes >= CONFIG_BLOCK_LEAST && c->block_bytes <= CONFIG_BLOCK_MOST));
	assert(c->n_pids <= CONFIG_PIDS_MAX && c->n_comms <= CONFIG_COMMS_MAX &&
	       c->n_cgroups <= CONFIG_CGROUPS_MAX);
	memset(why, 'w', SESSION_WHY_LEN);
	return m->verb == INSTRUCTION_STOP ? 0 : -5;
}

static bool clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = *ret_realtime_ns = UINT64_MAX;
	return true;
}

static void resume(void *context, uint32_t run, uint32_t stream, uint64_t next_sequence)
{
	(void)context;
	(void)next_sequence;
	assert(run < RUNS && stream <= CPUS && !n_sent);
}

static void acked(void *context, uint64_t frames)
{
	(void)context;
	assert(frames <= n_sent);
	if (frames > n_acked)
		n_acked = frames;
}

static void check(void)
{
	uint32_t room, len, i;

	session_room(&session, &room);
	session_get(&session, &len);
	assert(session.in_len <= session.in_size && len <= SESSION_OUT_ROOM);
	assert(room || len); /* it reads, or it has something to say */
	assert(!session.skip || !session.in_len || session.phase == SESSION_OVER);
	assert(n_sent - n_acked <= 1 || sent[n_sent] - sent[n_acked] <= session.flight.window);
	for (i = 0; session.why[i]; i++)
		assert(i < SESSION_WHY_LEN - 1 && session.why[i] >= ' ' && session.why[i] <= '~');
}

/* The socket takes a part of what is said, and perhaps some blocks. */
static void send_some(void)
{
	struct message_status status = { .events = UINT64_MAX };
	struct message_id run = { { 1 } };
	const uint8_t *out;
	uint32_t len;

	if (!below(4))
		session_put_status(&session, &status);
	if (!below(4))
		session_put_run(&session, &run);
	out = session_get(&session, &len);
	len = below(3) ? len : below(len + 1);
	assert(len <= sizeof(said) - said_len);
	memcpy(said + said_len, out, len);
	said_len += len;
	session_pop(&session, len);
	for (len = 1 + below(5000);
	     n_sent < SENDS && below(8) && session_may_send(&session, len);) {
		session_sent(&session, len);
		sent[n_sent + 1] = sent[n_sent] + len;
		n_sent++;
	}
}

static int push_some(const uint8_t *data, size_t size, size_t *ret)
{
	uint32_t room;
	uint8_t *at = session_room(&session, &room);

	*ret = below(2) ? below(20) : below(1U << 16);
	*ret = *ret < size ? *ret : size;
	*ret = *ret < room ? *ret : room;
	if (*ret)
		memcpy(at, data, *ret);
	return session_push(&session, (uint32_t)*ret, 2);
}

/* What was said are whole frames of a device but for the last, and nothing is behind a BYE. */
static void check_said(void)
{
	struct frame f;
	size_t at;

	for (at = 0; at < said_len; at += f.len) {
		if (frame_decode(said + at, said_len - at, &f) == WIRE_MORE)
			return;
		assert(f.len && (at ? f.type == FRAME_RUN || f.type >= FRAME_RESULT
				    : f.type == FRAME_HELLO));
		assert(f.type != FRAME_PING && f.type <= FRAME_BYE);
		assert(f.type != FRAME_BYE || at + f.len == said_len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_hooks hooks = { &session, instruct, clocks, resume, acked };
	static const struct message_hello hello = { .version = 1, .cpus = CPUS, .n_runs = RUNS };
	uint32_t room = session_in_size(CPUS, RUNS);
	uint8_t *in = malloc(room);
	size_t at, n;
	int r = 0;

	if (!in)
		return 0;
	random_state = size ? data[0] * 0x9e3779b97f4a7c15ULL | 1 : 1;
	n_sent = n_acked = said_len = 0;
	session_init(&session, &hooks, in, room);
	session_open(&session, &hello, 1);
	for (at = 1; at < size && !r; at += n) {
		r = push_some(data + at, size - at, &n);
		check();
		send_some();
		check();
	}
	assert(r == 0 || r == -EPROTO || r == -ECONNRESET);
	assert(!r == (session.phase != SESSION_OVER) && !r == !session.why[0]);
	check_said();
	session_close(&session, 3);
	assert(session_next(&session) >= (r == -EPROTO ? 3 + RETRY_LONGEST_MS : 3));
	free(in);
	return 0;
}
