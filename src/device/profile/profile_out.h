/* SPDX-License-Identifier: MIT */
/*
 * profile_out: where the blocks of a profile go: into a file (profile_file.h), to a collector (profile_link.h), or both.
 *
 * With both, a block is taken if one of them takes it. The collector then sees where blocks are missing, and how many
 * records those had; a file that has no room ends there, and the recording goes on to the collector.
 */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_OUT_H
#define KISEKI_DEVICE_PROFILE_PROFILE_OUT_H

#include <poll.h>

#include "command/args.h"
#include "device/profile/profile_file.h"
#include "device/profile/profile_link.h"

struct profile_out_options {
	const char *path;		  /* NULL: no file; borrowed, as are all texts */
	struct profile_link_options link; /* without a collector: none */
};

struct profile_out {
	struct block_out out; /* first: this is what others put into */
	struct profile_out_options o;
	struct profile_file file;
	struct profile_link *link; /* NULL: none */
};

#define PROFILE_OUT_INIT                                                                           \
	{                                                                                          \
		.file = {.fd = -1 }                                                                \
	}

/* By --output, --collector, --name, --state-dir and --spool. With a collector there is a file only if it is named. */
int profile_out_load(struct profile_out_options *o, const struct args *a, const char *path,
		     struct error *e);

int profile_out_open(struct profile_out *o, const struct profile_out_options *options,
		     struct error *e);

/* What the connection waits for, so that the collector need not wait for us; -1: nothing. */
struct pollfd profile_out_get_poll(struct profile_out *o);

/* Who is to be told of mappings; NULL: nobody. */
struct told_objects *profile_out_get_told(struct profile_out *o);

/* Goes on with the connection. */
void profile_out_turn(struct profile_out *o);

/* Nobody takes blocks any more. */
bool profile_out_is_over(const struct profile_out *o);

/* What comes now are a recording's last blocks. */
void profile_out_begin_end(struct profile_out *o);

/* The file is complete, and the collector has everything; or why not. A signal ends the waiting. */
int profile_out_finish(struct profile_out *o, struct profile_child *signals, struct error *e);
void profile_out_close(struct profile_out *o);

/* Bytes, and where they are: "in profile.ksk and at 10.0.0.1:7077". */
uint64_t profile_out_bytes(const struct profile_out *o);
const char *profile_out_format_place(const struct profile_out *o, char *text, size_t room);

#endif
