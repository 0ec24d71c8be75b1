/* SPDX-License-Identifier: MIT */
/*
 * func_place: calls wherever a person says they are.
 *
 *	a path           a record, a folder of records, a .ksk, what other tools recorded
 *	a store's folder its latest run of programs, or that of --run
 *	a number         that run of a collector (--server)
 *	any other word   a device of a collector: its latest run of programs
 *
 * A run of a store or of a collector is laid beside the scheduler's run of the same machine and time, if
 * there is one, so that local time is split; unless it has that in itself, or --no-sched or another trace was given.
 */
#ifndef KISEKI_CLI_FUNC_PLACE_H
#define KISEKI_CLI_FUNC_PLACE_H

#include "cli/client.h"
#include "command/args.h"
#include "convert/input.h"
#include "store/store.h"
#include "trace/func_source.h"

/* For the tables of the commands. */
#define FUNC_PLACE_OPTIONS                                                                         \
	{ 0, "run", "RUN", "of a store: this run instead of the latest of programs", NULL },       \
		{ 0, "no-sched", NULL, "do not join a run with the scheduler's of its time",       \
		  NULL },                                                                          \
		CLIENT_OPTION

struct func_place {
	const struct args *args;
	struct func_source *source; /* to be taken */
	struct store *store;	    /* that it reads; NULL: none */
	struct input *sched;	    /* that it reads, too */
	uint32_t run;		    /* of the calls, 0: they are of none */
	uint32_t sched_run;	    /* that was joined */
};

/* The options are looked for by their names: a command that does not have them takes paths alone. */
int func_place_open(struct func_place *p, const struct args *a, const char *name, struct error *e);
void func_place_close(struct func_place *p); /* after the source was freed */

/* Whether the scheduler's run is wanted beside a run. */
bool func_place_wants_sched(const struct func_place *p);

/* Lays the events beside the calls; takes both. 0; -EXDEV: their clocks have nothing in common, and that
 * was said; the calls are gone, and have to be opened again. */
int func_place_join(struct func_place *p, struct func_source *calls, struct trace_source *sched,
		    struct error *e);

#endif
