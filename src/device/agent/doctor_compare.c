/* SPDX-License-Identifier: MIT */
/*
 * doctor_compare: the same second through both sources, counted and not read.
 *
 * tracefs counts by itself: an instance for all switches and one whose filter takes those with the
 * idle task, and their per-CPU statistics. The BPF programs are told to record switches of pid 0
 * only and so count both: what they put and what they passed over. Meanwhile a child on each CPU
 * sleeps and wakes, so that there is something to see everywhere.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/agent/doctor.h"
#include "device/agent/source.h"
#include "device/agent/tracefs.h"
#ifdef HAVE_BPF
#include "device/agent/source_bpf.h"
#endif

#define IDLE_FILTER "prev_pid == 0 || next_pid == 0"
#define RING_KIB "2048" /* of each CPU in each instance: a second of some 30,000 switches */
#define SLEEP_NS 2000000
#define SECOND_MS 1000

uint64_t doctor_margin(uint64_t a, uint64_t b)
{
	return 20 + (a > b ? a : b) / 20;
}

bool doctor_differ(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) > doctor_margin(a, b);
}

/* An instance of the name and what it is asked. */
struct instance {
	char path[TRACEFS_PATH_MAX];
};

static void instance_done(struct instance *i)
{
	if (i->path[0])
		rmdir(i->path);
	i->path[0] = 0;
}

static int instance_init(struct instance *i, const char *name, const char *filter, struct error *e)
{
	const char *root;
	char path[sizeof(i->path)];
	int r = tracefs_find(&root, e);

	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/instances/kiseki-doctor-%s-%d", root, name, (int)getpid());
	if (mkdir(path, 0700) < 0)
		return error_set(e, errno, "cannot make %s: %s", path, strerror(errno));
	memcpy(i->path, path, sizeof(path));
	r = tracefs_write(path, "tracing_on", "0", e);
	if (r >= 0)
		r = tracefs_write(path, "buffer_size_kb", RING_KIB, e);
	if (r >= 0 && filter)
		r = tracefs_write(path, "events/sched/sched_switch/filter", filter, e);
	if (r >= 0)
		r = tracefs_write(path, "events/sched/sched_switch/enable", "1", e);
	return r < 0 ? r : 0;
}

/* What the instance recorded on a CPU, overwritten since or not. */
static uint64_t instance_count(const struct instance *i, uint32_t cpu)
{
	struct tracefs_stats stats;
	char name[64], text[1024];

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
	if (tracefs_read(i->path, name, text, sizeof(text), NULL) < 0 ||
	    tracefs_parse_stats(&stats, text) < 0)
		return 0;
	return stats.entries + stats.overrun + stats.commit_overrun + stats.dropped;
}

static uint64_t count_kernel(void)
{
	unsigned long long v = 0;
	char line[4096];
	FILE *f = fopen("/proc/stat", "re");

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "ctxt %llu", &v) != 1)
		;
	if (f)
		fclose(f);
	return v;
}

/* Sleeps and wakes on one CPU until the second is over. */
static void stir(uint32_t cpu)
{
	const struct timespec pause_time = { .tv_nsec = SLEEP_NS };
	uint32_t i;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1); /* the CPU is offline */
	for (i = 0; i < SECOND_MS * 1000000ULL / SLEEP_NS; i++)
		nanosleep(&pause_time, NULL);
	_exit(0);
}

static void stir_all(struct doctor_compare *c)
{
	pid_t pids[DOCTOR_CPUS_MAX];
	uint32_t cpu;
	int status;

	for (cpu = 0; cpu < c->cpus; cpu++) {
		pids[cpu] = fork();
		if (!pids[cpu])
			stir(cpu);
	}
	for (cpu = 0; cpu < c->cpus; cpu++)
		if (pids[cpu] > 0 && waitpid(pids[cpu], &status, 0) == pids[cpu])
			c->cpu[cpu].online = WIFEXITED(status) && !WEXITSTATUS(status);
}

struct compared {
	struct instance all, idle;
	struct device_source *bpf;
};

static int open_all(struct compared *x, const struct doctor_compare *c, struct error *e)
{
	int r = 0;

	if (c->has_tracefs) {
		r = instance_init(&x->all, "all", NULL, e);
		if (!r)
			r = instance_init(&x->idle, "idle", IDLE_FILTER, e);
	}
#ifdef HAVE_BPF
	if (!r && c->has_bpf) {
		static const struct message_config config = {
			.events = 1U << SCHED_SWITCH, .ring_kib = 4, .n_pids = 1, .pids = { 0 }
		};
		struct source_options o = { .config = &config, .cpus = c->cpus };
		char name[32];

		snprintf(name, sizeof(name), "kiseki-doctor-%d", (int)getpid());
		o.instance = name;
		r = source_bpf.open(&x->bpf, &o, e);
	}
#endif
	return r;
}

static int start_all(struct compared *x, struct error *e)
{
	int r = 0;

#ifdef HAVE_BPF
	if (x->bpf)
		r = source_bpf.start(x->bpf, e);
#endif
	if (!r && x->all.path[0]) {
		r = tracefs_write(x->all.path, "tracing_on", "1", e);
		if (r >= 0)
			r = tracefs_write(x->idle.path, "tracing_on", "1", e);
	}
	return r < 0 ? r : 0;
}

static void count_all(struct compared *x, struct doctor_compare *c)
{
	uint32_t cpu;

	if (x->all.path[0]) {
		tracefs_write(x->all.path, "tracing_on", "0", NULL);
		tracefs_write(x->idle.path, "tracing_on", "0", NULL);
	}
#ifdef HAVE_BPF
	if (x->bpf)
		source_bpf.stop(x->bpf, NULL);
#endif
	for (cpu = 0; cpu < c->cpus; cpu++) {
		struct doctor_count *n = &c->cpu[cpu];

		if (x->all.path[0]) {
			n->tracefs = instance_count(&x->all, cpu);
			n->tracefs_idle = instance_count(&x->idle, cpu);
		}
#ifdef HAVE_BPF
		struct bpf_counts counts = { 0 };

		if (x->bpf)
			source_bpf_get_counts(x->bpf, cpu, &counts);
		n->bpf_idle = counts.bytes / BPF_SWITCH_BYTES + counts.dropped;
		n->bpf = n->bpf_idle + counts.passed_over;
#endif
		c->tracefs += n->tracefs;
		c->bpf += n->bpf;
	}
}

int doctor_compare(struct doctor_compare *ret, bool tracefs, bool bpf, struct error *e)
{
	struct compared x = { 0 };
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (ret->cpus > DOCTOR_CPUS_MAX)
		ret->cpus = DOCTOR_CPUS_MAX;
	ret->has_tracefs = tracefs;
	ret->has_bpf = bpf;
	r = open_all(&x, ret, e);
	if (!r) {
		ret->kernel = count_kernel();
		r = start_all(&x, e);
	}
	if (!r) {
		stir_all(ret);
		count_all(&x, ret);
		ret->kernel = count_kernel() - ret->kernel;
	}
	instance_done(&x.all);
	instance_done(&x.idle);
#ifdef HAVE_BPF
	if (x.bpf)
		source_bpf.free(x.bpf, false);
#endif
	return r;
}
