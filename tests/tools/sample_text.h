/* SPDX-License-Identifier: MIT */
/*
 * sample_text: records of a profile as lines, for tests that say in a few words what happened.
 *
 *	CPU TICK sample TASK MODE WEIGHT [k=ADDRESS,…] [u=ADDRESS,…] [pc=N] [table=N] [context=N] [task=N]
 *					[reason=N/DETAIL]
 *	CPU TICK switch TASK NEXT [STATE [DETAIL]]
 *	CPU TICK wake TASK NEXT [VALUE [DETAIL]]
 *	CPU TICK entry TASK [VALUE [DETAIL]]
 *	CPU TICK exit TASK [REASON [DETAIL]] [MODE [pc=N] [table=N] [context=N] [task=N]]
 *	CPU TICK outside TASK WHY [DETAIL]
 *	CPU TICK poll TASK NS [SLEPT]
 *
 * TASK and NEXT are TID/PID/VCPU/NAME, VCPU "-" for none; in the name, blanks and whatever is not printed are %XX, as
 * in an URL. k= are addresses of the kernel, u= of the program, callees first. MODE is idle, kernel, user,
 * guest-kernel, guest-user or a number. What is known of a guest is what is said; guest=N says it with bits of no
 * meaning. Numbers are decimal, or hexadecimal with 0x.
 */
#ifndef KISEKI_TESTS_SAMPLE_TEXT_H
#define KISEKI_TESTS_SAMPLE_TEXT_H

#include <stdio.h>

#include "wire/sample_event.h"

/* The line is taken apart. The chain goes into `chain`, of SAMPLE_CHAIN_MAX. False: it is no such line. */
bool sample_text_parse(char *line, uint32_t *ret_cpu, struct sample_event *ret, uint64_t *chain);
bool sample_text_parse_task(const char *word, struct sample_task *ret);
bool sample_text_parse_number(const char *word, uint64_t *ret);

/* A line as above. */
void sample_text_put(FILE *f, uint32_t cpu, const struct sample_event *ev);

#endif
