/* SPDX-License-Identifier: MIT */
/*
 * vm_slices: a window of a recording of virtual machines as a timeline draws it (docs/format/vm-slices.md): what each virtual CPU
 * did, and who had each physical one.
 *
 * What a virtual CPU did is vm_time's to say, so its rows add up to what reports say of the same window. The recording is
 * read from its start, or from a mark that was left before (marks.h), and behind the window only until each virtual CPU's episode across its
 * end is over. Memory depends on the rows and on what they name.
 */
#ifndef KISEKI_ANALYSIS_VM_SLICES_H
#define KISEKI_ANALYSIS_VM_SLICES_H

#include "analysis/marks.h"
#include "analysis/vm_lane.h"
#include "analysis/vm_legend.h"
#include "analysis/vm_names.h"

#define VM_SLICES_ROWS_MAX 1000000U
#define VM_SLICES_WIDTH_MAX 100000U

/* Who had a physical CPU. */
enum vm_owner {
	VM_OWNER_UNKNOWN = 0,
	VM_OWNER_IDLE = 1,
	VM_OWNER_VCPU = 2,
	VM_OWNER_OTHER = 3,
	VM_OWNERS = 4,
};
extern const char *const vm_owner_words[VM_OWNERS];

struct vm_slices_options {
	struct sample_source *source;
	struct vm_names *names;
	uint64_t from_ns, to_ns; /* of the run's clock: from <= t < to */
	uint64_t width;		 /* what is shorter than this part of the window is merged */
	uint64_t limit;		 /* rows, up to VM_SLICES_ROWS_MAX */
	struct marks *marks;	 /* are left there; NULL: none */
	const struct vm_slices
		*resume;      /* out of the marks: the source begins at its tick or before; */
	uint64_t resume_tick; /* NULL: the source is at its start */
	/* After each item; may be NULL. < 0 ends it. */
	int (*step)(void *data);
	void *step_data;
};

struct vm_slices;

/* -ENODATA: there are no virtual CPUs in the recording; -E2BIG: more rows than the limit. */
int vm_slices_new(struct vm_slices **ret, const struct vm_slices_options *o, struct error *e);
void vm_slices_free(struct vm_slices *s);
DEFINE_CLEANUP(vm_slices, vm_slices_free)

uint64_t vm_slices_min_ns(const struct vm_slices *s);
const struct vm_time *vm_slices_time(const struct vm_slices *s);

/* Of a virtual CPU by its number in vm_slices_time(); of a physical one by its own. NULL: it has none, or nothing in
 * the window. */
const struct vm_lane *vm_slices_vcpu(const struct vm_slices *s, uint32_t vcpu);
const struct vm_lane *vm_slices_cpu(const struct vm_slices *s, uint32_t cpu);
uint32_t vm_slices_cpus(const struct vm_slices *s); /* the highest number and one */

/* The document as text, with a line end, to be freed; `run` and `final` are what is said in it. -ENOMEM. */
struct vm_slices_about {
	uint32_t run;
	bool is_final;
};
int vm_slices_format(struct vm_slices *s, const struct vm_slices_about *about, char **ret,
		     size_t *ret_len);

/* Marks for it; what it leaves there has no rows. */
int vm_slices_marks_new(struct marks **ret, uint64_t every); /* -ENOMEM */

/* For vm_slices_format(). */
struct vm_legend *vm_slices_legend(struct vm_slices *s);
const struct vm_slices_options *vm_slices_get_options(const struct vm_slices *s);

#endif
