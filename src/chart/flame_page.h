/* SPDX-License-Identifier: MIT */
/* flame_page: the files of flame/ as part of the program; tools/embed makes their C. */
#ifndef KISEKI_CHART_FLAME_PAGE_H
#define KISEKI_CHART_FLAME_PAGE_H

#include <stddef.h>

extern const unsigned char flame_page_frame[];
extern const size_t flame_page_frame_len;
extern const unsigned char flame_page_style[];
extern const size_t flame_page_style_len;
extern const char flame_page_style_sha256[]; /* in Base64, as a Content-Security-Policy has it */
extern const unsigned char flame_page_script[];
extern const size_t flame_page_script_len;
extern const char flame_page_script_sha256[];

#endif
