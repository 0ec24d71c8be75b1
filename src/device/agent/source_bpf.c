/* SPDX-License-Identifier: MIT */
/*
 * source_bpf: events from the BPF programs of src/device/bpf (sched_record.h).
 *
 * Programs, links and rings are pinned (bpf_load.h): they go on when the agent dies, and the next
 * one opens them again. A ring is read in place, through its mapping: drain() walks from where it
 * was to the producer's position, release() moves the consumer's position, and only then may the
 * kernel overwrite. So the position of an event is the ring's own, and a restart needs no other
 * memory. The kernel's positions are of type long and wrap at 32 bits on a 32-bit kernel; here they
 * go on in 64.
 *
 * Losses: a program that finds its ring full counts that and marks its next record. The count is
 * taken over at the mark, and again where the ring is empty. A second source of losses is the
 * kernel itself, which does not enter a program twice on one CPU; it counts those per program, not
 * per CPU, so all of them are booked on CPU 0.
 *
 * Waking up: each drain tells the programs after how many more bytes to wake the agent, half of
 * what is free. Data that the recorder has not released does not wake it again and again.
 */
#include "device/agent/source.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/cleanup.h"
#include "device/agent/bpf_load.h"
#include "device/agent/bpf_record.h"
#include "device/agent/filter.h"
#include "device/agent/recorder.h"
#include "device/agent/source_bpf.h"
#include "device/bpf/sched_record.h"

#define RING_BYTES_DEFAULT (1U << 20)
#define RING_BUSY 0x80000000U	 /* of a record's length: it is being written */
#define RING_DISCARD 0x40000000U /* it was given up */
#define RING_HEADER 8U
#define WAKE_BYTES_LEAST 4096U
#define MISSES_EVERY_S 1 /* how often the kernel is asked for what it did not enter */

struct bpf_ring {
	int fd;			 /* -1: the CPU is not present */
	unsigned long *consumer; /* a page of its own */
	const unsigned long *producer;
	const uint8_t *data;
	uint64_t position; /* behind the last record that was drained */
};

struct source_bpf {
	struct device_source base;
	char dir[BPF_DIR_MAX];
	struct event_filter *filter;
	uint32_t n_cpus, ring_bytes, shift;
	size_t page;
	struct record_cpu *cpus; /* mapped */
	int cpus_fd, pids_fd, wake_fd;
	int programs[SCHED_KINDS], links[SCHED_KINDS]; /* -1: none */
	uint32_t generation;			       /* of the filter's members in the map */
	uint64_t misses;
	time_t misses_asked;
	struct record_path cut;	 /* a record that the end of its ring cuts */
	struct bpf_ring rings[]; /* n_cpus */
};

static size_t cpus_bytes(const struct source_bpf *s)
{
	size_t len = s->n_cpus * sizeof(struct record_cpu);

	return (len + s->page - 1) / s->page * s->page;
}

static void close_ring(struct source_bpf *s, struct bpf_ring *r)
{
	if (r->consumer)
		munmap(r->consumer, s->page);
	if (r->producer)
		munmap((void *)(uintptr_t)r->producer, s->page + s->ring_bytes);
	if (r->fd >= 0)
		close(r->fd);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void set_switch(struct source_bpf *s, uint32_t on)
{
	uint32_t i;

	for (i = 0; s->cpus && i < s->n_cpus; i++)
		__atomic_store_n(&s->cpus[i].on, on, __ATOMIC_RELEASE);
}

static void source_free(struct device_source *base, bool keep)
{
	struct source_bpf *s = (struct source_bpf *)base;
	uint32_t i;

	if (!s)
		return;
	if (!keep)
		set_switch(s, 0);
	for (i = 0; i < s->n_cpus; i++)
		close_ring(s, &s->rings[i]);
	for (i = 0; i < SCHED_KINDS; i++) {
		close_fd(s->links[i]);
		close_fd(s->programs[i]);
	}
	if (s->cpus)
		munmap(s->cpus, cpus_bytes(s));
	close_fd(s->cpus_fd);
	close_fd(s->pids_fd);
	close_fd(s->wake_fd);
	if (!keep)
		bpf_unpin(s->dir);
	free(s);
}

/* A half-open source that is given up: what is pinned stays for whoever made it. */
static void source_drop(struct source_bpf *s)
{
	source_free(s ? &s->base : NULL, true);
}
DEFINE_CLEANUP(source_bpf, source_drop)

static int get_pinned(const struct source_bpf *s, const char *name)
{
	char path[BPF_DIR_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

static int map_ring(struct source_bpf *s, struct bpf_ring *r)
{
	size_t len = s->page + s->ring_bytes;
	void *p = mmap(NULL, s->page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	r->consumer = p;
	/* The kernel would map the data twice in a row, so that no record is cut at the end; but
	 * then it also counts twice as this program's memory. */
	p = mmap(NULL, len, PROT_READ, MAP_SHARED, r->fd, (off_t)s->page);
	if (p == MAP_FAILED)
		return -errno;
	r->producer = p;
	r->data = (const uint8_t *)p + s->page;
	r->position = *r->consumer;
	return 0;
}

/* A ring of another size than the first one's is not ours. */
static int check_ring(struct source_bpf *s, int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	if (!s->ring_bytes)
		s->ring_bytes = info.max_entries;
	return info.max_entries == s->ring_bytes ? 0 : -ESTALE;
}

static int open_ring(struct source_bpf *s, uint32_t cpu)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.u32 = cpu };
	struct bpf_ring *ring = &s->rings[cpu];
	char name[32];
	int r;

	snprintf(name, sizeof(name), "ring%u", cpu);
	r = get_pinned(s, name);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	ring->fd = r;
	r = check_ring(s, ring->fd);
	if (!r)
		r = map_ring(s, ring);
	if (!r && epoll_ctl(s->wake_fd, EPOLL_CTL_ADD, ring->fd, &ev))
		r = -errno;
	s->base.fixed_bytes += s->ring_bytes;
	return r;
}

static int open_cpus(struct source_bpf *s)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	void *p;

	s->cpus_fd = get_pinned(s, "cpus");
	if (s->cpus_fd < 0)
		return s->cpus_fd;
	s->pids_fd = get_pinned(s, "pids");
	if (s->pids_fd < 0)
		return s->pids_fd;
	if (bpf_obj_get_info_by_fd(s->cpus_fd, &info, &len))
		return -errno;
	if (info.max_entries != s->n_cpus || info.value_size != sizeof(struct record_cpu))
		return -ESTALE;
	p = mmap(NULL, cpus_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED, s->cpus_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	s->cpus = p;
	s->base.fixed_bytes = cpus_bytes(s);
	return s->cpus[0].version == RECORD_VERSION ? 0 : -ESTALE;
}

static int open_pinned(struct source_bpf *s)
{
	uint32_t i;
	int r = open_cpus(s);

	if (r)
		return r;
	if (s->cpus[0].long_size != sizeof(long))
		return -EOPNOTSUPP;
	s->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->wake_fd < 0)
		return -errno;
	for (i = 0; i < s->n_cpus && !r; i++)
		r = open_ring(s, i);
	for (i = 0; i < SCHED_KINDS && !r; i++) {
		s->programs[i] = get_pinned(s, bpf_get_program(i));
		r = s->programs[i] < 0 && s->programs[i] != -ENOENT ? s->programs[i] : 0;
	}
	return r;
}

static void set_dialect(struct source_bpf *s)
{
	struct sched_dialect *d = &s->base.dialect;
	struct utsname un;

	dialect_from_release(d, uname(&un) ? "" : un.release);
	d->features |= DIALECT_NO_FLAGS;
	/* The programs know the pid, also where the kernel's event has none. */
	d->features &= ~(uint32_t)(DIALECT_RENAME_NO_PID | DIALECT_GROUP_DEAD | DIALECT_BIG_ENDIAN);
	if (s->cpus[0].has_group_dead)
		d->features |= DIALECT_GROUP_DEAD;
	if (s->cpus[0].has_context)
		d->features |= DIALECT_WAKER_CONTEXT;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		d->features |= DIALECT_BIG_ENDIAN;
	d->kinds = s->cpus[0].kinds;
	d->long_size = (uint8_t)s->cpus[0].long_size;
}

static uint32_t ring_bytes(const struct message_config *c, size_t page)
{
	uint32_t wanted = c->ring_kib ? c->ring_kib * 1024 : RING_BYTES_DEFAULT;
	uint32_t bytes = (uint32_t)page;

	while (bytes < wanted && bytes < 1U << 28)
		bytes *= 2;
	return bytes;
}

/* Makes everything anew. */
static int load(const struct source_bpf *s, const struct source_options *o, struct error *e)
{
	struct bpf_order order = {
		.config = o->config,
		.kinds = o->config->events ? o->config->events : (1U << SCHED_KINDS) - 1,
		.cpus = o->cpus,
		.ring_bytes = ring_bytes(o->config, s->page),
		.dir = s->dir,
	};
	int r = bpf_mount(e);

	if (r)
		return r;
	if (mkdir(BPF_ROOT "/kiseki", 0700) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", BPF_ROOT "/kiseki",
				 strerror(errno));
	bpf_unpin(s->dir);
	return bpf_load(&order, e);
}

static struct source_bpf *source_new(const struct source_options *o)
{
	struct source_bpf *s = calloc(1, sizeof(*s) + o->cpus * sizeof(s->rings[0]));
	uint32_t i;

	if (!s)
		return NULL;
	s->base.ops = &source_bpf;
	s->n_cpus = o->cpus;
	s->shift = o->resolution_shift;
	s->filter = o->filter;
	s->page = (size_t)sysconf(_SC_PAGESIZE);
	s->cpus_fd = s->pids_fd = s->wake_fd = -1;
	for (i = 0; i < SCHED_KINDS; i++)
		s->programs[i] = s->links[i] = -1;
	for (i = 0; i < o->cpus; i++)
		s->rings[i].fd = -1;
	return s;
}

static int source_open(struct device_source **ret, const struct source_options *o, struct error *e)
{
	CLEANUP(source_bpf) struct source_bpf *s = source_new(o);
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot record through BPF: out of memory");
	if (!o->instance[0] || strpbrk(o->instance, "/.") ||
	    snprintf(s->dir, sizeof(s->dir), BPF_ROOT "/kiseki/%s", o->instance) >=
		    (int)sizeof(s->dir))
		return error_set(e, EINVAL, "cannot record through BPF: bad name '%s'",
				 o->instance);
	r = o->resume ? 0 : load(s, o, e);
	if (r)
		return r;
	r = open_pinned(s);
	if (r && !o->resume)
		bpf_unpin(s->dir);
	if (r == -EOPNOTSUPP)
		return error_set(e, EOPNOTSUPP,
				 "cannot record through BPF: the kernel is of %u bits, this "
				 "program of %u; tracefs can",
				 s->cpus[0].long_size * 8, (unsigned int)sizeof(long) * 8);
	if (r)
		return error_set(e, -r, "cannot open what is pinned in %s: %s", s->dir,
				 strerror(-r));
	set_dialect(s);
	*ret = &take_ptr(s)->base;
	return 0;
}

/* Moves a 64-bit position to where the kernel's, perhaps narrower, one is. */
static uint64_t widen(uint64_t near, unsigned long position)
{
	return near + (unsigned long)(position - (unsigned long)near);
}

static unsigned long get_producer(const struct bpf_ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

static int source_resume(struct device_source *base, uint32_t cpu, uint64_t position,
			 struct error *e)
{
	struct source_bpf *s = (struct source_bpf *)base;
	struct bpf_ring *r = &s->rings[cpu];
	unsigned long ahead, held;

	if (r->fd < 0)
		return 0;
	ahead = (unsigned long)position - *r->consumer;
	held = get_producer(r) - *r->consumer;
	if (ahead > held || position % RING_HEADER)
		return error_set(e, ESTALE,
				 "cannot resume CPU %u at %llu: its ring is at %lu and holds %lu",
				 cpu, (unsigned long long)position, *r->consumer, held);
	r->position = position;
	__atomic_store_n(r->consumer, (unsigned long)position, __ATOMIC_RELEASE);
	return 0;
}

/* Puts the members of cgroups into the map, and takes out who is none since the reading before. */
static void sync_members(struct source_bpf *s)
{
	uint32_t generation = filter_get_generation(s->filter), slot = 0, value;
	int32_t pid, key, next;
	bool more;

	if (generation == s->generation)
		return;
	s->generation = generation;
	while (filter_next_member(s->filter, &slot, &pid))
		if (bpf_map_lookup_elem(s->pids_fd, &pid, &value) || value != RECORD_LISTED)
			bpf_map_update_elem(s->pids_fd, &pid, &generation, BPF_ANY);
	more = !bpf_map_get_next_key(s->pids_fd, NULL, &next);
	while (more) {
		key = next;
		more = !bpf_map_get_next_key(s->pids_fd, &key, &next);
		if (!bpf_map_lookup_elem(s->pids_fd, &key, &value) && value != RECORD_LISTED &&
		    generation - value > 1)
			bpf_map_delete_elem(s->pids_fd, &key);
	}
}

static int attach(struct source_bpf *s, uint32_t kind)
{
	char path[BPF_DIR_MAX + 64];

	if (s->programs[kind] < 0 || s->links[kind] >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/%s_on", s->dir, bpf_get_program(kind));
	s->links[kind] = bpf_obj_get(path);
	if (s->links[kind] >= 0)
		return 0;
	s->links[kind] = bpf_raw_tracepoint_open(NULL, s->programs[kind]);
	if (s->links[kind] < 0)
		return -errno;
	return bpf_obj_pin(s->links[kind], path) ? -errno : 0;
}

static int source_start(struct device_source *base, struct error *e)
{
	struct source_bpf *s = (struct source_bpf *)base;
	uint32_t kind;
	int r;

	sync_members(s);
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		r = attach(s, kind);
		if (r)
			return error_set(e, -r, "cannot attach to %s: %s", bpf_get_program(kind),
					 strerror(-r));
	}
	set_switch(s, 1);
	return 0;
}

/* Returns when no program is inside of an event any more. The kernel promises that to whoever changes
 * a map of maps, so one is made for it. (membarrier() does the same, but not on a kernel with CPUs
 * that have no tick, nor on one that is built without it.) */
static int wait_for_programs(const struct source_bpf *s)
{
	const struct bpf_map_create_opts options = {
		.sz = sizeof(options),
		.inner_map_fd = (uint32_t)s->cpus_fd,
	};
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, NULL, sizeof(uint32_t),
						sizeof(uint32_t), 1, &options);
	uint32_t key = 0;

	if (fd < 0 || bpf_map_update_elem(fd, &key, &s->cpus_fd, BPF_ANY))
		return -errno;
	return 0;
}

static int source_stop(struct device_source *base, struct error *e)
{
	struct source_bpf *s = (struct source_bpf *)base;
	char path[BPF_DIR_MAX + 64];
	uint32_t kind;
	int r;

	set_switch(s, 0);
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		snprintf(path, sizeof(path), "%s/%s_on", s->dir, bpf_get_program(kind));
		unlink(path);
		close_fd(take_fd(&s->links[kind]));
	}
	r = wait_for_programs(s);
	s->misses_asked = 0;
	return r ? error_set(e, -r, "cannot wait for the BPF programs to end: %s", strerror(-r))
		 : 0;
}

/* What the kernel did not enter because the CPU was in the same program already. */
static uint64_t get_misses(struct source_bpf *s)
{
	struct timespec now = { 0 };
	struct bpf_prog_info info;
	uint64_t sum = 0;
	uint32_t i, len;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (s->misses_asked && now.tv_sec < s->misses_asked + MISSES_EVERY_S)
		return s->misses;
	s->misses_asked = now.tv_sec;
	for (i = 0; i < SCHED_KINDS; i++) {
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (s->programs[i] >= 0 && !bpf_obj_get_info_by_fd(s->programs[i], &info, &len))
			sum += info.recursion_misses;
	}
	s->misses = sum;
	return sum;
}

static void book_losses(struct source_bpf *s, uint32_t cpu, struct recorder *r)
{
	uint64_t total = __atomic_load_n(&s->cpus[cpu].dropped, __ATOMIC_RELAXED);
	uint64_t booked = recorder_ring_total(r, cpu);

	if (!cpu)
		total += get_misses(s);
	if (total > booked)
		recorder_lose(r, cpu, LOSS_RING, total - booked, total);
}

/* Where the len bytes of a record are whole: in the ring, or, if its end cuts them, as a copy. */
static const uint8_t *get_whole(struct source_bpf *s, const struct bpf_ring *ring, uint32_t len)
{
	size_t at = (ring->position + RING_HEADER) & (s->ring_bytes - 1),
	       first = s->ring_bytes - at;

	if (len <= first || len > sizeof(s->cut))
		return ring->data + at;
	memcpy(&s->cut, ring->data + at, first);
	memcpy((uint8_t *)&s->cut + first, ring->data, len - first);
	return (const uint8_t *)&s->cut;
}

/* The record at the ring's position: its bytes that are done with, or 0 if it is not whole yet. */
static uint32_t take_record(struct source_bpf *s, uint32_t cpu, struct recorder *r)
{
	struct bpf_ring *ring = &s->rings[cpu];
	const uint8_t *at = ring->data + (ring->position & (s->ring_bytes - 1));
	uint32_t head = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
	uint32_t len = head & ~(RING_BUSY | RING_DISCARD), whole;
	struct sched_event ev;

	if (head & RING_BUSY)
		return 0;
	whole = (len + RING_HEADER + 7U) & ~7U;
	at = get_whole(s, ring, len);
	if ((head & RING_DISCARD) || len > sizeof(s->cut) ||
	    !bpf_record_decode(&ev, at, len, &s->base.dialect)) {
		s->base.not_understood += !(head & RING_DISCARD);
		recorder_pass(r, cpu, ring->position + whole);
		return whole;
	}
	if (bpf_record_has_loss(at))
		book_losses(s, cpu, r);
	ev.tick >>= s->shift;
	recorder_take(r, cpu, &ev, ring->position + whole);
	return whole;
}

/* What the ring cannot reuse yet: not drained, or drained and not released. */
static uint64_t get_held(const struct source_bpf *s, const struct bpf_ring *ring, uint64_t end)
{
	return end - widen(end - s->ring_bytes, *ring->consumer);
}

/* After how many more bytes the agent wants to be woken: half of what is free now. */
static void set_wake(struct source_bpf *s, uint32_t cpu, uint64_t end)
{
	uint64_t held = get_held(s, &s->rings[cpu], end);
	uint64_t free_bytes = held < s->ring_bytes ? s->ring_bytes - held : 0;

	if (free_bytes < 2 * WAKE_BYTES_LEAST)
		free_bytes = 2 * WAKE_BYTES_LEAST;
	s->cpus[cpu].wake_at = s->cpus[cpu].bytes + free_bytes / 2;
}

static void begin_round(struct source_bpf *s)
{
	struct epoll_event events[16];
	uint64_t passed = 0;
	uint32_t i;

	/* The wakeups of all rings, so that the descriptor is no longer readable. */
	while (epoll_wait(s->wake_fd, events, 16, 0) == 16)
		;
	for (i = 0; i < s->n_cpus; i++)
		passed += s->cpus[i].passed_over;
	s->base.passed_over = passed;
	sync_members(s);
}

static int source_drain(struct device_source *base, uint32_t cpu, struct recorder *r,
			struct error *e)
{
	struct source_bpf *s = (struct source_bpf *)base;
	struct bpf_ring *ring = &s->rings[cpu];
	uint64_t start = ring->position, end;
	uint32_t len;

	(void)e;
	if (!cpu)
		begin_round(s);
	if (ring->fd < 0) {
		book_losses(s, cpu, r);
		return 0;
	}
	end = widen(start, get_producer(ring));
	for (; ring->position < end; ring->position += len) {
		len = take_record(s, cpu, r);
		if (!len)
			break;
	}
	if (ring->position == end)
		book_losses(s, cpu, r);
	/* A block that waits for more events may hold a small ring up. */
	if (get_held(s, ring, ring->position) > s->ring_bytes / 2)
		recorder_flush(r, cpu);
	set_wake(s, cpu, end);
	return end - start > s->ring_bytes / 2;
}

static void source_release(struct device_source *base, uint32_t cpu, uint64_t position)
{
	struct bpf_ring *r = &((struct source_bpf *)base)->rings[cpu];

	if (r->fd >= 0 && position <= r->position)
		__atomic_store_n(r->consumer, (unsigned long)position, __ATOMIC_RELEASE);
}

static int source_wake_fd(struct device_source *base)
{
	return ((struct source_bpf *)base)->wake_fd;
}

_Static_assert(BPF_SWITCH_BYTES == sizeof(struct record_two) + RING_HEADER, "of a switch");

void source_bpf_get_counts(const struct device_source *base, uint32_t cpu, struct bpf_counts *ret)
{
	const struct record_cpu *c = &((const struct source_bpf *)base)->cpus[cpu];

	ret->bytes = c->bytes;
	ret->dropped = c->dropped;
	ret->passed_over = c->passed_over;
}

static int source_probe(struct error *e)
{
	struct bpf_order order = { .kinds = (1U << SCHED_KINDS) - 1, .cpus = 1 };
	int r;

	order.ring_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	r = bpf_mount(e);
	return r ? r : bpf_load(&order, e);
}

const struct device_source_ops source_bpf = {
	.name = "bpf",
	.probe = source_probe,
	.open = source_open,
	.resume = source_resume,
	.start = source_start,
	.stop = source_stop,
	.drain = source_drain,
	.release = source_release,
	.wake_fd = source_wake_fd,
	.free = source_free,
};
