/* SPDX-License-Identifier: MIT */
/* os_instance: see os_instance.h. */
#include "device/feed/os_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define TID_TEXT 16

static int enable_events(const struct os_instance *i, struct error *e)
{
	const char *system, *name;
	char file[96];
	uint32_t n;
	int r = 0;

	for (n = 0; r == 0 && os_map_get_event(n, &system, &name); n++) {
		snprintf(file, sizeof(file), "events/%s/%s/enable", system, name);
		r = tracefs_write(i->folder, file, "1", e);
		if (r == -ENOENT)
			error_prefix(e, ENOENT, "cannot split the time of calls");
	}
	return r;
}

static int set_up(struct os_instance *i, uint32_t ring_kib, struct error *e)
{
	char text[TID_TEXT];
	int r;

	snprintf(text, sizeof(text), "%u", ring_kib);
	r = tracefs_write(i->folder, "tracing_on", "0", e);
	if (r == 0)
		r = tracefs_write(i->folder, "trace_clock", "mono", e);
	if (r == 0)
		r = tracefs_write(i->folder, "buffer_size_kb", text, e);
	if (r < 0)
		return r;
	/* What this kernel does not have, it does not do. */
	tracefs_write(i->folder, "options/markers", "0", NULL);
	tracefs_write(i->folder, "options/record-cmd", "0", NULL);
	i->follows = tracefs_write(i->folder, "options/event-fork", "1", NULL) == 0;
	return enable_events(i, e);
}

int os_instance_open(struct os_instance *i, const char *name, uint32_t ring_kib, struct error *e)
{
	const char *root;
	int r = tracefs_find(&root, e);

	memset(i, 0, sizeof(*i));
	if (r < 0)
		return r;
	if (snprintf(i->folder, sizeof(i->folder), "%s/instances/%s", root, name) >=
	    (int)sizeof(i->folder)) {
		i->folder[0] = 0;
		return error_set(e, ENAMETOOLONG,
				 "cannot make a tracing instance: its name is too long");
	}
	i->was_there = !access(i->folder, F_OK);
	if (i->was_there) {
		tracefs_write(i->folder, "events/enable", "0", NULL);
		rmdir(i->folder);
	}
	if (mkdir(i->folder, 0700)) {
		r = error_set(e, errno, "cannot make %s: %m", i->folder);
		i->folder[0] = 0;
		return r;
	}
	r = set_up(i, ring_kib, e);
	if (r < 0)
		os_instance_close(i);
	return r;
}

void os_instance_close(struct os_instance *i)
{
	if (!i->folder[0])
		return;
	tracefs_write(i->folder, "tracing_on", "0", NULL);
	tracefs_write(i->folder, "events/enable", "0", NULL);
	rmdir(i->folder);
	i->folder[0] = 0;
}

/* An empty list would mean everybody, so it is silent until there is somebody. */
static int turn_on(struct os_instance *i, struct error *e)
{
	int r = i->is_on ? 0 : tracefs_write(i->folder, "tracing_on", "1", e);

	i->is_on = r == 0;
	return r;
}

static int put(const struct os_instance *i, int flags, const int32_t *tids, uint32_t n,
	       struct error *e)
{
	char path[TRACEFS_PATH_MAX + 32], text[TID_TEXT];
	_cleanup_close_ int fd = -1;
	int len;

	snprintf(path, sizeof(path), "%s/set_event_pid", i->folder);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return error_set(e, errno, "cannot open %s: %m", path);
	while (n--) {
		len = snprintf(text, sizeof(text), "%d", *tids++);
		if (write(fd, text, (size_t)len) < 0)
			return error_set(e, errno, "cannot write \"%s\" to %s: %m", text, path);
	}
	return 0;
}

int os_instance_put(struct os_instance *i, int32_t tid, struct error *e)
{
	int r = put(i, O_APPEND, &tid, 1, e);

	return r < 0 ? r : turn_on(i, e);
}

int os_instance_put_all(struct os_instance *i, const int32_t *tids, uint32_t n, struct error *e)
{
	if (!n)
		return 0; /* the old list is better than none */
	return put(i, O_TRUNC, tids, n, e);
}
