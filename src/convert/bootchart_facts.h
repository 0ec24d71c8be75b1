/* SPDX-License-Identifier: MIT */
/*
 * bootchart_facts: what a bootchart says once and for all: the header, who started whom (paternity.log), with which
 * arguments (cmdline2.log), and what the kernel's process accounting has about those that ended (kernel_pacct).
 *
 * None of it has times that are good enough to make records of its own; it completes what the logs say. Everything
 * points into the archive, which must outlive it.
 */
#ifndef KISEKI_CONVERT_BOOTCHART_FACTS_H
#define KISEKI_CONVERT_BOOTCHART_FACTS_H

#include "convert/bootchart_archive.h"
#include "convert/text_scan.h"
#include "trace/info.h"

/* What is known of a pid. */
struct bootchart_known {
	int32_t pid;
	int32_t parent;		  /* that forked it; 0: not known */
	struct text_span program; /* its path, empty: not known */
	struct text_span args;	  /* each ended by a NUL */
	bool has_account;	  /* it ended, and: */
	uint32_t exit_code;	  /* as wait() has it */
	uint64_t user_ns, system_ns;
	uint64_t faults;
	bool is_seen; /* for who reads the logs: it is in them */
};

struct bootchart_facts {
	struct pidmap *known;
	char **facts; /* "name=value" */
	size_t n_facts;
};

/* Fills the info, too: device, kernel, machine, origin. */
int bootchart_facts_init(struct bootchart_facts *f, const struct bootchart_archive *a,
			 struct trace_info *info, struct error *e);
void bootchart_facts_done(struct bootchart_facts *f);

/* NULL: nothing is known. */
struct bootchart_known *bootchart_facts_get(const struct bootchart_facts *f, int32_t pid);

#endif
