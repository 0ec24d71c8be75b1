/* SPDX-License-Identifier: MIT */
/*
 * kiseki/writer: writes a .ksk file.
 *
 * Items are given in order of time. The file appears under its name when it is committed, whole.
 */
#ifndef KISEKI_WRITER_H
#define KISEKI_WRITER_H

#include <kiseki/trace.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ks_writer;

int ks_writer_open(struct ks_writer **ret, const char *path, const struct ks_description *d,
		   struct ks_error *e);

/* With all that another trace says about itself, for one that is a part of it. */
int ks_writer_open_like(struct ks_writer **ret, const char *path, const struct ks_trace *t,
			struct ks_error *e);

/* Names of tasks, in any order; the last one of a pid holds. */
int ks_writer_add_name(struct ks_writer *w, const struct ks_name *name, struct ks_error *e);
int ks_writer_put(struct ks_writer *w, const struct ks_item *item, struct ks_error *e);
int ks_writer_commit(struct ks_writer *w, struct ks_error *e);

/* Without a commit before it, nothing is left of the file. */
void ks_writer_close(struct ks_writer *w);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
