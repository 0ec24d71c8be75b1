/* SPDX-License-Identifier: MIT */
/*
 * ksk_source: a .ksk file as a source: the streams of all CPUs merged by time.
 */
#ifndef KISEKI_TRACE_KSK_SOURCE_H
#define KISEKI_TRACE_KSK_SOURCE_H

#include "store/ksk_file.h"
#include "trace/source.h"
#include "trace/stream_cursor.h"

int source_ksk_open(struct trace_source **ret, const char *path, struct error *e);
int source_ksk_open_memory(struct trace_source **ret, const uint8_t *data, size_t len,
			   struct error *e);

/* Whether a thread decodes ahead; to be said before the first next(). Large files on machines with
 * more than one processor have one unless told otherwise. */
void source_ksk_set_ahead(struct trace_source *s, bool wanted);

/* For `check` and `info`, of a source opened here: what each CPU's stream held as far as it was
 * read (NULL: it has none), and the file with its damage. Not between the first next() and the one
 * that says the end: a thread may be at work on them. */
const struct stream_totals *source_ksk_totals(const struct trace_source *s, uint32_t cpu);
struct ksk_file *source_ksk_file(const struct trace_source *s);

#endif
