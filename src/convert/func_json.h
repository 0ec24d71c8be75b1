/* SPDX-License-Identifier: MIT */
/* func_json: names of functions as strings of JSON, however long they are, and whole documents. */
#ifndef KISEKI_CONVERT_FUNC_JSON_H
#define KISEKI_CONVERT_FUNC_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "base/outfile.h"

void func_json_text(struct outfile *out, const char *text);

/* Takes the document; NULL: there was no memory for it. */
int func_json_document(struct outfile *out, json_t *document, struct error *e);

#endif
