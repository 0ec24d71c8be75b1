/* SPDX-License-Identifier: MIT */
/*
 * secret: passwords and tokens on their way to a command. Never by an argument, which every user of the machine can
 * read; from a terminal without showing it, or a line of standard input; or from a file that is its owner's alone.
 */
#ifndef KISEKI_CLI_SECRET_H
#define KISEKI_CLI_SECRET_H

#include <stddef.h>

#include "base/error.h"

/* From a terminal it is asked for twice. The caller wipes it. */
int secret_ask(const char *prompt, char *ret, size_t room, struct error *e);

/* The first word of a file. -ENOENT; -EACCES: others may read it. */
int secret_read(const char *path, char *ret, size_t room, struct error *e);

#endif
