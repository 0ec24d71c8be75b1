/* SPDX-License-Identifier: MIT */
/* sampler: see sampler.h; here is the pass. */
#include "device/boot/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "device/boot/sampler_state.h"
#include "device/boot/words.h"

#define QUIET_LOOKS 4U	/* in a row: with each the wait doubles, and then is the longest */
#define WAIT_UNTOLD 3U	/* passes at most where nothing but a look tells what a process does */
#define KERNEL_PAUSE 9U /* passes that a kernel thread is left alone after it ran a little, */
#define KERNEL_LITTLE_NS CLOCK_NS_PER_MS /* which is this */
#define BETWEEN 8U			 /* looks, without caring for anything else */
#define ALWAYS_PARTS 16U /* who is runnable for all but one of these parts of the time always is */
#define SCAN_NS                                                                                    \
	CLOCK_NS_PER_S /* that a scan for the kernel's threads may wait for a calm machine */
#define KTHREADD 2U
#define STAT_NS (100 * CLOCK_NS_PER_MS) /* between two looks at the stat of one that always runs */
#define SELF_SWITCHES 2U /* of the machine, for each of the recorder's own: away from it and back */

/* --- files --- */

int sampler_open(const struct sampler *s, const struct task *t, const char *file)
{
	char path[SAMPLER_PATH_MAX], *p = decimal_put_u64(path, t->group);
	size_t len = strlen(file);

	if (t->group != t->pid) {
		memcpy(p, "/task/", 6);
		p = decimal_put_u64(p + 6, t->pid);
	}
	*p++ = '/';
	memcpy(p, file, len + 1);
	return openat(s->o.proc, path, O_RDONLY | O_CLOEXEC);
}

ssize_t sampler_read(const struct sampler *s, const struct task *t, const char *file, char *to,
		     size_t room)
{
	_cleanup_close_ int fd = sampler_open(s, t, file);

	return fd < 0 ? -1 : read(fd, to, room);
}

/* The one that stays open, if there is a descriptor left for it. */
static ssize_t read_open(struct sampler *s, struct task *t, const char *file)
{
	ssize_t n;

	if (t->fd < 0 && s->n_files < s->o.files) {
		t->fd = sampler_open(s, t, file);
		if (t->fd < 0)
			return -1;
		s->n_files++;
	}
	if (t->fd < 0)
		return sampler_read(s, t, file, s->text, sizeof(s->text));
	n = pread(t->fd, s->text, sizeof(s->text), 0);
	return n;
}

/* Where schedstat is what stays open: the stat of a process that runs all the time, too. It is one page of the kernel's
 * each, so not of everybody. */
static ssize_t read_stat(struct sampler *s, struct task *t)
{
	if (t->stat_fd < 0 && !t->quiet && s->n_files < s->o.files) {
		t->stat_fd = sampler_open(s, t, "stat");
		s->n_files += t->stat_fd >= 0;
	}
	if (t->stat_fd < 0)
		return sampler_read(s, t, "stat", s->text, sizeof(s->text));
	return pread(t->stat_fd, s->text, sizeof(s->text), 0);
}

static void close_stat(struct sampler *s, struct task *t)
{
	if (t->stat_fd < 0)
		return;
	close(t->stat_fd);
	t->stat_fd = -1;
	s->n_files--;
}

/* --- rows --- */

struct task *sampler_add(struct sampler *s, uint32_t pid, uint64_t tick)
{
	struct task *t = task_table_add(s->tasks, pid);
	char text[120];

	if (t) {
		if (pid == s->self)
			t->flags |= BOOT_START_SELF;
		return t;
	}
	if (s->is_full)
		return NULL;
	s->is_full = true;
	snprintf(text, sizeof(text),
		 "states of processes: the table of %u is full; \"processes\" sets its size",
		 s->o.processes);
	record_sink_mark(s->o.sink, tick, BOOT_MARK_MISSING, text);
	s->o.sink->lose(s->o.sink, LOSS_BUFFER, LOSS_UNKNOWN);
	return NULL;
}

void sampler_drop(struct sampler *s, struct task *t)
{
	sampler_say_exit(s, t);
	if (t->fd >= 0)
		s->n_files--;
	close_stat(s, t);
	task_table_drop(s->tasks, t);
	s->is_full = s->is_full && s->tasks->n >= s->tasks->size - s->tasks->size / 8;
}

void sampler_set_comm(struct task *t, const char *comm, size_t len)
{
	len = strnlen(comm, len < TASK_COMM_LEN ? len : TASK_COMM_LEN);
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm, len);
	t->comm_len = (uint8_t)len;
}

/* The kernel counts a start from when the machine did, sleep included; the chart's clock does not. */
static uint64_t start_of(const struct sampler *s, uint64_t ticks)
{
	uint64_t asleep = clock_get_ns(CLOCK_BOOTTIME) - clock_mono_ns();
	uint64_t ns = ticks * s->tick_ns;

	return ns > asleep ? ns - asleep : 0;
}

void sampler_set_start(struct sampler *s, struct task *t, const struct task_stat *st)
{
	t->parent = st->parent;
	t->start_tick = start_of(s, st->start);
	t->how = BOOT_BY_PROC;
	if (st->is_kernel)
		t->flags |= BOOT_START_KERNEL;
	sampler_set_comm(t, st->comm, st->comm_len);
}

/* --- looking at one --- */

static bool take_stat(struct sampler *s, struct task *t, const struct task_stat *st)
{
	uint64_t user = st->user * s->tick_ns, system = st->system * s->tick_ns;
	bool has_moved = !t->was_seen || t->state != st->state || t->user_ns != user ||
			 t->system_ns != system || t->faults != st->faults ||
			 t->threads != st->threads;

	t->stat_ns = s->now;
	t->state = st->state;
	t->user_ns = user;
	t->system_ns = system;
	t->faults = st->faults;
	t->threads = st->threads;
	if (t->comm_len != st->comm_len || memcmp(t->comm, st->comm, TASK_COMM_LEN)) {
		sampler_set_comm(t, st->comm, st->comm_len);
		sampler_say_name(s, t, s->now);
		if (!s->o.has_events && t->was_seen && !st->is_kernel && t->group == t->pid)
			sampler_say_args(s, t, s->now); /* it is probably another program */
	}
	return has_moved;
}

/* Has it run, or waited for a CPU, for as good as all the time? Then it is runnable, and its stat would say nothing
 * that is worth its price: CPU time is known, and how much of that was the kernel's can wait. But where nobody tells of
 * an exec, it is found by the name that stat has. */
static bool was_always_runnable(const struct sampler *s, const struct task *t,
				const struct task_times *times)
{
	uint64_t since = s->now - t->look_ns;
	uint64_t runnable = times->ran_ns - t->ran_ns + times->waited_ns - t->waited_ns;

	return s->o.has_events && !t->is_blocked && s->now - t->stat_ns < STAT_NS &&
	       runnable >= since - since / ALWAYS_PARTS;
}

enum { LOOK_SAME, LOOK_RAN, LOOK_RUNS };

/* Has it run since, or may it have? Negative: it is gone. */
static int look_at_times(struct sampler *s, struct task *t)
{
	ssize_t n = read_open(s, t, "schedstat");
	struct task_times times;
	bool is_always;

	if (n < 0)
		return -errno;
	if (!task_times_parse(&times, s->text, (size_t)n))
		return -ESRCH;
	is_always = was_always_runnable(s, t, &times);
	t->look_ns = s->now;
	if (t->was_seen && times.ran_ns == t->ran_ns && times.waited_ns == t->waited_ns &&
	    times.runs == t->runs && t->state != 'R')
		return LOOK_SAME;
	t->ran_ns = times.ran_ns;
	t->waited_ns = times.waited_ns;
	t->runs = times.runs;
	return is_always ? LOOK_RUNS : LOOK_RAN;
}

static bool is_gone(int code)
{
	return code == -ESRCH || code == -ENOENT;
}

/* The cheapest question about a process: no path, no file. */
static bool is_reaped(const struct task *t)
{
	return syscall(SYS_tgkill, t->group, t->pid, 0) < 0 && errno == ESRCH;
}

/* Its end was told. Is it still there, unasked for? */
static int look_at_ended(struct sampler *s, struct task *t)
{
	struct task_stat st;
	ssize_t n;

	if (is_reaped(t))
		return -ESRCH;
	if (t->was_zombie)
		return 0;
	n = sampler_read(s, t, "stat", s->text, sizeof(s->text));
	if (n <= 0 || !task_stat_parse(&st, s->text, (size_t)n) ||
	    (st.state != 'Z' && st.state != 'X'))
		return n <= 0 ? -ESRCH : 0;
	t->was_zombie = true;
	take_stat(s, t, &st);
	sampler_say_task(s, t, t->exit_tick);
	return 1;
}

/* 1: something had changed; 0: nothing; negative: it is gone. */
static int look_at_stat(struct sampler *s, struct task *t)
{
	struct task_stat st;
	ssize_t n;

	if (t->stat_ns == s->now) /* it was found in this pass */
		return 1;
	n = s->has_times ? read_stat(s, t) : read_open(s, t, "stat");
	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	return task_stat_parse(&st, s->text, (size_t)n) && (take_stat(s, t, &st) || s->has_times);
}

/* The same. */
static int look_at(struct sampler *s, struct task *t)
{
	int r = s->has_times ? look_at_times(s, t) : LOOK_RAN;

	if (r == LOOK_RUNS)
		t->state = 'R';
	else if (r > 0)
		r = look_at_stat(s, t);
	if (r <= 0)
		return r;
	t->was_seen = true;
	sampler_say_task(s, t, s->now);
	if (t->state == 'D' || t->is_blocked)
		sampler_say_wait(s, t);
	return 1;
}

/* The longer nothing moves, the fewer looks; a process that runs is looked at in each pass. Who starts a process, or waits
 * for one that ends, is looked at after that whatever its wait (sampler_events.c). Of kernel threads there are many that
 * never do anything, and those that do run a little and often; nobody starts one to wait for it. The recorder itself runs
 * in each pass, and that is no news. */
static uint8_t wait_of(const struct task *t, uint64_t ran_ns)
{
	uint32_t wait = t->quiet < QUIET_LOOKS ? (1U << t->quiet) - 1 : SAMPLER_WAIT_MOST;

	if (t->flags & BOOT_START_SELF)
		return SAMPLER_WAIT_MOST - 1;
	if (t->flags & BOOT_START_KERNEL) {
		if (!t->quiet && t->state != 'R' && t->state != 'D' && ran_ns < KERNEL_LITTLE_NS)
			wait = KERNEL_PAUSE;
		if (!t->has_run)
			return t->quiet ? SAMPLER_WAIT_NEVER - 1 : 0;
	}
	return (uint8_t)(wait < SAMPLER_WAIT_MOST ? wait : SAMPLER_WAIT_MOST - 1);
}

/* The first look is the dearest, for files are opened. Most processes do not live as long as an interval: of those start,
 * end and account are told, which is more than a look would say. */
static bool is_young(const struct sampler *s, const struct task *t)
{
	return s->o.has_accounts && t->how == BOOT_BY_EVENT && !t->was_seen && !t->has_ended &&
	       s->now - t->start_tick < s->o.interval_ns;
}

static void look_if_due(struct sampler *s, struct task *t)
{
	uint32_t pid = t->pid;
	uint64_t ran_ns = t->ran_ns;
	int r;

	if (t->wait) {
		t->wait--;
		return;
	}
	if (is_young(s, t))
		return;
	if (++s->looked % BETWEEN == 0 && s->o.between) {
		s->o.between(s->o.context);
		if (t->pid != pid)
			return;
	}
	r = t->has_ended ? look_at_ended(s, t) : look_at(s, t);
	if (is_gone(r)) {
		/* Where ends are told this one was, too, and its account before that: they wait to be taken. */
		if (!s->o.has_events || t->has_ended)
			sampler_drop(s, t);
		return;
	}
	t->has_run |= ran_ns && t->ran_ns != ran_ns;
	t->quiet = r > 0 ? 0 : t->quiet < UINT8_MAX ? t->quiet + 1 : t->quiet;
	t->wait = wait_of(t, t->ran_ns - ran_ns);
	if (!s->o.has_events && t->wait > WAIT_UNTOLD)
		t->wait = WAIT_UNTOLD;
	if (t->wait)
		close_stat(s, t);
}

/* --- who is there --- */

static void find_new(struct sampler *s, uint32_t pid, uint32_t group)
{
	struct task *t = task_table_find(s->tasks, pid), who = { .pid = pid, .group = group };
	struct task_stat st;
	ssize_t n;

	if (t) {
		t->scan = s->scans;
		return;
	}
	n = sampler_read(s, &who, "stat", s->text, sizeof(s->text));
	if (n <= 0 || !task_stat_parse(&st, s->text, (size_t)n))
		return;
	t = sampler_add(s, pid, s->now);
	if (!t)
		return;
	t->group = group;
	t->scan = s->scans;
	sampler_set_start(s, t, &st);
	take_stat(s, t, &st);
	if (group != pid)
		t->parent = group;
	sampler_say_start(s, t, s->now);
	sampler_say_name(s, t, s->now);
	s->is_finding = true;
	if (!st.is_kernel && group == pid)
		sampler_say_args(s, t, s->now);
	s->is_finding = false;
}

struct entry { /* as getdents64() gives them */
	uint64_t inode;
	int64_t next;
	uint16_t len;
	uint8_t type;
	char name[];
};

/* All numbers in a folder of /proc. */
static void scan_folder(struct sampler *s, int fd, uint32_t group)
{
	struct words w;
	uint64_t pid;
	long n, at;

	while ((n = syscall(SYS_getdents64, fd, s->names, sizeof(s->names))) > 0)
		for (at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(s->names + at);

			at += entry->len;
			words_init(&w, entry->name, strlen(entry->name));
			pid = words_number(&w);
			if (!w.bad && pid && pid <= UINT32_MAX)
				find_new(s, (uint32_t)pid, group ? group : (uint32_t)pid);
		}
}

static void scan_threads(struct sampler *s)
{
	struct task *t;
	uint32_t at = 0;

	while ((t = task_table_next(s->tasks, &at))) {
		_cleanup_close_ int fd = -1;

		if (t->group != t->pid || t->has_ended)
			continue;
		fd = sampler_open(s, t, "task");
		if (fd >= 0)
			scan_folder(s, fd, t->pid);
	}
}

static void scan(struct sampler *s)
{
	_cleanup_close_ int fd = openat(s->o.proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct task *t;
	uint32_t at = 0;

	s->must_scan = false;
	if (fd < 0)
		return;
	s->scans++;
	scan_folder(s, fd, 0);
	if (s->o.with_threads)
		scan_threads(s);
	while ((t = task_table_next(s->tasks, &at)))
		if (t->scan != s->scans && (t->group == t->pid || s->o.with_threads))
			sampler_drop(s, t);
}

/* While init waits, whoever is there but init and the recorder is the kernel's; that may wait for a moment in which nobody
 * does. Who forks is to be known at once, so kthreadd is looked at, too. */
static void find_first(struct sampler *s)
{
	find_new(s, 1, 1);
	find_new(s, KTHREADD, KTHREADD);
	find_new(s, s->self, s->self);
	s->o.is_first = false;
	s->scan_due = s->now + SCAN_NS;
}

static void scan_if_due(struct sampler *s)
{
	if (!s->must_scan)
		return;
	if (s->o.is_first)
		find_first(s);
	else if (s->is_calm || s->now >= s->scan_due)
		scan(s);
}

/* --- the pass --- */

static uint64_t own_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw;
}

/* Has nobody run but the recorder for so long that everybody was looked at since? */
static bool was_idle(struct sampler *s, uint64_t own)
{
	uint64_t all = s->machine.switches - s->last_switches;

	if (s->machine.running > 1 || s->machine.forks != s->last_forks ||
	    all > (own - s->last_own) * SELF_SWITCHES)
		s->idle_passes = 0;
	else if (s->idle_passes <= SAMPLER_WAIT_MOST)
		s->idle_passes++;
	return s->idle_passes > SAMPLER_WAIT_MOST;
}

static void say_pass(struct sampler *s)
{
	struct boot_event ev = { .tick = s->now, .kind = BOOT_PASS, .text = "" };

	ev.number[BOOT_PASS_TASKS] = s->tasks->n;
	ev.number[BOOT_PASS_LOOKED] = s->looked;
	ev.number[BOOT_PASS_TOOK] = clock_mono_ns() - s->now;
	ev.number[BOOT_PASS_SWITCHES] = s->machine.switches;
	ev.number[BOOT_PASS_RUNNABLE] = s->machine.running;
	ev.number[BOOT_PASS_BLOCKED] = s->machine.blocked;
	ev.number[BOOT_PASS_FORKS] = s->machine.forks;
	record_sink_put(s->o.sink, &ev);
}

/* Reads /proc/stat, if it is worth it: it is long, and has a number for each interrupt. While the machine is busy, what
 * it says beside CPU times is known: that somebody has run. Returns whether nobody has, or negative. */
static int look_at_machine(struct sampler *s)
{
	uint64_t own;
	const struct machine_stat *m;
	bool idle;

	if (s->o.has_events && s->now < s->machine_due)
		return false;
	m = machine_rows_pass(s->o.rows, s->now);
	if (!m)
		return -EIO;
	own = own_switches();
	s->machine = *m;
	s->is_calm = m->running <= 1 && !m->blocked;
	idle = was_idle(s, own);
	s->machine_due = idle || s->is_calm ? 0 : s->now + s->o.rows_ns;
	if (!s->o.has_events && m->forks != s->last_forks)
		s->must_scan = true;
	s->last_switches = m->switches;
	s->last_forks = m->forks;
	s->last_own = own;
	return idle;
}

int sampler_pass(struct sampler *s, uint64_t now_ns)
{
	struct task *t;
	uint32_t at = 0;
	int idle;

	s->now = now_ns;
	s->looked = 0;
	idle = look_at_machine(s);
	if (idle < 0)
		return idle;
	scan_if_due(s);
	while (!idle && (t = task_table_next(s->tasks, &at)))
		look_if_due(s, t);
	if (now_ns >= s->rows_due) {
		s->rows_due = now_ns + s->o.rows_ns;
		machine_rows_look(s->o.rows, now_ns);
	}
	say_pass(s);
	return 0;
}

void sampler_finish(struct sampler *s, uint64_t now_ns)
{
	struct task *t;
	uint32_t at = 0;

	s->now = now_ns;
	s->machine_due = 0;
	/* What it counted until the end. If it cannot be read, there is no more to say. */
	look_at_machine(s);
	while ((t = task_table_next(s->tasks, &at)))
		if (t->has_ended && is_gone(look_at_ended(s, t)))
			sampler_drop(s, t);
}

void sampler_rescan(struct sampler *s)
{
	s->scan_due = 0;
	s->must_scan = true;
}

/* --- making it --- */

int sampler_new(struct sampler **ret, const struct sampler_options *o, struct error *e)
{
	CLEANUP(sampler) struct sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_set(e, ENOMEM, "cannot make the sampler: out of memory");
	s->o = *o;
	s->self = (uint32_t)getpid();
	s->tick_ns = machine_rows_tick_ns(o->rows);
	s->must_scan = true;
	s->has_times = !faccessat(o->proc, "self/schedstat", R_OK, 0);
	r = task_table_new(&s->tasks, o->processes, e);
	if (r < 0)
		return r;
	*ret = take_ptr(s);
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	task_table_free(s->tasks);
	free(s);
}

bool sampler_is_calm(const struct sampler *s)
{
	return s->is_calm;
}

const struct machine_stat *sampler_get_machine(const struct sampler *s)
{
	return &s->machine;
}

uint64_t sampler_get_forks(const struct sampler *s)
{
	return s->forks_told;
}

const struct task_table *sampler_get_tasks(const struct sampler *s)
{
	return s->tasks;
}
