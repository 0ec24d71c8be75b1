/* SPDX-License-Identifier: MIT */
/*
 * tracedat: what the parts of the trace.dat importer share. Private to source_tracedat*.c; the sink
 * uses the constants.
 *
 * A trace.dat is a head (formats, names, options) and one or more buffers of ring-buffer pages, one
 * range of the file per CPU. Version 6 has the head's parts in a fixed order. Version 7 has
 * sections that options point to, each of them and the pages possibly compressed.
 *
 *   source_tracedat_head.c    the file's head into struct tracedat and struct trace_info
 *   source_tracedat_section.c the parts of it that both versions have
 *   source_tracedat_option.c  the options among it
 *   source_tracedat_stat.c    what the kernel counted as lost
 *   source_tracedat_buffer.c  where the pages are
 *   source_tracedat_unzip.c   zstd and zlib
 *   source_tracedat_cpu.c     one CPU's records, page by page
 *   source_tracedat.c         all CPUs merged: the source
 */
#ifndef KISEKI_CONVERT_TRACEDAT_H
#define KISEKI_CONVERT_TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/import.h"
#include "ftrace/page.h"
#include "ftrace/sched.h"

#define TRACEDAT_MAGIC "\x17\x08\x44tracing"
#define TRACEDAT_MAGIC_LEN 10U

/* Ceilings of what a file may ask us to hold. */
#define TRACEDAT_PAGE_MAX (16U << 20)	  /* sub-buffers of the kernel end far below */
#define TRACEDAT_SECTION_MAX (256U << 20) /* a section of the head, decompressed */
#define TRACEDAT_CHUNK_MAX (16U << 20)	  /* a CPU's chunk, decompressed; usually 40 KiB */
#define TRACEDAT_CHUNKS_MAX (1U << 30)	  /* all CPUs' chunks together */
#define TRACEDAT_BUFFERS_MAX 256U	  /* instances */
#define TRACEDAT_OPTION_SECTIONS_MAX 1024U

enum tracedat_option {
	TRACEDAT_DONE = 0,
	TRACEDAT_DATE = 1,
	TRACEDAT_CPUSTAT = 2,
	TRACEDAT_BUFFER = 3,
	TRACEDAT_TRACECLOCK = 4,
	TRACEDAT_UNAME = 5,
	TRACEDAT_OFFSET = 7,
	TRACEDAT_CPUCOUNT = 8,
	TRACEDAT_TSC2NSEC = 14,
	TRACEDAT_HEADER_INFO = 16,
	TRACEDAT_FTRACE_FORMATS = 17,
	TRACEDAT_EVENT_FORMATS = 18,
	TRACEDAT_KALLSYMS = 19,
	TRACEDAT_CMDLINES = 21,
	TRACEDAT_BUFFER_TEXT = 22,
};

enum tracedat_codec {
	TRACEDAT_PLAIN = 0,
	TRACEDAT_ZSTD = 1,
	TRACEDAT_ZLIB = 2,
};

/* One CPU's part of the file. */
struct tracedat_range {
	uint32_t cpu;
	uint64_t offset;
	uint64_t size;
};

/* What the kernel counted as lost on a CPU of the top instance. */
struct tracedat_stat {
	uint32_t cpu;
	uint64_t overrun; /* overwritten before they were read */
	uint64_t dropped; /* never written; LOSS_UNKNOWN: too many to count */
};

/* One instance's pages. */
struct tracedat_buffer {
	struct tracedat_range *ranges;
	uint32_t n_ranges;
	uint32_t page_size;
	uint64_t offset; /* of its section (7) or its "flyrecord" (6) */
	bool compressed;
	bool latency; /* text instead of pages */
	bool is_top;
};

/* Parts of the head that only the reader of calls wants. The texts are gone when a call returns. */
struct tracedat_wants {
	int (*format)(void *context, const char *text, size_t len, struct error *e);
	int (*kallsyms)(void *context, const char *text, size_t len, struct error *e);
	void *context;
};

struct tracedat {
	struct import_bytes in;
	const struct tracedat_wants *wants; /* NULL: nothing; only while it is opened */
	struct page_layout layout;
	struct sched_map map;
	bool big_endian;
	unsigned int version;
	enum tracedat_codec codec;
	uint32_t page_size;
	struct tracedat_buffer *buffers; /* the one to read is the first after tracedat_open() */
	size_t n_buffers;
	struct tracedat_stat *stats; /* of CPUs that lost something */
	size_t n_stats, stats_room;
	bool has_clock_option;
	uint32_t cpus;	      /* as the head or an option says */
	int64_t stamp_add_ns; /* options that shift the time */
	uint32_t tsc_mult;    /* 0: stamps are nanoseconds */
	uint32_t tsc_shift;
	bool is_date;				    /* an option made the stamps time of day */
	uint64_t section[TRACEDAT_BUFFER_TEXT + 1]; /* where options say sections are; 0: nowhere */
};

struct tracedat_cpu;

/* A cursor over bytes of the file. Reading beyond the end gives zeros and sets `failed`, so that a
 * sequence of reads needs one check at its end. */
struct tracedat_cursor {
	const uint8_t *data;
	size_t len;
	size_t at;
	bool big_endian;
	bool failed;
};

uint16_t tracedat_get16(struct tracedat_cursor *c);
uint32_t tracedat_get32(struct tracedat_cursor *c);
uint64_t tracedat_get64(struct tracedat_cursor *c);
const uint8_t *tracedat_get_bytes(struct tracedat_cursor *c, uint64_t len); /* NULL when beyond */
const char *tracedat_get_string(struct tracedat_cursor *c); /* NULL, or terminated */

/* Contents that versions 6 and 7 have in common. */
#define TRACEDAT_CUT_SHORT "trace.dat: cut short in %s at offset %zu"
int tracedat_read_header_info(struct tracedat *t, struct tracedat_cursor *c, struct error *e);
int tracedat_read_systems(struct tracedat *t, struct tracedat_cursor *c, struct error *e);
int tracedat_read_cmdlines(struct tracedat_cursor *c, struct trace_info *info, struct error *e);
int tracedat_read_ftrace_formats(struct tracedat *t, struct tracedat_cursor *c, struct error *e);
int tracedat_read_kallsyms(struct tracedat *t, struct tracedat_cursor *c, struct error *e);

/* Reads everything but the pages. */
int tracedat_open(struct tracedat *t, struct import_bytes in, struct trace_info *info,
		  struct error *e);
int tracedat_open_wanting(struct tracedat *t, struct import_bytes in, struct trace_info *info,
			  const struct tracedat_wants *wants, struct error *e);
void tracedat_done(struct tracedat *t);

/* One option; unknown ones are passed over. */
int tracedat_option(struct tracedat *t, unsigned int id, struct tracedat_cursor c,
		    struct trace_info *info, struct error *e);
void tracedat_parse_clock(struct trace_info *info, const uint8_t *text, size_t len);

/* The losses that the file states beside those of its pages: the option, and a CPU's share. */
int tracedat_stat_option(struct tracedat *t, const struct tracedat_cursor *c, struct error *e);
void tracedat_stat_apply(struct tracedat_cpu *c);

/* Buffers. A new one is valid until the next is added. */
struct tracedat_buffer *tracedat_add_buffer(struct tracedat *t);
int tracedat_buffer_option(struct tracedat *t, unsigned int id, struct tracedat_cursor *c,
			   struct trace_info *info, struct error *e);
int tracedat_read_cpu_table(struct tracedat *t, struct tracedat_buffer *b,
			    struct tracedat_cursor *c, struct error *e);
int tracedat_choose_buffer(struct tracedat *t, struct error *e);
int tracedat_check_buffers(struct tracedat *t, struct error *e);
void tracedat_set_clock(struct trace_info *info, const char *name, size_t len);

/* Decompresses exactly out_len bytes. 0 or -EBADMSG. */
int tracedat_unzip(enum tracedat_codec codec, struct import_bytes in, uint8_t *out, size_t out_len);

/* One CPU's records in their order. */
struct tracedat_cpu {
	const struct tracedat *dat;
	const struct tracedat_buffer *buffer;
	struct import_bytes bytes; /* its range of the file */
	uint64_t file_offset;	   /* of that range, for messages */
	uint32_t cpu;

	struct import_bytes pages; /* at hand: the whole range, or the chunk decompressed last */
	size_t next_page;	   /* offset in them */
	size_t next_chunk;	   /* offset in bytes, of compressed ranges */
	uint32_t chunks_left;
	uint8_t *chunk;
	size_t chunk_room;
	uint32_t chunk_max;
	struct tracedat_marks *marks; /* made by the first seek in compressed pages */
	struct page page;

	struct page_record record; /* the one that tracedat_cpu_next() found */
	uint64_t missed;	   /* events lost before it; LOSS_UNKNOWN, or 0 */
	uint64_t missed_first;	   /* lost before the first page, which no page flags */
	uint64_t dropped;	   /* lost anywhere; LOSS_UNKNOWN, or 0 */
	uint64_t first_tick, last_tick;
};

void tracedat_cpu_open(struct tracedat_cpu *c, const struct tracedat *t,
		       const struct tracedat_buffer *b, const struct tracedat_range *range);
void tracedat_cpu_close(struct tracedat_cpu *c);
void tracedat_cpu_rewind(struct tracedat_cpu *c);

/* 1: c->record is the next one; 0: the end; < 0: failed. */
int tracedat_cpu_next(struct tracedat_cpu *c, struct error *e);

/* 1: the next page is open, with nothing read of it; 0: the end; < 0: damaged. */
int tracedat_cpu_skip_page(struct tracedat_cpu *c);

/* To the last page that starts before this stamp, or to the first page. */
int tracedat_cpu_seek(struct tracedat_cpu *c, uint64_t stamp, struct error *e);

#endif
