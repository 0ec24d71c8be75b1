/* SPDX-License-Identifier: MIT */
/*
 * firefox: files of the Firefox Profiler: its "processed profile", version 48, which later ones bring up to date when they
 * load it.
 */
#ifndef KISEKI_CONVERT_FIREFOX_H
#define KISEKI_CONVERT_FIREFOX_H

#include "base/error.h"
#include "base/outfile.h"
#include "convert/stack_series.h"

int firefox_write(const struct stack_series *s, struct outfile *out, struct error *e);

#endif
