/* SPDX-License-Identifier: MIT */
/* profile_print: what the commands for profiles print alike. */
#ifndef KISEKI_CLI_PROFILE_PRINT_H
#define KISEKI_CLI_PROFILE_PRINT_H

#include "analysis/profile_report.h"
#include "cli/units.h"

/* "12.3 ms", "4.56 G cycles", "789": an amount of what is counted. */
const char *profile_print_amount(const struct sample_source *s, enum profile_value value,
				 uint64_t amount, char text[UNITS_LEN]);

/* One line about the profile: how many samples, of how long, on how many CPUs. */
void profile_print_head(const char *path, const struct sample_source *s,
			const struct profile_totals *t);

/* What the numbers do not say: idle time, what was left out, losses. */
void profile_print_rest(const struct sample_source *s, const struct profile_totals *t);

/* A name and, in brackets, its object; and the end of the line. */
void profile_print_name(const char *name, const char *object);

/* "12.34" */
const char *profile_print_share(uint64_t part, uint64_t whole, char text[UNITS_LEN]);

#endif
