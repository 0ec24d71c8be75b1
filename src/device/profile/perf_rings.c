/* SPDX-License-Identifier: MIT */
/*
 * perf_rings: see perf_rings.h. The order is kept by a heap of the rings, by the time of their next record.
 */
#include "device/profile/perf_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/profile/perf_record.h"

#define GIVE_PART 4U /* of a ring, that is read before the kernel has it again */

/* --- the shared page --- */

/* Both halves of one value, also where they are read by two instructions. */
static uint64_t load_head(const struct perf_ring *ring)
{
	const volatile uint64_t *head = (const volatile uint64_t *)(ring->map + PERF_PAGE_HEAD);
	uint64_t first, again;

	do {
		first = *head;
		again = *head;
	} while (first != again);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return first;
}

static void give(struct perf_ring *ring)
{
	volatile uint64_t *tail = (volatile uint64_t *)(ring->map + PERF_PAGE_TAIL);

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*tail = ring->at;
	ring->given = ring->at;
}

/* --- making them --- */

int perf_rings_new(struct perf_rings **ret, uint32_t n_max, struct error *e)
{
	struct perf_rings *r = calloc(1, sizeof(*r));

	if (r) {
		r->n_max = n_max;
		r->list = calloc(n_max, sizeof(*r->list));
		r->heap = calloc(n_max, sizeof(*r->heap));
		r->polls = calloc(n_max + PERF_RINGS_OTHERS, sizeof(*r->polls));
	}
	if (!r || !r->list || !r->heap || !r->polls) {
		perf_rings_free(r);
		return error_set(e, ENOMEM, "cannot make the rings: out of memory");
	}
	*ret = r;
	return 0;
}

void perf_rings_free(struct perf_rings *r)
{
	if (!r)
		return;
	perf_rings_clear(r);
	free(r->list);
	free(r->heap);
	free(r->polls);
	free(r);
}

void perf_rings_set_size(struct perf_rings *r, uint32_t size)
{
	r->size = size;
}

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int perf_rings_add(struct perf_rings *r, int fd, uint32_t cpu)
{
	struct perf_ring *ring = &r->list[r->n];
	void *map;

	if (r->n == r->n_max)
		return -E2BIG;
	map = mmap(NULL, page_bytes() + r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct perf_ring){ .cpu = cpu, .fd = fd, .map = map };
	ring->data = ring->map + page_bytes();
	r->polls[r->n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	r->n++;
	return 0;
}

void perf_rings_clear(struct perf_rings *r)
{
	for (; r->n; r->n--)
		munmap(r->list[r->n - 1].map, page_bytes() + r->size);
}

/* The ring of a task that is gone is ready for ever: it is looked at when the time is over. */
bool perf_rings_wait(struct perf_rings *r, const struct pollfd others[PERF_RINGS_OTHERS],
		     int timeout_ms)
{
	uint32_t i;

	memcpy(r->polls + r->n, others, PERF_RINGS_OTHERS * sizeof(*others));
	if (poll(r->polls, r->n + PERF_RINGS_OTHERS, timeout_ms) <= 0)
		return false;
	for (i = 0; i < r->n; i++)
		if (r->polls[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			r->polls[i].fd = -1;
	return r->polls[r->n].revents;
}

/* --- reading --- */

/* Out of the ring, which may end within it. */
static void copy_out(const struct perf_rings *r, const struct perf_ring *ring, uint64_t at,
		     void *to, uint32_t len)
{
	uint32_t from = (uint32_t)(at & (r->size - 1)), first = r->size - from;

	first = first < len ? first : len;
	memcpy(to, ring->data + from, first);
	memcpy((uint8_t *)to + first, ring->data, len - first);
}

/* Length and time of the next record. One that cannot be is as if all that is there were one. */
static void look(const struct perf_rings *r, struct perf_ring *ring)
{
	uint8_t head[PERF_RECORD_HEAD];
	uint64_t left = ring->head - ring->at, time = 0;
	uint32_t at;

	ring->len = 0;
	if (!left)
		return;
	copy_out(r, ring, ring->at, head, sizeof(head));
	ring->len = left > r->size ? 0 : perf_record_length(head, (uint32_t)left);
	if (!ring->len) {
		ring->len = UINT32_MAX;
		return;
	}
	at = perf_record_time_at(head, ring->len);
	if (!at)
		return;
	copy_out(r, ring, ring->at + at, &time, sizeof(time));
	if (time > ring->time)
		ring->time = time;
}

/* Of the same time the one of the lower CPU is first. */
static bool is_before(const struct perf_rings *r, uint32_t a, uint32_t b)
{
	uint64_t first = r->list[a].time, second = r->list[b].time;

	return first < second || (first == second && a < b);
}

static void sift_down(struct perf_rings *r, uint32_t i)
{
	uint32_t moved = r->heap[i], child;

	for (; (child = 2 * i + 1) < r->n_heap; i = child) {
		if (child + 1 < r->n_heap && is_before(r, r->heap[child + 1], r->heap[child]))
			child++;
		if (!is_before(r, r->heap[child], moved))
			break;
		r->heap[i] = r->heap[child];
	}
	r->heap[i] = moved;
}

void perf_rings_begin(struct perf_rings *r, uint64_t until)
{
	struct perf_ring *ring;
	uint32_t i;

	r->until = until;
	r->n_heap = 0;
	r->is_out = false;
	for (i = 0; i < r->n; i++) {
		ring = &r->list[i];
		ring->head = load_head(ring);
		look(r, ring);
		if (ring->len && ring->time <= until)
			r->heap[r->n_heap++] = i;
	}
	for (i = r->n_heap / 2; i-- > 0;)
		sift_down(r, i);
}

static void take_bytes(struct perf_rings *r, struct perf_ring *ring, struct perf_piece *ret)
{
	uint32_t from = (uint32_t)(ring->at & (r->size - 1));

	ret->len = ring->len;
	if (ring->len == UINT32_MAX) {
		ret->bytes = NULL;
		ring->at = ring->head;
		return;
	}
	ret->bytes = ring->data + from;
	if (r->size - from < ring->len) {
		copy_out(r, ring, ring->at, r->record, ring->len);
		ret->bytes = r->record;
	}
	ring->at += ring->len;
}

/* Behind the record that was given out last: only now its room may go back. */
static void go_on(struct perf_rings *r)
{
	struct perf_ring *ring = &r->list[r->heap[0]];

	if (!r->is_out)
		return;
	r->is_out = false;
	if (ring->at - ring->given >= r->size / GIVE_PART)
		give(ring);
	look(r, ring);
	if (!ring->len || ring->time > r->until)
		r->heap[0] = r->heap[--r->n_heap];
	if (r->n_heap)
		sift_down(r, 0);
}

bool perf_rings_next(struct perf_rings *r, struct perf_piece *ret)
{
	go_on(r);
	if (!r->n_heap)
		return false;
	ret->ring = r->heap[0];
	take_bytes(r, &r->list[ret->ring], ret);
	r->is_out = true;
	return true;
}

void perf_rings_end(struct perf_rings *r)
{
	uint32_t i;

	r->is_out = false;
	for (i = 0; i < r->n; i++)
		if (r->list[i].at != r->list[i].given)
			give(&r->list[i]);
}
