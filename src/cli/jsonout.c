/* SPDX-License-Identifier: MIT */
/* jsonout: see jsonout.h. */
#include "cli/jsonout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/units.h"
#include "command/command.h"
#include "command/say.h"

json_t *jsonout_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *jsonout_comm(const char comm[16])
{
	char buffer[UNITS_COMM_LEN];

	return json_string(units_comm(comm, buffer));
}

json_t *jsonout_text(const char *text)
{
	json_t *s = json_string(text);
	_cleanup_free_ char *copy = NULL;
	char *p;

	if (s)
		return s;
	copy = strdup(text);
	for (p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return copy ? json_string(copy) : NULL;
}

int jsonout_print(json_t *document)
{
	struct error e = ERROR_INIT;
	int r = document ? json_dumpf(document, stdout, JSON_INDENT(2)) : -1;

	json_decref(document);
	if (r < 0) {
		error_set(&e, ENOMEM, "cannot print the result: %s",
			  document ? "the output failed" : "out of memory");
		return say_failure(&e);
	}
	putchar('\n');
	return EXIT_OK;
}
