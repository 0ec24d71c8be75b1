/* SPDX-License-Identifier: MIT */
/* kernel_log: see kernel_log.h. */
#include "device/boot/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "device/boot/kernel_message.h"
#include "device/boot/place.h"

#define READ_ALL 3 /* of klogctl() */

int kernel_log_open(struct kernel_log *l, struct record_sink *sink, bool from_start,
		    struct error *e)
{
	l->sink = sink;
	l->is_off = false;
	l->seen_ns = from_start ? 0 : clock_mono_ns();
	l->look_ns = 0;
	l->fd = place_open_log(O_RDONLY | O_NONBLOCK);
	if (l->fd >= 0 && !from_start)
		lseek(l->fd, 0, SEEK_END);
	if (l->fd >= 0 || klogctl(READ_ALL, l->text, sizeof(l->text)) >= 0)
		return 0;
	l->is_off = true;
	return error_set(e, errno, "no kernel messages: %s", strerror(errno));
}

void kernel_log_close(struct kernel_log *l)
{
	cleanup_closep(&l->fd);
	l->fd = -1;
	l->is_off = true;
}

static void say(struct kernel_log *l, const struct kernel_message *m, uint64_t now_ns)
{
	struct boot_event ev = { .tick = m->ns < now_ns ? m->ns : now_ns, .kind = BOOT_MARK };
	size_t len;

	if (m->level > l->level)
		return;
	ev.key = BOOT_MARK_KERNEL;
	ev.text = m->text;
	len = m->len;
	if (kernel_message_is_phase(m, &ev.text, &len))
		ev.key = BOOT_MARK_PHASE;
	ev.text_len = (uint32_t)(len < BOOT_TEXT_MAX ? len : BOOT_TEXT_MAX);
	ev.number[BOOT_MARK_TICK] = ev.tick;
	ev.number[BOOT_MARK_LEVEL] = m->level;
	record_sink_put(l->sink, &ev);
}

/* All of the log; the end of it if it is larger than our memory. */
static void take_whole(struct kernel_log *l, uint64_t now_ns)
{
	int n = klogctl(READ_ALL, l->text, sizeof(l->text));
	uint64_t last = l->seen_ns;
	struct kernel_message m;
	size_t at = 0;

	l->look_ns = now_ns + CLOCK_NS_PER_S;
	while (n > 0 && kernel_message_next(&m, l->text, (size_t)n, &at)) {
		if (m.ns <= l->seen_ns)
			continue;
		last = m.ns > last ? m.ns : last;
		say(l, &m, now_ns);
	}
	l->seen_ns = last;
}

void kernel_log_take(struct kernel_log *l, uint64_t now_ns, uint32_t most)
{
	struct kernel_message m;
	ssize_t n;

	if (l->is_off)
		return;
	if (l->fd < 0) {
		if (now_ns >= l->look_ns || most == KERNEL_LOG_ALL)
			take_whole(l, now_ns);
		return;
	}
	while (most--) {
		n = read(l->fd, l->text, sizeof(l->text));
		if (n < 0 && errno == EPIPE) {
			record_sink_mark(l->sink, now_ns, BOOT_MARK_MISSING,
					 "kernel messages: some were overwritten before they were "
					 "read");
			continue;
		}
		if (n <= 0)
			return;
		if (kernel_message_parse(&m, l->text, (size_t)n))
			say(l, &m, now_ns);
	}
}
