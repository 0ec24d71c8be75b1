/* SPDX-License-Identifier: MIT */
/* http_symbols: see http_symbols.h. */
#include "collector/http_symbols.h"

#include <string.h>

void http_symbols_init(struct http_symbols *s, const struct http_options *o)
{
	size_t n = 0;

	memset(s, 0, sizeof(*s));
	if (o->symbols)
		s->folders[n++] = o->symbols;
	if (o->objects)
		s->folders[n++] = o->objects;
	s->options = (struct symbols_options){ .sysroot = s->folders[0],
					       .folders = s->folders,
					       .cache = o->tables,
					       .cache_bytes = o->tables_bytes };
}

struct symbols_options http_symbols_guests(const struct http_symbols *s)
{
	struct symbols_options o = s->options;

	o.sysroot = NULL;
	return o;
}

int http_symbols_open(const struct http_symbols *s, struct symbols **ret, struct error *e)
{
	*ret = NULL;
	return s->folders[0] ? symbols_new(&s->options, ret, e) : 0;
}
