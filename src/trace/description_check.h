/* SPDX-License-Identifier: MIT */
/*
 * description_check: whether readers will understand a block that describes its run (wire.md, 7).
 *
 * A collector asks before it acknowledges a block, because the device forgets acknowledged blocks.
 * Items that depend on earlier blocks (processes, threads and names of function streams) are not
 * looked into.
 */
#ifndef KISEKI_TRACE_DESCRIPTION_CHECK_H
#define KISEKI_TRACE_DESCRIPTION_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The payload of a block of codec `meta`. 0, -ENOMEM, or -EPROTO: the text names the item and its
 * offset in the payload. */
int description_check(const uint8_t *payload, size_t len, struct error *e);

/* The reason for what a reader of this payload has answered. Returns code. */
int description_explain(const uint8_t *payload, size_t len, int code, struct error *e);

#endif
