/* SPDX-License-Identifier: MIT */
/*
 * boot_heading: what a chart says in words above its rows: of which machine it is, how it was made, when
 * the target was there, and what is missing.
 */
#ifndef KISEKI_CHART_BOOT_HEADING_H
#define KISEKI_CHART_BOOT_HEADING_H

#include "analysis/boot.h"

#define BOOT_HEADING_FACTS_MAX 12U
#define BOOT_HEADING_NOTES_MAX 12U

struct boot_fact {
	const char *label;
	char *text;
};

struct boot_heading {
	char *title;
	struct boot_fact facts[BOOT_HEADING_FACTS_MAX];
	size_t n_facts;
	char *notes[BOOT_HEADING_NOTES_MAX]; /* what is missing, one sentence each */
	size_t n_notes;
};

/* base_ns: where the chart's axis has its 0. */
int boot_heading_new(struct boot_heading **ret, const struct boot *b, uint64_t base_ns,
		     struct error *e);
void boot_heading_free(struct boot_heading *h);
DEFINE_CLEANUP(boot_heading, boot_heading_free)

/* "12.345 s": as many decimals as a step of the axis needs; NULL-terminated, in `text`. */
#define BOOT_HEADING_TIME_LEN 40
const char *boot_heading_time(char text[BOOT_HEADING_TIME_LEN], int64_t ns, uint64_t step_ns);

#endif
