/* SPDX-License-Identifier: MIT */
/* os_rings: see os_rings.h. */
#include "device/feed/os_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "device/agent/tracefs.h"
#include "ftrace/bytes.h"
#include "ftrace/page.h"
#include "wire/loss.h"

#define PERCPU_NAME_MAX 48
#define STATS_TEXT 1024
#define STATS_EVERY 64U /* begins between two looks at counts that no page speaks of */

struct os_ring {
	int pages_fd, stats_fd;
	uint8_t *bytes; /* the page that is being read */
	struct page page;
	bool has_page, is_empty; /* is_empty: it had nothing since the last begin */
	bool has_next, is_gap;	 /* is_gap: OS_FOUND is due */
	struct os_record next;
	uint64_t last_ns;	   /* of its last record */
	uint64_t empty_ns;	   /* up to here nothing is missing, for it was empty */
	uint64_t overrun, dropped; /* of what the kernel counts, told */
	uint32_t pages;		   /* read since the last begin */
};

struct os_rings {
	char folder[TRACEFS_PATH_MAX];
	struct os_map map;
	struct page_layout layout;
	uint32_t page_bytes;
	uint32_t cpus, begins;
	struct os_ring *rings;
	uint8_t *pages;
	uint32_t at;	    /* the ring that is the earliest, */
	uint64_t others_ns; /* as long as it is not behind this */
	uint64_t safe_ns;
	uint64_t not_understood;
};

/* --- opening --- */

static int learn_pages(struct os_rings *r, struct error *e)
{
	int rc = tracefs_get_pages(r->folder, &r->layout, &r->page_bytes, e);

	if (rc < 0)
		return rc;
	if (r->page_bytes > OS_RINGS_PAGE_MOST || r->page_bytes <= r->layout.data_offset)
		return error_set(e, EMSGSIZE, "cannot read %s: its pages have %u bytes", r->folder,
				 r->page_bytes);
	return 0;
}

static int learn_events(struct os_rings *r, struct error *e)
{
	const char *system, *name;
	char text[TRACEFS_TEXT_MAX], file[96];
	struct utsname u;
	uint32_t i;
	int n;

	os_map_init(&r->map, BYTES_HOST_BIG);
	for (i = 0; os_map_get_event(i, &system, &name); i++) {
		snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
		n = tracefs_read(r->folder, file, text, sizeof(text), e);
		if (n >= 0)
			n = os_map_add(&r->map, system, text, (size_t)n, e);
		if (n < 0)
			return n;
	}
	memset(&u, 0, sizeof(u));
	uname(&u);
	return os_map_settle(&r->map, u.release, r->layout.long_size, e);
}

static int open_file(const struct os_rings *r, uint32_t cpu, const char *name, struct error *e)
{
	char path[TRACEFS_PATH_MAX + PERCPU_NAME_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/%s", r->folder, cpu, name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? error_set(e, errno, "cannot open %s: %m", path) : fd;
}

/* Numbers of CPUs may have gaps: such a one has no files and never a record. */
static int open_rings(struct os_rings *r, struct error *e)
{
	struct os_ring *ring;
	uint32_t cpu;

	r->pages = calloc(r->cpus, r->page_bytes);
	if (!r->pages)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", r->folder);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		ring = &r->rings[cpu];
		ring->bytes = r->pages + (size_t)cpu * r->page_bytes;
		ring->pages_fd = open_file(r, cpu, "trace_pipe_raw", e);
		if (ring->pages_fd == -ENOENT)
			continue;
		if (ring->pages_fd < 0)
			return ring->pages_fd;
		ring->stats_fd = open_file(r, cpu, "stats", e);
		if (ring->stats_fd < 0)
			return ring->stats_fd;
	}
	return 0;
}

int os_rings_open(struct os_rings **ret, const char *folder, uint32_t cpus, struct error *e)
{
	CLEANUP(os_rings) struct os_rings *r = calloc(1, sizeof(*r));
	uint32_t cpu;
	int rc;

	if (r)
		r->rings = calloc(cpus ? cpus : 1, sizeof(*r->rings));
	if (!r || !r->rings)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", folder);
	r->cpus = cpus;
	for (cpu = 0; cpu < cpus; cpu++)
		r->rings[cpu].pages_fd = r->rings[cpu].stats_fd = -1;
	snprintf(r->folder, sizeof(r->folder), "%s", folder);
	rc = learn_pages(r, e);
	if (rc == 0)
		rc = learn_events(r, e);
	if (rc == 0)
		rc = open_rings(r, e);
	if (rc < 0)
		return rc;
	os_rings_begin(r);
	*ret = take_ptr(r);
	return 0;
}

void os_rings_close(struct os_rings *r)
{
	uint32_t cpu;

	if (!r)
		return;
	for (cpu = 0; r->rings && cpu < r->cpus; cpu++) {
		cleanup_closep(&r->rings[cpu].pages_fd);
		cleanup_closep(&r->rings[cpu].stats_fd);
	}
	free(r->rings);
	free(r->pages);
	free(r);
}

uint64_t os_rings_get_taken(const struct os_rings *r)
{
	uint32_t cpu, most = 0;

	for (cpu = 0; cpu < r->cpus; cpu++)
		if (r->rings[cpu].pages > most)
			most = r->rings[cpu].pages;
	return (uint64_t)most * r->page_bytes;
}

uint64_t os_rings_fixed_bytes(const struct os_rings *r)
{
	return sizeof(*r) + (uint64_t)r->cpus * (sizeof(*r->rings) + r->page_bytes);
}

/* --- losses --- */

static bool read_stats(const struct os_ring *ring, struct tracefs_stats *ret)
{
	char text[STATS_TEXT];
	ssize_t n = pread(ring->stats_fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return tracefs_parse_stats(ret, text) == 0;
}

/* It begins behind all that was read before it: so no other CPU is further than that. */
static void set_lost(struct os_ring *ring, uint64_t count)
{
	struct os_record *lost = &ring->next;

	memset(lost, 0, sizeof(*lost));
	lost->kind = OS_LOST;
	lost->ns = ring->last_ns > ring->empty_ns ? ring->last_ns : ring->empty_ns;
	if (!lost->ns)
		lost->ns = ring->page.stamp;
	lost->value = count;
	ring->has_next = true;
}

/* Records are missing before the page. What the kernel has counted meanwhile is told here; so the
 * next page with a gap may find nothing left to tell but that there is one. */
static void tell_missed(struct os_ring *ring)
{
	struct tracefs_stats stats;
	uint64_t count = ring->page.missed;

	if (read_stats(ring, &stats)) {
		count = tracefs_widen(ring->overrun, stats.overrun) - ring->overrun;
		ring->overrun += count;
	}
	set_lost(ring, count);
}

/* Records that were not written at all leave no mark in a page. */
static void tell_dropped(struct os_ring *ring)
{
	struct tracefs_stats stats;
	uint64_t sum;

	if (ring->pages_fd < 0 || ring->has_next || !ring->last_ns || !read_stats(ring, &stats))
		return;
	sum = tracefs_widen(ring->dropped, stats.commit_overrun + stats.dropped);
	if (sum > ring->dropped)
		set_lost(ring, sum - ring->dropped);
	ring->dropped = sum;
}

/* --- pages --- */

/* 1: there is a page, 0: there is none. */
static int read_page(struct os_rings *r, uint32_t cpu, struct error *e)
{
	struct os_ring *ring = &r->rings[cpu];
	int n;

	if (ring->pages_fd < 0 || ring->is_empty)
		return 0;
	n = tracefs_read_page(ring->pages_fd, ring->bytes, r->page_bytes);
	/* A CPU that was never online has no ring. */
	if (n < 0 && n != -ENODEV)
		return error_set(e, n, "cannot read CPU %u of %s: %s", cpu, r->folder,
				 strerror(-n));
	ring->is_empty = n <= 0;
	if (n <= 0 && r->safe_ns > ring->empty_ns)
		ring->empty_ns = r->safe_ns;
	if (n <= 0)
		return 0;
	if (page_open(&ring->page, &r->layout, ring->bytes, (size_t)n, NULL) < 0) {
		r->not_understood++;
		set_lost(ring, LOSS_UNKNOWN);
		return 1;
	}
	ring->has_page = true;
	ring->pages++;
	if (ring->page.missed)
		tell_missed(ring);
	return 1;
}

/* The next record of the page that is of interest, if it has one. */
static void step(struct os_rings *r, uint32_t cpu)
{
	struct os_ring *ring = &r->rings[cpu];
	struct page_record record;
	int more = 0, found = 0;

	while (!found && (more = page_next(&ring->page, &record, NULL)) > 0) {
		found = os_map_decode(&r->map, record.data, record.len, &ring->next);
		ring->next.ns = record.stamp;
	}
	ring->has_page = more > 0;
	if (found < 0 || more < 0) {
		r->not_understood++;
		set_lost(ring, found < 0 ? 1 : LOSS_UNKNOWN);
	}
	ring->has_next = ring->has_next || found > 0;
}

/* Nothing came behind the gap, but what comes will be there. */
static void set_found(struct os_ring *ring, uint64_t ns)
{
	memset(&ring->next, 0, sizeof(ring->next));
	ring->next.kind = OS_FOUND;
	ring->next.ns = ns;
	ring->has_next = true;
}

/* 1: the ring has a next record; 0: it has none. */
static int peek(struct os_rings *r, uint32_t cpu, struct error *e)
{
	struct os_ring *ring = &r->rings[cpu];
	int rc = 1;

	while (!ring->has_next && rc > 0) {
		if (ring->has_page)
			step(r, cpu);
		else
			rc = read_page(r, cpu, e);
	}
	if (rc == 0 && ring->is_gap && ring->is_empty)
		set_found(ring, ring->empty_ns);
	ring->next.cpu = cpu;
	return rc < 0 ? rc : ring->has_next;
}

void os_rings_begin(struct os_rings *r)
{
	bool look = ++r->begins % STATS_EVERY == 0;
	uint32_t cpu;

	for (cpu = 0; cpu < r->cpus; cpu++) {
		r->rings[cpu].is_empty = false;
		r->rings[cpu].pages = 0;
		if (look)
			tell_dropped(&r->rings[cpu]);
	}
	r->at = r->cpus;
}

/* The earliest ring, and how long it stays that. */
static int choose(struct os_rings *r, struct error *e)
{
	uint64_t best = UINT64_MAX, ns;
	uint32_t cpu;
	int rc;

	r->at = r->cpus;
	r->others_ns = UINT64_MAX;
	for (cpu = 0; cpu < r->cpus; cpu++) {
		rc = peek(r, cpu, e);
		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		ns = r->rings[cpu].next.ns;
		if (r->at == r->cpus || ns < best) {
			r->others_ns = best;
			best = ns;
			r->at = cpu;
		} else if (ns < r->others_ns) {
			r->others_ns = ns;
		}
	}
	return 0;
}

/* Takes the ring's next; before the first behind a gap, the gap's end. */
static void take(struct os_ring *ring, struct os_record *ret)
{
	*ret = ring->next;
	if (ret->ns > ring->last_ns)
		ring->last_ns = ret->ns;
	if (ring->is_gap && ret->kind != OS_LOST && ret->kind != OS_FOUND) {
		ret->kind = OS_FOUND;
		ring->is_gap = false;
		return;
	}
	ret->other = ret->kind == OS_LOST ? ring->is_gap : ret->other;
	ring->is_gap = ret->kind == OS_LOST;
	ring->has_next = false;
}

int os_rings_next(struct os_rings *r, uint64_t safe_ns, struct os_record *ret, struct error *e)
{
	int rc;

	r->safe_ns = safe_ns;
	rc = r->at < r->cpus ? peek(r, r->at, e) : 0;
	if (rc == 0 || (rc > 0 && r->rings[r->at].next.ns > r->others_ns))
		rc = choose(r, e);
	if (rc < 0 || r->at == r->cpus || r->rings[r->at].next.ns > safe_ns)
		return rc < 0 ? rc : 0;
	take(&r->rings[r->at], ret);
	return 1;
}
