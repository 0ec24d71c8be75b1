/* SPDX-License-Identifier: MIT */
/*
 * perf_events: see perf_events.h. The first event finds out what can be had, and all others are opened like it.
 */
#include "device/profile/perf_events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/profile/sample_cost.h"

#define SETTINGS "/proc/sys/kernel/"
#define PARANOID_DEFAULT 2
#define ODD_PART 331U	/* of the period, by which it is longer where it is not changed */
#define LOOKS_MAX 8	/* at the threads of a process, until there are no new ones */
#define FDS_SPARE 64U	/* descriptors beside the events' */
#define LATE_MOST 1000U /* periods that one sample may stand for */
#define FDS_AT_ONCE 256U
#define FOR_ALL (-1)
#define CHANGE_PERIODS 8U /* of the mean, at least, from one random period to the next */

/* The weight of samples on one CPU. */
struct period {
	uint64_t now, before; /* ns */
	uint64_t since;	      /* when it became `now` */
	uint64_t last;	      /* the last sample; 0: not known */
};

struct perf_events {
	const struct profile_settings *s;
	struct perf_attr attr;
	struct perf_attr teller; /* of tasks and mappings, if samples pause and these must not */
	int *fds;		 /* with tellers each second one is such */
	uint32_t n, room;
	bool has_tellers;
	uint64_t mean_ns; /* of the period, as it is now */
	uint64_t changed; /* when it was last drawn; 0: it has to be */
	struct perf_rings *rings;
	struct period *periods; /* of each ring */
	bool is_jittered, is_cycles, is_settled;
	uint64_t random;
	char note[256];
	uint32_t cpus;
};

static void set_flag(struct perf_attr *a, enum perf_abi_flag flag, bool on)
{
	a->flags = on ? a->flags | perf_attr_flag(flag) : a->flags & ~perf_attr_flag(flag);
}

static bool has_flag(const struct perf_attr *a, enum perf_abi_flag flag)
{
	return a->flags & perf_attr_flag(flag);
}

__attribute__((format(printf, 2, 3))) static void add_note(struct perf_events *p, const char *fmt,
							   ...)
{
	size_t len = strlen(p->note);
	va_list ap;

	if (len && len + 3 < sizeof(p->note))
		len += (size_t)snprintf(p->note + len, sizeof(p->note) - len, "; ");
	va_start(ap, fmt);
	vsnprintf(p->note + len, sizeof(p->note) - len, fmt, ap);
	va_end(ap);
}

static int read_setting(const char *name, int missing)
{
	_cleanup_close_ int fd = -1;
	char path[64], text[16] = "";

	snprintf(path, sizeof(path), SETTINGS "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : missing;
}

static int get_paranoid(void)
{
	return read_setting("perf_event_paranoid", PARANOID_DEFAULT);
}

/* The kernel refuses a rate above its limit, which it lowers by itself where samples take long. */
static uint64_t limit_rate(uint64_t hz)
{
	int most = read_setting("perf_event_max_sample_rate", 0);

	return most > 0 && hz > (uint64_t)most ? (uint64_t)most : hz;
}

/* --- what to ask for --- */

/* Samples in a second. */
static uint64_t get_rate(const struct perf_events *p)
{
	uint64_t hz = CLOCK_NS_PER_S / p->mean_ns;

	return hz ? hz : 1;
}

static void ask_for_cycles(struct perf_events *p)
{
	p->is_cycles = true;
	p->attr.type = PERF_TYPE_HW;
	p->attr.config = PERF_HW_CYCLES;
	p->attr.period = get_rate(p);
	set_flag(&p->attr, PERF_FLAG_FREQ, true);
}

/* Only what is of a CPU as a whole has one event whose period can be changed. */
static void ask_for_clock(struct perf_events *p)
{
	p->is_cycles = false;
	p->attr.type = PERF_TYPE_SW;
	p->attr.config = PERF_SW_CPU_CLOCK;
	p->is_jittered = p->s->all;
	p->attr.period = p->s->period_ns;
	if (!p->is_jittered)
		p->attr.period += p->s->period_ns / ODD_PART;
	set_flag(&p->attr, PERF_FLAG_FREQ, false);
}

static void ask(struct perf_events *p, bool has_command)
{
	static const enum perf_abi_flag always[] = {
		PERF_FLAG_DISABLED, PERF_FLAG_MMAP,	 PERF_FLAG_COMM,
		PERF_FLAG_TASK,	    PERF_FLAG_WATERMARK, PERF_FLAG_SAMPLE_ID_ALL,
		PERF_FLAG_MMAP2,    PERF_FLAG_COMM_EXEC, PERF_FLAG_USE_CLOCK_ID,
		PERF_FLAG_BUILD_ID,
	};
	size_t i;

	p->attr.size = sizeof(p->attr);
	p->attr.sample_type = PERF_RECORD_FIELDS | (p->s->depth ? PERF_HAS_CHAIN : 0);
	p->attr.max_stack = (uint16_t)p->s->depth;
	p->attr.clock_id = CLOCK_MONOTONIC;
	p->attr.watermark = (uint32_t)(p->s->buffer / 2);
	for (i = 0; i < sizeof(always) / sizeof(*always); i++)
		set_flag(&p->attr, always[i], true);
	set_flag(&p->attr, PERF_FLAG_INHERIT, !p->s->all);
	set_flag(&p->attr, PERF_FLAG_ENABLE_ON_EXEC, has_command && !p->s->all);
	set_flag(&p->attr, PERF_FLAG_SWITCHES, p->s->switches);
	set_flag(&p->attr, PERF_FLAG_EXCLUDE_KERNEL, p->s->no_kernel);
	set_flag(&p->attr, PERF_FLAG_EXCLUDE_HV, p->s->no_kernel);
	if (p->s->event == PROFILE_CPU_CLOCK)
		ask_for_clock(p);
	else
		ask_for_cycles(p);
}

static int open_event(const struct perf_attr *a, pid_t pid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, a, pid, cpu, -1, PERF_OPEN_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* The limit may be lowered between one event and the next. */
static bool lower_rate(struct perf_attr *a)
{
	uint64_t hz = has_flag(a, PERF_FLAG_FREQ) ? limit_rate(a->period) : a->period;
	bool is_lower = hz < a->period;

	a->period = hz;
	return is_lower;
}

static int open_sampler(struct perf_events *p, pid_t pid, uint32_t cpu)
{
	int fd;

	do
		fd = open_event(&p->attr, pid, (int)cpu);
	while (fd == -EINVAL && lower_rate(&p->attr));
	return fd;
}

/* Asks for less, if that can be why it was refused: is another attempt worth it? */
static bool ask_for_less(struct perf_events *p, int why)
{
	struct perf_attr *a = &p->attr;

	if (p->is_cycles && p->s->event == PROFILE_AUTO &&
	    (why == ENOENT || why == EOPNOTSUPP || why == ENODEV)) {
		ask_for_clock(p);
		return true;
	}
	if ((why == EINVAL || why == E2BIG) && has_flag(a, PERF_FLAG_BUILD_ID)) {
		set_flag(a, PERF_FLAG_BUILD_ID, false); /* of Linux 5.12 */
		return true;
	}
	if ((why == EOVERFLOW || why == E2BIG || why == EINVAL) && a->max_stack) {
		a->max_stack = 0; /* whatever the administrator set as the most; of Linux 4.8 */
		return true;
	}
	if (why == EINVAL && has_flag(a, PERF_FLAG_SWITCHES)) {
		set_flag(a, PERF_FLAG_SWITCHES, false); /* of Linux 4.3 */
		add_note(p, "without switches, which this kernel does not tell");
		return true;
	}
	if ((why == EACCES || why == EPERM) && !has_flag(a, PERF_FLAG_EXCLUDE_KERNEL)) {
		set_flag(a, PERF_FLAG_EXCLUDE_KERNEL, true);
		set_flag(a, PERF_FLAG_EXCLUDE_HV, true);
		return true;
	}
	return false;
}

/* --- what went wrong --- */

static int say_no_rights(const struct perf_events *p, int why, struct error *e)
{
	int level = get_paranoid();

	if (p->s->all)
		return error_set(e, why,
				 "cannot sample all CPUs: that needs CAP_PERFMON, root, or "
				 "kernel.perf_event_paranoid = 0 (it is %d); a command or --pid of "
				 "this user's can be sampled at 2",
				 level);
	if (level > 2)
		return error_set(e, why,
				 "cannot sample: kernel.perf_event_paranoid is %d, which allows "
				 "it to root only",
				 level);
	return error_set(e, why,
			 "cannot sample: these processes are of another user, or have more "
			 "rights (kernel.perf_event_paranoid is %d)",
			 level);
}

static int say_refused(const struct perf_events *p, int why, int32_t pid, struct error *e)
{
	switch (why) {
	case EACCES:
	case EPERM:
		return say_no_rights(p, why, e);
	case ESRCH:
		return error_set(e, why, "cannot sample process %d: there is none", pid);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return error_set(e, why,
				 "cannot sample %s: no counter of this machine serves it; "
				 "--event cpu-clock needs none",
				 p->is_cycles ? "cycles" : "by the clock");
	case EMFILE:
	case ENFILE:
		return error_set(e, why,
				 "cannot sample: too many threads and CPUs for the descriptors "
				 "that a process may have (%u)",
				 p->n);
	case EINVAL:
		return error_set(
			e, why,
			"cannot sample: the kernel does not understand what it is asked for");
	case ENOSYS:
		return error_set(e, why, "cannot sample: this kernel has no perf events");
	default:
		return error_set(e, why, "cannot sample: %s", strerror(why));
	}
}

/* --- opening them --- */

static int keep(struct perf_events *p, int fd, struct error *e)
{
	int *more = p->fds;

	if (p->n == PERF_EVENTS_MAX) {
		close(fd);
		return error_set(e, E2BIG, "cannot sample: %u events are the most", p->n);
	}
	if (p->n == p->room) {
		more = realloc(p->fds, (p->room + FDS_AT_ONCE) * sizeof(*more));
		if (!more) {
			close(fd);
			return error_set(e, ENOMEM, "cannot sample: out of memory");
		}
		p->fds = more;
		p->room += FDS_AT_ONCE;
	}
	p->fds[p->n++] = fd;
	return 0;
}

static int find_ring(const struct perf_rings *r, uint32_t cpu)
{
	uint32_t i;

	/* They are by rising CPU; mostly it is the one of the same place. */
	if (cpu < r->n && r->list[cpu].cpu == cpu)
		return (int)cpu;
	for (i = 0; i < r->n; i++)
		if (r->list[i].cpu == cpu)
			return (int)i;
	return -1;
}

/* Its records go into the ring of its CPU, which the first event there makes. */
static int join_ring(struct perf_events *p, int fd, uint32_t cpu, struct error *e)
{
	int place = find_ring(p->rings, cpu), r;

	if (place >= 0)
		return ioctl(fd, PERF_IOC_OUTPUT, p->rings->list[place].fd) < 0
			       ? error_set(e, errno, "cannot share the ring of CPU %u: %m", cpu)
			       : 0;
	r = perf_rings_add(p->rings, fd, cpu);
	if (r == -EPERM || r == -ENOMEM || r == -ENOSPC)
		return -EAGAIN;
	return r < 0 ? error_set(e, -r, "cannot map the ring of CPU %u: %s", cpu, strerror(-r)) : 0;
}

/* Who is there has to be known also of a time in which nothing is sampled. So one event samples, and another tells. */
static void divide(struct perf_events *p)
{
	static const enum perf_abi_flag tells[] = {
		PERF_FLAG_MMAP,	 PERF_FLAG_COMM,      PERF_FLAG_TASK,
		PERF_FLAG_MMAP2, PERF_FLAG_COMM_EXEC, PERF_FLAG_BUILD_ID,
	};
	size_t i;

	p->teller = p->attr;
	p->teller.type = PERF_TYPE_SW;
	p->teller.config = PERF_SW_NOTHING;
	p->teller.period = 0;
	set_flag(&p->teller, PERF_FLAG_FREQ, false);
	set_flag(&p->teller, PERF_FLAG_SWITCHES, false);
	for (i = 0; i < sizeof(tells) / sizeof(*tells); i++)
		set_flag(&p->attr, tells[i], false);
	p->has_tellers = true;
}

/* The first one decides what can be had. */
static int settle(struct perf_events *p, pid_t pid, uint32_t cpu)
{
	int fd;

	do
		fd = open_sampler(p, pid, cpu);
	while (fd < 0 && ask_for_less(p, -fd));
	if (fd < 0)
		return fd;
	p->is_settled = true;
	if (!p->s->can_pause)
		return fd;
	close(fd);
	divide(p);
	return open_sampler(p, pid, cpu);
}

static int add_teller(struct perf_events *p, pid_t pid, uint32_t cpu, struct error *e)
{
	int fd = open_event(&p->teller, pid, (int)cpu), r;

	if (fd < 0)
		return say_refused(p, -fd, pid, e);
	r = keep(p, fd, e);
	return r < 0 ? r : join_ring(p, fd, cpu, e);
}

/* 0 also where this CPU is off, or the thread is gone. */
static int add_event(struct perf_events *p, pid_t pid, uint32_t cpu, struct error *e)
{
	int fd, r;

	fd = p->is_settled ? open_sampler(p, pid, cpu) : settle(p, pid, cpu);
	if (fd == -ENODEV && cpu && p->is_settled)
		return 0;
	if (fd == -ESRCH && p->is_settled)
		return 0;
	if (fd < 0)
		return say_refused(p, -fd, pid, e);
	r = keep(p, fd, e);
	if (r >= 0)
		r = join_ring(p, fd, cpu, e);
	return r < 0 || !p->has_tellers ? r : add_teller(p, pid, cpu, e);
}

static int add_task(struct perf_events *p, pid_t pid, struct error *e)
{
	uint32_t cpu;
	int r = 0;

	for (cpu = 0; !r && cpu < p->cpus; cpu++)
		r = add_event(p, pid, cpu, e);
	return r;
}

/* Threads of a process above `after`, by rising number; the largest that there is. Those that come meanwhile inherit from those that
 * have an event; one that came before its maker had one is found by another look. */
static int add_threads(struct perf_events *p, pid_t pid, struct error *e)
{
	char path[48];
	pid_t tid, last = 0, most;
	const struct dirent *d;
	DIR *folder;
	int r = 0, looks, found = 1;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	for (looks = 0; !r && found && looks < LOOKS_MAX; looks++) {
		folder = opendir(path);
		if (!folder)
			return looks ? 0 : say_refused(p, ESRCH, pid, e);
		most = last;
		found = 0;
		while (!r && (d = readdir(folder))) {
			tid = (pid_t)atoi(d->d_name);
			if (tid <= last)
				continue;
			r = add_task(p, tid, e);
			most = tid > most ? tid : most;
			found++;
		}
		closedir(folder);
		last = most;
	}
	return r;
}

static int add_all(struct perf_events *p, pid_t command, struct error *e)
{
	uint32_t i;
	int r = 0;

	if (p->s->all)
		return add_task(p, FOR_ALL, e);
	if (command)
		return add_task(p, command, e);
	for (i = 0; !r && i < p->s->n_pids; i++)
		r = add_threads(p, p->s->pids[i], e);
	return r;
}

static void close_all(struct perf_events *p)
{
	perf_rings_clear(p->rings);
	while (p->n)
		close(p->fds[--p->n]);
}

/* Pinned memory is limited for ordinary users. */
static int open_all(struct perf_events *p, pid_t command, struct error *e)
{
	uint32_t size = (uint32_t)p->s->buffer, least = (uint32_t)sysconf(_SC_PAGESIZE);
	int r;

	for (size = size < least ? least : size;; size /= 2) {
		perf_rings_set_size(p->rings, size);
		p->attr.watermark = size / 2;
		r = add_all(p, command, e);
		if (r != -EAGAIN)
			break;
		close_all(p);
		if (size == least)
			return error_set(e, EPERM,
					 "cannot sample: no memory for rings; ulimit -l and "
					 "kernel.perf_event_mlock_kb limit it");
	}
	if (!r && size < p->s->buffer && p->s->buffer > least)
		add_note(p, "rings of %u KiB, because locked memory is limited", size / 1024);
	return r;
}

static void raise_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max > PERF_EVENTS_MAX + FDS_SPARE ? PERF_EVENTS_MAX + FDS_SPARE
								      : l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
}

static uint32_t count_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n < 1 ? 1 : n > (long)PERF_RINGS_MAX ? PERF_RINGS_MAX : (uint32_t)n;
}

static int make_periods(struct perf_events *p, struct error *e)
{
	uint32_t i;

	p->periods = calloc(p->rings->n + 1, sizeof(*p->periods));
	if (!p->periods)
		return error_set(e, ENOMEM, "cannot sample: out of memory");
	for (i = 0; i < p->rings->n; i++)
		p->periods[i].now = p->attr.period;
	if (getrandom(&p->random, sizeof(p->random), GRND_NONBLOCK) < 0 || !p->random)
		p->random = clock_mono_ns() | 1;
	return 0;
}

int perf_events_open(struct perf_events **ret, const struct profile_settings *s, pid_t command,
		     struct error *e)
{
	CLEANUP(perf_events) struct perf_events *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_set(e, ENOMEM, "cannot sample: out of memory");
	p->s = s;
	p->mean_ns = s->period_ns;
	p->cpus = count_cpus();
	raise_limit();
	r = perf_rings_new(&p->rings, p->cpus, e);
	if (r < 0)
		return r;
	ask(p, command > 0);
	r = open_all(p, command, e);
	if (r >= 0)
		r = make_periods(p, e);
	if (r < 0)
		return r;
	if (p->is_cycles && p->attr.period < get_rate(p))
		add_note(p,
			 "%" PRIu64 " samples a second instead of %" PRIu64
			 ": more are above kernel.perf_event_max_sample_rate",
			 (uint64_t)p->attr.period, get_rate(p));
	if (has_flag(&p->attr, PERF_FLAG_EXCLUDE_KERNEL) && !s->no_kernel)
		add_note(p, "programs only, without the kernel: kernel.perf_event_paranoid is %d",
			 get_paranoid());
	*ret = take_ptr(p);
	return 0;
}

void perf_events_free(struct perf_events *p)
{
	if (!p)
		return;
	if (p->rings)
		close_all(p);
	perf_rings_free(p->rings);
	free(p->periods);
	free(p->fds);
	free(p);
}

static bool is_teller(const struct perf_events *p, uint32_t i)
{
	return p->has_tellers && i % 2;
}

int perf_events_start(struct perf_events *p, bool is_paused, struct error *e)
{
	uint32_t i;

	if (has_flag(&p->attr, PERF_FLAG_ENABLE_ON_EXEC))
		return 0;
	for (i = 0; i < p->n; i++)
		if ((!is_paused || is_teller(p, i)) && ioctl(p->fds[i], PERF_IOC_ENABLE, 0) < 0)
			return error_set(e, errno, "cannot start sampling: %m");
	return 0;
}

/* A sample behind a pause does not stand for it. */
void perf_events_pause(struct perf_events *p, bool on)
{
	uint32_t i;

	for (i = 0; !on && i < p->rings->n; i++)
		perf_events_forget(p, i);
	for (i = 0; i < p->n; i++)
		if (!is_teller(p, i))
			ioctl(p->fds[i], on ? PERF_IOC_DISABLE : PERF_IOC_ENABLE, 0);
}

void perf_events_stop(struct perf_events *p)
{
	uint32_t i;

	for (i = 0; i < p->n; i++)
		ioctl(p->fds[i], PERF_IOC_DISABLE, 0);
}

/* --- the period --- */

static uint64_t next_random(struct perf_events *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random;
}

/* The kernel adapts the period to a rate. */
static void change_rate(struct perf_events *p)
{
	uint64_t hz = limit_rate(get_rate(p));
	uint32_t i;

	for (i = 0; i < p->rings->n; i++)
		ioctl(p->rings->list[i].fd, PERF_IOC_PERIOD, &hz);
}

void perf_events_set_period(struct perf_events *p, uint64_t period_ns)
{
	p->mean_ns = period_ns;
	p->changed = 0;
	if (p->is_cycles)
		change_rate(p);
}

/* A change starts the timer anew: at long periods no sample would come between two of them. */
void perf_events_change_period(struct perf_events *p, uint64_t now)
{
	uint64_t mean = p->mean_ns, half = mean * PERF_EVENTS_JITTER / 100, period;
	uint32_t i;

	if (p->changed && now - p->changed < mean * CHANGE_PERIODS)
		return;
	p->changed = now;
	for (i = 0; p->is_jittered && i < p->rings->n; i++) {
		period = mean - half + next_random(p) % (2 * half + 1);
		if (period < PROFILE_PERIOD_LEAST)
			period = PROFILE_PERIOD_LEAST;
		if (ioctl(p->rings->list[i].fd, PERF_IOC_PERIOD, &period) < 0) {
			p->is_jittered = false;
			return;
		}
		p->periods[i].before = p->periods[i].now;
		p->periods[i].now = period;
		p->periods[i].since = now;
	}
}

/* A timer that could not run in time passes over the periods that are gone by then. */
uint64_t perf_events_get_weight(struct perf_events *p, uint32_t ring, const struct perf_record *r)
{
	struct period *t = &p->periods[ring];
	uint64_t period, times = 1;

	if (p->is_cycles || !p->s->all)
		return r->period;
	period = r->time >= t->since || !t->before ? t->now : t->before;
	if (t->last && r->time > t->last)
		times = (r->time - t->last + period / 2) / period;
	t->last = r->time;
	times = times < 1 ? 1 : times > LATE_MOST ? LATE_MOST : times;
	return period * times;
}

void perf_events_forget(struct perf_events *p, uint32_t ring)
{
	p->periods[ring].last = 0;
}

/* --- what others ask --- */

struct perf_rings *perf_events_get_rings(struct perf_events *p)
{
	return p->rings;
}

const char *perf_events_get_note(const struct perf_events *p)
{
	return p->note;
}

uint64_t perf_events_measure_cost(const struct perf_events *p)
{
	return sample_cost_measure(&p->attr);
}

bool perf_events_is_cycles(const struct perf_events *p)
{
	return p->is_cycles;
}

bool perf_events_has_kernel(const struct perf_events *p)
{
	return !has_flag(&p->attr, PERF_FLAG_EXCLUDE_KERNEL);
}

bool perf_events_has_chains(const struct perf_events *p)
{
	return p->attr.sample_type & PERF_HAS_CHAIN;
}

void perf_events_get_sampling(const struct perf_events *p, struct sample_sampling *ret)
{
	*ret = (struct sample_sampling){
		.period = p->is_cycles ? 0 : p->attr.period,
		.jitter = p->is_jittered ? PERF_EVENTS_JITTER : 0,
		.collector = SAMPLE_BY_PERF,
		.method = p->is_cycles ? SAMPLE_CYCLES : SAMPLE_CPU_CLOCK,
		.exits = SAMPLE_EXITS_NONE,
		.has = (p->s->all ? SAMPLE_HAS_WHOLE : 0) |
		       (perf_events_has_chains(p) ? SAMPLE_HAS_CHAINS : 0) |
		       (has_flag(&p->attr, PERF_FLAG_SWITCHES) ? SAMPLE_HAS_SWITCHES : 0),
	};
}
