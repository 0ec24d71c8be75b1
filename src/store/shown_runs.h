/* SPDX-License-Identifier: MIT */
/*
 * shown_runs: the runs of a store as its readers see them: who they are, in which log files they
 * lie, and their state at rest.
 *
 * A run that has records in the file that is being written has its present state in that file's
 * view; here it then stays as it was at the end of the last full file. States are kept encoded,
 * some hundred bytes each, since most runs are never touched again.
 */
#ifndef KISEKI_STORE_SHOWN_RUNS_H
#define KISEKI_STORE_SHOWN_RUNS_H

#include "store/cuts.h"

#define SHOWN_RUNS_MAX (1U << 22)
#define SHOWN_FILES_MAX LOG_FILES_MAX

struct run_file {
	uint32_t file;
	bool has_tick;
	uint64_t from_tick, to_tick;
};

struct shown_run {
	uint32_t number;
	struct store_run_ids ids;
	struct run_file *files; /* by rising number */
	size_t n_files, room_files;
	uint8_t *in; /* its state before the first of these files, encoded */
	size_t in_len;
	struct run_totals in_totals;
	struct cuts cuts; /* what the files before these took with them; none, mostly */
	uint8_t *out;	  /* and after the last full one; NULL: there is none */
	size_t out_len;
	struct store_run facts; /* as of `out`, less what is gone */
	bool has_clock;
	struct store_clock clock;
};

struct shown_runs {
	struct hashtable by_number, by_id;
	uint64_t removals; /* until now */
};

void shown_runs_init(struct shown_runs *t);
void shown_runs_done(struct shown_runs *t);

struct shown_run *shown_runs_get(const struct shown_runs *t, uint32_t number);
struct shown_run *shown_runs_find(const struct shown_runs *t, const struct message_id *run);

/* The run has records in this file, which is newer than those it is known to have; `in` is its
 * state before it. 0 or -ENOMEM, -E2BIG. */
int shown_runs_add(struct shown_runs *t, uint32_t file, const struct index_run *r,
		   struct shown_run **ret);
/* Sets the state at rest, and the ticks of its last file. */
int shown_run_rest(struct shown_run *run, const struct index_run *r);

/* All of its files are gone; it is freed. */
void shown_runs_remove(struct shown_runs *t, struct shown_run *run);

/* What was before a file: the state, encoded, and what of the file nobody can decode without that. */
struct run_before {
	const uint8_t *in;
	size_t in_len;
	struct cuts *cuts;
};

/* The files before `next`, which it has, go; 0: they are gone. Takes the cuts. < 0: nothing was changed. */
int shown_run_shorten(struct shown_run *run, uint32_t next, const struct run_before *before);

/* What the interface tells of a run in this state: that of the view, or that at rest. */
void shown_run_facts(const struct shown_run *run, const struct run_state *s,
		     const struct view_run *live, struct store_run *ret);

#endif
