/* SPDX-License-Identifier: MIT */
/*
 * vm_guests: the programs of guests (kiseki-guest) while their host is recorded: who comes is told apart, listened to, and
 * asked; what is said goes into the recording's description.
 *
 * A guest that says nothing, or wrong things, or ends, costs the names of its own functions, and a line that says since when.
 * It never waits; its descriptor tells when there is something to do.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUESTS_H
#define KISEKI_DEVICE_VM_VM_GUESTS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/profile/profile_meta.h"
#include "wire/sample_event.h"

#define VM_GUESTS_MACHINES 1024U
#define VM_GUESTS_LINKS 1088U /* some more, of which nobody knows yet who they are */
#define VM_GUESTS_DOORS 16U

struct vm_guests;

struct vm_guests_options {
	const char *
		addresses; /* as vm_guest_door.h has them, with commas between; borrowed, as are these */
	const char *proc; /* NULL: /proc */
	const char *
		objects; /* folder for files of guests that samples were in; NULL: they are not wanted */
	/* What a person should know: who was refused, and why. NULL: nobody wants to. */
	void (*say)(const char *text);
};

int vm_guests_new(struct vm_guests **ret, const struct vm_guests_options *o, struct error *e);
void vm_guests_free(struct vm_guests *g);
DEFINE_CLEANUP(vm_guests, vm_guests_free)

int vm_guests_fd(const struct vm_guests *g);

/* A sample: if it is in a guest's kernel its name will be asked for, if it is in a program, that file. */
void vm_guests_see(struct vm_guests *g, const struct sample_event *ev);

/* Takes what came; rows go into the description. */
void vm_guests_turn(struct vm_guests *g, struct profile_meta *meta);

/* The recording ends: gives guests VM_GUESTS_LAST_MS to answer what was asked for, then says how good their clocks were. */
#define VM_GUESTS_LAST_MS 10000U
void vm_guests_finish(struct vm_guests *g, struct profile_meta *meta);

#endif
