/* SPDX-License-Identifier: MIT */
/* guest_tables: see guest_tables.h. Here a build without BPF. */
#include <errno.h>

#include "device/guest/guest_tables.h"

void guest_tables_prepare(void)
{
}

int guest_tables_new(struct guest_tables **ret, struct error *e)
{
	(void)ret;
	return error_set(e, ENOTSUP, "cannot tell page tables: this program was built without BPF");
}

void guest_tables_free(struct guest_tables *t)
{
	(void)t;
}

int guest_tables_fd(const struct guest_tables *t)
{
	(void)t;
	return -1;
}

int guest_tables_read(struct guest_tables *t,
		      void (*take)(void *context, const struct guest_event *ev), void *context)
{
	(void)t;
	(void)take;
	(void)context;
	return 0;
}

int guest_tables_list(struct guest_tables *t,
		      void (*take)(void *context, const struct guest_event *ev), void *context)
{
	(void)t;
	(void)take;
	(void)context;
	return 0;
}
