/* SPDX-License-Identifier: MIT */
/*
 * func_door: the agent's local socket, at which programs ask to be traced (docs/format/func-door.md).
 *
 * One request, one answer, and the connection is closed. Nobody is waited for: a connection whose
 * request is not there yet is kept beside a few others, and if there are too many the oldest goes. Who
 * asks is known from the socket. All of it has one descriptor, for the agent's loop.
 *
 * The socket is bound beside its name and moved there when it is ready, so that nobody finds it half made;
 * one that no agent listens at any more is replaced.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_DOOR_H
#define KISEKI_DEVICE_FEED_FUNC_DOOR_H

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/func_door.h"
#include "wire/sched_event.h"

#define FUNC_DOOR_WAITING 8U /* connections that have not asked yet */
#define FUNC_DOOR_FDS 2U

struct func_door;

struct func_door_ask {
	int32_t pid;   /* by the socket */
	uint32_t verb; /* enum func_door_verb, of those that are known */
	uint64_t bytes;
	char comm[SCHED_COMM_LEN];
	uint32_t clock, shift;
};

/* What is sent. The descriptors are borrowed. */
struct func_door_reply {
	uint64_t size;
	bool on;
	uint32_t n_fds;
	int fds[FUNC_DOOR_FDS];
	char text[FUNC_DOOR_TEXT_LEN];
};

struct func_door_hooks {
	void *context;
	/* 0, or a negative errno with its reason in e. */
	int (*ask)(void *context, const struct func_door_ask *a, struct func_door_reply *ret,
		   struct error *e);
	/* After it was sent, or was not: then a record that was made goes again. */
	void (*sent)(void *context, const struct func_door_ask *a, bool was_sent);
};

struct func_door_options {
	const char *path;
	const char *group; /* "": root alone; "*": everybody */
	struct func_door_hooks hooks;
};

int func_door_open(struct func_door **ret, const struct func_door_options *o, struct error *e);
void func_door_close(struct func_door *d); /* the socket goes, if it is still ours */
DEFINE_CLEANUP(func_door, func_door_close)

int func_door_fd(const struct func_door *d); /* readable: somebody asks */

/* Answers those who asked. */
void func_door_turn(struct func_door *d);

/* 0, or a negative errno and why. */
int func_door_parse(const uint8_t *bytes, size_t len, struct func_door_ask *ret, struct error *e);

#endif
