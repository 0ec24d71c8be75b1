/* SPDX-License-Identifier: MIT */
/*
 * demangle: see demangle.h.
 *
 * The library cannot be told to stop, so the callback leaves it by longjmp once there is too much. That
 * loses nothing: in this mode it keeps all it has on its stack, and allocates nothing.
 */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* Of libsupc++, which has no header for it. 0: done; else it is no mangled name. */
int __gcclibcxx_demangle_callback(const char *mangled,
				  void (*callback)(const char *text, size_t len, void *opaque),
				  void *opaque);

struct output {
	jmp_buf too_much;
	size_t len;
	char text[DEMANGLE_OUT_MAX];
};

static void put(const char *text, size_t len, void *opaque)
{
	struct output *o = opaque;

	if (len >= sizeof(o->text) - o->len)
		longjmp(o->too_much, 1);
	memcpy(o->text + o->len, text, len);
	o->len += len;
}

char *demangle_dup(const char *name)
{
	struct output o;

	/* Anything else could be read as a type: the C function "i" would become "int". */
	if (strncmp(name, "_Z", 2) != 0 || strnlen(name, DEMANGLE_IN_MAX) == DEMANGLE_IN_MAX)
		return NULL;
	o.len = 0;
	if (setjmp(o.too_much) || __gcclibcxx_demangle_callback(name, put, &o) != 0)
		return NULL;
	return strndup(o.text, o.len);
}
