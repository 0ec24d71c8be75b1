/* SPDX-License-Identifier: MIT */
/*
 * boot_print: what the boot commands print alike: processes, times, bars, what is missing.
 */
#ifndef KISEKI_CLI_BOOT_PRINT_H
#define KISEKI_CLI_BOOT_PRINT_H

#include "analysis/boot.h"
#include "analysis/boot_path.h"

#define BOOT_PRINT_TIME 32U /* as UNITS_LEN */

/* "12.345 s": a moment of the chart, to the millisecond. */
const char *boot_print_moment(uint64_t ns, char text[BOOT_PRINT_TIME]);

/* "+1.23 s": a change. */
const char *boot_print_change(int64_t by_ns, char text[BOOT_PRINT_TIME]);

/* "name[pid] arguments", cut to what a line holds; "-" for nobody. Ends no line. */
void boot_print_process(const struct boot *b, uint32_t process, bool with_args);

/* A bar of `part` in `whole`; nothing where the output is no terminal. Ends no line. */
void boot_print_bar(uint64_t part, uint64_t whole);

/* "\n<title>" as a heading. */
void boot_print_title(const char *title);

/* "... and N more". */
void boot_print_more(uint64_t more);

/* One line about the machine and the recording, then one for each thing that is missing. */
void boot_print_head(const struct boot *b, const char *name);
void boot_print_missing(const struct boot *b);

void boot_print_path(const struct boot *b, const struct boot_path *path);

#endif
