/* SPDX-License-Identifier: MIT */
/* ks_trace: what ks_writer.c needs to know of a trace: the description that the file has. */
#ifndef KISEKI_LIBRARY_KS_TRACE_H
#define KISEKI_LIBRARY_KS_TRACE_H

#include <kiseki/trace.h>

#include "trace/info.h"

const struct trace_info *ks_trace_info(const struct ks_trace *t);

#endif
