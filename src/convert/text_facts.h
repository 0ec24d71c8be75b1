/* SPDX-License-Identifier: MIT */
/*
 * text_facts: what the lines of a trace text tell about the kernel that printed them.
 *
 * Collected over the lines that are read ahead, then turned into the trace's dialect and clock.
 */
#ifndef KISEKI_CONVERT_TEXT_FACTS_H
#define KISEKI_CONVERT_TEXT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/text_body.h"
#include "convert/text_columns.h"
#include "trace/info.h"

struct text_facts {
	uint32_t kinds;	      /* 1 << enum sched_kind */
	uint32_t traits;      /* enum text_trait */
	uint32_t part_digits; /* most decimals of a stamp */
	uint32_t cpus;	      /* highest seen or told, + 1 */
	uint32_t first_cpu;
	uint64_t overwritten; /* before the first entry, by the header */
	uint64_t letters[2];  /* set of the state letters seen, by character */
	bool any_line;	      /* a line with all columns */
	bool any_event;	      /* such a line with an event of ours */

	bool tgid;
	bool flags_4;
	bool flags_5;
	bool flags_odd;
	bool no_flags;
	bool narrow_pid;
	bool wide_pid;
	bool one_blank; /* no flags, and only one blank before the stamp */
	bool padded;	/* names padded as trace-cmd does it */
	bool lazy;
	bool irqs_unknown; /* 'X' */
};

void text_facts_add_line(struct text_facts *f, const struct text_columns *c);
void text_facts_add_body(struct text_facts *f, const struct text_columns *c,
			 const struct text_body *b);

/* Fills dialect, clock and cpus. */
void text_facts_apply(const struct text_facts *f, struct trace_info *info);

/* The letters of state bits as this text prints them, DIALECT_STATE_BITS of them. */
const char *text_facts_letters(const struct text_facts *f, const struct sched_dialect *d);

/* prev_state of its printed form; false if a letter has no bit. */
bool text_state_parse(const struct sched_dialect *d, const char letters[DIALECT_STATE_BITS],
		      const struct text_span *state, uint64_t *ret);

/* common_flags and common_preempt_count of the flags column. */
bool text_flags_parse(const struct sched_dialect *d, const struct text_columns *columns,
		      struct sched_event *ret);

#endif
