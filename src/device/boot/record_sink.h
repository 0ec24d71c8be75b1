/* SPDX-License-Identifier: MIT */
/*
 * record_sink: where those who look at the machine put their records (wire/boot_event.h): the lane of the
 * recorder (boot_lane.h), or a test's list.
 */
#ifndef KISEKI_DEVICE_BOOT_RECORD_SINK_H
#define KISEKI_DEVICE_BOOT_RECORD_SINK_H

#include <string.h>

#include "wire/boot_event.h"
#include "wire/loss.h"

struct record_sink {
	void (*put)(struct record_sink *s, const struct boot_event *ev);
	/* Records are missing here; LOSS_UNKNOWN: nobody knows how many. */
	void (*lose)(struct record_sink *s, enum loss_cause cause, uint64_t count);
};

static inline void record_sink_put(struct record_sink *s, const struct boot_event *ev)
{
	s->put(s, ev);
}

/* A mark without a level. */
static inline void record_sink_mark(struct record_sink *s, uint64_t tick, enum boot_mark_type type,
				    const char *text)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_MARK, .key = type, .text = text };
	size_t len = strlen(text);

	ev.number[BOOT_MARK_TICK] = tick;
	ev.text_len = (uint32_t)(len < BOOT_TEXT_MAX ? len : BOOT_TEXT_MAX);
	s->put(s, &ev);
}

#endif
