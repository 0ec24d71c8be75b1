/* SPDX-License-Identifier: MIT */
/*
 * pprof: the gzipped protocol buffer of pprof (profile.proto), as calls and profiles both write it: the numbers of its
 * fields, and messages on their way through gzip into a file.
 */
#ifndef KISEKI_CONVERT_PPROF_H
#define KISEKI_CONVERT_PPROF_H

#include <zlib.h>

#include "base/outfile.h"
#include "convert/proto.h"

/* Fields of a Profile. */
enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME = 9,
	PPROF_DURATION = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_DEFAULT_TYPE = 14,
};

struct pprof {
	struct outfile *out;
	z_stream z;
};

int pprof_init(struct pprof *p, struct outfile *out); /* -ENOMEM */
void pprof_done(struct pprof *p);

int pprof_put(struct pprof *p, const struct proto *m);
/* A field that is bytes of any length. */
int pprof_put_text(struct pprof *p, uint32_t field, const char *text);
/* A ValueType: numbers of strings. */
int pprof_put_type(struct pprof *p, uint32_t field, uint64_t type, uint64_t unit);
int pprof_finish(struct pprof *p);

#endif
