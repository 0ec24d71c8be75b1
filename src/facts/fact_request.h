/* SPDX-License-Identifier: MIT */
/*
 * fact_request: a question about facts as people ask it: words by name, from a URL or from a command line, and what they mean.
 *
 *	kind     profile, vm, cycles
 *	last     24h: how far back from `to`; 1h if nothing is said
 *	from to  moments (base/when.h); to is now if it is not said
 *	devices  "env=prod,board=a9": all that have these labels; or names of devices, with commas between them
 *	with_…   from, to and devices that the others are compared with
 *	at       what was before that moment is compared with what was after it, `last` of each
 *
 * From LONG_S on a range begins with a whole hour: else its first minutes would cost more to read than all of its hours.
 */
#ifndef KISEKI_FACTS_FACT_REQUEST_H
#define KISEKI_FACTS_FACT_REQUEST_H

#include "facts/facts.h"

#define FACT_REQUEST_LONG_S (6U * FACT_HOUR_S)
#define FACT_REQUEST_LIMIT 50U
#define FACT_REQUEST_LIMIT_MAX 1000000U

struct fact_request {
	const char *(*get)(const void *params, const char *name); /* NULL: it was not said */
	const void *params;
	/* The id of a device that has no labels in its word. */
	int (*find)(void *finder, const char *name, struct message_id *ret, struct error *e);
	void *finder;
	uint64_t now_ns;
};

/* What is asked; devices are owned. */
struct fact_range {
	struct facts_query q;
	struct message_id *devices;
};
void fact_range_done(struct fact_range *r);
#define CLEANUP_FACT_RANGE __attribute__((cleanup(fact_range_done)))

/* -EINVAL with what is wrong; -ENOENT: there is no such device. */
int fact_request_range(const struct fact_request *r, struct facts *f, struct fact_range *ret,
		       struct error *e);
/* Both sides of a comparison, the earlier one first. */
int fact_request_sides(const struct fact_request *r, struct facts *f, struct fact_range ret[2],
		       struct error *e);
/* by, sort, value, limit. */
int fact_request_order(const struct fact_request *r, struct facts_order *ret, struct error *e);

/* One of some words, which end with NULL; *ret stays if it was not said. */
int fact_request_word(const struct fact_request *r, const char *name, const char *const *words,
		      uint8_t *ret, struct error *e);
int fact_request_count(const struct fact_request *r, const char *name, uint64_t most, uint64_t *ret,
		       struct error *e);

extern const char *const fact_kind_words[FACT_KINDS + 1];
extern const char *const fact_value_words[FACT_VALUES + 1];

/* 32 digits; -EINVAL. A finder for those who know no names. */
int fact_request_find_id(void *finder, const char *name, struct message_id *ret, struct error *e);

#endif
