/* SPDX-License-Identifier: MIT */
/*
 * kiseki_script: the program `kiseki`, but its inputs of calls are scripts (func_script.h). What the func commands
 * print can so be compared word for word with numbers that were worked out by hand.
 *
 * It is linked before the library that has the real func_input_open, which is then not taken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/func_input.h"
#include "tools/func_script.h"

#define SCRIPT_MAX (1U << 24)

int func_input_open(const char *path, struct func_source **ret, struct error *e)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, SCRIPT_MAX);
	int r;

	if (!f || !text || fread(text, 1, SCRIPT_MAX - 1, f) == 0)
		r = error_set(e, EINVAL, "cannot read %s: %s", path, strerror(errno));
	else
		r = func_script_new(ret, text, e);
	if (f)
		fclose(f);
	free(text);
	return r;
}
