/* SPDX-License-Identifier: MIT */
/*
 * session: any bytes as what a device sends. However they are cut into reads, the same is answered;
 * what is answered are frames, at most the last of them a BYE; and nothing is held behind it.
 */
#include <assert.h>
#include <stdlib.h>

#include "tools/owner.h"

#define WINDOW 4096U

static void feed(struct owner *o, struct session *s, const uint8_t *data, size_t size, size_t step)
{
	const struct session_now now = { .mono_ns = 2000000, .real_ns = 1000000000 };
	size_t n;

	for (; size && !session_is_over(s); data += n, size -= n) {
		uint8_t *exact; /* so that a read beyond it is seen */

		n = step < size ? step : size;
		exact = malloc(n);
		memcpy(exact, data, n);
		session_push(s, exact, n, &now);
		free(exact);
		while (s->stalled)
			owner_commit(o, s, &now);
	}
}

static void run(struct owner *o, const uint8_t *data, size_t size, size_t step)
{
	const struct session_now now = { .mono_ns = 1000000, .real_ns = 1000000000 };
	static struct session_room *room; /* large, and nothing of a session stays in it */
	struct session_env env = { .ops = &owner_ops, .window = WINDOW };
	struct session s;

	memset((char *)o + sizeof(o->sent), 0, sizeof(*o) - sizeof(o->sent)); /* which is large */
	o->batch_max = 3;
	if (!room)
		room = session_room_new();
	env.room = room;
	session_init(&s, &env, o, 1);
	feed(o, &s, data, size, step);
	owner_commit(o, &s, &now);
	assert(s.acknowledged >= o->puts || session_is_over(&s));
	session_end(&s);
	assert(!s.held);
	session_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct owner whole, cut;
	struct frame f;
	size_t at;

	run(&whole, data, size, SESSION_READ_MAX);
	run(&cut, data, size, size % 7 + 1);
	assert(whole.sent_len == cut.sent_len && !memcmp(whole.sent, cut.sent, cut.sent_len));
	assert(whole.puts == cut.puts && !strcmp(whole.log, cut.log));
	for (at = 0; at < whole.sent_len; at += f.len) {
		assert(frame_decode(whole.sent + at, whole.sent_len - at, &f) == WIRE_OK);
		assert(f.type != FRAME_BYE || at + f.len == whole.sent_len);
	}
	return 0;
}
