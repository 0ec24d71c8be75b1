/* SPDX-License-Identifier: MIT */
/* told_functions: see told_functions.h. */
#include "device/profile/told_functions.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

#define SUM_START 0xcbf29ce484222325ULL
#define SUM_FACTOR 0x100000001b3ULL
#define USERS 2U /* a module's third and fourth word: who uses it now, which changes by itself */
#define STATE 4U

/* Where in a line it is. */
struct modules_sum {
	uint64_t sum;
	uint32_t word;
};

static void add_byte(struct modules_sum *s, char c)
{
	if (c == '\n')
		s->word = 0;
	else if (c == ' ')
		s->word++;
	if (s->word < USERS || s->word > STATE)
		s->sum = (s->sum ^ (uint8_t)c) * SUM_FACTOR;
}

/* Never 0. */
static uint64_t sum_modules(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct modules_sum s = { SUM_START, 0 };
	char text[4096];
	ssize_t n, i;

	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0)
		for (i = 0; i < n; i++)
			add_byte(&s, text[i]);
	return s.sum | 1;
}

void told_functions_check(struct told_functions *t, const char *modules)
{
	uint64_t sum = sum_modules(modules);

	if (t->modules && t->modules != sum)
		told_functions_forget(t);
	t->modules = sum;
}

void told_functions_forget(struct told_functions *t)
{
	t->n = t->n_sorted = 0;
}

void told_functions_push(struct told_functions *t, uint64_t from, uint64_t to)
{
	if (t->n < TOLD_FUNCTIONS_MAX)
		t->range[t->n++] = (struct told_range){ from, to };
}

static int compare(const void *a, const void *b)
{
	const struct told_range *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void told_functions_sort(struct told_functions *t)
{
	if (t->n > t->n_sorted)
		qsort(t->range, t->n, sizeof(*t->range), compare);
	t->n_sorted = t->n;
}

bool told_functions_has(const struct told_functions *t, uint64_t address)
{
	uint32_t from = 0, to = t->n_sorted, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (t->range[middle].from <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address < t->range[from - 1].to;
}
