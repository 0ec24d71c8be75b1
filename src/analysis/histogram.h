/* SPDX-License-Identifier: MIT */
/*
 * histogram: how often which duration occurred, in bounded memory, to about one percent.
 *
 * Log-linear: values below 64 have a bucket each, every octave above has 64 buckets of equal width,
 * so a bucket is at most 1/64 of its value wide and its middle is at most 0.8 % off. Octaves are
 * allocated when first used: a task that always waits for some microseconds pays for a few of them,
 * and no histogram can ever have more than HISTOGRAM_OCTAVES of 512 bytes. Count, sum, least and
 * greatest value are exact.
 */
#ifndef KISEKI_ANALYSIS_HISTOGRAM_H
#define KISEKI_ANALYSIS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_SUB (1U << HISTOGRAM_SUB_BITS)
/* Octave 0 holds the values below 64; octave i > 0 those from 64 << (i - 1) to 64 << i. */
#define HISTOGRAM_OCTAVES (64 - HISTOGRAM_SUB_BITS + 1)

struct histogram {
	uint64_t count;
	uint64_t sum; /* stays at UINT64_MAX once it would pass it */
	uint64_t min; /* of no values: 0 */
	uint64_t max;
	uint64_t *octaves[HISTOGRAM_OCTAVES]; /* NULL: nothing there */
};

void histogram_done(struct histogram *h); /* a zeroed struct is an empty histogram */
int histogram_add(struct histogram *h, uint64_t value);
/* The values of another as well. -ENOMEM, and then `to` has some of them. */
int histogram_merge(struct histogram *to, const struct histogram *from);

/* The value below or at which `permille` thousandths of all values lie: the middle of the bucket of
 * the value with rank ceil(count * permille / 1000), never beyond min or max. 0 if empty. */
uint64_t histogram_permille(const struct histogram *h, uint32_t permille);

/* Values v with 2^power <= v < 2^(power + 1); power 0 counts 0 as well. */
uint64_t histogram_power(const struct histogram *h, uint32_t power);

#endif
