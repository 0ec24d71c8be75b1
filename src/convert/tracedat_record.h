/* SPDX-License-Identifier: MIT */
/*
 * tracedat_record: scheduler events as a kernel of a given dialect would lay them out, and the
 * `format` texts that say so. Both come from one table, so they cannot disagree.
 *
 * The bytes are little-endian; the size of a long is the dialect's.
 */
#ifndef KISEKI_CONVERT_TRACEDAT_RECORD_H
#define KISEKI_CONVERT_TRACEDAT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "wire/dialect.h"
#include "wire/sched_event.h"

#define TRACEDAT_RECORD_FIELDS 8
#define TRACEDAT_RECORD_MAX (4096U + 128U) /* the longest filename and its fields */
#define TRACEDAT_FORMAT_MAX 4096U
#define TRACEDAT_RECORD_ID 300U /* + kind: IDs are free beyond those of ftrace's own events */

struct tracedat_layout {
	struct {
		uint8_t rule; /* index into the kind's table */
		uint16_t offset;
		uint16_t size;
	} field[TRACEDAT_RECORD_FIELDS];
	uint8_t n_fields;
	uint16_t size; /* of the fixed part; texts follow */
};

struct tracedat_records {
	struct sched_dialect dialect;
	struct tracedat_layout layouts[SCHED_KINDS];
};

void tracedat_records_init(struct tracedat_records *r, const struct sched_dialect *d);

/* Writes the text of a kind's format and returns its length. */
size_t tracedat_records_format(const struct tracedat_records *r, enum sched_kind kind,
			       char text[TRACEDAT_FORMAT_MAX]);

/* Writes one record and returns its length, not rounded up. */
size_t tracedat_records_encode(const struct tracedat_records *r, const struct sched_event *e,
			       uint8_t out[TRACEDAT_RECORD_MAX]);

#endif
