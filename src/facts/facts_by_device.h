/* SPDX-License-Identifier: MIT */
/*
 * facts_by_device: a list whose rows are devices. It is made of the heads of sets alone, which any engine gives; no tree and no list is
 * read for it. A row's name is the device's id in 32 digits: what it is called, others know.
 */
#ifndef KISEKI_FACTS_FACTS_BY_DEVICE_H
#define KISEKI_FACTS_FACTS_BY_DEVICE_H

#include "facts/facts.h"

/* As facts_top(), for FACTS_BY_DEVICE. */
int facts_by_device_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
			struct facts_rows *ret, struct error *e);

#endif
