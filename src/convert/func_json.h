/* SPDX-License-Identifier: MIT */
/* func_json: names of functions as strings of JSON, however long they are. */
#ifndef KISEKI_CONVERT_FUNC_JSON_H
#define KISEKI_CONVERT_FUNC_JSON_H

#include "base/outfile.h"

void func_json_text(struct outfile *out, const char *text);

#endif
