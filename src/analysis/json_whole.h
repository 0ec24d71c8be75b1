/* SPDX-License-Identifier: MIT */
/*
 * json_whole: a JSON document is whole, or there is none.
 *
 * Who builds a document adds hundreds of values to it. jansson leaves out what it has no memory for, and says so only to who asks after each;
 * where it writes text it does not always ask itself (2.14 goes on behind the name of a member). So its memory comes from here, and that there
 * was none is noted: what a thread has built since is not to be shown.
 */
#ifndef KISEKI_ANALYSIS_JSON_WHOLE_H
#define KISEKI_ANALYSIS_JSON_WHOLE_H

#include <stdbool.h>

#include <jansson.h>

/* Once, before anything is built. */
void json_whole_init(void);

/* Whether nothing is missing in what this thread has built since it last asked. */
bool json_whole_is(void);

/* The document as text, to be freed; NULL if a part of it is missing. Drops the document, which may be NULL. */
char *json_whole_text(json_t *document, size_t flags);

#endif
