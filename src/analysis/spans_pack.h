/* SPDX-License-Identifier: MIT */
/* spans_pack: the spans of a range as bytes, docs/format/slices.md. */
#ifndef KISEKI_ANALYSIS_SPANS_PACK_H
#define KISEKI_ANALYSIS_SPANS_PACK_H

#include "analysis/spans.h"

#define SPANS_PACK_TYPE "application/x-kiseki-slices"
#define SPANS_PACK_MAGIC "KSL1"
#define SPANS_PACK_FINAL 1U /* flag: nothing that comes can change the answer */

/* Of finished spans. *ret is to be freed. 0 or -ENOMEM. */
int spans_encode(const struct spans *s, uint32_t flags, uint8_t **ret, size_t *ret_len);

#endif
