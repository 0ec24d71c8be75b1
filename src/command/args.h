/* SPDX-License-Identifier: MIT */
/*
 * args: a command line, parsed by the command's table.
 *
 * -o FILE, -oFILE, --output FILE, --output=FILE; an argument that may be left out only with =; short switches may be joined; -- ends the options;
 * options and operands may be mixed; a lone - is an operand. The last of an option given twice
 * counts.
 */
#ifndef KISEKI_COMMAND_ARGS_H
#define KISEKI_COMMAND_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "command/command.h"

#define ARGS_OPERANDS_MAX 4096 /* a command to run may have many */

struct args {
	const struct command *command;
	bool help;				 /* --help: nothing else was checked */
	const char *values[COMMAND_OPTIONS_MAX]; /* by place in the table; "" for a switch */
	const char *operands[ARGS_OPERANDS_MAX + 1];
	size_t n_operands;
};

/* Finds the command below root from argv[1] on and parses the rest. The text of an error is whole:
 * "cannot run kiseki convert: …". -EINVAL if the words are wrong. */
int args_parse(struct args *a, const struct command *root, int argc, char *const argv[],
	       struct error *e);

/* The option's argument, or NULL if it was not given. The name must be in the table. */
const char *args_get(const struct args *a, const char *name);
bool args_has(const struct args *a, const char *name);

/* Is the name in the table? */
bool args_knows(const struct args *a, const char *name);

/* A count with a default. */
int args_get_count(const struct args *a, const char *name, uint64_t *ret, struct error *e);

/* The place of the option's argument in a list of words that ends with NULL. */
int args_get_word(const struct args *a, const char *name, const char *const words[], size_t *ret,
		  struct error *e);

#endif
