/* SPDX-License-Identifier: MIT */
/*
 * boot_picture: a boot, or two, drawn into a file. Its name says what it becomes: .svg, .html, or of one boot .json.
 */
#ifndef KISEKI_CLI_BOOT_PICTURE_H
#define KISEKI_CLI_BOOT_PICTURE_H

#include "chart/boot_chart.h"

/* -EINVAL: the name says neither. "-" is standard output, a page. */
int boot_picture_write(const char *path, const struct boot *b, const struct boot_chart_options *o,
		       struct error *e);

#endif
