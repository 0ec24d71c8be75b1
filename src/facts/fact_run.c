/* SPDX-License-Identifier: MIT */
/* fact_run: see fact_run.h. */
#include "facts/fact_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "facts/fact_build.h"

/* Minutes so much earlier than the last one are worked out without reading the description anew. */
#define LATE_NS (300 * CLOCK_NS_PER_S)
/* For so long after its end a process is known: it may be sampled on its way out, and its number means nobody else before. */
#define ENDED_NS (3600 * CLOCK_NS_PER_S)
/* A block that is missing may be on its way to this server: for so many turns all is read anew. */
#define DOUBTS_MAX 16U

static void forget(struct fact_run *r)
{
	run_description_free(r->told);
	r->told = NULL;
	r->told_bytes = 0;
}

void fact_run_done(struct fact_run *r)
{
	forget(r);
	fact_frontier_done(&r->frontier);
	memset(r, 0, sizeof(*r));
}

/* The first tick that is looked at for a minute; 0: it is before all ticks. */
static uint64_t first_tick(const struct fact_run *r, uint64_t minute_s, uint64_t before_ns)
{
	int64_t ns;

	if (__builtin_sub_overflow((int64_t)(minute_s * CLOCK_NS_PER_S), r->frontier.off_ns, &ns) ||
	    ns < 0 || (uint64_t)ns <= FACT_BEFORE_NS + before_ns)
		return 0;
	return clock_tick_at(&r->clock, (uint64_t)ns - FACT_BEFORE_NS - before_ns);
}

static uint64_t ticks_of(const struct fact_run *r, uint64_t ns)
{
	uint64_t base = clock_tick_at(&r->clock, r->clock.base_ns + ns);
	uint64_t zero = clock_tick_at(&r->clock, r->clock.base_ns);

	return base > zero ? base - zero : 0;
}

static int read_on(struct fact_run *r, struct store *s, const struct run_horizon *to)
{
	/* Streams of CPUs are of no interest here. */
	const struct store_range range = { .from_tick = to->tick ? to->tick : 1,
					   .to_tick = to->tick ? to->tick : 1,
					   .from_meta = r->told ? r->told->sequence : 0 };
	struct error e = ERROR_INIT;
	struct block_reader *reader;
	int rc = r->told ? 0 : run_description_new(&r->told);

	if (rc >= 0)
		rc = store_reader_open(&reader, s, r->number, &range, &e);
	if (rc < 0)
		return rc;
	rc = run_description_read(r->told, reader, to, &e);
	reader->ops->free(reader);
	return rc;
}

/* Rows came for which too much was forgotten: all of them, and then what is of no use goes. */
static int read_anew(struct fact_run *r, struct store *s, const struct run_horizon *to)
{
	const struct run_horizon all = { .tick = 0 };
	int rc;

	forget(r);
	rc = read_on(r, s, &all);
	return rc < 0 ? rc : run_description_forget(r->told, to);
}

int fact_run_tell(struct fact_run *r, struct store *s, uint64_t minute_s)
{
	const struct run_horizon to = { .tick = first_tick(r, minute_s, LATE_NS),
					.end_ticks = ticks_of(r, ENDED_NS),
					.late_ticks = ticks_of(r, LATE_NS) };
	bool doubts = r->told && r->told->has_gap && r->doubts < DOUBTS_MAX;
	int rc;

	r->doubts += doubts;
	if (r->told && (doubts || first_tick(r, minute_s, 0) < r->told->forgotten))
		forget(r);
	rc = read_on(r, s, &to);
	if (rc == -ESTALE)
		rc = read_anew(r, s, &to);
	if (rc < 0) {
		forget(r);
		return rc;
	}
	r->told_bytes = run_description_bytes(r->told);
	r->told_ns = clock_mono_ns();
	return 0;
}

static struct fact_run *find_oldest(struct fact_run *runs, size_t n)
{
	struct fact_run *oldest = NULL;
	size_t i;

	for (i = 0; i < n; i++)
		if (runs[i].told && (!oldest || runs[i].told_ns < oldest->told_ns))
			oldest = &runs[i];
	return oldest;
}

void fact_runs_shed(struct fact_run *runs, size_t n, uint64_t most_bytes)
{
	uint64_t bytes = 0, now_ns = clock_mono_ns();
	struct fact_run *oldest;
	size_t i;

	for (i = 0; i < n; i++) {
		if (runs[i].told && now_ns - runs[i].told_ns > FACT_TOLD_IDLE_NS)
			forget(&runs[i]);
		bytes += runs[i].told_bytes;
	}
	while (bytes > most_bytes && (oldest = find_oldest(runs, n))) {
		bytes -= oldest->told_bytes;
		forget(oldest);
	}
}
