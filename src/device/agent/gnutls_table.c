/* SPDX-License-Identifier: MIT */
/* gnutls_table: see gnutls_table.h. */
#include "device/agent/gnutls_table.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libgnutls.so.30"

/* dlsym() gives a pointer to data, and only POSIX says that it may be one to a function. */
static bool find(void *library, const char *name, void *ret, size_t size)
{
	void *symbol = dlsym(library, name);

	memcpy(ret, &symbol, size);
	return symbol;
}

const struct gnutls_table *gnutls_table_get(struct error *e)
{
	static struct gnutls_table table;
	static bool is_whole;
	void *library;

	if (is_whole)
		return &table;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	is_whole = library;
#define GNUTLS_FIND(name)                                                                          \
	is_whole = is_whole && find(library, #name, &table.name, sizeof(table.name));
	GNUTLS_TABLE(GNUTLS_FIND)
#undef GNUTLS_FIND
	if (is_whole)
		return &table;
	error_set(e, ENOSYS, "cannot use keys: %s is not on this device, or too old", LIBRARY);
	return NULL;
}

int gnutls_table_error(const struct gnutls_table *g, struct error *e, const char *verb, int code)
{
	return error_set(e, EPROTO, "cannot %s: %s", verb, g->gnutls_strerror(code));
}
