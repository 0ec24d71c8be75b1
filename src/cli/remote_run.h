/* SPDX-License-Identifier: MIT */
/*
 * remote_run: a run of a collector that a person names, brought here as a file.
 *
 * A number is a run, any other word a device, whose latest run of a kind is meant. The scheduler's run beside it is the
 * one of the same device and the same boot of it that shares most time with it, or came least before or after it.
 */
#ifndef KISEKI_CLI_REMOTE_RUN_H
#define KISEKI_CLI_REMOTE_RUN_H

#include "cli/client.h"

#define REMOTE_RUN_PATH_MAX 256U

/* A folder of its own for one file. */
struct remote_run_folder {
	char folder[REMOTE_RUN_PATH_MAX];
	char path[REMOTE_RUN_PATH_MAX + 16];
};

int remote_run_folder_open(struct remote_run_folder *f, struct error *e);
void remote_run_folder_close(struct remote_run_folder *f); /* removes it */

/* The run as the collector describes it; to be dropped. `what`: for the error. */
struct remote_run_kind {
	const char *kind;
	const char *what; /* "boot", … */
};
int remote_run_find(struct client *c, const char *name, const struct remote_run_kind *k,
		    json_t **ret, struct error *e);

/* Of the scheduler at the same time; run 0: there is none. Blocks of both may have come at times that are so far apart: of
 * a boot they are sent when there is a network. */
struct remote_run_sched {
	uint32_t run;
	uint64_t bytes;
};
int remote_run_find_sched(struct client *c, const json_t *run, uint64_t apart_ns,
			  struct remote_run_sched *ret, struct error *e);

/* The address of the run as a .ksk file; parameters may be pushed behind it. */
void remote_run_push_export(struct url *u, uint32_t run);
int remote_run_download(struct client *c, const struct url *u, const char *path, struct error *e);

#endif
