/* SPDX-License-Identifier: MIT */
/*
 * sched: a byte for the CPU, then any bytes as a payload. What decodes is events, but made-up bytes
 * can set fields that their kind has not; with those cleared, they must come back from the codec as
 * they went in.
 */
#include <assert.h>
#include <stdlib.h>

#include "wire/sched_decode.h"
#include "wire/sched_encode.h"

#define EVENTS_MAX 300U
#define ROOM (EVENTS_MAX * SCHED_EVENT_ROOM)
#define NAMES_ROOM (1U << 20)

static void keep_task(struct sched_task *to, const struct sched_task *from)
{
	*to = *from;
	sched_comm_set(to->comm, from->comm, SCHED_COMM_LEN);
}

/* What the table in sched_event.h says of each kind. */
static void clear_unused(struct sched_event *e)
{
	struct sched_event c = { .tick = e->tick,
				 .tick_off_ns = e->tick_off_ns,
				 .kind = e->kind,
				 .pid = e->pid,
				 .flags = e->flags,
				 .preempt_count = e->preempt_count };
	bool has_prio = c.kind != SCHED_FORK && c.kind != SCHED_EXEC && c.kind != SCHED_RENAME;

	if (c.kind == SCHED_EXEC) {
		c.task.pid = e->task.pid;
		c.filename = e->filename;
		c.filename_len = e->filename_len;
	} else {
		keep_task(&c.task, &e->task);
	}
	c.task.prio = has_prio ? e->task.prio : 0;
	if (c.kind == SCHED_SWITCH) {
		c.state = e->state;
		keep_task(&c.other, &e->other);
	} else if (c.kind == SCHED_FORK || c.kind == SCHED_RENAME) {
		keep_task(&c.other, &e->other);
		c.other.prio = 0;
		c.other.pid = c.kind == SCHED_FORK ? e->other.pid : 0;
	} else if (c.kind == SCHED_SETPRIO) {
		c.other.prio = e->other.prio;
	}
	if ((c.kind >= SCHED_WAKING && c.kind <= SCHED_WAKEUP_NEW) || c.kind == SCHED_EXEC ||
	    c.kind == SCHED_RENAME)
		c.value = e->value;
	if ((c.kind >= SCHED_WAKING && c.kind <= SCHED_WAKEUP_NEW) || c.kind == SCHED_EXIT)
		c.extra = e->extra;
	*e = c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sched_decoder decoder;
	static struct sched_encoder encoder;
	static struct sched_event events[EVENTS_MAX], back;
	static uint8_t out[ROOM + NAMES_ROOM];
	static char names[NAMES_ROOM];
	uint32_t n, i, cpu = size ? data[0] : 0, len, used = 0;

	if (size < 2)
		return 0;
	sched_decoder_init(&decoder, cpu);
	sched_decoder_begin(&decoder, data + 1, (uint32_t)size - 1, 1000);
	for (n = 0; n < EVENTS_MAX && used < NAMES_ROOM - SCHED_FILENAME_MAX; n++) {
		if (sched_decode(&decoder, &events[n]) != WIRE_OK)
			break;
		if (events[n].filename_len)
			memcpy(names + used, events[n].filename, events[n].filename_len);
		events[n].filename = names + used;
		clear_unused(&events[n]);
		used += events[n].filename_len;
	}
	sched_encoder_init(&encoder, cpu);
	sched_encoder_begin(&encoder, out, sizeof(out), n ? events[0].tick : 0);
	for (i = 0; i < n; i++)
		assert(sched_encode(&encoder, &events[i]) == WIRE_OK);
	len = sched_encoder_end(&encoder);
	sched_decoder_init(&decoder, cpu);
	sched_decoder_begin(&decoder, out, len, n ? events[0].tick : 0);
	for (i = 0; i < n; i++) {
		assert(sched_decode(&decoder, &back) == WIRE_OK);
		assert(sched_event_equal(&back, &events[i]));
	}
	assert(sched_decoder_end(&decoder) == WIRE_OK);
	return 0;
}
