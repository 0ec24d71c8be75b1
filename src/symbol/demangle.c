/* SPDX-License-Identifier: MIT */
/*
 * demangle: see demangle.h.
 *
 * The library cannot be told to stop, so the callback leaves it by longjmp once there is too much. That
 * loses nothing: in this mode it keeps all it has on its stack, and allocates nothing.
 */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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

char *demangle_dup_entry(const char *name)
{
	static const char plt[] = "@plt";
	size_t len = strlen(name), end = sizeof(plt) - 1;
	_cleanup_free_ char *inner = NULL, *readable = NULL;
	char *joined;

	if (len <= end || strcmp(name + len - end, plt) != 0)
		return demangle_dup(name);
	inner = strndup(name, len - end);
	readable = inner ? demangle_dup(inner) : NULL;
	if (!readable || asprintf(&joined, "%s%s", readable, plt) < 0)
		return NULL;
	return joined;
}
