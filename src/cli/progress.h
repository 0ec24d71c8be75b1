/* SPDX-License-Identifier: MIT */
/*
 * progress: a bar on standard error while a long work runs.
 *
 * It appears after one second, if standard error is a terminal and the source can say how far it
 * is; it is drawn over itself some times a second and wiped away at the end. A step costs an
 * addition: the clock is read once in many.
 */
#ifndef KISEKI_CLI_PROGRESS_H
#define KISEKI_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/func_source.h"
#include "trace/sample_source.h"
#include "trace/source.h"

struct progress {
	const struct trace_source *source; /* one of them; all NULL: nothing to show */
	const struct func_source *calls;
	const struct sample_source *samples;
	const char *what;
	uint32_t steps;
	bool shown;
	uint64_t start_ms;
	uint64_t drawn_ms;
};

void progress_init(struct progress *p, const struct trace_source *source, const char *what);
void progress_init_calls(struct progress *p, const struct func_source *calls, const char *what);
void progress_init_samples(struct progress *p, const struct sample_source *samples,
			   const char *what);
void progress_draw(struct progress *p);
void progress_done(struct progress *p);

static inline void progress_step(struct progress *p)
{
	if ((p->source || p->calls || p->samples) && !(++p->steps & 0xfff))
		progress_draw(p);
}

/* The line that is drawn, without its line control; at most 79 columns. For tests, too. */
void progress_format(const struct progress *p, uint64_t now_ms, char *line, size_t size);

#endif
