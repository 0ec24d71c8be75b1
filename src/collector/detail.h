/* SPDX-License-Identifier: MIT */
/*
 * detail: a range of a run, event by event, as a picture of it needs it (analysis/spans.h).
 *
 * Only the segments of the range are decoded, each CPU from the key block before it, so a tile costs
 * what it shows, wherever it lies and however long the run is. Where that key block lies so close
 * that next to nothing of what was before would be known, one segment more is read, within a
 * ceiling. Whether the range has too many events is decided from headers as far as they tell.
 */
#ifndef KISEKI_COLLECTOR_DETAIL_H
#define KISEKI_COLLECTOR_DETAIL_H

#include "analysis/spans.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"

#define DETAIL_EVENTS_DEFAULT 200000U
#define DETAIL_EVENTS_MAX 2000000U

struct detail_query {
	uint32_t run;
	uint64_t from_ns;
	uint64_t to_ns; /* cut behind the last event that is there */
	uint64_t limit; /* events */
	/* Whether nobody waits for it any more; may be NULL. */
	bool (*is_over)(const void *context);
	const void *context;
};

struct detail;

/* Finds the range. -ENOENT: no such run; -ENODATA: it has no events yet; -EINVAL: nothing lies
 * between the times; -EFBIG: more than `limit` events. */
int detail_open(struct detail **ret, struct store *s, const struct detail_query *q,
		struct error *e);
void detail_free(struct detail *d);
DEFINE_CLEANUP(detail, detail_free)

/* May the answer be kept? Nothing that comes can change it. */
bool detail_is_final(const struct detail *d);
uint64_t detail_to_ns(const struct detail *d); /* as it was cut; from_ns: nothing is there yet */

/* Decodes it; the spans live as long as the detail. To be called once. */
int detail_read(struct detail *d, const struct spans **ret, struct error *e);

#endif
