/* SPDX-License-Identifier: MIT */
/*
 * pages: the ring-buffer pages of a trace.dat, one CPU's behind the other's.
 *
 * That is what general compressors are given: the bytes as the kernel made them, heads and padding
 * included, in one stream, which is the best case for a compressor with a large window.
 */
#ifndef KISEKI_BENCH_PAGES_H
#define KISEKI_BENCH_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "events.h"

#define PAGES_MAX (1U << 30)

struct pages {
	uint8_t *data;
	size_t len;
};

int pages_load(struct pages *p, const char *path, struct error *e);

/* Pages that hold these events and nothing else, written by our own exporter through `scratch`, a
 * file that is removed again: for traces that were cut or that hold other events too. */
int pages_from_events(struct pages *p, const struct events *ev, const char *scratch,
		      struct error *e);
void pages_done(struct pages *p);

#endif
