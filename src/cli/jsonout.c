/* SPDX-License-Identifier: MIT */
/* jsonout: see jsonout.h. */
#include "cli/jsonout.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/json_whole.h"
#include "command/command.h"
#include "command/say.h"

int jsonout_print(json_t *document)
{
	struct error e = ERROR_INIT;
	bool is_whole = json_whole_is() && document;
	int r = is_whole ? json_dumpf(document, stdout, JSON_INDENT(2)) : -1;

	json_decref(document);
	if (r < 0) {
		error_set(&e, ENOMEM, "cannot print the result: %s",
			  is_whole ? "the output failed" : "out of memory");
		return say_failure(&e);
	}
	putchar('\n');
	return EXIT_OK;
}
