/* SPDX-License-Identifier: MIT */
/*
 * symbol: what it costs to find the function of an address, beside a binary search.
 *
 *	symbol [--runs N] [--lookups N]
 *
 * Tables of 150 thousand and 2 million functions, of sizes as a kernel has them; the same addresses,
 * at random all over them, are asked of the page index (src/symbol/symtab) and of bsearch() over the
 * sorted functions. Both answers are compared for each
 * address before anything is timed. Figures are nanoseconds per question, best of N runs; only their
 * ratio means something on a machine that others use, too.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stopwatch.h"
#include "symbol/symtab.h"

#define RUNS 7U
#define LOOKUPS 1000000U
#define BASE 0xffffffc008000000ULL
#define NAME "f"

struct range {
	uint64_t start, end;
};

struct bench {
	struct symtab *table;
	struct range *ranges;
	size_t n;
	uint64_t *addresses;
	size_t lookups;
	uintptr_t sum; /* so that no answer is left out */
};

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* As in a kernel of this machine's kind: half of the functions below 200 bytes, 340 on average. */
static uint64_t random_size(uint64_t *seed)
{
	uint64_t r = random_next(seed);
	unsigned bits = (r >> 8) % 64 ? 5 + (unsigned)(r % 5) : 11;

	return ((1ULL << bits) + (r >> 16) % (1ULL << bits)) & ~3ULL;
}

static int push(struct bench *b, const struct range *r)
{
	struct symtab_item item = { .start = r->start, .end = r->end, .name = NAME, .name_len = 1 };

	return symtab_push(b->table, &item);
}

static int make(struct bench *b, size_t n, size_t lookups)
{
	uint64_t seed = 88172645463325252ULL, at = BASE;
	size_t i;
	int r = 0;

	*b = (struct bench){ .table = symtab_new(), .n = n, .lookups = lookups };
	b->ranges = calloc(n, sizeof(*b->ranges));
	b->addresses = calloc(lookups, sizeof(*b->addresses));
	if (!b->table || !b->ranges || !b->addresses)
		return -ENOMEM;
	for (i = 0; i < n && r == 0; i++) {
		b->ranges[i].start = at;
		b->ranges[i].end = at + random_size(&seed);
		at = b->ranges[i].end + (random_next(&seed) % 8 == 0 ? 12 : 0);
		r = push(b, &b->ranges[i]);
	}
	for (i = 0; i < lookups; i++)
		b->addresses[i] = BASE + random_next(&seed) % (at - BASE);
	return r < 0 ? r : symtab_index(b->table);
}

static void done(struct bench *b)
{
	symtab_free(b->table);
	free(b->ranges);
	free(b->addresses);
}

/* As it is mostly done: a comparison function, and the end of what was found looked at. */
static int compare(const void *key, const void *range)
{
	const uint64_t address = *(const uint64_t *)key;
	const struct range *r = range;

	return address < r->start ? -1 : address >= r->end;
}

static const struct range *find_half(const struct bench *b, uint64_t address)
{
	return bsearch(&address, b->ranges, b->n, sizeof(struct range), compare);
}

/* Both know the same functions and the same holes. */
static int check(const struct bench *b, size_t *ret_found)
{
	size_t i;

	for (i = 0; i < b->lookups; i++) {
		const struct symtab_symbol *s = symtab_find(b->table, b->addresses[i]);
		const struct range *r = find_half(b, b->addresses[i]);

		if (!s != !r || (s && s->start != r->start))
			return -EBADMSG;
		*ret_found += s != NULL;
	}
	return 0;
}

static int run_page(void *ctx)
{
	struct bench *b = ctx;
	size_t i;

	for (i = 0; i < b->lookups; i++)
		b->sum += (uintptr_t)symtab_find(b->table, b->addresses[i]);
	return 0;
}

static int run_half(void *ctx)
{
	struct bench *b = ctx;
	size_t i;

	for (i = 0; i < b->lookups; i++)
		b->sum += (uintptr_t)find_half(b, b->addresses[i]);
	return 0;
}

static int measure(size_t symbols, size_t lookups, const struct stopwatch *watch)
{
	uint64_t page_ns = 0, half_ns = 0;
	struct bench b;
	size_t found = 0;
	int r = make(&b, symbols, lookups);

	if (r == 0)
		r = check(&b, &found);
	if (r == 0)
		r = stopwatch_best(watch, run_page, &b, &page_ns);
	if (r == 0)
		r = stopwatch_best(watch, run_half, &b, &half_ns);
	if (r == 0)
		printf("%8zu symbols, %zu lookups, %zu found: page index %.1f ns, bsearch %.1f ns, "
		       "ratio %.1f\n",
		       symbols, lookups, found, (double)page_ns / (double)lookups,
		       (double)half_ns / (double)lookups, (double)half_ns / (double)page_ns);
	done(&b);
	return r;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "runs", required_argument, NULL, 'r' },
					       { "lookups", required_argument, NULL, 'l' },
					       { 0 } };
	static const size_t sizes[] = { 150000, 2000000 };
	struct stopwatch watch = { .runs = RUNS, .limit_ns = 20000000000ULL };
	size_t lookups = LOOKUPS, i;
	int c, r = 0;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'r')
			watch.runs = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'l')
			lookups = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (!watch.runs || !lookups)
		return 2;
	stopwatch_pin();
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && r == 0; i++)
		r = measure(sizes[i], lookups, &watch);
	if (r < 0)
		fprintf(stderr, "symbol: %s\n",
			r == -EBADMSG ? "the two searches differ" : strerror(-r));
	return r < 0;
}
