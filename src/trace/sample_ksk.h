/* SPDX-License-Identifier: MIT */
/*
 * sample_ksk: the profile of a .ksk file, or of a run in a store, as a source of samples.
 *
 * The streams of its CPUs are merged by tick (sample_cursor.h has each). The end was seen if a file has its index,
 * which is written last, or if the device said that the run is over.
 */
#ifndef KISEKI_TRACE_SAMPLE_KSK_H
#define KISEKI_TRACE_SAMPLE_KSK_H

#include "store/ksk_file.h"
#include "store/store_reader.h"
#include "trace/run_description.h"
#include "trace/sample_ahead.h"
#include "trace/sample_source.h"

/* -ENODATA: it has no samples. */
int sample_ksk_open(const char *path, struct sample_source **ret, struct error *e);
int sample_ksk_open_memory(const uint8_t *data, size_t len, struct sample_source **ret,
			   struct error *e);
int sample_ksk_open_run(struct store *s, uint32_t run, struct sample_source **ret, struct error *e);

/* A part of a run: from where the segments begin that hold its first tick. That there is more before and behind it is no
 * loss. */
int sample_ksk_open_part(struct store *s, uint32_t run, const struct store_range *range,
			 struct sample_source **ret, struct error *e);
/* The same; where its description is borrowed, that must outlive it. */
int sample_ksk_open_told(const struct run_part *p, struct sample_source **ret, struct error *e);

/* Whether there are streams of samples. */
bool sample_ksk_has_samples(struct block_reader *r);

/* Of a source opened here: how many CPUs have a stream; which CPU the n-th of them is, and what it held as far as it
 * was read; and, if from a file, that file with its damage, else NULL. */
size_t sample_ksk_cpus(const struct sample_source *s);
uint32_t sample_ksk_cpu(const struct sample_source *s, size_t n);
const struct sample_totals *sample_ksk_totals(const struct sample_source *s, size_t n);
struct ksk_file *sample_ksk_file(const struct sample_source *s);

/* When its records begin and end, without reading them. 1, 0: it has none, or < 0. */
int sample_ksk_span(const struct sample_source *s, uint64_t *ret_from, uint64_t *ret_to);

/* Of a source opened here, while somebody else reads it: as sample_ahead.h has them. */
uint64_t sample_ksk_help(struct sample_source *s);
void sample_ksk_dismiss(struct sample_source *s);

/* Where its blocks come from; borrowed. */
struct block_reader *sample_ksk_reader(const struct sample_source *s);

#endif
