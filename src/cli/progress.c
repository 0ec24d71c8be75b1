/* SPDX-License-Identifier: MIT */
/* progress: see progress.h. */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR 30
#define APPEARS_MS 1000
#define REDRAW_MS 100

static void begin(struct progress *p, const char *what)
{
	p->what = what;
	p->start_ms = clock_mono_ms();
}

void progress_init(struct progress *p, const struct trace_source *source, const char *what)
{
	memset(p, 0, sizeof(*p));
	if (!isatty(STDERR_FILENO) || !source->ops->progress)
		return;
	p->source = source;
	begin(p, what);
}

void progress_init_calls(struct progress *p, const struct func_source *calls, const char *what)
{
	memset(p, 0, sizeof(*p));
	if (!isatty(STDERR_FILENO) || !calls->ops->progress)
		return;
	p->calls = calls;
	begin(p, what);
}

void progress_init_samples(struct progress *p, const struct sample_source *samples,
			   const char *what)
{
	memset(p, 0, sizeof(*p));
	if (!isatty(STDERR_FILENO) || !samples->ops->progress)
		return;
	p->samples = samples;
	begin(p, what);
}

void progress_format(const struct progress *p, uint64_t now, char *line, size_t size)
{
	uint64_t done = 0, total = 0, percent, left_s;
	char bar[BAR + 1];

	if (p->source)
		p->source->ops->progress(p->source, &done, &total);
	else if (p->calls)
		p->calls->ops->progress(p->calls, &done, &total);
	else
		p->samples->ops->progress(p->samples, &done, &total);
	if (!total) {
		snprintf(line, size, "%.20s  %" PRIu64 " MB", p->what, done / 1000000);
		return;
	}
	if (done > total)
		done = total;
	percent = total < UINT64_MAX / 100 ? done * 100 / total : done / (total / 100);
	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)(percent * BAR / 100));
	bar[BAR] = 0;
	left_s = percent ? (now - p->start_ms) * (100 - percent) / percent / 1000 : 0;
	snprintf(line, size, "%.20s  [%s] %3" PRIu64 " %%  %" PRIu64 ":%02" PRIu64 " left", p->what,
		 bar, percent, left_s / 60, left_s % 60);
}

void progress_draw(struct progress *p)
{
	uint64_t now = clock_mono_ms();
	char line[80];

	if (now < p->start_ms + APPEARS_MS || now < p->drawn_ms + REDRAW_MS)
		return;
	p->drawn_ms = now;
	p->shown = true;
	progress_format(p, now, line, sizeof(line));
	fprintf(stderr, "\r%s\033[K", line);
}

void progress_done(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->source = NULL;
	p->calls = NULL;
	p->samples = NULL;
	p->shown = false;
}
