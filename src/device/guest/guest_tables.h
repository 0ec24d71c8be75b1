/* SPDX-License-Identifier: MIT */
/*
 * guest_tables: what the kernel keeps for each thread, as a host can see it in registers: the physical address of its page
 * table, and that of its task (arm64) or its kernel stack (x86).
 *
 * Only the kernel knows them. Small programs in it tell (device/bpf/guest.bpf.c): one lists all threads, others tell of
 * each that begins, executes or ends, at that moment, with its name. A kernel or a build without BPF has none.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_TABLES_H
#define KISEKI_DEVICE_GUEST_GUEST_TABLES_H

#include "base/cleanup.h"
#include "device/guest/guest_event.h"

/* Once, before the others: it reads what takes more of root than they do. Memory that is plugged in later is not known. */
void guest_tables_prepare(void);

/* -ENOTSUP: this build has none. */
int guest_tables_new(struct guest_tables **ret, struct error *e);
void guest_tables_free(struct guest_tables *t);
DEFINE_CLEANUP(guest_tables, guest_tables_free)

/* As those of guest_event.h. */
int guest_tables_fd(const struct guest_tables *t);
int guest_tables_read(struct guest_tables *t,
		      void (*take)(void *context, const struct guest_event *ev), void *context);

/* Gives each thread that is there, as a fork of now. */
int guest_tables_list(struct guest_tables *t,
		      void (*take)(void *context, const struct guest_event *ev), void *context);

#endif
