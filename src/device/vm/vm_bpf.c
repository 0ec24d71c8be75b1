/* SPDX-License-Identifier: MIT */
/*
 * vm_bpf: programs of BPF (device/bpf/vm.bpf.c) as a source of records (vm_source.h), for hosts without the module.
 *
 * The programs write the module's records, each CPU's into a ring of its own; here they are put behind the heads of chunks. Nothing is pinned:
 * all of it goes with this process.
 *
 * A timer says when to read. At each reading the period of the samples is drawn anew, so it is short.
 *
 * What one CPU's programs began in another order than they got their time is a matter of nanoseconds: a time that would go back
 * is that of the record before. What the kernel did not enter because the CPU was in the same program already, it counts itself, not
 * by CPU: it is told as missing on the first.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <vm_object.h> /* made from src/device/bpf/vm.bpf.c */

#include "base/cleanup.h"
#include "base/clock.h"
#include "device/agent/bpf_kernel.h"
#include "device/bpf/vm_state.h"
#include "device/vm/vm_clock.h"
#include "device/vm/vm_record.h"
#include "device/vm/vm_source.h"
#include "wire/sample_meta.h"

#define READ_MS 20 /* 512 KiB last for some 200,000 records a second */
#define POINTS 7U

struct point {
	const char *program, *tracepoint;
	bool is_event;	/* of a guest: not wanted where entries and exits are not */
	bool is_switch; /* not wanted where switches are not */
};

static const struct point points[POINTS] = {
	{ "vm_entry", "kvm_entry", false, false }, /* by it KVM's threads are known */
	{ "vm_exit", "kvm_exit", false, false },
	{ "vm_outside", "kvm_userspace_exit", true, false },
	{ "vm_poll", "kvm_vcpu_wakeup", true, false },
	{ "vm_switch", "sched_switch", false, true },
	{ "vm_wake", "sched_wakeup", false, true },
	{ "vm_forget", "sched_process_exit", false, false },
};

struct vm_bpf {
	struct vm_source base;
	uint16_t exits; /* enum sample_exits */
	bool has_prev_state;
	struct bpf_object *object;
	int programs[POINTS]; /* negative: not wanted; borrowed */
	int links[POINTS];    /* negative: none */
	struct vm_clock clock;
	struct ring_buffer **rings; /* of each CPU */
	struct vm_state_cpu *cpus;  /* mapped */
	size_t cpus_bytes;
	uint32_t n_cpus, turn; /* turn: the CPU that is read first */
	int rings_fd, ring_fd; /* the map of rings, borrowed, and the first of them */
	uint64_t *last_ticks;  /* of each CPU */
	uint64_t missed, told; /* by the kernel; of these, those that a record told of */
	/* Where the record goes that libbpf hands out. */
	uint8_t *to;
	size_t room, len;
	uint32_t cpu;
};

/* --- what this kernel has --- */

/* In the kernel's own types, or in those of a module. */
static bool has_type(const struct btf *types, const char *module, const char *name, uint32_t kind)
{
	struct btf *own;
	bool has;

	if (btf__find_by_name_kind(types, name, kind) > 0)
		return true;
	own = btf__load_module_btf(module, (struct btf *)(uintptr_t)types);
	has = own && btf__find_by_name_kind(own, name, kind) > 0;
	btf__free(own);
	return has;
}

/* Whose guests these are, by what KVM is made of; it may be a module. */
static int find_exits(struct vm_bpf *b, const struct btf *types, struct error *e)
{
	if (!has_type(types, "kvm", "btf_trace_kvm_entry", BTF_KIND_TYPEDEF))
		return error_set(e, ENOENT,
				 "cannot record by BPF: this kernel has no KVM, or its module is "
				 "not loaded");
#ifdef __aarch64__
	b->exits = SAMPLE_EXITS_ARM64;
	return 0;
#else
	if (!has_type(types, "kvm_amd", "vcpu_svm", BTF_KIND_STRUCT))
		return error_set(e, EOPNOTSUPP,
				 "cannot record by BPF: only the module kiseki_vm can read the "
				 "registers of guests on this processor");
	b->exits = SAMPLE_EXITS_SVM;
	return 0;
#endif
}

static int look_at_kernel(struct vm_bpf *b, struct error *e)
{
	struct btf *types = bpf_kernel_load_types(e);
	int r = types ? find_exits(b, types, e) : -errno;

	if (types)
		b->has_prev_state = bpf_kernel_count_arguments(types, "sched_switch") >= 4;
	btf__free(types);
	return r;
}

/* --- loading --- */

static int size_map(struct vm_bpf *b, const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(b->object, name);

	return m ? bpf_map__set_max_entries(m, b->n_cpus) : -ENOENT;
}

static int set_up(struct vm_bpf *b, const struct vm_settings *s)
{
	struct vm_state_setup setup = { .exits = b->exits,
					.has_events = s->exits,
					.has_switches = s->switches,
					.has_prev_state = b->has_prev_state,
					.period_ns = s->period_ns };
	struct bpf_program *p;
	struct bpf_map *m;
	uint32_t i;
	int r = size_map(b, "cpus");

	if (!r)
		r = size_map(b, "rings");
	bpf_object__for_each_map(m, b->object)
	{
		if (!r && strstr(bpf_map__name(m), ".rodata"))
			r = bpf_map__set_initial_value(m, &setup, sizeof(setup));
	}
	for (i = 0; !r && i < POINTS; i++) {
		p = bpf_object__find_program_by_name(b->object, points[i].program);
		r = p ? 0 : -ENOENT;
		if (!r &&
		    ((points[i].is_event && !s->exits) || (points[i].is_switch && !s->switches)))
			r = bpf_program__set_autoload(p, false);
	}
	return r;
}

/* Records are copied as they come; one that does not go back in time. */
static int take_record(void *data, void *record, size_t size)
{
	struct vm_bpf *b = data;
	struct vm_record head;

	if (size < sizeof(head) || size > b->room - b->len)
		return -EPROTO;
	memcpy(&head, record, sizeof(head));
	if (head.tick < b->last_ticks[b->cpu])
		head.tick = b->last_ticks[b->cpu];
	b->last_ticks[b->cpu] = head.tick;
	if (!b->cpu && b->missed > b->told) {
		head.lost += (uint32_t)(b->missed - b->told);
		b->told = b->missed;
	}
	memcpy(b->to + b->len, &head, sizeof(head));
	memcpy(b->to + b->len + sizeof(head), (const uint8_t *)record + sizeof(head),
	       size - sizeof(head));
	b->len += size;
	return b->room - b->len < sizeof(struct vm_record_sample) ? -ENOBUFS : 0;
}

static int make_rings(struct vm_bpf *b, const struct vm_settings *s)
{
	uint32_t size = s->buffer_kib * 1024, page = (uint32_t)sysconf(_SC_PAGESIZE), i;

	b->rings_fd = bpf_object__find_map_fd_by_name(b->object, "rings");
	for (i = 0; i < b->n_cpus; i++) {
		_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "kiseki_vm", 0, 0,
							size < page ? page : size, NULL);

		if (fd < 0 || bpf_map_update_elem(b->rings_fd, &i, &fd, BPF_ANY))
			return -errno;
		b->rings[i] = ring_buffer__new(fd, take_record, b, NULL);
		if (!b->rings[i])
			return -errno;
		if (!i)
			b->ring_fd = take_fd(&fd);
	}
	return 0;
}

static int map_cpus(struct vm_bpf *b)
{
	int fd = bpf_object__find_map_fd_by_name(b->object, "cpus");
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	b->cpus_bytes = (b->n_cpus * sizeof(*b->cpus) + page - 1) / page * page;
	p = mmap(NULL, b->cpus_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	b->cpus = p;
	return 0;
}

static int load(struct vm_bpf *b, const struct vm_settings *s, struct error *e)
{
	static const struct bpf_object_open_opts opts = { .sz = sizeof(opts),
							  .object_name = "kiseki_vm" };
	uint32_t i;
	int r;

	b->object = bpf_object__open_mem(vm_object, sizeof(vm_object), &opts);
	if (!b->object)
		return bpf_kernel_fail(e, -errno, "read the BPF programs");
	r = set_up(b, s);
	if (!r)
		r = bpf_object__load(b->object);
	if (r)
		return bpf_kernel_fail(e, r, "load the BPF programs for virtual machines");
	r = make_rings(b, s);
	if (!r)
		r = map_cpus(b);
	if (r)
		return bpf_kernel_fail(e, r, "make the BPF maps for virtual machines");
	for (i = 0; i < POINTS; i++)
		b->programs[i] = bpf_program__fd(
			bpf_object__find_program_by_name(b->object, points[i].program));
	return 0;
}

/* --- running --- */

static void set_switch(struct vm_bpf *b, uint32_t on)
{
	uint32_t i;

	for (i = 0; b->cpus && i < b->n_cpus; i++)
		__atomic_store_n(&b->cpus[i].on, on, __ATOMIC_RELEASE);
}

static int attach(struct vm_bpf *b, struct error *e)
{
	uint32_t i;

	for (i = 0; i < POINTS; i++) {
		if (b->programs[i] < 0)
			continue;
		b->links[i] = bpf_raw_tracepoint_open(NULL, b->programs[i]);
		if (b->links[i] < 0)
			return error_set(e, errno, "cannot attach to %s: %s", points[i].tracepoint,
					 strerror(errno));
	}
	return 0;
}

/* What is recorded begins when all of it is there: an exit without its entry would mean something else. */
static int bpf_start(struct vm_source *base, const struct vm_settings *s, struct error *e)
{
	struct vm_bpf *b = (struct vm_bpf *)base;
	const struct itimerspec every = { .it_interval.tv_nsec = READ_MS * CLOCK_NS_PER_MS,
					  .it_value.tv_nsec = READ_MS * CLOCK_NS_PER_MS };
	uint32_t i;
	int r = attach(b, e);

	/* A sample stands for the time since the one before it, but not for a pause. */
	for (i = 0; i < b->n_cpus; i++)
		b->cpus[i].last_sample = 0;
	if (r == 0)
		r = vm_clock_open(&b->clock, s,
				  bpf_program__fd(
					  bpf_object__find_program_by_name(b->object, "vm_sample")),
				  e);
	if (r < 0)
		return r;
	if (timerfd_settime(base->fd, 0, &every, NULL) < 0)
		return error_set(e, errno, "cannot start a timer: %s", strerror(errno));
	set_switch(b, 1);
	return 0;
}

static void detach(struct vm_bpf *b)
{
	uint32_t i;

	set_switch(b, 0);
	vm_clock_close(&b->clock);
	for (i = 0; i < POINTS; i++)
		if (b->links[i] >= 0)
			close(take_fd(&b->links[i]));
}

/* What the kernel did not enter because the CPU was in the same program already. */
static void ask_for_missed(struct vm_bpf *b)
{
	struct bpf_prog_info info;
	uint64_t sum = 0;
	uint32_t i, len;

	for (i = 0; i < POINTS; i++) {
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (b->programs[i] >= 0 && !bpf_obj_get_info_by_fd(b->programs[i], &info, &len))
			sum += info.recursion_misses;
	}
	b->missed = sum;
}

/* Returns when no program is inside of an event any more: the kernel promises that to whoever changes a map of maps. */
static int bpf_stop(struct vm_source *base, struct error *e)
{
	struct vm_bpf *b = (struct vm_bpf *)base;
	uint32_t first = 0;

	detach(b);
	if (bpf_map_update_elem(b->rings_fd, &first, &b->ring_fd, BPF_ANY))
		return error_set(e, errno, "cannot wait for the BPF programs to end: %s",
				 strerror(errno));
	ask_for_missed(b);
	return 0;
}

/* One CPU's chunk; its bytes, 0 if it has nothing, or there is no room for any of it. */
static ssize_t read_cpu(struct vm_bpf *b, uint32_t cpu, uint8_t *to, size_t room)
{
	struct vm_chunk head = { .magic = VM_RECORD_MAGIC,
				 .version = VM_RECORD_VERSION,
				 .exits = b->exits,
				 .cpu = cpu };
	int r;

	if (room < sizeof(head) + sizeof(struct vm_record_sample))
		return 0;
	b->to = to + sizeof(head);
	b->room = room - sizeof(head);
	b->len = 0;
	b->cpu = cpu;
	r = ring_buffer__consume(b->rings[cpu]);
	if (r < 0 && r != -ENOBUFS)
		return r;
	if (!b->len)
		return 0;
	head.length = (uint32_t)b->len;
	head.lost = __atomic_load_n(&b->cpus[cpu].lost, __ATOMIC_RELAXED) + (cpu ? 0 : b->told);
	head.used_ns = __atomic_load_n(&b->cpus[cpu].used_ns, __ATOMIC_RELAXED);
	memcpy(to, &head, sizeof(head));
	return (ssize_t)(sizeof(head) + b->len);
}

static ssize_t bpf_read(struct vm_source *base, uint8_t *to, size_t room)
{
	struct vm_bpf *b = (struct vm_bpf *)base;
	uint64_t times;
	size_t done = 0;
	uint32_t i;

	if (read(base->fd, &times, sizeof(times)) > 0) {
		vm_clock_change(&b->clock);
		ask_for_missed(b);
	}
	for (i = 0; i < b->n_cpus; i++) {
		ssize_t n = read_cpu(b, (b->turn + i) % b->n_cpus, to + done, room - done);

		if (n < 0)
			return n;
		done += (size_t)n;
	}
	b->turn = (b->turn + 1) % b->n_cpus;
	return (ssize_t)done;
}

static void bpf_free(struct vm_source *base)
{
	struct vm_bpf *b = (struct vm_bpf *)base;
	uint32_t i;

	detach(b);
	for (i = 0; b->rings && i < b->n_cpus; i++)
		ring_buffer__free(b->rings[i]);
	if (b->cpus)
		munmap(b->cpus, b->cpus_bytes);
	bpf_object__close(b->object);
	if (base->fd >= 0)
		close(base->fd);
	if (b->ring_fd >= 0)
		close(b->ring_fd);
	free(b->last_ticks);
	free(b->rings);
	free(b);
}

static void bpf_set_period(struct vm_source *base, uint32_t period_ns)
{
	struct vm_bpf *b = (struct vm_bpf *)base;

	b->clock.period_ns = period_ns;
	b->clock.changed_ns = 0;
}

static const struct vm_source_ops ops = {
	.name = "bpf",
	.collector = SAMPLE_BY_BPF,
	.method = SAMPLE_CPU_CLOCK,
	.start = bpf_start,
	.stop = bpf_stop,
	.read = bpf_read,
	.free = bpf_free,
	.set_period = bpf_set_period,
};

int vm_bpf_open(struct vm_source **ret, const struct vm_settings *settings, struct error *e)
{
	struct vm_bpf *b = calloc(1, sizeof(*b));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t i;
	int r;

	if (!b)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	b->base.ops = &ops;
	b->ring_fd = -EBADF;
	b->n_cpus = cpus > 0 ? (uint32_t)cpus : 1;
	for (i = 0; i < POINTS; i++)
		b->programs[i] = b->links[i] = -EBADF;
	b->rings = calloc(b->n_cpus, sizeof(struct ring_buffer *));
	b->last_ticks = calloc(b->n_cpus, sizeof(*b->last_ticks));
	b->base.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!b->rings || !b->last_ticks || b->base.fd < 0)
		r = error_set(e, ENOMEM, "cannot record: out of memory");
	else
		r = look_at_kernel(b, e);
	if (r == 0)
		r = load(b, settings, e);
	if (r < 0)
		bpf_free(&b->base);
	else
		*ret = &b->base;
	return r;
}
