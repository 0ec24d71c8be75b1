/* SPDX-License-Identifier: MIT */
/*
 * starve: stands before the allocator of a replay (the linker's --wrap), so that each input can be read again and again, each time with
 * another allocation that fails. What a parser does without memory no input can ask for, and few inputs of a corpus are so long that all of their
 * allocations were too many to try.
 */
#include "starve.h"

#include <stdatomic.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

static atomic_bool is_armed;
static atomic_uint left;

void starve_begin(uint32_t n)
{
	left = n;
	is_armed = true;
}

bool starve_end(void)
{
	bool failed = !is_armed;

	is_armed = false;
	return failed;
}

static bool is_due(void)
{
	if (!is_armed || left--)
		return false;
	is_armed = false;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return is_due() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_due() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return is_due() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return is_due() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return is_due() ? NULL : __real_strndup(s, n);
}
