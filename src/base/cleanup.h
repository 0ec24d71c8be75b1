/* SPDX-License-Identifier: MIT */
/*
 * cleanup: scope-bound release of resources, in place of goto ladders.
 *
 *	_cleanup_free_ char *name = NULL;
 *	_cleanup_close_ int fd = -EBADF;
 *
 * A type with its own destructor declares one with DEFINE_CLEANUP(type, free_function) and uses
 * CLEANUP(type). take_ptr() and take_fd() move the value out, so that the scope's end releases
 * nothing.
 */
#ifndef KISEKI_BASE_CLEANUP_H
#define KISEKI_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_ __attribute__((cleanup(cleanup_freep)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_closep)))

#define DEFINE_CLEANUP(type, func)                                                                 \
	static inline void cleanup_##type##p(struct type **p)                                      \
	{                                                                                          \
		func(*p);                                                                          \
	}
#define CLEANUP(type) __attribute__((cleanup(cleanup_##type##p)))

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
