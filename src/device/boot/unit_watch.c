/* SPDX-License-Identifier: MIT */
/* unit_watch: see unit_watch.h. */
#include "device/boot/unit_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PREFIX "invocation:"
#define BYTES 4096U

void unit_watch_init(struct unit_watch *w)
{
	w->fd = -1;
	w->look_ns = 0;
}

void unit_watch_close(struct unit_watch *w)
{
	cleanup_closep(&w->fd);
	w->fd = -1;
}

const char *unit_watch_name(const char *entry)
{
	const size_t len = sizeof(PREFIX) - 1;

	return !strncmp(entry, PREFIX, len) && entry[len] ? entry + len : NULL;
}

static void say(struct record_sink *sink, uint64_t now_ns, const char *entry, const char *what)
{
	const char *name = unit_watch_name(entry);
	char text[300];

	if (!name)
		return;
	snprintf(text, sizeof(text), "%.255s %s", name, what);
	record_sink_mark(sink, now_ns, BOOT_MARK_PHASE, text);
}

struct entry { /* as getdents64() gives them */
	uint64_t inode;
	int64_t next;
	uint16_t len;
	uint8_t type;
	char name[];
};

static void say_present(const char *folder, struct record_sink *sink, uint64_t now_ns)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char bytes[BYTES] __attribute__((aligned(8)));
	long n, at;

	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
		for (at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(bytes + at);

			at += entry->len;
			say(sink, now_ns, entry->name, "is there");
		}
}

void unit_watch_look(struct unit_watch *w, const char *folder, struct record_sink *sink,
		     uint64_t now_ns)
{
	_cleanup_close_ int fd = -1;

	if (w->fd >= 0 || now_ns < w->look_ns)
		return;
	w->look_ns = now_ns + CLOCK_NS_PER_S / 10;
	if (access(folder, F_OK))
		return;
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0 || inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO | IN_DELETE) < 0) {
		w->look_ns = UINT64_MAX; /* the kernel lacks it */
		return;
	}
	w->fd = take_fd(&fd);
	say_present(folder, sink, now_ns);
}

void unit_watch_take(struct unit_watch *w, struct record_sink *sink, uint64_t now_ns)
{
	char bytes[BYTES] __attribute__((aligned(8)));
	struct inotify_event ev;
	ssize_t n;
	size_t at;

	while (w->fd >= 0 && (n = read(w->fd, bytes, sizeof(bytes))) > 0)
		for (at = 0; at + sizeof(ev) <= (size_t)n; at += sizeof(ev) + ev.len) {
			memcpy(&ev, bytes + at, sizeof(ev));
			if (ev.len)
				say(sink, now_ns, bytes + at + sizeof(ev),
				    ev.mask & IN_DELETE ? "is over" : "begins");
		}
}
