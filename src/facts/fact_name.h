/* SPDX-License-Identifier: MIT */
/*
 * fact_name: the number of a function that is the same everywhere (docs/format/facts.md, section 1).
 *
 * Two texts with one number are as good as impossible, and still no engine believes it: it keeps the texts and compares.
 */
#ifndef KISEKI_FACTS_FACT_NAME_H
#define KISEKI_FACTS_FACT_NAME_H

#include <stdint.h>

#include "base/error.h"

/* -ENOMEM. */
int fact_name_hash(const char *object, const char *name, uint64_t *ret);

#endif
