/* SPDX-License-Identifier: MIT */
/*
 * array: room for one more in a list that doubles, up to a ceiling that its owner names.
 */
#ifndef KISEKI_STORE_ARRAY_H
#define KISEKI_STORE_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Its elements may move. 0, -ENOMEM, or -E2BIG at the ceiling. */
static inline int array_grow(void *array_pointer, size_t n, size_t *room, size_t size, size_t most)
{
	void **array = (void **)array_pointer;
	size_t wanted = *room ? *room * 2 : 16;
	void *grown;

	if (n < *room)
		return 0;
	if (n >= most)
		return -E2BIG;
	if (wanted > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

#endif
