/* SPDX-License-Identifier: MIT */
/*
 * ctf_reader: a CTF 1.8 folder of the LTTng kernel tracer, or our own export, as a source.
 *
 * This is the reader proper. It calls libbabeltrace2, which ends the process when damaged input
 * breaks one of its assertions, so everybody but source_ctf.c uses source_ctf_open() instead, which
 * runs this in a process of its own.
 */
#ifndef KISEKI_CONVERT_CTF_READER_H
#define KISEKI_CONVERT_CTF_READER_H

#include "base/error.h"
#include "trace/source.h"

/* Where the trace is in what a user named: LTTng keeps it in the folder `kernel` of a session. To be
 * freed; NULL without memory. */
char *ctf_reader_folder(const char *dir);

/* `alive` is called before each piece of work of the library, for a watchdog. */
int ctf_reader_open(struct trace_source **ret, const char *dir, void (*alive)(void),
		    struct error *e);

#endif
