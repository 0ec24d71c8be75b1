/* SPDX-License-Identifier: MIT */
/*
 * guest_teller: what a guest tells its host: who is there, who comes and goes, what lies where in whom, and what functions
 * of the kernel are called. All of it are rows of metadata (wire/sample_meta.h), with this machine's CLOCK_MONOTONIC.
 *
 * A mapping is told when its program starts, which has only the first few then, and again a little later, when its libraries
 * are there. A page table is told since it was looked at, never since earlier: before, it may have been another's.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_TELLER_H
#define KISEKI_DEVICE_GUEST_GUEST_TELLER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/guest/guest_channel.h"
#include "device/guest/guest_event.h"
#include "device/profile/object_id.h"

#define GUEST_TASKS_MAX 65536U /* threads that are told of at once */
#define GUEST_LATER 512U       /* programs whose mappings are looked at again */

struct guest_teller;

/* The channel is borrowed, as are the tables, which may be NULL. */
int guest_teller_new(struct guest_teller **ret, struct guest_channel *c,
		     struct guest_tables *tables, struct error *e);
void guest_teller_free(struct guest_teller *t);
DEFINE_CLEANUP(guest_teller, guest_teller_free)

/* All threads and all mappings that are there. */
void guest_teller_tell_all(struct guest_teller *t);

void guest_teller_tell(struct guest_teller *t, const struct guest_event *ev);

/* The functions at these addresses have to be named. The kernel's list is gone through once for all that were asked for:
 * by _tell_names(), which sends what it finds. */
void guest_teller_push_names(struct guest_teller *t, const struct guest_names *n);
void guest_teller_tell_names(struct guest_teller *t);

/* Looks again where it is time. Then sends all that is gathered. Returns ms until it should be called again, at most 1000. */
int guest_teller_turn(struct guest_teller *t);

/* What it knows of files, for who looks for one. */
struct object_ids *guest_teller_ids(struct guest_teller *t);

#endif
