/* SPDX-License-Identifier: MIT */
/*
 * vm_report: all that a recording says of its virtual machines, in one pass: the classes of each virtual CPU's time, by whom
 * and why it was stolen, the true times of what ran in the guests, and which functions of the host did the VMM's work.
 */
#ifndef KISEKI_ANALYSIS_VM_REPORT_H
#define KISEKI_ANALYSIS_VM_REPORT_H

#include "analysis/marks.h"
#include "analysis/profile_names.h"
#include "analysis/vm_account.h"
#include "analysis/vm_cells.h"
#include "analysis/vm_correct.h"
#include "analysis/vm_names.h"

#define VM_HOST_ROWS_MAX (1U << 20)

/* Samples of a virtual CPU's thread outside of its guest: what the VMM did, and after which exit. */
struct vm_host_row {
	uint32_t vcpu;
	uint32_t function; /* of the host's names */
	bool is_known;	   /* the reason is */
	uint64_t reason, detail;
	uint64_t samples, weight;
};

struct vm_report;

struct vm_report_options {
	struct sample_source *source; /* at its start, or at a mark */
	struct vm_names *names;
	struct profile_names *host;
	uint64_t from_ns, to_ns; /* of the run's clock; to 0: to the end */
	bool with_cells;	 /* for trees and exports */
	bool with_spans;	 /* and these in the order of time */
	bool cells_only;	 /* nobody asks for rows of reasons, culprits, places or the host */
	struct marks *marks;	 /* are left there; NULL: none */
	const struct vm_report
		*resume;      /* out of the marks: the source begins at its tick or before; */
	uint64_t resume_tick; /* NULL: the source is at its start */
	/* After each item, for a progress bar; may be NULL. < 0 ends it. */
	int (*step)(void *data);
	void *step_data;
};

/* Of a mark all is known that a window that begins later needs, so it says what it says when all is read. -ENODATA: there are no virtual CPUs in it. */
int vm_report_new(struct vm_report **ret, const struct vm_report_options *o, struct error *e);
/* The same for who reads the source, and gives the items to others beside it: nothing here calls `step`. `e` is kept until the end, and
 * may say more about what vm_report_put() returned; vm_report_explain() always does. */
int vm_report_begin(struct vm_report **ret, const struct vm_report_options *o, struct error *e);
int vm_report_put(struct vm_report *r, const struct sample_item *item);
int vm_report_end(struct vm_report *r, struct error *e);
int vm_report_explain(const struct vm_report *r, int failed, struct error *e);
void vm_report_free(struct vm_report *r);
DEFINE_CLEANUP(vm_report, vm_report_free)

const struct vm_time *vm_report_time(const struct vm_report *r);
const struct vm_account *vm_report_account(const struct vm_report *r);
const struct vm_correct *vm_report_correct(const struct vm_report *r);

const struct vm_cells *vm_report_cells(const struct vm_report *r); /* NULL: not asked for */

/* Most samples first, to be freed; NULL: out of memory. */
const struct vm_host_row **vm_report_dup_host(const struct vm_report *r, size_t *ret_n);

/* Of the virtual CPUs of one machine, or, vm 0, of all. */
void vm_report_sum(const struct vm_report *r, int32_t vm, struct vm_sums *ret);

/* Places and events where records are missing: what is unknown has its cause there. */
struct vm_losses {
	uint64_t places, events, uncounted;
};
const struct vm_losses *vm_report_losses(const struct vm_report *r);

/* Records within the window. */
uint64_t vm_report_events(const struct vm_report *r);

/* Marks for it, up to VM_MARKS_MAX of them and VM_MARKS_BYTES_MAX. -ENOMEM. */
int vm_report_marks_new(struct marks **ret, uint64_t every);

#endif
