/* SPDX-License-Identifier: MIT */
/*
 * graph_names: names of functions, and the number of each.
 */
#ifndef KISEKI_CONVERT_GRAPH_NAMES_H
#define KISEKI_CONVERT_GRAPH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "store/hashtable.h"

#define GRAPH_NAME_MAX 600U /* the kernel's longest symbol and a module; what is longer is cut */

struct graph_names {
	char **list;
	size_t n, room;
	struct hashtable by_text;
};

void graph_names_init(struct graph_names *names);
void graph_names_done(struct graph_names *names);

/* The number of a name, the same for the same text. 0, -ENOMEM or -E2BIG. */
int graph_names_get(struct graph_names *names, const char *text, size_t len, uint32_t *ret);

/* The list, which is the caller's then. */
char **graph_names_take(struct graph_names *names, size_t *ret_n);

#endif
