/* SPDX-License-Identifier: MIT */
/*
 * command: the table that the command line is made of.
 *
 * Each command is one `const struct command` in a file of its own. The parser (args.h), --help
 * (help.h), the man pages (man.h) and the shell completion read it, so they cannot disagree.
 */
#ifndef KISEKI_COMMAND_COMMAND_H
#define KISEKI_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#define EXIT_OK 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2

#define COMMAND_OPTIONS_MAX 32

struct args;

struct cli_option {
	char letter;	      /* 0: none */
	const char *name;     /* NULL ends the list */
	const char *argument; /* "FILE", "[=FILE]" if it may be left out, or NULL for a switch */
	const char *help;     /* lower case, no full stop */
	const char *values; /* for completion: words in blanks; NULL: as argument, FILE is a file */
};

static inline bool cli_option_is_switch(const struct cli_option *o)
{
	return !o->argument || o->argument[0] == '[';
}

/* What stands between its name and its argument. */
static inline const char *cli_option_gap(const struct cli_option *o)
{
	return cli_option_is_switch(o) ? "" : " ";
}

struct cli_example {
	const char *text; /* NULL ends the list */
	const char *command;
};

struct command {
	const char *name;
	const char *summary; /* lower case, no full stop */
	const char *usage;   /* what follows the name; operands that must be there in their order */
	const char *description; /* paragraphs, separated by an empty line; NULL: none */
	const struct cli_option *options;
	const struct cli_example *examples;
	const struct command *const *children; /* NULL-terminated */
	const struct command *parent;
	const char *operands; /* for completion: "FILE", "DEVICE", words in blanks, or NULL */
	size_t operands_min;
	size_t operands_max;
	int (*run)(const struct args *args); /* the exit status; NULL: only its children run */
};

/* What every command understands; not in the lists of options. */
extern const struct cli_option command_help_option;

/* "kiseki report sched", or with '-' for blanks. */
const char *command_full_name(const struct command *c, char blank, char buffer[64]);

const struct command *command_find(const struct command *parent, const char *name);

/* The child, or option, that was probably meant; NULL if none is near. */
const char *command_nearest(const struct command *parent, const char *name);
const char *command_nearest_option(const struct command *c, const char *name);

#endif
