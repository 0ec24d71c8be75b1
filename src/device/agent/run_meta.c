/* SPDX-License-Identifier: MIT */
/* run_meta: see run_meta.h. */
#include "device/agent/run_meta.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"

#define CLOCK_NAME "mono"
#define CLOCK_TRIES 8
#define NAME_MOST 255U

#ifndef GRND_INSECURE
#define GRND_INSECURE 4U /* of Linux 5.6 */
#endif

/* While the kernel has not gathered enough for good random numbers, which on a board without a source of them
 * takes half a minute after its start, it has bad ones, that two starts of the same board may share. A run must
 * begin then, too, and be told from others, which is no secret: so the clocks are mixed in. */
static bool draw_early(struct message_id *ret)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC };
	struct timespec now[sizeof(clocks) / sizeof(*clocks)] = { 0 };
	const uint8_t *mixed = (const uint8_t *)now;

	if (getrandom(ret->bytes, sizeof(ret->bytes), GRND_INSECURE) != (ssize_t)sizeof(ret->bytes))
		return false;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		clock_gettime(clocks[i], &now[i]);
	for (size_t i = 0; i < sizeof(now); i++)
		ret->bytes[i % sizeof(ret->bytes)] ^= mixed[i];
	return true;
}

int run_meta_draw(struct message_id *ret, struct error *e)
{
	if (getrandom(ret->bytes, sizeof(ret->bytes), GRND_NONBLOCK) == (ssize_t)sizeof(ret->bytes))
		return 0;
	if (draw_early(ret) ||
	    getrandom(ret->bytes, sizeof(ret->bytes), 0) == (ssize_t)sizeof(ret->bytes))
		return 0;
	return error_set(e, errno, "cannot begin a run: no random numbers: %m");
}

uint8_t *run_meta_begin(struct run_meta *m)
{
	return m->room + BLOCK_HEADER_MAX;
}

int run_meta_put(struct run_meta *m, const uint8_t *end, bool must_stay)
{
	struct block b = { .codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META };
	struct spool_entry entry = { .kind = FRAME_BLOCK, .run = m->run, .key = must_stay };
	uint32_t cpu = spool_meta_of(m->kind);
	struct checkpoint at;

	spool_get_checkpoint(m->spool, cpu, &at);
	b.sequence = at.next_sequence++;
	b.payload_len = (uint32_t)(end - run_meta_begin(m));
	at.position = m->position;
	entry.sequence = b.sequence;
	entry.bytes = block_encode(&b, run_meta_begin(m), &entry.len);
	return spool_put(m->spool, &entry, cpu, &at);
}

static uint8_t *put_text(uint8_t *p, enum meta_item type, const char *text)
{
	size_t len = strlen(text);

	return meta_put_text(p, type, text, len < NAME_MOST ? len : NAME_MOST);
}

uint8_t *run_meta_put_machine(const struct run_meta *m, uint8_t *p, const char *origin,
			      uint32_t cpus)
{
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uname(&u);
	p = put_text(p, META_DEVICE, m->device && *m->device ? m->device : u.nodename);
	p = put_text(p, META_KERNEL, u.release);
	p = put_text(p, META_MACHINE, u.machine);
	p = put_text(p, META_ORIGIN, origin);
	return meta_put_number(p, META_CPUS, cpus);
}

uint8_t *run_meta_put_agent(uint8_t *p)
{
	return meta_put_number(p, META_AGENT, (uint64_t)getpid());
}

/* Real time between two looks at the other clock; the closest pair of several counts. */
void run_meta_measure(struct meta_clock *c)
{
	int64_t before, real, after;
	int i;

	for (i = 0; i < CLOCK_TRIES; i++) {
		before = (int64_t)clock_get_ns(CLOCK_MONOTONIC);
		real = (int64_t)clock_get_ns(CLOCK_REALTIME);
		after = (int64_t)clock_get_ns(CLOCK_MONOTONIC);
		if (c->has_realtime && (uint64_t)(after - before + 1) / 2 >= c->realtime_err_ns)
			continue;
		c->has_realtime = true;
		c->realtime_err_ns = (uint64_t)(after - before + 1) / 2;
		c->realtime_off_ns = real - before - (after - before) / 2;
	}
}

struct meta_clock run_meta_get_clock(uint32_t shift)
{
	struct meta_clock clock = {
		.name = CLOCK_NAME,
		.name_len = sizeof(CLOCK_NAME) - 1,
		.mult = 1U << shift,
		.print_digits = 9,
	};

	run_meta_measure(&clock);
	return clock;
}

uint8_t *run_meta_put_clock(uint8_t *p, uint32_t shift)
{
	struct meta_clock clock = run_meta_get_clock(shift);

	return meta_put_clock(p, &clock);
}
