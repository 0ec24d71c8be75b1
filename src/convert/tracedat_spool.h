/* SPDX-License-Identifier: MIT */
/*
 * tracedat_spool: records become ring-buffer pages, one list of them per CPU, in a temporary file.
 *
 * A trace.dat wants each CPU's pages in one piece, while events come merged. So pages go to an
 * unlinked file as they fill and are copied out in order at the end. The file is an array of slots
 * of one page and the number of the CPU's next slot, which is reserved when a page is written: a CPU
 * is then a list that is written once and read front to back, and memory stays at one page per CPU
 * however long the trace is.
 *
 * A loss starts a new page and is noted in its commit word, which is where the kernel puts it.
 */
#ifndef KISEKI_CONVERT_TRACEDAT_SPOOL_H
#define KISEKI_CONVERT_TRACEDAT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/outfile.h"

#define TRACEDAT_SPOOL_PAGE 4096U

struct tracedat_spool_cpu;

struct tracedat_spool {
	int fd;		  /* -1 before it is opened */
	const char *path; /* of the file that all this is for: beside it there is room, too */
	uint64_t slots;	  /* reserved so far */
	struct tracedat_spool_cpu *cpus;
	uint32_t n_cpus;
	uint32_t long_size;
	uint32_t data_offset; /* in a page */
};

struct tracedat_spool_record {
	const uint8_t *data;
	size_t len;
};

/* The spool must be zero but for fd, which is -1; path must outlive it. */
int tracedat_spool_open(struct tracedat_spool *s, const char *path, uint32_t cpus,
			uint32_t long_size, struct error *e);
void tracedat_spool_close(struct tracedat_spool *s);

/* -EMSGSIZE if the record fits on no page. */
int tracedat_spool_event(struct tracedat_spool *s, uint32_t cpu, uint64_t ns,
			 struct tracedat_spool_record record, struct error *e);
int tracedat_spool_loss(struct tracedat_spool *s, uint32_t cpu, uint64_t count, struct error *e);

/* After the last event; then sizes are known and pages can be copied. */
int tracedat_spool_finish(struct tracedat_spool *s, struct error *e);
uint64_t tracedat_spool_get_size(const struct tracedat_spool *s, uint32_t cpu);
int tracedat_spool_copy(const struct tracedat_spool *s, uint32_t cpu, struct outfile *out,
			struct error *e);

#endif
