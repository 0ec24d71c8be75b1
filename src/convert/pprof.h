/* SPDX-License-Identifier: MIT */
/*
 * pprof: the gzipped protocol buffer of pprof (profile.proto), as calls, profiles and virtual machines all write it: the numbers
 * of its fields, its strings, and messages on their way through gzip into a file. Ids count from 1, as the format demands.
 */
#ifndef KISEKI_CONVERT_PPROF_H
#define KISEKI_CONVERT_PPROF_H

#include <zlib.h>

#include "analysis/functions.h"
#include "base/outfile.h"
#include "convert/proto.h"

#define PPROF_STRINGS_MAX (1U << 22)

/* Fields of a Profile. */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME = 9,
	PPROF_DURATION = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_DEFAULT_TYPE = 14,
};

struct pprof {
	struct outfile *out;
	z_stream z;
	struct hashtable strings;
	uint32_t n_strings;
};

/* The first string is the empty one. -ENOMEM. */
int pprof_init(struct pprof *p, struct outfile *out);
void pprof_done(struct pprof *p);

int pprof_put(struct pprof *p, const struct proto *m);
/* A field that is bytes of any length. */
int pprof_put_text(struct pprof *p, uint32_t field, const char *text);
/* A ValueType: numbers of strings. */
int pprof_put_type(struct pprof *p, uint32_t field, uint64_t type, uint64_t unit);

/* The number of a string, which is written when it first comes. -ENOMEM, -E2BIG. */
int pprof_intern(struct pprof *p, const char *text, uint64_t *ret);

/* Several at once. */
struct pprof_word {
	const char *text;
	uint64_t *to;
};
int pprof_intern_all(struct pprof *p, const struct pprof_word *words, size_t n);

/* Within a sample: a label with a text (a string's number, not 0), else with a number. */
void pprof_add_label(struct proto *m, uint64_t key, uint64_t text, int64_t number);

/* A function that has no address: location and function have this id, its object is a mapping. */
int pprof_put_plain(struct pprof *p, uint64_t id, const struct function *f);

int pprof_finish(struct pprof *p);

#endif
