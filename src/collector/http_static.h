/* SPDX-License-Identifier: MIT */
/* http_static: files that are part of the program; tools/embed makes their C. The files of the page
 * are in web_file.h. */
#ifndef KISEKI_COLLECTOR_HTTP_STATIC_H
#define KISEKI_COLLECTOR_HTTP_STATIC_H

#include <stddef.h>

extern const unsigned char static_openapi[];
extern const size_t static_openapi_len;

#endif
