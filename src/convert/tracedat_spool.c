/* SPDX-License-Identifier: MIT */
/* tracedat_spool: see tracedat_spool.h. */
#include "convert/tracedat_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ftrace/page.h"
#include "wire/loss.h"

#define SLOT_SIZE (TRACEDAT_SPOOL_PAGE + 8U)
#define DELTA_MAX (1U << PAGE_DELTA_BITS)
#define EXTEND_MAX (1ULL << 59)
#define SMALL_MAX (PAGE_TYPE_DATA_MAX * 4U)

struct tracedat_spool_cpu {
	uint8_t *slot;	    /* the page being filled, SLOT_SIZE bytes; NULL before the first */
	uint32_t used;	    /* bytes of data in it */
	bool is_open;	    /* it has a time stamp */
	uint64_t last_ns;   /* of the last event */
	uint64_t lost;	    /* before the page being filled; LOSS_UNKNOWN */
	uint64_t lost_next; /* before the page after it */
	uint64_t slot_number;
	uint64_t first_slot;
	uint64_t pages;
};

static void put(uint8_t *p, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static int spool_failed(const struct tracedat_spool *s, int code, struct error *e)
{
	return error_set(e, code, "cannot write %s: its temporary file: %s", s->path,
			 strerror(code));
}

/* Beside the target, because there is room for the target there. */
static int open_spool(struct tracedat_spool *s, struct error *e)
{
	const char *slash = strrchr(s->path, '/'), *tmp = getenv("TMPDIR");
	_cleanup_free_ char *folder = NULL, *name = NULL;

	if (!strcmp(s->path, "-") || !strncmp(s->path, "/dev/", 5))
		folder = strdup(tmp && *tmp ? tmp : "/tmp");
	else
		folder = slash ? strndup(s->path, (size_t)(slash - s->path + 1)) : strdup(".");
	if (!folder || asprintf(&name, "%s/.kiseki-spool-XXXXXX", folder) < 0) {
		name = NULL; /* asprintf leaves anything there when it fails */
		return spool_failed(s, ENOMEM, e);
	}
	s->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd >= 0)
		return 0;
	s->fd = mkostemp(name, O_CLOEXEC);
	if (s->fd < 0)
		return spool_failed(s, errno, e);
	unlink(name);
	return 0;
}

/* Is there a count of lost events to be stored behind the data? */
static bool stores_count(const struct tracedat_spool *s, const struct tracedat_spool_cpu *c)
{
	return c->lost && c->lost != LOSS_UNKNOWN && (s->long_size == 8 || c->lost <= UINT32_MAX);
}

static int open_page(struct tracedat_spool *s, struct tracedat_spool_cpu *c, uint64_t ns,
		     struct error *e)
{
	if (!c->slot) {
		c->slot = malloc(SLOT_SIZE);
		if (!c->slot)
			return error_set(e, ENOMEM, "cannot write %s: out of memory", s->path);
		c->first_slot = c->slot_number = s->slots++;
	}
	memset(c->slot, 0, SLOT_SIZE);
	put(c->slot, ns, 8);
	c->used = 0;
	c->last_ns = ns;
	c->lost = c->lost_next;
	c->lost_next = 0;
	c->is_open = true;
	return 0;
}

/* The kernel may move a slot in parts. */
static int write_slot(const struct tracedat_spool *s, const uint8_t *slot, uint64_t number,
		      struct error *e)
{
	size_t at = 0;
	ssize_t n;

	while (at < SLOT_SIZE) {
		n = pwrite(s->fd, slot + at, SLOT_SIZE - at, (off_t)(number * SLOT_SIZE + at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return spool_failed(s, n < 0 ? errno : ENOSPC, e);
		at += (size_t)n;
	}
	return 0;
}

static int read_slot(const struct tracedat_spool *s, uint8_t *slot, uint64_t number,
		     struct error *e)
{
	size_t at = 0;
	ssize_t n;

	while (at < SLOT_SIZE) {
		n = pread(s->fd, slot + at, SLOT_SIZE - at, (off_t)(number * SLOT_SIZE + at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return spool_failed(s, n < 0 ? errno : EIO, e);
		at += (size_t)n;
	}
	return 0;
}

static int close_page(struct tracedat_spool *s, struct tracedat_spool_cpu *c, struct error *e)
{
	uint64_t commit = c->used, next = s->slots++;
	int r;

	if (c->lost) {
		commit |= PAGE_MISSED;
		if (stores_count(s, c)) {
			commit |= PAGE_MISSED_STORED;
			put(c->slot + s->data_offset + c->used, c->lost, s->long_size);
		}
	}
	put(c->slot + 8, commit, s->long_size);
	put(c->slot + TRACEDAT_SPOOL_PAGE, next, 8);
	r = write_slot(s, c->slot, c->slot_number, e);
	if (r < 0)
		return r;
	c->slot_number = next;
	c->pages++;
	c->is_open = false;
	return 0;
}

static uint32_t page_room(const struct tracedat_spool *s, const struct tracedat_spool_cpu *c)
{
	uint32_t room = TRACEDAT_SPOOL_PAGE - s->data_offset - c->used;

	return stores_count(s, c) ? room - s->long_size : room;
}

static void put_word(const struct tracedat_spool *s, struct tracedat_spool_cpu *c, uint32_t v)
{
	put(c->slot + s->data_offset + c->used, v, 4);
	c->used += 4;
}

/* Bytes of a record on the page, its heads included. */
static uint32_t record_size(size_t len, uint64_t delta)
{
	uint32_t padded = ((uint32_t)len + 3) & ~3U;

	return padded + (padded > SMALL_MAX ? 8 : 4) + (delta >= DELTA_MAX ? 8 : 0);
}

static void put_record(const struct tracedat_spool *s, struct tracedat_spool_cpu *c,
		       const uint8_t *data, size_t len, uint64_t delta)
{
	uint32_t padded = ((uint32_t)len + 3) & ~3U;

	if (delta >= DELTA_MAX) {
		put_word(s, c, (uint32_t)(delta % DELTA_MAX) << 5 | PAGE_TYPE_TIME_EXTEND);
		put_word(s, c, (uint32_t)(delta >> PAGE_DELTA_BITS));
		delta = 0;
	}
	if (padded > SMALL_MAX) {
		put_word(s, c, (uint32_t)delta << 5);
		put_word(s, c, padded + 4);
	} else {
		put_word(s, c, (uint32_t)delta << 5 | padded / 4);
	}
	memcpy(c->slot + s->data_offset + c->used, data, len);
	c->used += padded;
}

int tracedat_spool_event(struct tracedat_spool *s, uint32_t cpu, uint64_t ns,
			 struct tracedat_spool_record record, struct error *e)
{
	struct tracedat_spool_cpu *c = &s->cpus[cpu];
	int r;

	if (record_size(record.len, 0) > TRACEDAT_SPOOL_PAGE - s->data_offset - s->long_size)
		return error_set(e, EMSGSIZE,
				 "cannot write %s: a record of %zu bytes fits on no page of a "
				 "trace.dat",
				 s->path, record.len);
	/* A stamp before the last one is a huge difference, too; a new page starts from anywhere. */
	if (c->is_open && (ns - c->last_ns >= EXTEND_MAX ||
			   record_size(record.len, ns - c->last_ns) > page_room(s, c))) {
		r = close_page(s, c, e);
		if (r < 0)
			return r;
	}
	if (!c->is_open) {
		r = open_page(s, c, ns, e);
		if (r < 0)
			return r;
	}
	put_record(s, c, record.data, record.len, ns - c->last_ns);
	c->last_ns = ns;
	return 0;
}

int tracedat_spool_loss(struct tracedat_spool *s, uint32_t cpu, uint64_t count, struct error *e)
{
	struct tracedat_spool_cpu *c = &s->cpus[cpu];
	int r;

	if (!count)
		return 0;
	if (c->is_open) {
		r = close_page(s, c, e);
		if (r < 0)
			return r;
	}
	if (count >= LOSS_UNKNOWN - c->lost_next)
		c->lost_next = LOSS_UNKNOWN;
	else
		c->lost_next += count;
	return 0;
}

/* Writes what the CPU still holds; a loss that no event followed gets an empty page. */
static int finish_cpu(struct tracedat_spool *s, struct tracedat_spool_cpu *c, struct error *e)
{
	int r = c->is_open ? close_page(s, c, e) : 0;

	if (r == 0 && c->lost_next) {
		r = open_page(s, c, c->last_ns, e);
		if (r == 0)
			r = close_page(s, c, e);
	}
	return r;
}

int tracedat_spool_finish(struct tracedat_spool *s, struct error *e)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < s->n_cpus && r == 0; i++)
		r = finish_cpu(s, &s->cpus[i], e);
	return r;
}

uint64_t tracedat_spool_get_size(const struct tracedat_spool *s, uint32_t cpu)
{
	return s->cpus[cpu].pages * TRACEDAT_SPOOL_PAGE;
}

int tracedat_spool_copy(const struct tracedat_spool *s, uint32_t cpu, struct outfile *out,
			struct error *e)
{
	const struct tracedat_spool_cpu *c = &s->cpus[cpu];
	uint8_t slot[SLOT_SIZE];
	uint64_t number = c->first_slot, i;
	unsigned int byte;
	int r;

	for (i = 0; i < c->pages && !outfile_error(out); i++) {
		r = read_slot(s, slot, number, e);
		if (r < 0)
			return r;
		outfile_write(out, slot, TRACEDAT_SPOOL_PAGE);
		for (number = 0, byte = 0; byte < 8; byte++)
			number |= (uint64_t)slot[TRACEDAT_SPOOL_PAGE + byte] << (8 * byte);
	}
	return 0;
}

int tracedat_spool_open(struct tracedat_spool *s, const char *path, uint32_t cpus,
			uint32_t long_size, struct error *e)
{
	s->path = path;
	s->n_cpus = cpus;
	s->long_size = long_size;
	s->data_offset = 8 + long_size;
	s->cpus = calloc(cpus ? cpus : 1, sizeof(*s->cpus));
	if (!s->cpus)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	return open_spool(s, e);
}

void tracedat_spool_close(struct tracedat_spool *s)
{
	uint32_t i;

	for (i = 0; s->cpus && i < s->n_cpus; i++)
		free(s->cpus[i].slot);
	free(s->cpus);
	s->cpus = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
