/* SPDX-License-Identifier: MIT */
/*
 * door: asks the agent of this machine for a record (docs/format/func-door.md).
 *
 * It happens inside of a hook, at the first call of a process and when its maps have changed: nothing
 * is allocated, no point of cancellation is passed, no signal is raised, and an agent that
 * does not answer costs two seconds at the most, signals that come meanwhile included. No descriptor is
 * left open but those that the caller gets, and these are closed by any exec.
 */
#ifndef KISEKI_DEVICE_FUNC_DOOR_H
#define KISEKI_DEVICE_FUNC_DOOR_H

#include "wire/func_door.h"

#define DOOR_PATH_MAX 108U /* of a local socket, with its NUL */
#define DOOR_COMM_BYTES 16U
#define DOOR_FDS 2U /* the most that an answer has */

struct door_request {
	uint32_t verb; /* enum func_door_verb */
	uint32_t clock, shift;
	uint64_t bytes;
	char comm[DOOR_COMM_BYTES]; /* padded with NULs */
};

struct door_answer {
	uint64_t bytes;	  /* of the record */
	uint32_t agent;	  /* its pid */
	bool on;	  /* to record at once */
	int fd[DOOR_FDS]; /* FUNC_DOOR_OPEN: record and maps; FUNC_DOOR_MAPS: maps. Else -1 */
	char text[FUNC_DOOR_TEXT_LEN + 1]; /* why not, in the agent's words; "": it said nothing */
};

/* What the bytes of an answer say, descriptors apart. 0; the agent's errno, negative, if it refuses; -EPROTO
 * if they are no answer. */
int door_parse(const uint8_t *bytes, size_t len, struct door_answer *ret);

/* 0, or a negative errno; then all of *ret is empty but for its text. */
int door_ask(const char *path, const struct door_request *q, struct door_answer *ret);

#endif
