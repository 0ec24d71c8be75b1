/* SPDX-License-Identifier: MIT */
/*
 * import: other tools' recordings as sources, one source_<format>.c each.
 *
 * Every importer checks what it reads: garbage gives -EBADMSG and a line that names the offset and
 * the cause, never a crash and never memory without bound.
 */
#ifndef KISEKI_CONVERT_IMPORT_H
#define KISEKI_CONVERT_IMPORT_H

#include "base/error.h"
#include "trace/source.h"

/* A file wholly in memory (or mapped); it must outlive the source. */
struct import_bytes {
	const uint8_t *data;
	size_t len;
};

/* trace.dat v6 and v7. */
int source_tracedat_open(struct trace_source **ret, struct import_bytes in, struct error *e);

/* ftrace text: the kernel's trace or trace_pipe, trace-cmd report's form where it is the same,
 * or an Android systrace HTML page around it. */
int source_text_open(struct trace_source **ret, struct import_bytes in, struct error *e);

/* The same from a pipe, line by line as they come; takes fd. What it asks of this machine is asked by the first,
 * which a process can call before it goes where it cannot ask. */
void source_text_prepare(void);
int source_text_open_fd(struct trace_source **ret, int fd, struct error *e);

/* A folder with a CTF 1.8 trace of the LTTng kernel tracer (or our own export). */
int source_ctf_open(struct trace_source **ret, const char *dir, struct error *e);

#endif
