/* SPDX-License-Identifier: MIT */
/*
 * symbol: what it costs to find the function of an address, beside a binary search.
 *
 *	symbol [--runs N] [--lookups N] [--markdown FILE] [OBJECT...]
 *
 * Tables of 150 thousand and 2 million functions, of sizes as a kernel has them; the same addresses,
 * at random all over them, are asked of the page index in memory (src/symbol/symtab), of the same in a
 * mapped file (src/symbol/symfile), and of bsearch() over the sorted functions. All answers are compared
 * for each address before anything is timed. Figures are nanoseconds per question, best of N runs; only their
 * ratio means something on a machine that others use, too.
 *
 * Of each OBJECT: what it takes to read its symbols, beside opening the table that was kept. Its bytes are in
 * the page cache for both.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "stopwatch.h"
#include "symbol/object.h"
#include "symbol/symfile_write.h"

#define RUNS 7U
#define LOOKUPS 1000000U
#define BASE 0xffffffc008000000ULL
#define NAME "f"

struct range {
	uint64_t start, end;
};

struct bench {
	struct symtab *table;
	struct symfile *file;
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

/* The same table as a file. */
static int map(struct bench *b)
{
	static const uint8_t id[] = { 1 };
	const struct symfile_source s = {
		.kind = SYMFILE_OBJECT, .id = id, .id_len = sizeof(id), .table = b->table
	};
	int fd = memfd_create("symbols", MFD_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = symfile_write(fd, &s);
	if (r < 0)
		close(fd);
	return r < 0 ? r : symfile_open(fd, &b->file, NULL);
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
	if (r == 0)
		r = symtab_index(b->table);
	return r < 0 ? r : map(b);
}

static void done(struct bench *b)
{
	symtab_free(b->table);
	symfile_close(b->file);
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

/* All know the same functions and the same holes. */
static int check(const struct bench *b, size_t *ret_found)
{
	size_t i;

	for (i = 0; i < b->lookups; i++) {
		const struct symtab_symbol *s = symtab_find(b->table, b->addresses[i]);
		const struct range *r = find_half(b, b->addresses[i]);
		struct symfile_symbol f;
		bool in_file = symfile_find(b->file, b->addresses[i], &f);

		if (!s != !r || (s && s->start != r->start) || in_file != (s != NULL) ||
		    (in_file && f.start != s->start))
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

/* Up to its name, for that is what a file is asked for. */
static int run_file(void *ctx)
{
	struct bench *b = ctx;
	struct symfile_symbol s;
	size_t i;

	for (i = 0; i < b->lookups; i++)
		if (symfile_find(b->file, b->addresses[i], &s))
			b->sum += (uintptr_t)s.other;
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

static int measure(size_t symbols, size_t lookups, const struct stopwatch *watch, FILE *out)
{
	uint64_t page_ns = 0, file_ns = 0, half_ns = 0;
	struct bench b;
	size_t found = 0;
	int r = make(&b, symbols, lookups);

	if (r == 0)
		r = check(&b, &found);
	if (r == 0)
		r = stopwatch_best(watch, run_page, &b, &page_ns);
	if (r == 0)
		r = stopwatch_best(watch, run_file, &b, &file_ns);
	if (r == 0)
		r = stopwatch_best(watch, run_half, &b, &half_ns);
	if (r == 0)
		fprintf(out, "| %zu | %.1f ns | %.1f ns | %.1f ns | %.1f | %.1f |\n", symbols,
			(double)page_ns / (double)lookups, (double)file_ns / (double)lookups,
			(double)half_ns / (double)lookups, (double)half_ns / (double)page_ns,
			(double)half_ns / (double)file_ns);
	done(&b);
	return r;
}

/* --- opening --- */

struct opening {
	char path[PATH_MAX];
	struct elf_build_id id;
	struct symcache *cache; /* NULL: its symbols are read */
	uint32_t symbols;
	uint64_t bytes;
};

static int open_once(void *ctx)
{
	struct opening *op = ctx;
	const struct object_wanted w = { .path = op->path,
					 .build_id = op->id.bytes,
					 .build_id_len = op->id.len,
					 .cache = op->cache };
	const struct search s = { 0 };
	_cleanup_free_ char *problem = NULL;
	struct object *o = NULL;
	int r = object_open(&s, &w, &o, &problem);

	if (r == 0 && object_get_kept(o)) {
		op->symbols = object_get_kept(o)->n_symbols;
		op->bytes = object_get_kept(o)->size;
	}
	object_close(o);
	return r;
}

static int get_id(struct opening *op, const char *name)
{
	struct elf_file f;
	int r;

	if (!realpath(name, op->path))
		return -errno;
	r = elf_file_open(&f, open(op->path, O_RDONLY | O_CLOEXEC), NULL);
	if (r < 0)
		return r;
	elf_identity_get_build_id(&f, &op->id);
	elf_file_close(&f);
	return op->id.len ? 0 : -ENODATA;
}

static void remove_tables(struct symcache *c, const char *folder)
{
	_cleanup_free_ struct symcache_row *rows = NULL;
	char path[PATH_MAX];
	size_t n = 0;

	if (!c || symcache_dup_rows(c, &rows, &n) < 0)
		return;
	while (n--) {
		snprintf(path, sizeof(path), "%s/%s", folder, rows[n].name);
		unlink(path);
	}
	rmdir(folder);
}

static int measure_open(const char *name, const struct stopwatch *watch, FILE *out)
{
	const struct stopwatch once = { .runs = 1, .limit_ns = UINT64_MAX };
	char folder[] = "/tmp/kiseki-bench-symbols.XXXXXX";
	const char *slash = strrchr(name, '/');
	struct opening op = { .cache = NULL };
	struct symcache *cache = NULL;
	uint64_t read_ns = 0, make_ns = 0, open_ns = 0;
	int r = get_id(&op, name);

	if (r == 0 && !mkdtemp(folder))
		r = -errno;
	if (r == 0)
		r = symcache_open(folder, 0, &cache, NULL);
	if (r == 0)
		r = stopwatch_best(watch, open_once, &op, &read_ns);
	op.cache = cache;
	if (r == 0)
		r = stopwatch_best(&once, open_once, &op, &make_ns);
	if (r == 0)
		r = stopwatch_best(watch, open_once, &op, &open_ns);
	if (r == 0)
		fprintf(out, "| %s | %u | %.1f MB | %.1f ms | %.1f ms | %.3f ms | %.0f |\n",
			slash ? slash + 1 : name, op.symbols, (double)op.bytes / 1e6,
			(double)read_ns / 1e6, (double)make_ns / 1e6, (double)open_ns / 1e6,
			(double)read_ns / (double)open_ns);
	remove_tables(cache, folder);
	symcache_close(cache);
	return r;
}

static int measure_all(size_t lookups, const struct stopwatch *watch, char **objects, FILE *out)
{
	static const size_t sizes[] = { 150000, 2000000 };
	size_t i;
	int r = 0;

	fprintf(out,
		"%zu addresses at random, the best of %u runs.\n\n"
		"| symbols | page index, in memory | mapped file, up to the name | bsearch | "
		"bsearch / page index | bsearch / mapped file |\n"
		"|--:|--:|--:|--:|--:|--:|\n",
		lookups, watch->runs);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && r == 0; i++)
		r = measure(sizes[i], lookups, watch, out);
	if (*objects)
		fprintf(out, "\n| object | symbols | its table | reading its symbols | the same, "
			     "and keeping "
			     "the table | opening the table | reading / opening |\n"
			     "|---|--:|--:|--:|--:|--:|--:|\n");
	for (; *objects && r == 0; objects++)
		r = measure_open(*objects, watch, out);
	return r;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "runs", required_argument, NULL, 'r' },
					       { "lookups", required_argument, NULL, 'l' },
					       { "markdown", required_argument, NULL, 'm' },
					       { 0 } };
	struct stopwatch watch = { .runs = RUNS, .limit_ns = 20000000000ULL };
	size_t lookups = LOOKUPS;
	FILE *out = stdout;
	int c, r;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'r')
			watch.runs = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'l')
			lookups = strtoul(optarg, NULL, 10);
		else if (c == 'm')
			out = fopen(optarg, "w");
		else
			return 2;
	}
	if (!watch.runs || !lookups || !out)
		return 2;
	stopwatch_pin();
	r = measure_all(lookups, &watch, argv + optind, out);
	if (r < 0)
		fprintf(stderr, "symbol: %s\n",
			r == -EBADMSG ? "the searches differ" : strerror(-r));
	return fclose(out) || r < 0;
}
