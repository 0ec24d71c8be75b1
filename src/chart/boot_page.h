/* SPDX-License-Identifier: MIT */
/* boot_page: the files of page/ as part of the program; tools/embed makes their C. */
#ifndef KISEKI_CHART_BOOT_PAGE_H
#define KISEKI_CHART_BOOT_PAGE_H

#include <stddef.h>

extern const unsigned char boot_page_frame[];
extern const size_t boot_page_frame_len;
extern const unsigned char boot_page_style[];
extern const size_t boot_page_style_len;
extern const char boot_page_style_sha256[]; /* in Base64, as a Content-Security-Policy has it */
extern const unsigned char boot_page_script[];
extern const size_t boot_page_script_len;
extern const char boot_page_script_sha256[];

#endif
