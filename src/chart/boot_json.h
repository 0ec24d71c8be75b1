/* SPDX-License-Identifier: MIT */
/*
 * boot_json: all of a boot as JSON (docs/format/boot-json.md): what the HTML chart draws, what the collector
 * answers with, what scripts read.
 */
#ifndef KISEKI_CHART_BOOT_JSON_H
#define KISEKI_CHART_BOOT_JSON_H

#include <stdio.h>

#include "analysis/boot.h"

/* Compact: spans as rows of numbers. */
int boot_json_write(FILE *f, const struct boot *b, struct error *e);

#endif
