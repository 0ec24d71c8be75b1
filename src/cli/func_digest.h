/* SPDX-License-Identifier: MIT */
/*
 * func_digest: what `info` and `check` say about calls: the record of a process, a folder of them,
 * and the function streams of a .ksk file, read to their end and counted.
 */
#ifndef KISEKI_CLI_FUNC_DIGEST_H
#define KISEKI_CLI_FUNC_DIGEST_H

#include <jansson.h>
#include <stdbool.h>

#include "command/args.h"
#include "trace/func_source.h"
#include "trace/loss_tally.h"

struct func_digest_thread {
	uint64_t enters, exits, records; /* of the machine */
	uint64_t first_tick, last_tick;
	uint64_t blocks, segments, bytes; /* of a .ksk */
	uint64_t losses[LOSS_CAUSES];	  /* places where something is missing */
	struct loss_tally lost;
};

struct func_digest {
	struct func_source *source;
	bool packed; /* it is a .ksk: blocks are known */
	struct func_digest_thread *threads;
	struct func_digest_thread sum; /* first and last tick of all */
};

/* Whether the path is a record or a folder of records: nothing else is in it. */
bool func_digest_is_record(const char *path);

/* info or check of such a path: the exit status. */
int func_digest_run(const struct args *a, const char *path, bool check);

/* The calls of a .ksk file; 0: d is filled, 1: it has none, < 0. */
int func_digest_open_ksk(struct func_digest *d, const char *path, struct error *e);
void func_digest_done(struct func_digest *d);

/* As part of what is printed about a file. */
void func_digest_print_info(const struct func_digest *d);
void func_digest_print_check(const struct func_digest *d);
json_t *func_digest_json(const struct func_digest *d, bool threads);

#define CLEANUP_FUNC_DIGEST __attribute__((cleanup(func_digest_done)))

#endif
