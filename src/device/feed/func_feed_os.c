/* SPDX-License-Identifier: MIT */
/*
 * func_feed_os: what the kernel does to the threads of traced programs; see func_feed_state.h and
 * func_os.h.
 *
 * It is there while the mode asks for it and there are programs, since the kernel's rings take memory.
 * A machine that cannot do it traces its programs without; that is said once.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/agent/memory.h"
#include "device/feed/func_feed_state.h"

#define INSTANCE_LEN 96
#define TASKS_MAX 1024U /* of a process that are looked for when it asks */

static bool is_wanted(const struct func_feed *f)
{
	return f->mode == FUNC_MODE_SPLIT && f->has_clock && !f->is_ending;
}

static bool is_watched(const struct func_drain_thread *t)
{
	return t->row != FUNC_FEED_NO_ROW && t->stream != FUNC_FEED_NO_SLOT && t->tid > 0;
}

/* Programs that were there before: their threads are watched from now on. */
static int open_os(struct func_feed *f, struct error *e)
{
	char instance[INSTANCE_LEN], *dot = instance;
	struct func_os_options o = { .instance = instance,
				     .clock = f->pairs.clock,
				     .shift = f->pairs.shift,
				     .run = f->run };
	uint32_t i;
	int r;

	snprintf(instance, sizeof(instance), "kiseki-%.64s-func", f->o.device);
	while ((dot = strchr(dot, '.')))
		*dot = '_';
	o.cpus = memory_get_head(spool_get_memory(f->o.spool))->name.cpus;
	r = func_os_open(&f->os, &o, e);
	f->os_failed = r < 0;
	for (i = 0; r >= 0 && i < f->n_threads; i++)
		func_feed_add_os(f, &f->threads[i]);
	return r < 0 ? error_prefix(e, -r, "local time is not split") : 0;
}

void func_feed_watch(struct func_feed *f, int32_t pid)
{
	char path[64];
	struct dirent *entry;
	uint32_t n = 0;
	DIR *d;

	if (!is_wanted(f) || f->os_failed)
		return;
	if (!f->os && open_os(f, NULL) < 0) {
		f->os_failed = false; /* the next turn says why */
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && n++ < TASKS_MAX && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			func_os_watch(f->os, (int32_t)strtol(entry->d_name, NULL, 10), NULL);
	if (d)
		closedir(d);
}

void func_feed_add_os(struct func_feed *f, const struct func_drain_thread *t)
{
	if (f->os && is_watched(t))
		func_os_add(f->os, t->tid, t->row, NULL);
}

void func_feed_remove_os(struct func_feed *f, const struct func_drain_thread *t)
{
	if (f->os && is_watched(t))
		func_os_remove(f->os, t->tid, t->row);
}

int func_feed_turn_os(struct func_feed *f, struct error *e)
{
	bool wanted = is_wanted(f);
	int r = 0;

	if (f->mode != FUNC_MODE_SPLIT)
		f->os_failed = false;
	if (f->os && !wanted && !f->is_ending)
		func_os_close(take_ptr(f->os));
	if (!f->os && wanted && !f->os_failed && f->n_threads)
		r = open_os(f, e);
	return r < 0 || !f->os ? 0 : func_os_drain(f->os, f->now_ms, e);
}

int func_feed_stop_os(struct func_feed *f, bool is_last, struct error *e)
{
	int r = f->os ? func_os_stop(f->os, e) : 0;

	if (r >= 0 && is_last)
		func_os_close(take_ptr(f->os));
	return r;
}
