/* SPDX-License-Identifier: MIT */
/*
 * digest: what `info` and `check` have in common: a trace read to its end and counted, and how the
 * ledger of its losses is shown.
 */
#ifndef KISEKI_CLI_DIGEST_H
#define KISEKI_CLI_DIGEST_H

#include <jansson.h>

#include "cli/boot_digest.h"
#include "cli/func_digest.h"
#include "cli/profile_digest.h"
#include "cli/reading.h"
#include "trace/summary.h"
#include "trace/tasks.h"

/* Reads all of it; tasks may be NULL. On a failure, what was counted until then stays. */
int digest_read(struct reading *r, struct trace_summary *s, struct tasks *tasks, struct error *e);

/* The calls of a .ksk that has some; else calls->source stays NULL. */
int digest_read_calls(const struct reading *r, struct func_digest *calls, struct error *e);

/* Likewise of its boot chart. */
int digest_read_boot(const struct reading *r, struct boot_digest *boot, struct error *e);

/* And of its profile. */
int digest_read_profile(const struct reading *r, struct profile_digest *profile, struct error *e);

const char *digest_codec(const struct trace_summary *s); /* "sched", "bsf"; of a .ksk */
void digest_print_ledger(const struct trace_summary *s);
json_t *digest_ledger_json(const struct trace_summary *s);
json_t *digest_kinds_json(const struct trace_summary *s);

#endif
