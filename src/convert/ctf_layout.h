/* SPDX-License-Identifier: MIT */
/*
 * ctf_layout: how the LTTng kernel tracer names and types the fields of our events.
 *
 * One table serves the importer (which field of an event class is which member of struct
 * sched_event), the exporter (which bytes follow each other) and the metadata text that describes
 * them, so the three cannot disagree. LTTng writes priorities minus 100 (MAX_RT_PRIO); so do we.
 */
#ifndef KISEKI_CONVERT_CTF_LAYOUT_H
#define KISEKI_CONVERT_CTF_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/dialect.h"
#include "wire/sched_event.h"

#define CTF_FIELDS_MAX 7
#define CTF_PRIO_OFFSET 100U

enum ctf_role {
	CTF_TASK_COMM,
	CTF_TASK_PID,
	CTF_TASK_TGID, /* only written: readers group threads by it */
	CTF_TASK_PRIO,
	CTF_OTHER_COMM,
	CTF_OTHER_PID,
	CTF_OTHER_TGID, /* likewise */
	CTF_OTHER_PRIO,
	CTF_STATE,
	CTF_VALUE,
	CTF_EXTRA, /* there only if the traced kernel has it */
	CTF_FILENAME,
};

struct ctf_field {
	const char *name; /* NULL ends the list */
	enum ctf_role role;
	const char *also; /* as others name it: LTTng before 2.2, perf; NULL: nobody does */
};

struct ctf_layout {
	const char *name;
	struct ctf_field fields[CTF_FIELDS_MAX + 1];
};

extern const struct ctf_layout ctf_layouts[SCHED_KINDS];

/* The kind with this event name, which perf writes behind its system ("sched:"); or -1. */
int ctf_layout_find(const char *name);

bool ctf_role_is_text(enum ctf_role role);
bool ctf_role_is_read(enum ctf_role role);

/* Is the CTF_EXTRA field of this kind recorded by kernels of this dialect? */
bool ctf_layout_has_extra(const struct sched_dialect *d, enum sched_kind kind);

/* Where the event keeps an integer or a name of this role. */
int32_t *ctf_role_int(struct sched_event *e, enum ctf_role role);
char *ctf_role_comm(struct sched_event *e, enum ctf_role role);

#endif
