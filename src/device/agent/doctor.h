/* SPDX-License-Identifier: MIT */
/*
 * doctor: what this machine can and cannot do for each source, why, and what would help.
 *
 * It looks at the machine, tries what the sources need, and where two sources work, lets both
 * record the same second and compares what they saw with what the kernel counted: there are kernels
 * whose sources see different things.
 */
#ifndef KISEKI_DEVICE_AGENT_DOCTOR_H
#define KISEKI_DEVICE_AGENT_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Prints its findings. 0: this machine can record; 1: it cannot. */
int doctor_run(bool json);

#define DOCTOR_CPUS_MAX 256U

/* Switches of one second on one CPU; idle: those to and from the idle task. */
struct doctor_count {
	bool online;
	uint64_t tracefs, tracefs_idle;
	uint64_t bpf, bpf_idle;
};

struct doctor_compare {
	uint32_t cpus;
	bool has_tracefs, has_bpf;
	uint64_t kernel; /* switches of all CPUs by /proc/stat, in the same time or a little more */
	uint64_t tracefs, bpf; /* … that each of them saw */
	struct doctor_count cpu[DOCTOR_CPUS_MAX];
};

/* Records with what there is for about a second, while making switches on every CPU. */
int doctor_compare(struct doctor_compare *ret, bool tracefs, bool bpf, struct error *e);

/* How far apart two counts of the same thing may be: they are started and stopped one after the
 * other, and what happens meanwhile only one of them sees. */
uint64_t doctor_margin(uint64_t a, uint64_t b);
bool doctor_differ(uint64_t a, uint64_t b); /* by more than that */

#endif
