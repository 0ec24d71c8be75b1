/* SPDX-License-Identifier: MIT */
/*
 * profile_digest: what `info` and `check` say about the profile of a .ksk file: its records, read to the end and counted.
 */
#ifndef KISEKI_CLI_PROFILE_DIGEST_H
#define KISEKI_CLI_PROFILE_DIGEST_H

#include <jansson.h>

#include "trace/sample_gaps.h"
#include "trace/sample_ksk.h"

struct profile_digest {
	struct sample_source *source; /* NULL: it has none */
	uint64_t kinds[SAMPLE_KINDS];
	uint64_t modes[SAMPLE_MODES];
	uint64_t losses[LOSS_CAUSES]; /* places where something is missing */
	struct sample_gaps gaps;
};

/* The profile of a .ksk file; 0: d is filled, 1: it has none, < 0. */
int profile_digest_open_ksk(struct profile_digest *d, const char *path, struct error *e);
void profile_digest_done(struct profile_digest *d);

/* As part of what is printed about a file. */
void profile_digest_print_info(const struct profile_digest *d);
void profile_digest_print_check(const struct profile_digest *d);
json_t *profile_digest_json(const struct profile_digest *d);

#define CLEANUP_PROFILE_DIGEST __attribute__((cleanup(profile_digest_done)))

#endif
