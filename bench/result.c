/* SPDX-License-Identifier: MIT */
/* result: see result.h. */
#include "result.h"

#include <assert.h>
#include <string.h>

struct result *result_add(struct trace_result *t, const char *key, const char *name)
{
	struct result *r = &t->row[t->n_rows++];

	assert(t->n_rows <= RESULT_ROWS);
	*r = (struct result){ .key = key,
			      .name = name,
			      .events = t->events,
			      .encode_ns = RESULT_NONE,
			      .decode_ns = RESULT_NONE };
	return r;
}

const struct result *result_find(const struct trace_result *t, const char *key)
{
	size_t i;

	for (i = 0; i < t->n_rows; i++)
		if (!strcmp(t->row[i].key, key))
			return &t->row[i];
	return NULL;
}

double result_bytes(const struct result *r)
{
	return (double)r->bytes / (double)r->events;
}

double result_ns(const struct result *r, uint64_t ns)
{
	return (double)ns / (double)r->events;
}

double result_size_ratio(const struct trace_result *t, const char *of, const char *to)
{
	const struct result *a = result_find(t, of), *b = result_find(t, to);

	return a && b ? result_bytes(a) / result_bytes(b) : -1;
}

double result_encode_ratio(const struct trace_result *t, const char *of, const char *to)
{
	const struct result *a = result_find(t, of), *b = result_find(t, to);

	if (!a || !b || a->encode_ns == RESULT_NONE || b->encode_ns == RESULT_NONE)
		return -1;
	return result_ns(a, a->encode_ns) / result_ns(b, b->encode_ns);
}

struct convert_result *convert_result_add(struct trace_result *t, const char *key, const char *name)
{
	struct convert_result *c = &t->convert[t->n_convert++];

	assert(t->n_convert <= RESULT_CONVERT);
	*c = (struct convert_result){ .key = key, .name = name };
	return c;
}

double convert_result_ratio(const struct trace_result *t, const struct convert_result *c)
{
	size_t i;

	for (i = 0; c->versus && i < t->n_convert; i++)
		if (!strcmp(t->convert[i].key, c->versus))
			return (double)t->convert[i].cpu_ns / (double)c->cpu_ns;
	return -1;
}
