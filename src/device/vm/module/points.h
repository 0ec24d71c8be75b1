/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * points: the kernel's tracepoints with our probes on them.
 *
 * Those of the kernel itself are in one list. KVM is a module on x86, which may be loaded and unloaded while we
 * record: the kernel tells of each module that has tracepoints, also of those that are there already.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_POINTS_H
#define KISEKI_DEVICE_VM_MODULE_POINTS_H

#include <linux/notifier.h>
#include <linux/tracepoint-defs.h>

#define POINTS_MOST 8U

/* A tracepoint by its name, and the function that it should call. */
struct points_probe {
	const char *name;
	void *function;
	bool is_needed; /* without it nothing can be recorded */
};

struct points {
	/* A module with one of the probes' tracepoints has gone; NULL: nobody asks. */
	void (*left)(void *data);
	const struct points_probe *probes;     /* up to one without a name */
	struct tracepoint *point[POINTS_MOST]; /* NULL: not there, now */
	void *data;
	struct notifier_block modules;
	int error; /* of the first probe that could not be put on */
};

/* `left` as in the struct. */
int points_open(struct points *p, const struct points_probe *probes, void (*left)(void *),
		void *data);

/* When it returns, no probe runs. May sleep. */
void points_close(struct points *p);

#endif
