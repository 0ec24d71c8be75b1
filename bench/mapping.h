/* SPDX-License-Identifier: MIT */
/*
 * mapping: a file's bytes, mapped for reading.
 */
#ifndef KISEKI_BENCH_MAPPING_H
#define KISEKI_BENCH_MAPPING_H

#include "convert/import.h"

int mapping_open(struct import_bytes *ret, const char *path, struct error *e);
void mapping_close(struct import_bytes *m);

#endif
