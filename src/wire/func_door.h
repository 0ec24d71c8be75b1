/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_door: what a traced program and the agent of its machine say to each other
 * (docs/format/func-door.md).
 *
 * A local socket of packets. The program sends one request, gets one answer with descriptors, and
 * closes; no connection and no descriptor stays in it. The agent makes the file that the process
 * records into (func_buffer.h), so that the record outlives both and no folder must be open to
 * everybody. Who asks is known from the socket, not from what it says.
 *
 * Offsets, little-endian, as in func_buffer.h: the bytes come from outside on both sides.
 */
#ifndef KISEKI_WIRE_FUNC_DOOR_H
#define KISEKI_WIRE_FUNC_DOOR_H

#include "wire/types.h"

#define FUNC_DOOR_PATH "/run/kiseki/func.sock" /* where nothing else is said */
#define FUNC_DOOR_MAGIC "KSKDOOR\n"	       /* 8 bytes, without a NUL */
#define FUNC_DOOR_VERSION 1U

enum func_door_verb {
	FUNC_DOOR_OPEN = 1, /* answered by two descriptors: the record, empty, and its maps */
	FUNC_DOOR_MAPS = 2, /* answered by one: the maps of the record that this process has */
};

/* Offsets in a request, which has FUNC_DOOR_REQUEST bytes. */
enum func_door_request {
	FUNC_DOOR_AT_MAGIC = 0,
	FUNC_DOOR_AT_VERSION = 8, /* le32 */
	FUNC_DOOR_AT_VERB = 12,	  /* le32 */
	FUNC_DOOR_AT_BYTES = 16,  /* le64: the size that it would like */
	FUNC_DOOR_AT_COMM = 24,	  /* 16 bytes, NUL-padded */
	FUNC_DOOR_AT_CLOCK = 40,  /* le32: enum func_buffer_clock */
	FUNC_DOOR_AT_SHIFT = 44,  /* le32: as TICK_SHIFT of the record will be */
	FUNC_DOOR_REQUEST = 64,
};

/* Offsets in an answer, which has FUNC_DOOR_ANSWER bytes. */
enum func_door_answer {
	FUNC_DOOR_AT_CODE = 12,	 /* le32: 0, or an errno of Linux */
	FUNC_DOOR_AT_SIZE = 16,	 /* le64: of the record's file, which has it already */
	FUNC_DOOR_AT_ON = 24,	 /* le32: 1: record; 0: wait until the record says ON */
	FUNC_DOOR_AT_AGENT = 28, /* le32: pid of the agent, for DRAINED */
	FUNC_DOOR_AT_TEXT = 32,	 /* 96 bytes, NUL-padded: why not; or the name of the record */
	FUNC_DOOR_ANSWER = 128,
};
#define FUNC_DOOR_TEXT_LEN 96U

#endif
