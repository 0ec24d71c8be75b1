/* SPDX-License-Identifier: MIT */
/*
 * jsonout: what the commands need to print JSON. jansson builds the document; a failure to allocate
 * anywhere in it shows as NULL at the end, so the builders need no checks.
 */
#ifndef KISEKI_CLI_JSONOUT_H
#define KISEKI_CLI_JSONOUT_H

#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

/* Beyond 2^63 a number stays at the largest that JSON readers take as an integer. */
json_t *jsonout_count(uint64_t value);
json_t *jsonout_comm(const char comm[16]); /* as units_comm() shows it */
json_t *jsonout_text(const char *text);	   /* any bytes; broken ones become '?' */

/* Prints the document and drops it; the exit status. */
int jsonout_print(json_t *document);

#endif
