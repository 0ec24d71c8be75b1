/* SPDX-License-Identifier: MIT */
/* graph_rings: see graph_rings.h. */
#include "device/graph/graph_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "device/agent/tracefs.h"
#include "ftrace/bytes.h"
#include "ftrace/format.h"
#include "wire/loss.h"

#define PAGE_BYTES_MAX (16U << 20)
/* In one go, so that signals are looked at now and then. */
#define TURN_PAGES 1024U

static int learn_pages(struct graph_rings *r, const char *folder, struct error *e)
{
	int failed = tracefs_get_pages(folder, &r->layout, &r->page_bytes, e);

	if (failed < 0)
		return failed;
	if (r->page_bytes <= r->layout.data_offset || r->page_bytes > PAGE_BYTES_MAX)
		return error_set(e, EBADMSG, "cannot read the rings: pages of %u bytes",
				 r->page_bytes);
	r->page = malloc(r->page_bytes);
	return r->page ? 0 : error_set(e, ENOMEM, "cannot read the rings: out of memory");
}

static int learn_events(struct graph_rings *r, const char *root, struct error *e)
{
	char text[TRACEFS_TEXT_MAX], name[96];
	int kind, n;

	graph_map_init(&r->map, BYTES_HOST_BIG);
	for (kind = 0; kind < GRAPH_KINDS; kind++) {
		snprintf(name, sizeof(name), "events/ftrace/%s/format",
			 graph_map_get_name((enum graph_kind)kind));
		n = tracefs_read(root, name, text, sizeof(text), e);
		if (n == -ENOENT)
			continue;
		if (n >= 0)
			n = graph_map_add(&r->map, text, (size_t)n, e);
		if (n < 0)
			return n;
	}
	return 0;
}

/* A file that is gone when nobody has it open. */
static int open_unnamed(const char *near, struct error *e)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.XXXXXX", near);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno, "cannot write %s: %m", path);
	unlink(path);
	return fd;
}

static int open_ring(struct graph_rings *r, const char *folder, uint32_t cpu, const char *near,
		     struct error *e)
{
	struct graph_ring *ring = &r->list[r->n];
	char path[TRACEFS_PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", folder, cpu);
	ring->cpu = cpu;
	ring->ring_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (ring->ring_fd < 0)
		return errno == ENOENT ? 0 : error_set(e, errno, "cannot open %s: %m", path);
	ring->file_fd = open_unnamed(near, e);
	if (ring->file_fd < 0) {
		close(ring->ring_fd);
		return ring->file_fd;
	}
	r->polls[r->n] = (struct pollfd){ .fd = ring->ring_fd, .events = POLLIN };
	r->n++;
	return 0;
}

int graph_rings_open(struct graph_rings *r, const char *folder, const char *near, struct error *e)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t most = configured > 0 && configured < (long)GRAPH_CPUS_MAX ? (uint32_t)configured
									    : GRAPH_CPUS_MAX;
	uint32_t cpu;
	int failed;

	memset(r, 0, sizeof(*r));
	r->list = calloc(most, sizeof(*r->list));
	r->polls = calloc(most + 1, sizeof(*r->polls));
	if (!r->list || !r->polls)
		return error_set(e, ENOMEM, "cannot read the rings: out of memory");
	failed = learn_pages(r, folder, e);
	if (failed == 0)
		failed = learn_events(r, folder, e);
	for (cpu = 0; cpu < most && failed == 0; cpu++)
		failed = open_ring(r, folder, cpu, near, e);
	if (failed == 0 && !r->n)
		return error_set(e, ENOENT, "cannot read the rings: %s has none", folder);
	return failed;
}

void graph_rings_close(struct graph_rings *r)
{
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		close(r->list[i].ring_fd);
		close(r->list[i].file_fd);
	}
	free(r->list);
	free(r->polls);
	free(r->page);
	memset(r, 0, sizeof(*r));
}

bool graph_rings_wait(struct graph_rings *r, int fd, int timeout_ms)
{
	r->polls[r->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	return poll(r->polls, r->n + 1, timeout_ms) > 0 && r->polls[r->n].revents;
}

static int write_page(const struct graph_rings *r, struct graph_ring *ring, struct error *e)
{
	uint32_t done = 0;
	ssize_t n;

	while (done < r->page_bytes) {
		n = write(ring->file_fd, r->page + done, r->page_bytes - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(e, errno, "cannot write the recording: %m");
		done += (uint32_t)n;
	}
	ring->bytes += done;
	return 0;
}

/* Each call has an exit; where all is recorded it is counted when it begins. */
static void count_calls(struct graph_rings *r)
{
	enum graph_kind wanted = r->only_exits ? GRAPH_EXIT : GRAPH_ENTRY;
	struct page_record record;
	struct graph_event ev;
	struct page p;

	if (page_open(&p, &r->layout, r->page, r->page_bytes, NULL) < 0)
		return;
	if (p.missed && p.missed != LOSS_UNKNOWN)
		r->missed += p.missed;
	while (page_next(&p, &record, NULL) > 0)
		if (graph_map_decode(&r->map, record.data, record.len, &ev) > 0 &&
		    ev.kind == wanted)
			r->calls++;
}

/* 1: a page was taken; 0: there is none. */
static int take_page(struct graph_rings *r, struct graph_ring *ring, struct error *e)
{
	int n = tracefs_read_page(ring->ring_fd, r->page, r->page_bytes), failed;

	if (n == 0)
		return 0;
	if (n < 0)
		return error_set(e, n, "cannot read the ring of CPU %u: %s", ring->cpu,
				 strerror(-n));
	memset(r->page + n, 0, r->page_bytes - (size_t)n);
	count_calls(r);
	failed = write_page(r, ring, e);
	return failed < 0 ? failed : 1;
}

int graph_rings_drain(struct graph_rings *r, bool at_end, struct error *e)
{
	uint32_t turn, i;
	bool more = true;
	int got;

	for (turn = 0; more && (at_end || turn < TURN_PAGES); turn++) {
		more = false;
		for (i = 0; i < r->n && !graph_rings_is_full(r); i++) {
			got = take_page(r, &r->list[i], e);
			if (got < 0)
				return got;
			more |= got > 0;
		}
	}
	return 0;
}
