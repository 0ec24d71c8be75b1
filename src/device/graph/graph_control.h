/* SPDX-License-Identifier: MIT */
/*
 * graph_control: the switches of the kernel's function_graph, set and put back.
 *
 *	graph_control_open(&c, &settings, &e);	everything but the recording itself
 *	graph_control_start(&c, pid, &e);	0: no command's pid to add
 *	graph_control_stop(&c, &e);		what the rings hold is still to be read
 *	graph_control_close(&c, &e);		everything as it was
 *
 * Since Linux 6.11 function_graph works in an instance, whose rings and filters are ours. Before, there
 * is only the top one: it is used if nobody else does, that is if its tracer is nop, none of its events is
 * on and its rings are empty. In either case set_graph_function, set_graph_notrace, max_graph_depth,
 * tracing_thresh and the options of the tracer are the whole kernel's.
 *
 * Every file that is changed is read before. A process beside this one waits for its end and puts all of it
 * back if it could not: after SIGKILL, too.
 */
#ifndef KISEKI_DEVICE_GRAPH_GRAPH_CONTROL_H
#define KISEKI_DEVICE_GRAPH_GRAPH_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "device/agent/tracefs.h"
#include "device/graph/graph_settings.h"

#define GRAPH_SAVED_MAX 32U

/* How a file is put back. */
enum graph_restore {
	GRAPH_RESTORE_VALUE,   /* the old text */
	GRAPH_RESTORE_LIST,    /* emptied, then each old line */
	GRAPH_RESTORE_TRIGGER, /* what we wrote, with a '!' in front */
};

struct graph_saved {
	const char *folder; /* of the control: root or folder */
	char name[64];
	enum graph_restore how;
	char *text;
};

struct graph_control {
	const struct graph_settings *settings;
	const char *root;
	char folder[TRACEFS_PATH_MAX]; /* the instance, or the root */
	bool is_own;		       /* an instance of ours */
	bool is_top;		       /* the top one, which we have taken */
	struct graph_saved saved[GRAPH_SAVED_MAX];
	uint32_t n_saved;
	pid_t guard;
	int guard_fd; /* -1: none */
};

int graph_control_open(struct graph_control *c, const struct graph_settings *s, struct error *e);
int graph_control_start(struct graph_control *c, pid_t command, struct error *e);
int graph_control_stop(struct graph_control *c, struct error *e);

/* Is the kernel recording? A trigger may have changed it. */
bool graph_control_is_on(const struct graph_control *c);

/* Also of one that failed to open. The first failure is what e says; all is tried. */
int graph_control_close(struct graph_control *c, struct error *e);

#endif
