/* SPDX-License-Identifier: MIT */
/* speedscope: files of speedscope.app, as calls, profiles and virtual machines all write them. */
#ifndef KISEKI_CONVERT_SPEEDSCOPE_H
#define KISEKI_CONVERT_SPEEDSCOPE_H

#include "base/error.h"
#include "base/outfile.h"
#include "convert/stack_series.h"

/* The begin of a file; more of its fields follow. */
void speedscope_put_head(struct outfile *out);

/* An entry of the list of frames: where a function is numbered. */
void speedscope_put_frame(struct outfile *out, const struct function *f, bool is_first);

/* One "sampled" profile for each thread, with the stack of each sample, outermost first, and what it stands for. */
int speedscope_write(const struct stack_series *s, struct outfile *out, struct error *e);

#endif
