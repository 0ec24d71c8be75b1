/* SPDX-License-Identifier: MIT */
/*
 * rule: which functions a setting means.
 *
 * A device has no symbols, so a function is given by its place in an object's file, as
 * `kiseki func run` finds it out:
 *
 *	libdraw.so*                 every function of objects with this name
 *	/opt/app/bin/app+0x1340     the function whose first byte is there in the file
 *	app+0x1340-0x2000           every function that starts between these two
 *
 * A pattern with a slash means whole paths, others the file's name; `*` and `?` are as in a shell,
 * without being particular about slashes. A list has commas between its parts.
 */
#ifndef KISEKI_DEVICE_FUNC_RULE_H
#define KISEKI_DEVICE_FUNC_RULE_H

#include "wire/types.h"

#define RULES_MAX 256U
#define RULE_TEXT_MAX 8192U /* of all rules together */

/* What is said of a function; several may be. */
enum rule_bit {
	RULE_ONLY = 1 << 0,
	RULE_NOT = 1 << 1,
	RULE_TREE = 1 << 2,
	RULE_NOTREE = 1 << 3,
	RULE_SAMPLE = 1 << 4,
	RULE_START_ENTRY = 1 << 5,
	RULE_START_EXIT = 1 << 6,
	RULE_STOP_ENTRY = 1 << 7,
	RULE_STOP_EXIT = 1 << 8,
};
#define RULE_START (RULE_START_ENTRY | RULE_START_EXIT)
#define RULE_STOP (RULE_STOP_ENTRY | RULE_STOP_EXIT)

struct rule {
	const char *object; /* pattern */
	uint64_t from, to;  /* offsets in its file: from ≤ … < to */
	uint16_t bit;
};

struct rules {
	uint32_t n;
	uint32_t text_len;
	uint16_t bits; /* of any of them */
	struct rule rule[RULES_MAX];
	char text[RULE_TEXT_MAX];
};

/* Adds a list; false: it cannot be read, or there are too many. For RULE_START and RULE_STOP, both
 * bits, each part says entry: or exit:, or nothing, which is entry. */
bool rules_parse(struct rules *r, const char *list, uint16_t bit);

/* Bits of the function at this offset of this object. */
uint16_t rules_find(const struct rules *r, const char *path, uint64_t offset);

#endif
