/* SPDX-License-Identifier: MIT */
/*
 * func_export: calls in the formats of other tools.
 *
 * Each format is one function that runs a walk as far and as often as it needs, and writes; the list knows
 * them all. Nothing here commits the file: that is the caller's, when all went well.
 */
#ifndef KISEKI_CONVERT_FUNC_EXPORT_H
#define KISEKI_CONVERT_FUNC_EXPORT_H

#include "analysis/call_walk.h"
#include "base/outfile.h"

/* The walk's listener and data are set by who writes. */
typedef int (*func_export_fn)(const struct call_walk *w, struct outfile *out, struct error *e);

struct func_format {
	const char *name;
	const char *endings; /* words in blanks: ".folded .txt" */
	const char *summary;
	bool text;
	bool mangled; /* its readers take no blanks in names */
	func_export_fn write;
	const char *cannot_hold; /* what of the calls is not in it */
};

const struct func_format *func_export_find(const char *name);
const struct func_format *func_export_from_path(const char *path);
const struct func_format *func_export_next(const struct func_format *f); /* NULL: the first */

int func_folded_write(const struct call_walk *w, struct outfile *out, struct error *e);
int func_speedscope_write(const struct call_walk *w, struct outfile *out, struct error *e);
int func_chrome_write(const struct call_walk *w, struct outfile *out, struct error *e);
int func_kft_write(const struct call_walk *w, struct outfile *out, struct error *e);
int func_pprof_write(const struct call_walk *w, struct outfile *out, struct error *e);
int func_perfetto_write(const struct call_walk *w, struct outfile *out, struct error *e);

#endif
