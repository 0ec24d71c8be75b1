/* SPDX-License-Identifier: MIT */
/*
 * sink: anything that takes a trace's items in order and makes a file of them.
 *
 * One sink_<format>.c per format, each with one function sink_<format>_new() listed here. A sink
 * writes to `path`, "-" being standard output where the format can be piped. Files appear whole or
 * not at all: what is written before end() succeeds goes to a temporary name beside the target
 * (base/outfile.h).
 */
#ifndef KISEKI_CONVERT_SINK_H
#define KISEKI_CONVERT_SINK_H

#include "base/error.h"
#include "trace/source.h"

struct trace_sink;

struct trace_sink_ops {
	/* Called once, before the first item. info stays valid and unchanged until end(), except
	 * that info->tasks and ->skipped may still grow. */
	int (*begin)(struct trace_sink *s, const struct trace_info *info, struct error *e);
	int (*item)(struct trace_sink *s, const struct trace_item *item, struct error *e);
	int (*end)(struct trace_sink *s, struct error *e);
	void (*free)(struct trace_sink *s); /* frees s itself; without end(), nothing remains */
};

struct trace_sink {
	const struct trace_sink_ops *ops;
};

static inline void sink_free(struct trace_sink *s)
{
	if (s)
		s->ops->free(s);
}

/* All return 0 and *ret, or a negative errno and the reason in e. */
int sink_ftrace_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_json_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_ndjson_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_xml_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_csv_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_chrome_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_perfetto_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_ctf_new(struct trace_sink **ret, const char *path, struct error *e);
int sink_tracedat_new(struct trace_sink **ret, const char *path, struct error *e);

#endif
