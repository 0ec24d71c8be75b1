/* SPDX-License-Identifier: MIT */
/*
 * ctf_metadata: the TSDL text that describes the streams of our CTF export (CTF 1.8, section C).
 *
 * It looks like LTTng's own, because Trace Compass chooses its kernel analysis by the environment
 * (domain, tracer_name, version) and by the names and types of the fields. What LTTng has no word
 * for is in kiseki_* environment entries, an event context and the event kiseki_loss; other
 * readers show or ignore it. docs/format/ctf.md lists it.
 */
#ifndef KISEKI_CONVERT_CTF_METADATA_H
#define KISEKI_CONVERT_CTF_METADATA_H

#include "base/outfile.h"
#include "trace/info.h"

#define CTF_UUID_LEN 16
#define CTF_STATEDUMP_ID SCHED_KINDS /* event ids are enum sched_kind, and then these */
#define CTF_LOSS_ID (SCHED_KINDS + 1)

void ctf_metadata_write(struct outfile *f, const struct trace_info *info,
			const uint8_t uuid[CTF_UUID_LEN]);

/* Do events have a context? A trace that knows neither who ran nor the flags has none, like LTTng. */
bool ctf_metadata_has_context(const struct sched_dialect *d);

#endif
