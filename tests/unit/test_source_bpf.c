/* SPDX-License-Identifier: MIT */
/*
 * source_bpf on the running kernel, against counts that are not its own: how often the kernel says
 * that a process was switched (/proc/PID/status), how many children it made; and field by field
 * against what the kernel's own events, in a tracefs instance, recorded at the same time.
 * The generator sleeps whenever something is started or stopped, so all see the same period.
 *
 * Needs root, BTF and BPF, the comparison also tracefs: skipped (77) where the kernel does not let
 * it. The recorder here only keeps what it is given.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/bpf_load.h"
#include "device/agent/filter.h"
#include "device/agent/recorder.h"
#include "device/agent/source.h"
#include "ftrace/page.h"
#include "ftrace/sched.h"
#include "tools/generator.h"

#ifdef __has_feature
#define HAS_FEATURE(f) __has_feature(f)
#else
#define HAS_FEATURE(f) 0
#endif
#if HAS_FEATURE(thread_sanitizer) || defined(__SANITIZE_THREAD__)
#define HAS_MORE_THREADS true
#else
#define HAS_MORE_THREADS false
#endif

#define TRACEFS "/sys/kernel/tracing"
#define EVENTS_MAX 400000U
#define CPUS_MAX 256U
#define PATH_KEPT 64

#define FLAGS_INTERRUPT 0x58U /* hard, soft, not maskable */

/* An event without what the two sources cannot share: stamps, flags but for those of wakeups by interrupts, the place
 * of its path. */
struct kept {
	struct sched_event event;
	uint32_t cpu;
	char path[PATH_KEPT];
};

struct recorder {
	struct kept *events;
	size_t n;
	uint64_t lost, ring_total[CPUS_MAX], position[CPUS_MAX];
	struct device_source *source;
	size_t flushed;
};

#define FAMILY_MAX 512

struct family {
	pid_t pids[FAMILY_MAX];
	int8_t states[FAMILY_MAX];
	size_t n;
};

static struct recorder taken, traced;
static char instance[64];

static void keep(struct recorder *r, uint32_t cpu, const struct sched_event *ev)
{
	struct kept *k = &r->events[r->n];

	if (r->n == EVENTS_MAX) {
		r->lost++;
		return;
	}
	memset(k, 0, sizeof(*k));
	k->event = *ev;
	k->cpu = cpu;
	memcpy(k->path, ev->filename ? ev->filename : "",
	       ev->filename_len < PATH_KEPT ? ev->filename_len : PATH_KEPT);
	k->event.filename = NULL;
	r->n++;
}

void recorder_take(struct recorder *r, uint32_t cpu, const struct sched_event *ev,
		   uint64_t position)
{
	assert_true(position > r->position[cpu]);
	r->position[cpu] = position;
	keep(r, cpu, ev);
}

void recorder_pass(struct recorder *r, uint32_t cpu, uint64_t position)
{
	r->position[cpu] = position;
}

void recorder_lose(struct recorder *r, uint32_t cpu, enum loss_cause cause, uint64_t count,
		   uint64_t ring_total)
{
	assert_int_equal(cause, LOSS_RING);
	assert_int_equal(ring_total, r->ring_total[cpu] + count);
	r->lost += count;
	r->ring_total[cpu] = ring_total;
}

void recorder_flush(struct recorder *r, uint32_t cpu)
{
	r->flushed++;
	source_bpf.release(r->source, cpu, r->position[cpu]);
}

uint64_t recorder_ring_total(const struct recorder *r, uint32_t cpu)
{
	return r->ring_total[cpu];
}

static void forget(struct recorder *r)
{
	struct kept *events = r->events;

	memset(r, 0, sizeof(*r));
	r->events = events;
}

static struct device_source *open_source(const struct message_config *c, struct event_filter *f)
{
	struct source_options o = { .config = c, .filter = f, .instance = instance };
	struct device_source *s = NULL;
	struct error e = ERROR_INIT;

	o.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	assert_true(o.cpus <= CPUS_MAX);
	if (source_bpf.open(&s, &o, &e))
		fail_msg("%s", e.text);
	forget(&taken);
	taken.source = s;
	return s;
}

static void drain(struct device_source *s)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF), cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		assert_true(source_bpf.drain(s, cpu, &taken, NULL) >= 0);
		source_bpf.release(s, cpu, taken.position[cpu]);
	}
	assert_int_equal(s->not_understood, 0);
}

static bool write_trace(const char *name, const char *value)
{
	char path[256];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), TRACEFS "/instances/%s/%s", instance, name);
	fd = open(path, O_WRONLY);
	n = fd < 0 ? -1 : write(fd, value, strlen(value));
	if (fd >= 0)
		close(fd);
	return n > 0;
}

/* The kernel's own event counts how often it was switched to the generator; /proc only says how
 * often away from it. The two differ where a kernel does not report switches away from some tasks
 * (seen: those of process 1), of which some are to the generator. False: there is no tracefs. */
static bool start_count(pid_t pid)
{
	char path[256];

	if (access(TRACEFS "/instances", W_OK))
		return false;
	snprintf(path, sizeof(path), TRACEFS "/instances/%s", instance);
	if (mkdir(path, 0700) < 0)
		fail_msg("cannot make %s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "next_pid == %d", (int)pid);
	assert_true(write_trace("events/sched/sched_switch/filter", path));
	assert_true(write_trace("events/sched/sched_switch/enable", "1"));
	return true;
}

static uint64_t stop_count(void)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF), cpu;
	unsigned long entries, overrun, sum = 0;
	char path[256];
	FILE *f;

	for (cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof(path), TRACEFS "/instances/%s/per_cpu/cpu%u/stats", instance,
			 cpu);
		f = fopen(path, "r");
		assert_non_null(f);
		assert_int_equal(fscanf(f, "entries: %lu overrun: %lu", &entries, &overrun), 2);
		fclose(f);
		sum += entries + overrun;
	}
	snprintf(path, sizeof(path), TRACEFS "/instances/%s", instance);
	assert_int_equal(rmdir(path), 0);
	return sum;
}

/* Switches away from the generator and to it, found or lost. */
static void check_switches(uint64_t n, uint64_t away, bool counts)
{
	if (counts) {
		assert_int_equal(n, away + stop_count());
		return;
	}
	puts("no tracefs: switches to the generator are not counted");
	assert_true(n >= away && n <= 2 * away);
}

/* What a test that failed has left in the kernel: the next one starts with nothing. */
static int clean_up(void **state)
{
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), TRACEFS "/instances/%s", instance);
	rmdir(path);
	snprintf(path, sizeof(path), BPF_ROOT "/kiseki/%s", instance);
	bpf_unpin(path);
	return 0;
}

/* Others may be so busy meanwhile that even a large ring is full; then there is nothing to say. */
static void skip_if_lost(struct device_source *s, struct generator *g)
{
	if (!taken.lost && !traced.lost)
		return;
	generator_close(g);
	source_bpf.free(s, false);
	clean_up(NULL);
	puts("skipped: the machine is too busy");
	skip();
}

static size_t count_switches(const struct recorder *r, pid_t pid, bool out)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		if (r->events[i].event.kind == SCHED_SWITCH)
			n += (out ? r->events[i].event.task.pid : r->events[i].event.other.pid) ==
			     pid;
	return n;
}

static size_t count_kind(const struct recorder *r, enum sched_kind kind, pid_t pid)
{
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->events[i].event.kind == kind && r->events[i].event.task.pid == pid;
	return n;
}

static void counts_are_the_kernels(void **state)
{
	struct message_config c = { .ring_kib = 32768 };
	struct device_source *s = open_source(&c, NULL);
	struct generator g;
	uint64_t before, away;
	bool counts;

	(void)state;
	generator_open(&g, "gen-count");
	counts = start_count(g.pid);
	before = generator_get_switches(&g);
	assert_int_equal(source_bpf.start(s, NULL), 0);
	generator_run(&g, GENERATOR_PING, 2000);
	drain(s);
	generator_run(&g, GENERATOR_FORK, 30);
	generator_run(&g, GENERATOR_EXEC, 20);
	generator_run(&g, GENERATOR_RENAME, 7);
	assert_int_equal(source_bpf.stop(s, NULL), 0);
	drain(s);
	skip_if_lost(s, &g);
	away = generator_get_switches(&g) - before;
	assert_int_equal(count_switches(&taken, g.pid, true), away);
	check_switches(count_switches(&taken, g.pid, false) + away, away, counts);
	assert_int_equal(count_kind(&taken, SCHED_FORK, g.pid), 50);
	assert_int_equal(count_kind(&taken, SCHED_RENAME, g.pid), 7);
	/* Nothing is made after stop. */
	taken.n = 0;
	generator_run(&g, GENERATOR_PING, 100);
	drain(s);
	assert_int_equal(taken.n, 0);
	/* And it can be started again. */
	before = generator_get_switches(&g);
	assert_int_equal(source_bpf.start(s, NULL), 0);
	generator_run(&g, GENERATOR_PING, 100);
	assert_int_equal(source_bpf.stop(s, NULL), 0);
	drain(s);
	assert_int_equal(count_switches(&taken, g.pid, true), generator_get_switches(&g) - before);
	generator_close(&g);
	source_bpf.free(s, false);
}

/* A ring too small for it: what is found and what is counted as lost make up all there was. */
static void overrun_is_counted(void **state)
{
	struct message_config c = { .ring_kib = 16, .events = 1U << SCHED_SWITCH, .n_pids = 1 };
	struct device_source *s;
	struct epoll_event ev;
	struct generator g;
	uint64_t before, away;
	bool counts;

	(void)state;
	generator_open(&g, "gen-overrun");
	counts = start_count(g.pid);
	c.pids[0] = (int32_t)g.pid;
	s = open_source(&c, NULL);
	drain(s);
	assert_int_equal(epoll_wait(source_bpf.wake_fd(s), &ev, 1, 0), 0);
	before = generator_get_switches(&g);
	assert_int_equal(source_bpf.start(s, NULL), 0);
	generator_run(&g, GENERATOR_PING, 1000);
	/* Somebody who slept would have been woken. */
	assert_int_equal(epoll_wait(source_bpf.wake_fd(s), &ev, 1, 0), 1);
	drain(s);
	assert_true(taken.lost > 0);
	assert_true(taken.flushed > 0); /* the source asked for room before we released it */
	generator_run(&g, GENERATOR_PING, 50);
	drain(s);
	generator_run(&g, GENERATOR_PING, 1500);
	assert_int_equal(source_bpf.stop(s, NULL), 0);
	drain(s);
	away = generator_get_switches(&g) - before;
	assert_true(taken.n > 500);
	check_switches(taken.n + taken.lost, away, counts);
	generator_close(&g);
	source_bpf.free(s, false);
}

/* Only switches of one task pass, by its pid or by a pattern of its name, or none do; all others
 * are counted as passed over. */
static void check_filter(struct message_config *c, const char *name, bool passes)
{
	struct generator g;
	struct device_source *s;
	uint64_t before, away;
	bool counts;
	size_t i;

	generator_open(&g, name);
	counts = passes && start_count(g.pid);
	if (c->n_pids)
		c->pids[c->n_pids - 1] = (int32_t)g.pid;
	s = open_source(c, NULL);
	before = generator_get_switches(&g);
	assert_int_equal(source_bpf.start(s, NULL), 0);
	generator_run(&g, GENERATOR_PING, 200);
	usleep(2000); /* this task leaves its CPU, which is nobody's the filter is for */
	assert_int_equal(source_bpf.stop(s, NULL), 0);
	drain(s);
	for (i = 0; i < taken.n; i++)
		assert_true(taken.events[i].event.task.pid == g.pid ||
			    taken.events[i].event.other.pid == g.pid);
	away = generator_get_switches(&g) - before;
	if (passes)
		check_switches(taken.n + taken.lost, away, counts);
	else
		assert_int_equal(taken.n + taken.lost, 0);
	drain(s);
	assert_true(s->passed_over > 0);
	generator_close(&g);
	source_bpf.free(s, false);
}

static void filters_by_pid_and_name(void **state)
{
	struct message_config by_pid = { .events = 1U << SCHED_SWITCH,
					 .n_pids = 2,
					 .pids = { INT32_MAX } };
	struct message_config by_name = { .events = 1U << SCHED_SWITCH,
					  .n_comms = 2,
					  .comms = { "there is none" } };
	struct message_config by_start = { .events = 1U << SCHED_SWITCH, .n_comms = 1 };
	char name[32], longer[40];

	/* This test may run twice at the same time: names have its number. */
	snprintf(name, sizeof(name), "g%d", (int)getpid());
	snprintf(longer, sizeof(longer), "%s-z", name);
	sched_comm_set(by_name.comms[1], name, strlen(name));
	snprintf(by_start.comms[0], SCHED_COMM_LEN, "%.12s-*", name);
	(void)state;
	check_filter(&by_pid, "gen-pid", true);
	check_filter(&by_start, longer, true);
	check_filter(&by_start, name, false);
	check_filter(&by_name, name, true);
	check_filter(&by_name, longer, false);
}

/* A new cgroup, below the hierarchy of version 2, with one process in it; false: not permitted. */
static bool make_cgroup(char path[256], const char *name, pid_t pid)
{
	char file[300], number[16];
	bool ok;
	int fd;

	snprintf(path, 256, "%s/%s",
		 access("/sys/fs/cgroup/cgroup.procs", F_OK) ? "/sys/fs/cgroup/unified"
							     : "/sys/fs/cgroup",
		 name);
	if (mkdir(path, 0700) < 0)
		return false;
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	snprintf(number, sizeof(number), "%d", (int)pid);
	fd = open(file, O_WRONLY);
	ok = fd >= 0 && write(fd, number, strlen(number)) > 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* A child's own exit: a sanitizer gives each a second thread. */
static bool is_exit_of_child(const struct recorder *r, size_t at, pid_t parent)
{
	const struct sched_event *ev = &r->events[at].event, *fork;
	size_t i;

	for (i = 0; i < at && ev->kind == SCHED_EXIT; i++) {
		fork = &r->events[i].event;
		if (fork->kind == SCHED_FORK && fork->task.pid == parent &&
		    fork->other.pid == ev->task.pid)
			return true;
	}
	return false;
}

/* The kernel follows forks by itself: a child's whole life passes, though no reading of the
 * cgroup's list ever saw it. */
static void filters_by_cgroup(void **state)
{
	struct message_config c = { .n_cgroups = 1, .ring_kib = 4096 };
	CLEANUP(event_filter) struct event_filter *f = NULL;
	struct device_source *s;
	struct generator g;
	char path[256];
	size_t i, exits = 0;

	(void)state;
	generator_open(&g, "gen-cgroup");
	snprintf(c.cgroups[0], sizeof(c.cgroups[0]), "/%s", instance);
	if (!make_cgroup(path, instance, g.pid)) {
		generator_close(&g);
		rmdir(path);
		puts("skipped: cannot make a cgroup of version 2");
		skip();
	}
	assert_int_equal(filter_new(&f, &c, NULL), 0);
	s = open_source(&c, f);
	assert_int_equal(source_bpf.start(s, NULL), 0);
	generator_run(&g, GENERATOR_FORK, 40);
	generator_run(&g, GENERATOR_EXEC, 10);
	assert_int_equal(filter_refresh(f, NULL), 0);
	drain(s);
	assert_int_equal(filter_refresh(f, NULL), 0);
	drain(s);
	/* Members are still members, and those that ended are forgotten. */
	generator_run(&g, GENERATOR_FORK, 10);
	assert_int_equal(source_bpf.stop(s, NULL), 0);
	drain(s);
	assert_int_equal(taken.lost, 0);
	assert_int_equal(count_kind(&taken, SCHED_FORK, g.pid), 60);
	for (i = 0; i < taken.n; i++)
		exits += is_exit_of_child(&taken, i, g.pid);
	assert_int_equal(exits, 60);
	assert_true(s->passed_over > 0);
	source_bpf.free(s, false);
	generator_close(&g);
	assert_int_equal(rmdir(path), 0);
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct kept));
}

/* Whether a task is alive: 1; has exited: -1; or is none of these: 0. */
static int8_t state_of(const struct family *f, pid_t pid)
{
	size_t i;

	for (i = 0; i < f->n && pid; i++)
		if (f->pids[i] == pid)
			return f->states[i];
	return 0;
}

static void follow(struct family *f, const struct sched_event *ev)
{
	size_t i;

	if (ev->kind == SCHED_FORK && state_of(f, ev->task.pid) && f->n < FAMILY_MAX) {
		f->pids[f->n] = ev->other.pid;
		f->states[f->n++] = 1;
	}
	for (i = 0; i < f->n && ev->kind == SCHED_EXIT; i++)
		if (f->pids[i] == ev->task.pid)
			f->states[i] = -1;
}

static bool is_wakeup(const struct sched_event *ev)
{
	return ev->kind == SCHED_WAKING || ev->kind == SCHED_WAKEUP || ev->kind == SCHED_WAKEUP_NEW;
}

#define PIDS_MAX (1U << 22) /* of Linux */
#define CAME 1U
#define WENT 2U
static uint8_t switched[PIDS_MAX];

/* A sandbox may hide its own tasks from traces: they are switched to and never from. Interrupts that
 * hit such a task are in tracefs, but BPF programs do not see them. */
static bool is_hidden(int32_t pid)
{
	uint32_t at = (uint32_t)pid;

	return at && at < PIDS_MAX && switched[at] == CAME;
}

static void find_hidden(const struct recorder *r)
{
	size_t i;

	memset(switched, 0, sizeof(switched));
	for (i = 0; i < r->n; i++) {
		const struct sched_event *ev = &r->events[i].event;

		if (ev->kind != SCHED_SWITCH)
			continue;
		switched[(uint32_t)ev->other.pid % PIDS_MAX] |= CAME;
		switched[(uint32_t)ev->task.pid % PIDS_MAX] |= WENT;
	}
}

/* Leaves only the events that are about the generator's family, without what cannot be compared,
 * sorted. Switches behind a task's exit are left out: the last one may come when nobody records any
 * more. All of those are on CPU 0; elsewhere it only was before it chose to stay there. Switches
 * from the idle task of another CPU are left out, too: some kernels do not give them to tracefs. */
static void reduce(struct recorder *r, const struct generator *g, bool has_context)
{
	struct family f = { .pids = { g->pid, g->helper }, .states = { 1, 1 }, .n = 2 };
	size_t i, left = 0;

	for (i = 0; i < r->n; i++) {
		struct sched_event *ev = &r->events[i].event;
		int8_t task = state_of(&f, ev->task.pid), other = state_of(&f, ev->other.pid);

		follow(&f, ev);
		if ((!task && !other) || is_hidden(ev->pid))
			continue;
		if (ev->kind == SCHED_SWITCH &&
		    (r->events[i].cpu == 0 ? task < 0 || other < 0 : ev->task.pid == 0))
			continue;
		ev->tick = 0;
		ev->flags &= is_wakeup(ev) && has_context ? FLAGS_INTERRUPT : 0;
		ev->preempt_count = 0;
		ev->filename = NULL;
		r->events[left++] = r->events[i];
	}
	r->n = left;
	qsort(r->events, r->n, sizeof(*r->events), by_bytes);
}

static bool start_trace(struct sched_map *map)
{
	char path[256], text[8192];
	ssize_t len;
	int kind, fd;

	snprintf(path, sizeof(path), TRACEFS "/instances/%s", instance);
	if (mkdir(path, 0700) < 0)
		return false;
	sched_map_init(map, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	write_trace("buffer_size_kb", "32768");
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		const char *system = sched_map_get_system(kind), *name = sched_map_get_name(kind);

		snprintf(path, sizeof(path), TRACEFS "/events/%s/%s/format", system, name);
		fd = open(path, O_RDONLY);
		len = fd < 0 ? -1 : read(fd, text, sizeof(text));
		close(fd);
		assert_true(len > 0);
		assert_int_equal(sched_map_add(map, system, text, (size_t)len, NULL), 1);
		snprintf(path, sizeof(path), "events/%s/%s/enable", system, name);
		assert_true(write_trace(path, "1"));
	}
	return true;
}

static void read_pages(int fd, uint32_t cpu, const struct sched_map *map)
{
	static uint8_t bytes[65536];
	struct page_record record;
	struct page_layout layout;
	struct sched_event ev;
	struct page page;

	page_layout_init(&layout, sizeof(long), map->big_endian);
	while (read(fd, bytes, (size_t)sysconf(_SC_PAGESIZE)) > 0) {
		assert_int_equal(page_open(&page, &layout, bytes, (size_t)sysconf(_SC_PAGESIZE),
					   NULL),
				 0);
		traced.lost += page.missed;
		while (page_next(&page, &record, NULL) > 0)
			if (sched_map_decode(map, record.data, record.len, &ev) > 0)
				keep(&traced, cpu, &ev);
	}
}

static void stop_trace(const struct sched_map *map)
{
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF), cpu;
	char path[256];
	int fd;

	assert_true(write_trace("tracing_on", "0"));
	forget(&traced);
	for (cpu = 0; cpu < cpus; cpu++) {
		snprintf(path, sizeof(path), TRACEFS "/instances/%s/per_cpu/cpu%u/trace_pipe_raw",
			 instance, cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK);
		assert_true(fd >= 0);
		read_pages(fd, cpu, map);
		close(fd);
	}
	snprintf(path, sizeof(path), TRACEFS "/instances/%s", instance);
	assert_int_equal(rmdir(path), 0);
}

static void print_kept(const char *which, const struct kept *k)
{
	const struct sched_event *e = &k->event;

	print_message("%s: cpu %u kind %d current %d task %d %.16s %d other %d %.16s %d state %llx "
		      "value %d extra %d flags %x %s\n",
		      which, k->cpu, e->kind, e->pid, e->task.pid, e->task.comm, e->task.prio,
		      e->other.pid, e->other.comm, e->other.prio, (unsigned long long)e->state,
		      e->value, e->extra, e->flags, k->path);
}

static size_t print_differences(void)
{
	size_t a = 0, b = 0, found = 0;

	while (a < taken.n || b < traced.n) {
		int order = a == taken.n    ? 1
			    : b == traced.n ? -1
					    : by_bytes(&taken.events[a], &traced.events[b]);

		if (order && found++ < 10)
			print_kept(order < 0 ? "bpf only" : "tracefs only",
				   order < 0 ? &taken.events[a] : &traced.events[b]);
		a += order <= 0;
		b += order >= 0;
	}
	return found;
}

/* Wakeups that an interrupt made; what the generator's timers end are such. */
static size_t count_interrupted(void)
{
	size_t i, n = 0;

	for (i = 0; i < taken.n; i++)
		n += taken.events[i].event.kind == SCHED_WAKING && taken.events[i].event.flags;
	print_message("by interrupts: %zu\n", n);
	return n;
}

static void fields_are_the_kernels(void **state)
{
	struct message_config c = { .ring_kib = 32768 };
	static struct sched_map map;
	struct device_source *s;
	struct generator g;
	bool has_context;
	int kind;

	(void)state;
	if (!start_trace(&map)) {
		puts("skipped: no tracefs to compare with");
		skip();
	}
	s = open_source(&c, NULL);
	assert_int_equal(source_bpf.start(s, NULL), 0);
	generator_open(&g, "gen-fields");
	generator_run(&g, GENERATOR_PING, 500);
	drain(s);
	generator_run(&g, GENERATOR_FORK, 10);
	drain(s);
	generator_run(&g, GENERATOR_EXEC, 10);
	generator_run(&g, GENERATOR_RENAME, 10);
	drain(s);
	generator_run(&g, GENERATOR_SLEEP, 20);
	generator_run(&g, GENERATOR_PRIO, 5);
	generator_close(&g);
	stop_trace(&map);
	assert_int_equal(source_bpf.stop(s, NULL), 0);
	drain(s);
	skip_if_lost(s, &g);
	has_context = s->dialect.features & DIALECT_WAKER_CONTEXT;
	find_hidden(&traced);
	reduce(&taken, &g, has_context);
	reduce(&traced, &g, has_context);
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		size_t i, n = 0;

		for (i = 0; i < taken.n; i++)
			n += taken.events[i].event.kind == kind;
		print_message("%s: %zu\n", sched_map_get_name(kind), n);
		assert_true(n > 0);
	}
	assert_int_equal(print_differences(), 0);
	assert_true(count_interrupted() >= (has_context ? 20 : 0));
	assert_int_equal(taken.n, traced.n);
	source_bpf.free(s, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(counts_are_the_kernels, clean_up),
		cmocka_unit_test_teardown(overrun_is_counted, clean_up),
		cmocka_unit_test_teardown(filters_by_pid_and_name, clean_up),
		cmocka_unit_test_teardown(filters_by_cgroup, clean_up),
		cmocka_unit_test_teardown(fields_are_the_kernels, clean_up),
	};

	if (HAS_MORE_THREADS) {
		puts("skipped: ThreadSanitizer gives every process a thread, which is counted, "
		     "too");
		return 77;
	}
	struct error e = ERROR_INIT;
	int r;

	if (source_bpf.probe(&e)) {
		printf("skipped: %s\n", e.text);
		return 77;
	}
	snprintf(instance, sizeof(instance), "kiseki-test-bpf-%d", (int)getpid());
	taken.events = calloc(EVENTS_MAX, sizeof(*taken.events));
	traced.events = calloc(EVENTS_MAX, sizeof(*traced.events));
	if (!taken.events || !traced.events)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	free(taken.events);
	free(traced.events);
	return r;
}
