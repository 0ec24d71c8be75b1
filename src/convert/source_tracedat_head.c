/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_head: everything in a trace.dat but its pages.
 *
 * Version 6 is read front to back. Version 7 starts from the chain of option sections, which point
 * to the others. The chain is followed at most TRACEDAT_OPTION_SECTIONS_MAX times, so one that
 * bites its tail ends. Sections that nobody wants (kallsyms, printk formats) are stepped over.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/tracedat.h"

#define SECTION_HEAD 16U
#define SECTION_COMPRESSED 1U
#define TAG_LEN 10U /* "options  ", "flyrecord", "latency  " and a NUL */

static int cut_short(const struct tracedat_cursor *c, const char *where, struct error *e)
{
	return error_set(e, EBADMSG, TRACEDAT_CUT_SHORT, where, c->at);
}

/* Options up to DONE. *ret_next is where version 7 goes on, or 0. */
static int read_options(struct tracedat *t, struct tracedat_cursor *c, struct trace_info *info,
			uint64_t *ret_next, struct error *e)
{
	struct tracedat_cursor option = { .big_endian = t->big_endian };
	uint64_t len;
	uint16_t id;
	int r;

	*ret_next = 0;
	for (;;) {
		id = tracedat_get16(c);
		if (id == TRACEDAT_DONE && t->version < 7)
			return c->failed ? cut_short(c, "the options", e) : 0;
		len = tracedat_get32(c);
		option.data = tracedat_get_bytes(c, len);
		option.len = (size_t)len;
		if (!option.data)
			return cut_short(c, "the options", e);
		if (id == TRACEDAT_DONE) {
			*ret_next = tracedat_get64(&option);
			return 0;
		}
		r = tracedat_option(t, id, option, info, e);
		if (r < 0)
			return r;
	}
}

/* Version 6: what kind of data follows. 1: pages; 0: text. */
static int read_tag(struct tracedat *t, struct tracedat_cursor *c, struct trace_info *info,
		    struct error *e)
{
	const uint8_t *tag = tracedat_get_bytes(c, TAG_LEN);
	uint64_t next;
	int r;

	if (tag && !memcmp(tag, "options", 7)) {
		r = read_options(t, c, info, &next, e);
		if (r < 0)
			return r;
		tag = tracedat_get_bytes(c, TAG_LEN);
	}
	if (!tag)
		return cut_short(c, "the head", e);
	if (!memcmp(tag, "flyrecord", 9))
		return 1;
	if (!memcmp(tag, "latency", 7))
		return 0;
	return error_set(e, EBADMSG, "trace.dat: neither flyrecord nor latency at offset %zu",
			 c->at - TAG_LEN);
}

/* Version 6: the other instances lie behind the first. */
static int read_instances(struct tracedat *t, struct trace_info *info, size_t n, struct error *e)
{
	struct tracedat_cursor c = { t->in.data, t->in.len, 0, t->big_endian, false };
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		if (t->buffers[i].offset > c.len)
			return error_set(e, EBADMSG,
					 "trace.dat: a buffer at offset %llu, the "
					 "file has %zu bytes",
					 (unsigned long long)t->buffers[i].offset, c.len);
		c.at = (size_t)t->buffers[i].offset;
		r = read_tag(t, &c, info, e);
		if (r > 0)
			r = tracedat_read_cpu_table(t, &t->buffers[i], &c, e);
		else if (r == 0)
			t->buffers[i].latency = true;
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_top(struct tracedat *t, struct tracedat_cursor *c, struct trace_info *info,
		    struct error *e)
{
	struct tracedat_buffer *top;
	const uint8_t *clock;
	uint64_t len;
	size_t n;
	int r;

	r = read_tag(t, c, info, e);
	if (r < 0)
		return r;
	n = t->n_buffers;
	top = tracedat_add_buffer(t);
	if (!top)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	top->is_top = true;
	top->latency = !r;
	if (!top->latency) {
		r = tracedat_read_cpu_table(t, top, c, e);
		if (r < 0)
			return r;
	}
	if (t->has_clock_option && !top->latency) {
		len = tracedat_get64(c);
		clock = tracedat_get_bytes(c, len);
		if (clock) /* early versions forgot it */
			tracedat_parse_clock(info, clock, (size_t)len);
	}
	return read_instances(t, info, n, e);
}

static int read_v6(struct tracedat *t, struct tracedat_cursor *c, struct trace_info *info,
		   struct error *e)
{
	int r;

	r = tracedat_read_header_info(t, c, e);
	if (r == 0)
		r = tracedat_read_ftrace_formats(t, c, e);
	if (r == 0)
		r = tracedat_read_systems(t, c, e);
	if (r == 0)
		r = tracedat_read_kallsyms(t, c, e);
	if (r < 0)
		return r;
	tracedat_get_bytes(c, tracedat_get32(c)); /* formats of printk */
	r = tracedat_read_cmdlines(c, info, e);
	if (r < 0)
		return r;
	t->cpus = tracedat_get32(c);
	if (c->failed || t->cpus > TRACE_CPUS_MAX)
		return error_set(e, EBADMSG, "trace.dat: a machine of %u CPUs", t->cpus);
	return read_top(t, c, info, e);
}

/* Version 7: a section's contents, and the memory that holds them if they were compressed. */
struct section {
	struct tracedat_cursor c;
	uint8_t *memory;
};

static void free_memory(struct section *s)
{
	free(s->memory);
}

static int unzip_section(struct tracedat *t, struct section *s, struct error *e)
{
	struct import_bytes packed;
	uint32_t size;
	size_t at = s->c.at;

	packed.len = tracedat_get32(&s->c);
	size = tracedat_get32(&s->c);
	packed.data = tracedat_get_bytes(&s->c, packed.len);
	if (!packed.data || size > TRACEDAT_SECTION_MAX)
		return error_set(e, EBADMSG,
				 "trace.dat: the section at offset %zu is cut short or too long",
				 at);
	s->memory = malloc(size ? size : 1);
	if (!s->memory)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	if (tracedat_unzip(t->codec, packed, s->memory, size) < 0)
		return error_set(e, EBADMSG,
				 "trace.dat: the section at offset %zu does not decompress", at);
	s->c = (struct tracedat_cursor){ s->memory, size, 0, t->big_endian, false };
	return 0;
}

static int open_section(struct tracedat *t, uint64_t offset, unsigned int id, struct section *ret,
			struct error *e)
{
	struct section s = { { t->in.data, t->in.len, 0, t->big_endian, false }, NULL };
	uint16_t flags;
	int r = 0;

	if (offset > s.c.len || s.c.len - offset < SECTION_HEAD)
		return error_set(e, EBADMSG,
				 "trace.dat: section %u at offset %llu, the file has %zu bytes", id,
				 (unsigned long long)offset, s.c.len);
	s.c.at = (size_t)offset;
	if (tracedat_get16(&s.c) != id)
		return error_set(e, EBADMSG, "trace.dat: no section %u at offset %llu", id,
				 (unsigned long long)offset);
	flags = tracedat_get16(&s.c);
	tracedat_get32(&s.c); /* its name */
	tracedat_get64(&s.c); /* its size; the contents tell, too */
	if (flags & SECTION_COMPRESSED)
		r = unzip_section(t, &s, e);
	*ret = s;
	return r;
}

static int read_option_chain(struct tracedat *t, uint64_t offset, struct trace_info *info,
			     struct error *e)
{
	unsigned int n;
	int r;

	for (n = 0; offset; n++) {
		__attribute__((cleanup(free_memory))) struct section s = { .memory = NULL };

		if (n >= TRACEDAT_OPTION_SECTIONS_MAX)
			return error_set(e, EBADMSG, "trace.dat: the chain of options has no end");
		r = open_section(t, offset, TRACEDAT_DONE, &s, e);
		if (r == 0)
			r = read_options(t, &s.c, info, &offset, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_section(struct tracedat *t, enum tracedat_option id, struct trace_info *info,
			struct error *e)
{
	__attribute__((cleanup(free_memory))) struct section s = { .memory = NULL };
	int r;

	if (!t->section[id])
		return 0;
	r = open_section(t, t->section[id], id, &s, e);
	if (r < 0)
		return r;
	if (id == TRACEDAT_HEADER_INFO)
		return tracedat_read_header_info(t, &s.c, e);
	if (id == TRACEDAT_EVENT_FORMATS)
		return tracedat_read_systems(t, &s.c, e);
	if (id == TRACEDAT_FTRACE_FORMATS)
		return tracedat_read_ftrace_formats(t, &s.c, e);
	if (id == TRACEDAT_KALLSYMS)
		return tracedat_read_kallsyms(t, &s.c, e);
	return tracedat_read_cmdlines(&s.c, info, e);
}

static int read_v7(struct tracedat *t, struct tracedat_cursor *c, struct trace_info *info,
		   struct error *e)
{
	const char *codec = tracedat_get_string(c);
	struct tracedat_cursor section;
	uint64_t options;
	size_t i;
	int r;

	tracedat_get_string(c); /* its version */
	options = tracedat_get64(c);
	if (c->failed)
		return cut_short(c, "the head", e);
	if (!strcmp(codec, "zstd"))
		t->codec = TRACEDAT_ZSTD;
	else if (!strcmp(codec, "zlib"))
		t->codec = TRACEDAT_ZLIB;
	else if (strcmp(codec, "none"))
		return error_set(e, EOPNOTSUPP,
				 "trace.dat: compressed by %.32s, not by zstd or "
				 "zlib",
				 codec);
	r = read_option_chain(t, options, info, e);
	if (r == 0)
		r = read_section(t, TRACEDAT_HEADER_INFO, info, e);
	if (r == 0)
		r = read_section(t, TRACEDAT_EVENT_FORMATS, info, e);
	if (r == 0)
		r = read_section(t, TRACEDAT_CMDLINES, info, e);
	if (r == 0 && t->wants)
		r = read_section(t, TRACEDAT_FTRACE_FORMATS, info, e);
	if (r == 0 && t->wants)
		r = read_section(t, TRACEDAT_KALLSYMS, info, e);
	for (i = 0; i < t->n_buffers && r == 0; i++) {
		section =
			(struct tracedat_cursor){ t->in.data, t->in.len, 0, t->big_endian, false };
		if (t->buffers[i].offset > section.len)
			return error_set(e, EBADMSG,
					 "trace.dat: a buffer at offset %llu, the "
					 "file has %zu bytes",
					 (unsigned long long)t->buffers[i].offset, section.len);
		section.at = (size_t)t->buffers[i].offset;
		tracedat_get16(&section);
		t->buffers[i].compressed = tracedat_get16(&section) & SECTION_COMPRESSED;
	}
	return r;
}

/* The kernel's clock "uptime" counts clock_t, of which a second has 100 (USER_HZ). */
#define UPTIME_NS 10000000U

static void set_clock(struct tracedat *t, struct trace_info *info)
{
	if (!t->tsc_mult && !strcmp(info->clock.name, "uptime"))
		t->tsc_mult = UPTIME_NS;
	if (!t->tsc_mult && clock_name_is_ticks(info->clock.name))
		info->clock.print_digits = 0;
	if (t->tsc_mult) {
		info->clock.mult = t->tsc_mult;
		info->clock.shift = t->tsc_shift;
		info->clock.base_ns = (uint64_t)t->stamp_add_ns;
	}
	info->clock.has_realtime = t->is_date;
	info->clock.realtime_err_ns = t->is_date ? 1000000 : 0;
}

static int finish(struct tracedat *t, struct trace_info *info, struct error *e)
{
	const struct tracedat_buffer *b;
	char origin[16];
	uint32_t i;
	int r;

	r = tracedat_choose_buffer(t, e);
	if (r == 0)
		r = tracedat_check_buffers(t, e);
	if (r < 0)
		return r;
	b = &t->buffers[0];
	info->cpus = t->cpus;
	for (i = 0; i < b->n_ranges; i++)
		if (b->ranges[i].cpu >= info->cpus)
			info->cpus = b->ranges[i].cpu + 1;
	sched_map_get_dialect(&t->map, info->kernel, t->layout.long_size, &info->dialect);
	set_clock(t, info);
	snprintf(origin, sizeof(origin), "trace.dat v%u", t->version);
	if (info_set(&info->origin, origin, strlen(origin)) < 0)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	return 0;
}

int tracedat_open(struct tracedat *t, struct import_bytes in, struct trace_info *info,
		  struct error *e)
{
	return tracedat_open_wanting(t, in, info, NULL, e);
}

int tracedat_open_wanting(struct tracedat *t, struct import_bytes in, struct trace_info *info,
			  const struct tracedat_wants *wants, struct error *e)
{
	struct tracedat_cursor c = { in.data, in.len, 0, false, false };
	const uint8_t *magic = tracedat_get_bytes(&c, TRACEDAT_MAGIC_LEN), *sizes;
	const char *version = tracedat_get_string(&c);
	int r;

	memset(t, 0, sizeof(*t));
	t->in = in;
	t->wants = wants;
	sizes = tracedat_get_bytes(&c, 2);
	if (!sizes || memcmp(magic, TRACEDAT_MAGIC, TRACEDAT_MAGIC_LEN))
		return error_set(e, EBADMSG, "not a trace.dat: no magic number at offset 0");
	if (strcmp(version, "6") && strcmp(version, "7"))
		return error_set(e, EOPNOTSUPP, "trace.dat: version %.8s, not 6 or 7", version);
	t->version = version[0] == '7' ? 7 : 6;
	t->big_endian = sizes[0] != 0;
	if (sizes[1] != 4 && sizes[1] != 8)
		return error_set(e, EBADMSG, "trace.dat: longs of %u bytes", sizes[1]);
	c.big_endian = t->big_endian;
	t->page_size = tracedat_get32(&c);
	page_layout_init(&t->layout, sizes[1], t->big_endian);
	sched_map_init(&t->map, t->big_endian);
	r = t->version == 7 ? read_v7(t, &c, info, e) : read_v6(t, &c, info, e);
	t->wants = NULL;
	return r < 0 ? r : finish(t, info, e);
}

void tracedat_done(struct tracedat *t)
{
	size_t i;

	for (i = 0; i < t->n_buffers; i++)
		free(t->buffers[i].ranges);
	free(t->buffers);
	free(t->stats);
	t->stats = NULL;
	t->n_stats = t->stats_room = 0;
	t->buffers = NULL;
	t->n_buffers = 0;
}
