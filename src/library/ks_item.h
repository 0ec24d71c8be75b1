/* SPDX-License-Identifier: MIT */
/*
 * ks_item: the public record and the one of the other folders, made of each other.
 *
 * What comes from a caller is checked here: nothing behind this sees a kind, CPU or length that it does not know.
 */
#ifndef KISEKI_LIBRARY_KS_ITEM_H
#define KISEKI_LIBRARY_KS_ITEM_H

#include <kiseki/event.h>
#include <stdbool.h>

#include "wire/sched_event.h"

void ks_event_from(struct ks_event *ret, const struct sched_event *ev);

/* false: it is no event. */
bool ks_event_to(struct sched_event *ret, const struct ks_event *ev);

#endif
