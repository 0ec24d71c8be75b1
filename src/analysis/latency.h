/* SPDX-License-Identifier: MIT */
/*
 * latency: how long tasks wait from wakeup to run (`kiseki report latency`).
 *
 * All waits go into log-linear histograms (histogram.h), one over all and one per task, so the
 * percentiles are good to about one percent and memory does not depend on the length of the trace.
 * The longest waits are kept as cases, with who woke the task and who had the CPU meanwhile. A task
 * that is switched out in state R waits as well, but is no wakeup: those waits are counted apart.
 * Which waits are known is the tracker's business (tracker.h); only those with end WAIT_RAN are in
 * the histograms and cases, the others are counted by their end.
 *
 * A task is a life of a pid, here as in running.h. Tasks that ended and are folded are in all figures,
 * but in no list.
 */
#ifndef KISEKI_ANALYSIS_LATENCY_H
#define KISEKI_ANALYSIS_LATENCY_H

#include "analysis/histogram.h"
#include "analysis/tracker.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "trace/filter.h"
#include "trace/source.h"

#define LATENCY_CASES_MAX 1000U
#define LATENCY_BLOCKERS 8	  /* tasks named in a case; the time of more is summed up */
#define LATENCY_HISTORY 8192U	  /* slices remembered per CPU to find them, */
#define LATENCY_HISTORY_CPUS 256U /* on so many CPUs, 48 MB in all; beyond them nobody is found */

/* Someone who had the CPU while the task waited for it. */
struct latency_blocker {
	int32_t pid;
	char comm[SCHED_COMM_LEN];
	uint64_t born_ns; /* struct life */
	uint64_t from_ns; /* first and last moment within the wait */
	uint64_t to_ns;
	uint64_t ns; /* how much of it */
};

struct latency_case {
	int32_t pid;
	char comm[SCHED_COMM_LEN];
	uint64_t born_ns;    /* struct life */
	uint32_t cpu;	     /* where it ran in the end */
	uint32_t target_cpu; /* what the wakeup said, or TRACKER_NONE */
	uint32_t waker_cpu;  /* or TRACKER_NONE */
	int32_t waker_pid;   /* 0: an interrupt during idle */
	char waker_comm[SCHED_COMM_LEN];
	uint64_t waker_born_ns;
	uint64_t from_ns;
	uint64_t to_ns;
	/* from_ns … to_ns on that CPU: the blockers, most time first, and the rest by reason. */
	uint32_t n_blockers;
	struct latency_blocker blockers[LATENCY_BLOCKERS];
	uint64_t others_ns;  /* tasks beyond LATENCY_BLOCKERS, or folded */
	uint64_t idle_ns;    /* nobody: the CPU was still waking up, or the task came later */
	uint64_t unknown_ns; /* not known, or longer ago than LATENCY_HISTORY slices */
};

struct latency_waits {
	struct histogram known;	  /* WAIT_RAN */
	uint64_t ends[WAIT_ENDS]; /* how many of each, WAIT_RAN too */
};

struct latency_task {
	int32_t pid;
	int32_t tgid; /* -1: not known */
	char comm[SCHED_COMM_LEN];
	char first_comm[SCHED_COMM_LEN];
	bool birth_seen, ended; /* the rest of struct life */
	uint64_t born_ns, ended_ns;
	struct latency_waits waits[WAIT_TYPES];
};

enum latency_order {
	LATENCY_BY_MAX = 0,
	LATENCY_BY_P99,
	LATENCY_BY_AVERAGE,
	LATENCY_BY_TOTAL,
	LATENCY_BY_COUNT,
	LATENCY_BY_PID, /* rising; all others fall */
	LATENCY_BY_COMM,
	LATENCY_ORDERS,
};

struct latency;

/* Keeps the n_cases longest waits, at most LATENCY_CASES_MAX. info must outlive it. */
int latency_new(struct latency **ret, const struct trace_info *info, uint32_t n_cases);
void latency_free(struct latency *l);
DEFINE_CLEANUP(latency, latency_free)

/* Before the first item: only waits of these tasks count, by the name they have when a wait ends. All
 * events must still be added: who had a CPU follows from those of the others, too. The filter must be
 * settled and outlive it; only its tasks count. */
void latency_select(struct latency *l, const struct trace_filter *only);

/* Before the first item: keeps at most so many tasks apart that ended (TRACKER_TASKS_MAX). */
void latency_allow(struct latency *l, uint32_t most);

int latency_add(struct latency *l, const struct trace_item *item, struct error *e);
int latency_finish(struct latency *l, struct error *e); /* once, after the last item */

/* After latency_finish(); they stay valid until latency_free(). */
void latency_sort(struct latency *l, enum latency_order order);
const struct latency_waits *latency_get_all(const struct latency *l, enum wait_type type);
const struct latency_task *latency_get_tasks(const struct latency *l, size_t *ret_n);
const struct latency_case *latency_get_cases(const struct latency *l, size_t *ret_n);
uint64_t latency_get_folded(const struct latency *l); /* tasks that are in no list */
uint64_t latency_from_ns(const struct latency *l);
uint64_t latency_to_ns(const struct latency *l);

uint64_t latency_average(const struct latency_waits *w);

#endif
