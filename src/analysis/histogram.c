/* SPDX-License-Identifier: MIT */
/* histogram: see histogram.h. */
#include "analysis/histogram.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t octave_of(uint64_t value)
{
	if (value < HISTOGRAM_SUB)
		return 0;
	return 63U - (uint32_t)__builtin_clzll(value) - HISTOGRAM_SUB_BITS + 1;
}

static uint32_t sub_of(uint64_t value, uint32_t octave)
{
	if (octave == 0)
		return (uint32_t)value;
	return (uint32_t)(value >> (octave - 1)) & (HISTOGRAM_SUB - 1);
}

static uint64_t bucket_middle(uint32_t octave, uint32_t sub)
{
	if (octave == 0)
		return sub;
	return ((uint64_t)(HISTOGRAM_SUB + sub) << (octave - 1)) + ((1ULL << (octave - 1)) >> 1);
}

void histogram_done(struct histogram *h)
{
	uint32_t i;

	for (i = 0; i < HISTOGRAM_OCTAVES; i++) {
		free(h->octaves[i]);
		h->octaves[i] = NULL;
	}
}

static int need_octave(struct histogram *h, uint32_t octave)
{
	if (!h->octaves[octave])
		h->octaves[octave] = calloc(HISTOGRAM_SUB, sizeof(uint64_t));
	return h->octaves[octave] ? 0 : -ENOMEM;
}

static void add_sum(struct histogram *h, uint64_t sum)
{
	h->sum = h->sum + sum < h->sum ? UINT64_MAX : h->sum + sum;
}

int histogram_add(struct histogram *h, uint64_t value)
{
	uint32_t octave = octave_of(value);

	if (need_octave(h, octave) < 0)
		return -ENOMEM;
	h->octaves[octave][sub_of(value, octave)]++;
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	add_sum(h, value);
	h->count++;
	return 0;
}

int histogram_merge(struct histogram *to, const struct histogram *from)
{
	uint32_t i, k;

	for (i = 0; i < HISTOGRAM_OCTAVES; i++) {
		if (!from->octaves[i])
			continue;
		if (need_octave(to, i) < 0)
			return -ENOMEM;
		for (k = 0; k < HISTOGRAM_SUB; k++)
			to->octaves[i][k] += from->octaves[i][k];
	}
	if (from->count && (!to->count || from->min < to->min))
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	add_sum(to, from->sum);
	to->count += from->count;
	return 0;
}

static uint64_t within(const struct histogram *h, uint64_t value)
{
	if (value < h->min)
		return h->min;
	return value > h->max ? h->max : value;
}

uint64_t histogram_permille(const struct histogram *h, uint32_t permille)
{
	/* ceil(count * permille / 1000) without the product, which could pass 64 bits. */
	uint64_t rank = h->count / 1000 * permille + (h->count % 1000 * permille + 999) / 1000;
	uint64_t below = 0;
	uint32_t i, k;

	if (!h->count)
		return 0;
	if (rank <= 1)
		return h->min; /* the ends are known exactly */
	if (rank >= h->count)
		return h->max;
	for (i = 0; i < HISTOGRAM_OCTAVES; i++) {
		for (k = 0; h->octaves[i] && k < HISTOGRAM_SUB; k++) {
			below += h->octaves[i][k];
			if (below >= rank)
				return within(h, bucket_middle(i, k));
		}
	}
	return h->max;
}

uint64_t histogram_power(const struct histogram *h, uint32_t power)
{
	uint32_t octave = power < HISTOGRAM_SUB_BITS ? 0 : power - HISTOGRAM_SUB_BITS + 1;
	uint32_t from = 0, to = HISTOGRAM_SUB, k;
	uint64_t count = 0;

	if (power > 63 || !h->octaves[octave])
		return 0;
	if (octave == 0) {
		from = power ? 1U << power : 0;
		to = 2U << power;
	}
	for (k = from; k < to; k++)
		count += h->octaves[octave][k];
	return count;
}
