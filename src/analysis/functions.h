/* SPDX-License-Identifier: MIT */
/*
 * functions: what addresses turned out to be, each function once, numbered from 0 in the order in which they came.
 *
 * A function is the same wherever its object is mapped: what makes it one is the object and its start there, or a
 * text where there is no address. Names of calls (call_names.h) and of profiles (profile_names.h) both number theirs
 * here. What has no name is object+0xoffset.
 */
#ifndef KISEKI_ANALYSIS_FUNCTIONS_H
#define KISEKI_ANALYSIS_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/hashtable.h"
#include "symbol/symbols.h"

#define FUNCTIONS_MAX (1U << 22)
#define FUNCTION_NO_OBJECT UINT32_MAX

struct function {
	const char *name;   /* never NULL */
	const char *object; /* name of its file, "" if the source has none */
	bool known;	    /* else the name is made of the object and the offset */
	uint32_t number; /* of the object in `symbols`, FUNCTION_NO_OBJECT if it is none of them */
	uint64_t place;	 /* in the object's file */
};

/* Instead of an object's number in what makes a function one. */
#define FUNCTION_OF_KERNEL (UINT32_MAX - 1) /* start is an address */
#define FUNCTION_OF_TEXT (UINT32_MAX - 2)   /* the text is all there is */
#define FUNCTION_OF_NOBODY (UINT32_MAX - 3) /* in no mapping; start is the address */
#define FUNCTION_OF_LABEL (UINT32_MAX - 4)  /* name and object are all there is */

/* A function that is looked for; if it is new, it becomes so. */
struct function_like {
	struct function shown; /* name NULL: to be made of object and offset */
	uint32_t object;       /* a number in `symbols`, or one of those above */
	uint64_t start;	       /* in the object; 0 of FUNCTION_OF_TEXT, FUNCTION_OF_LABEL */
	const char *text;      /* of FUNCTION_OF_TEXT */
	bool copied;	       /* the texts of `shown` are not the caller's to keep */
};

struct functions {
	struct hashtable table;
	struct function_row **list;
	size_t n, room;
};

void functions_init(struct functions *f);
void functions_done(struct functions *f);

/* `offset` is for those without a name. -E2BIG, -ENOMEM. */
int functions_find(struct functions *f, const struct function_like *like, uint64_t offset,
		   uint32_t *ret);

/* By `symbols`, which may be NULL: what is at a place in an object's file, and at an address of the kernel. */
int functions_find_mapped(struct functions *f, struct symbols *symbols,
			  const struct symbol_object *o, uint64_t place, uint32_t *ret);
int functions_find_kernel(struct functions *f, struct symbols *symbols, uint64_t address,
			  uint32_t *ret);

/* In no mapping. */
int functions_find_nobody(struct functions *f, uint64_t address, uint32_t *ret);

/* Not a function but what stands in its place: a process, a thread, a guest. Texts are copied. */
int functions_find_label(struct functions *f, const char *name, const char *object, uint32_t *ret);

const struct function *functions_get(const struct functions *f, uint32_t number);

/* By name, then by object: for whoever sorts numbers. `functions` is a struct functions. */
int functions_compare(const void *functions, uint32_t a, uint32_t b);

/* No function, but what stands in the place of one. */
bool functions_is_label(const struct functions *f, uint32_t number);

#endif
