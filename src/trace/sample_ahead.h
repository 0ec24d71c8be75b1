/* SPDX-License-Identifier: MIT */
/*
 * sample_ahead: the CPUs of a profile in batches, decoded by who reads them and by any other thread that has time for it.
 *
 * Alone the reader decodes a batch when it needs one. A thread that helps decodes those that will be needed next, of whichever CPU nobody is
 * at; a reader who comes to a CPU before its helpers does it itself. So nobody waits while there is something to do, and what the
 * reader gets does not depend on who decoded it: a CPU's batches come in their order, and CPUs know nothing of each other.
 */
#ifndef KISEKI_TRACE_SAMPLE_AHEAD_H
#define KISEKI_TRACE_SAMPLE_AHEAD_H

#include "trace/sample_cursor.h"

#define SAMPLE_AHEAD_BATCHES 256U /* of all CPUs, that may be ready */

struct sample_ahead;

/* The reader must outlive it, and is its own meanwhile. 0, -ENOMEM. */
int sample_ahead_new(struct sample_ahead **ret, struct block_reader *r);
void sample_ahead_free(struct sample_ahead *a); /* nobody helps any more */
DEFINE_CLEANUP(sample_ahead, sample_ahead_free)

/* CPUs are added before anything is read, and have numbers from 0. 0, -ENOMEM. */
int sample_ahead_add(struct sample_ahead *a, uint32_t cpu);

/* To the start; while nobody helps. */
void sample_ahead_rewind(struct sample_ahead *a);

/* The next batch of a CPU, NULL: out of memory; borrowed until the next of the same CPU. Not behind one whose result is not 1. By one
 * thread. */
const struct sample_batch *sample_ahead_take(struct sample_ahead *a, size_t number);

/* Of a CPU, as far as it was decoded; while nobody helps. */
const struct sample_totals *sample_ahead_totals(const struct sample_ahead *a, size_t number);

/* From another thread: decodes until all is decoded, or until they are dismissed. Returns the time in which it did not wait, in ns. */
uint64_t sample_ahead_help(struct sample_ahead *a);
/* Who helps returns, and who comes to help does at once. */
void sample_ahead_dismiss(struct sample_ahead *a);

#endif
