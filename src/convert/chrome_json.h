/* SPDX-License-Identifier: MIT */
/*
 * chrome_json: the records of Chrome's trace event format that sink_chrome writes.
 *
 * Only how a record looks is here; what happened when is sink_chrome's. Times are microseconds
 * with the nanoseconds as three decimals.
 */
#ifndef KISEKI_CONVERT_CHROME_JSON_H
#define KISEKI_CONVERT_CHROME_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outfile.h"
#include "trace/source.h"

/* The process that the CPU tracks belong to: the one pid that no task of Linux can have. */
#define CHROME_CPUS INT32_MAX

struct chrome_json {
	struct outfile *out;
	bool any; /* a record was written: the next needs a comma */
};

enum chrome_args {
	CHROME_ARG_TASK,  /* pid, prio */
	CHROME_ARG_CPU,	  /* cpu */
	CHROME_ARG_STATE, /* state, as letters */
};

struct chrome_slice {
	int32_t process;
	int32_t thread;
	uint64_t from_ns;
	uint64_t to_ns;
	const char *name;
	uint32_t name_len;
	enum chrome_args args;
	int32_t pid;
	int32_t prio;
	uint32_t cpu;
	uint64_t state;
	const struct sched_dialect *dialect; /* of CHROME_ARG_STATE */
	bool may_miss;
	const char *mark; /* NULL, or why the slice is not whole */
};

/* A moment on a track. */
struct chrome_at {
	int32_t process;
	int32_t thread;
	uint64_t ns;
};

struct chrome_flow {
	uint64_t id;
	struct chrome_at from;
	struct chrome_at to;
};

void chrome_json_begin(struct chrome_json *j, const struct trace_info *info);
int chrome_json_check(const struct chrome_json *j, struct error *e);
int chrome_json_end(struct chrome_json *j, struct error *e);

/* Cut so that it does not begin before *written_ns, where the last slice of its track ended; what
 * is left, if anything, is written and *written_ns moved; false if nothing was. */
bool chrome_json_slice(struct chrome_json *j, const struct chrome_slice *s, uint64_t *written_ns);
void chrome_json_flow(struct chrome_json *j, const struct chrome_flow *f);
void chrome_json_mark(struct chrome_json *j, const struct chrome_at *at,
		      const struct trace_item *item, const struct trace_info *info);
void chrome_json_loss(struct chrome_json *j, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		      const struct trace_loss *loss);
void chrome_json_process(struct chrome_json *j, int32_t pid, const char *name, uint32_t len);
void chrome_json_thread(struct chrome_json *j, int32_t process, int32_t thread, const char *name,
			uint32_t len);
void chrome_json_cpu(struct chrome_json *j, uint32_t cpu);

#endif
