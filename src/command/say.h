/* SPDX-License-Identifier: MIT */
/*
 * say: what the program tells the person beside its results: failures and notes, one line each on
 * standard error; and whether an output is a terminal that wants colours.
 */
#ifndef KISEKI_COMMAND_SAY_H
#define KISEKI_COMMAND_SAY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* "kiseki: <text>"; returns the exit status. -EINVAL of the parser is EXIT_USAGE. */
int say_failure(const struct error *e);
int say_usage(const struct error *e);
__attribute__((format(printf, 1, 2))) void say_note(const char *fmt, ...);

enum style {
	STYLE_PLAIN = 0,
	STYLE_HEAD, /* titles */
	STYLE_DIM,  /* what matters less */
	STYLE_BAD,  /* damage, losses */
	STYLE_GOOD,
	STYLE_BAR, /* drawings */
};

/* The escape sequence that starts the style, "" where there are no colours: not on a terminal,
 * NO_COLOR is set, or TERM is dumb. */
const char *say_style(FILE *f, enum style style);

/* What is printed will lack something for want of memory: say_flush() is going to fail. The second is of what may be NULL only then. */
void say_out_of_memory(void);
void *say_checked(void *p);

/* Flushes standard output: 0, or -errno with the reason (disk full, pipe closed, not all of it could be printed). */
int say_flush(struct error *e);

#endif
