/* SPDX-License-Identifier: MIT */
/*
 * json_value: the values that reports and answers in JSON are made of. jansson builds the document; a
 * failure to allocate anywhere in it is known at the end (json_whole.h), so the builders need no checks.
 */
#ifndef KISEKI_ANALYSIS_JSON_VALUE_H
#define KISEKI_ANALYSIS_JSON_VALUE_H

#include <stdint.h>

#include <jansson.h>

/* Beyond 2^63 a number stays at the largest that JSON readers take as an integer. */
json_t *json_value_count(uint64_t value);
json_t *json_value_comm(const char comm[16]); /* as comm_format() shows it */
json_t *json_value_text(const char *text);    /* any bytes; broken ones become '?' */

#endif
