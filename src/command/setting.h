/* SPDX-License-Identifier: MIT */
/*
 * setting: what a program that runs for long is told, by a file and by its command line.
 *
 * The file has lines `key = value`; a line that starts with # is a remark. The keys are the long
 * options without their dashes, so there is one list of them, one meaning and one check of each
 * value. The command line goes over the file, the file over the defaults.
 */
#ifndef KISEKI_COMMAND_SETTING_H
#define KISEKI_COMMAND_SETTING_H

#include "base/error.h"
#include "command/args.h"

#define SETTING_FILE_MAX 65536U
#define SETTING_LINE_MAX 2048U

struct setting {
	const char *key;
	/* Takes the value into the program's own struct. Not taken: -EINVAL. */
	int (*set)(void *to, const struct setting *s, const char *value, struct error *e);
	const char *is;	      /* what would be right; NULL: set() has said what is wrong */
	size_t at;	      /* the place in the program's struct, for the functions below */
	uint64_t least, most; /* the bounds; of a text, the room */
};

/* All settings of a program. */
struct setting_list {
	const struct setting *table; /* ends with a key that is NULL */
	void *to;		     /* the program's struct */
	const char *file;	     /* if it is there, and --config names no other */
};

/* For `set`: a text; a size in a uint64_t; a number in a uint32_t; yes or no in a bool. */
int setting_text(void *to, const struct setting *s, const char *value, struct error *e);
int setting_size(void *to, const struct setting *s, const char *value, struct error *e);
int setting_count(void *to, const struct setting *s, const char *value, struct error *e);
int setting_bool(void *to, const struct setting *s, const char *value, struct error *e);

/* -EINVAL with "cannot use <key>: …". */
int setting_set(const struct setting_list *l, const char *key, const char *value, struct error *e);

/* Errors name file and line. */
int setting_parse(const struct setting_list *l, const char *text, size_t len, const char *file,
		  struct error *e);

/* Reads the file, then those options that the command has. A switch that is given is "yes". */
int setting_load(const struct setting_list *l, const struct args *a, struct error *e);

/* Those options alone, over what is set. */
int setting_load_options(const struct setting_list *l, const struct args *a, struct error *e);

#endif
