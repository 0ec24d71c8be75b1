/* SPDX-License-Identifier: MIT */
/*
 * formats: the table of what a trace can be written as.
 *
 * One row per format: its name and endings, what makes its sink, whether it can go down a pipe, and
 * what it cannot hold. The command line, its help and its completion all read this table.
 */
#ifndef KISEKI_CONVERT_FORMATS_H
#define KISEKI_CONVERT_FORMATS_H

#include <stdatomic.h>

#include "convert/sink.h"
#include "trace/func_source.h"

#define FORMAT_ENDINGS 3

/* What a format can lack. */
enum format_lack {
	LACKS_FLAGS = 1 << 0,	/* common_flags */
	LACKS_LOSSES = 1 << 1,	/* the ledger */
	LACKS_NS = 1 << 2,	/* stamps below one microsecond */
	LACKS_PREEMPT = 1 << 4, /* common_preempt_count */
	LACKS_PID = 1 << 3,	/* common_pid where it is not the switched task's */
};

struct format_options {
	const char *codec;	   /* .ksk: "sched" or "bsf"; NULL is sched */
	struct func_source *calls; /* .ksk: packed beside the events; NULL: none. The caller's */
	const atomic_bool *stop;   /* true: nobody waits for it any more; NULL: somebody will */
};

struct format {
	const char *name;
	const char *endings[FORMAT_ENDINGS]; /* NULL: fewer */
	const char *summary;
	const char *cannot_hold; /* one sentence, NULL if it holds everything */
	uint32_t lacks;		 /* enum format_lack */
	uint32_t kinds;		 /* 1 << enum sched_kind: what it holds */
	bool pipe;		 /* can be written to a pipe */
	bool text;		 /* fit for a terminal */
	bool names_runner;	 /* it says what the task that ran was called */
	bool shows_ns;		 /* calls the ticks of any clock nanoseconds */
	int (*sink_new)(struct trace_sink **ret, const char *path, struct error *e);
};

const struct format *formats_get(size_t i); /* NULL beyond the last */
const struct format *formats_find(const char *name);

/* By the ending of the path, the longest that fits; a trailing '/' is ctf. NULL if none does. */
const struct format *formats_from_path(const char *path);

/* The row that says what this codec of .ksk can hold; NULL if there is no such codec. */
const struct format *formats_of_codec(const char *codec);

int format_open(const struct format *f, struct trace_sink **ret, const char *path,
		const struct format_options *o, struct error *e);

/* Puts in front of the source what the format needs: a .ksk wants the ticks behind nanoseconds, others
 * the names of the tasks that ran (trace/names.h). The new source, if one is made, owns the old one. */
int format_prepare(const struct format *f, struct trace_source **source,
		   const struct format_options *o, struct error *e);

/* Does writing this item in this format lose something? */
bool format_drops(const struct format *f, const struct trace_info *info,
		  const struct trace_item *item);

#endif
