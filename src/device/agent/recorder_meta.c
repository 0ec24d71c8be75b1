/* SPDX-License-Identifier: MIT */
/* recorder_meta: see recorder_meta.h. */
#include "device/agent/recorder_meta.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "device/agent/tasks.h"
#include "wire/meta_encode.h"

#define CLOCK_NAME "mono"
#define CLOCK_TRIES 8
#define NAME_MOST 255U

void recorder_meta_init(struct recorder_meta *m, const struct recorder_options *o)
{
	m->spool = o->spool;
	m->device = o->device ? o->device : "";
	m->cpus = o->cpus;
}

int recorder_meta_draw(struct message_id *ret, struct error *e)
{
	if (getrandom(ret->bytes, sizeof(ret->bytes), 0) != (ssize_t)sizeof(ret->bytes))
		return error_set(e, errno, "cannot begin a run: no random numbers: %m");
	return 0;
}

/* Real time between two looks at the other clock; the closest pair of several counts. */
static void measure_realtime(struct meta_clock *c)
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

static uint8_t *put_text(uint8_t *p, enum meta_item type, const char *text)
{
	size_t len = strlen(text);

	return meta_put_text(p, type, text, len < NAME_MOST ? len : NAME_MOST);
}

static uint8_t *describe(struct recorder_meta *m, const struct recorder_run *run, uint8_t *p)
{
	struct meta_clock clock = {
		.name = CLOCK_NAME,
		.name_len = sizeof(CLOCK_NAME) - 1,
		.mult = 1U << run->resolution_shift,
		.print_digits = 9,
	};
	struct utsname u;

	memset(&u, 0, sizeof(u));
	uname(&u);
	measure_realtime(&clock);
	p = put_text(p, META_DEVICE, *m->device ? m->device : u.nodename);
	p = put_text(p, META_KERNEL, u.release);
	p = put_text(p, META_MACHINE, u.machine);
	p = put_text(p, META_ORIGIN, run->source->ops->name);
	p = meta_put_number(p, META_CPUS, m->cpus);
	p = meta_put_clock(p, &clock);
	p = meta_put_dialect(p, &run->source->dialect);
	return meta_put_number(p, META_AGENT, (uint64_t)getpid());
}

static int put_block(struct recorder_meta *m, uint32_t number, size_t len)
{
	struct block b = { .codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META };
	struct spool_entry entry = { .kind = FRAME_BLOCK, .run = number, .key = true };
	struct checkpoint at;

	spool_get_checkpoint(m->spool, UINT32_MAX, &at);
	b.sequence = at.next_sequence++;
	b.payload_len = (uint32_t)len;
	entry.sequence = b.sequence;
	entry.bytes = block_encode(&b, m->room + BLOCK_HEADER_MAX, &entry.len);
	return spool_put(m->spool, &entry, UINT32_MAX, &at);
}

static int put_tasks(struct recorder_meta *m, uint32_t number, struct task_walk *w)
{
	size_t len;
	int r;

	while ((len = task_walk_encode(w, m->room + BLOCK_HEADER_MAX, SPOOL_META_MOST)) > 0) {
		r = put_block(m, number, len);
		if (r < 0)
			return r;
	}
	return 0;
}

int recorder_meta_put(struct recorder_meta *m, const struct recorder_run *run, uint32_t number,
		      struct error *e)
{
	uint8_t *payload = m->room + BLOCK_HEADER_MAX;
	struct task_walk *w;
	int r;

	r = put_block(m, number, (size_t)(describe(m, run, payload) - payload));
	if (!r) {
		r = task_walk_open(&w, e);
		if (r < 0)
			return r;
		r = put_tasks(m, number, w);
		task_walk_free(w);
	}
	return r < 0 ? error_set(e, -r, "cannot begin a run: the spool is full") : 0;
}

int recorder_meta_put_agent(struct recorder_meta *m, uint32_t number)
{
	uint8_t *payload = m->room + BLOCK_HEADER_MAX;

	return put_block(m, number,
			 (size_t)(meta_put_number(payload, META_AGENT, (uint64_t)getpid()) -
				  payload));
}
