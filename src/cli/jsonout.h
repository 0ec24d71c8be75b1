/* SPDX-License-Identifier: MIT */
/*
 * jsonout: what the commands need to print JSON. jansson builds the document; a failure to allocate
 * anywhere in it is known at the end (analysis/json_whole.h), so the builders need no checks.
 */
#ifndef KISEKI_CLI_JSONOUT_H
#define KISEKI_CLI_JSONOUT_H

#include <stdint.h>

#include <jansson.h>

#include "analysis/json_value.h"
#include "base/error.h"

/* The values; see analysis/json_value.h. */
#define jsonout_count json_value_count
#define jsonout_comm json_value_comm
#define jsonout_text json_value_text

/* Prints the document and drops it; the exit status. */
int jsonout_print(json_t *document);

#endif
