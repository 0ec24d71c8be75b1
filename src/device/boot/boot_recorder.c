/* SPDX-License-Identifier: MIT */
/* boot_recorder: see boot_recorder.h; here it is made, and here is the loop. */
#include "device/boot/boot_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "device/agent/identity.h"
#include "device/boot/boot_recorder_state.h"
#include "device/boot/boot_stop.h"

#define ROWS_NS (100 * CLOCK_NS_PER_MS)	     /* between two looks at disks, memory, pressure */
#define LOG_PATIENCE_NS (5 * CLOCK_NS_PER_S) /* with a machine that is never calm */
#define EXECS_BUFFER (64U << 10)
#define DELAYS "sys/kernel/task_delayacct"

void boot_recorder_log(const struct boot_recorder *r, const char *fmt, ...)
{
	char line[600];
	va_list ap;

	if (!r->o.log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	r->o.log(r->o.log_context, line);
}

/* --- making it --- */

static ssize_t read_small(int folder, const char *path, char *text, size_t room)
{
	_cleanup_close_ int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	text[n > 0 ? n : 0] = 0;
	return n;
}

/* All that may ever be there, where the kernel can be asked already; else those that are there. */
static void count_cpus(struct boot_recorder *r)
{
	char text[256];
	long n = sysconf(_SC_NPROCESSORS_CONF);

	r->cpus = 0;
	if (read_small(AT_FDCWD, "/sys/devices/system/cpu/possible", text, sizeof(text)) > 0)
		r->cpus = identity_parse_cpus(text);
	if (!r->cpus)
		r->cpus = n > 0 ? (uint32_t)n : 1;
}

static int open_spool(struct boot_recorder *r, struct error *e)
{
	bool is_exact = r->s->exact != BOOT_EXACT_OFF;
	struct memory_options m = { .cpus = is_exact ? r->cpus : 1,
				    .slots = is_exact ? EXACT_TRACE_SLOTS : 0,
				    .spool_bytes = (uint32_t)r->s->spool_bytes };
	struct spool_options o = { .policy = POLICY_OLDEST, .has_beside = true };
	struct message_id boot = { { 0 } };
	char text[64];
	int res;

	if (read_small(r->o.place.proc, "sys/kernel/random/boot_id", text, sizeof(text)) > 0)
		identity_parse(&boot, text);
	m.boot = boot.bytes;
	res = memory_open(&r->memory, &m, e);
	if (res < 0)
		return res;
	o.memory = r->memory;
	res = spool_open(&r->spool, &o, e);
	if (res < 0)
		return res;
	r->lane = calloc(1, sizeof(*r->lane));
	if (!r->lane)
		return error_set(e, ENOMEM, "cannot make the recorder: out of memory");
	boot_lane_init(r->lane, r->spool, r->device);
	r->sink = &r->lane->sink;
	return 0;
}

/* Sockets first, and only then a look at who is there: so nobody is missed in between. */
static void open_told(struct boot_recorder *r)
{
	enum process_event_choice choice =
		r->s->threads ? PROCESS_EVENTS_OF_ALL : PROCESS_EVENTS_OF_PROCESSES;
	uint32_t buffer = (uint32_t)r->s->buffer_bytes;
	char cpus[32];

	if (r->s->events)
		r->events = process_event_open(buffer, choice, &r->no_events);
	else
		error_set(&r->no_events, ENOENT, "no process events: they were not wanted");
	if (r->events >= 0)
		r->execs = process_event_open(EXECS_BUFFER, PROCESS_EVENTS_EXEC, NULL);
	snprintf(cpus, sizeof(cpus), "0-%u", r->cpus - 1);
	if (r->s->accounts)
		r->accounts = exit_account_open(buffer, cpus, &r->no_accounts);
	else
		error_set(&r->no_accounts, ENOENT, "no exit accounts: they were not wanted");
}

/* What a process ran and waited, to the nanosecond, the kernel keeps only if it is told to, and of those that start
 * after that. A kernel before 5.14 always does. */
static void switch_delays_on(struct boot_recorder *r)
{
	_cleanup_close_ int fd = openat(r->o.place.proc, DELAYS, O_RDWR | O_CLOEXEC);
	char is_on = '1';

	if (fd < 0 || pread(fd, &is_on, 1, 0) != 1 || is_on != '0')
		return;
	r->has_switched = pwrite(fd, "1", 1, 0) == 1;
}

static void switch_delays_back(struct boot_recorder *r)
{
	_cleanup_close_ int fd = -1;

	if (!r->has_switched)
		return;
	fd = openat(r->o.place.proc, DELAYS, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "0", 1) != 1)
		boot_recorder_log(r, "cannot switch the counting of delays off again: %s",
				  strerror(errno));
}

/* Whose arguments are to be read lives for a millisecond: so the recorder does not wait for its turn. What it may do
 * at once is limited (WAKES_BURST), and what it starts is as everybody is. */
static void set_priority(const struct boot_recorder *r)
{
	struct sched_param p = { .sched_priority = 1 };

	/* Not by the C library: musl has only a refusal of this name. */
	if (r->s->realtime &&
	    !syscall(SYS_sched_setscheduler, 0, SCHED_RR | SCHED_RESET_ON_FORK, &p))
		return;
	if (r->s->nice && setpriority(PRIO_PROCESS, 0, r->s->nice))
		boot_recorder_log(r, "cannot set the priority to %d: %s", r->s->nice,
				  strerror(errno));
}

static void open_log(struct boot_recorder *r)
{
	bool is_all = r->s->log == BOOT_LOG_ALL || (r->s->log == BOOT_LOG_AUTO && r->o.is_early);

	r->log.level = (uint8_t)r->s->log_level;
	if (r->s->log == BOOT_LOG_OFF)
		kernel_log_close(&r->log);
	else
		kernel_log_open(&r->log, r->sink, is_all, &r->no_log);
}

/* A pass takes longer than some processes live. */
static void take_execs(void *context)
{
	struct boot_recorder *r = context;
	char nothing;

	if (r->execs >= 0 && r->wakes &&
	    recv(r->execs, &nothing, 1, MSG_DONTWAIT | MSG_TRUNC) > 0) {
		r->wakes--;
		boot_recorder_take_told(r, true);
	}
}

static int make_sampler(struct boot_recorder *r, struct error *e)
{
	struct sampler_options o = { .sink = r->sink,
				     .proc = r->o.place.proc,
				     .processes = r->s->processes,
				     .files = r->s->files,
				     .with_threads = r->s->threads,
				     .has_events = r->events >= 0,
				     .has_accounts = r->accounts >= 0,
				     .wants_names = r->until.type == TARGET_PROCESS,
				     .is_first = r->o.is_first && r->events >= 0,
				     .interval_ns = r->s->interval_ns,
				     .rows_ns = ROWS_NS,
				     .named = boot_recorder_named,
				     .between = take_execs,
				     .context = r };
	int res = machine_rows_new(&r->rows, r->sink, r->o.place.proc, e);

	if (res < 0)
		return res;
	o.rows = r->rows;
	return sampler_new(&r->sampler, &o, e);
}

static int make_outputs(struct boot_recorder *r, struct error *e)
{
	struct boot_file_options f = { .spool = r->spool,
				       .place = &r->o.place,
				       .path = r->s->out,
				       .keep_old = r->s->keep_old };
	struct exact_trace_options x = { .settings = r->s,
					 .memory = r->memory,
					 .spool = r->spool,
					 .device = r->device,
					 .cpus = r->cpus };
	int res = 0;

	if (r->s->out[0])
		res = boot_file_new(&r->file, &f, e);
	if (!res && r->s->exact != BOOT_EXACT_OFF)
		res = exact_trace_new(&r->exact, &x, e);
	return res;
}

static int open_signals(struct boot_recorder *r, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0)
		return error_set(e, errno, "cannot take signals: %s", strerror(errno));
	if (r->o.has_socket)
		r->stop = boot_stop_open(NULL); /* of two recorders the first is the one to stop */
	return 0;
}

static void set_device(struct boot_recorder *r)
{
	snprintf(r->device, sizeof(r->device), "%s", r->s->name);
	if (!r->device[0])
		gethostname(r->device, sizeof(r->device) - 1);
	r->device[strcspn(r->device, ".")] = 0;
}

int boot_recorder_new(struct boot_recorder **ret, const struct boot_recorder_options *o,
		      struct error *e)
{
	CLEANUP(boot_recorder) struct boot_recorder *r = calloc(1, sizeof(*r));
	int res;

	if (!r) {
		struct place p = o->place;

		place_close(&p);
		return error_set(e, ENOMEM, "cannot make the recorder: out of memory");
	}
	r->o = *o;
	r->s = o->settings;
	r->until = r->s->until;
	r->events = r->execs = r->accounts = r->signals = r->stop = r->asked = -1;
	r->log.fd = -1;
	unit_watch_init(&r->units);
	unit_state_init(&r->unit);
	set_device(r);
	count_cpus(r);
	res = open_spool(r, e);
	if (res < 0)
		return res;
	set_priority(r);
	open_told(r);
	if (r->s->delays && r->accounts >= 0)
		switch_delays_on(r);
	open_log(r);
	res = make_sampler(r, e);
	if (res >= 0)
		res = make_outputs(r, e);
	if (res >= 0)
		res = open_signals(r, e);
	if (res < 0)
		return res;
	*ret = take_ptr(r);
	return 0;
}

void boot_recorder_free(struct boot_recorder *r)
{
	if (!r)
		return;
	switch_delays_back(r);
	exact_trace_free(r->exact);
	side_link_free(r->link);
	boot_file_free(r->file);
	sampler_free(r->sampler);
	machine_rows_free(r->rows);
	kernel_log_close(&r->log);
	unit_watch_close(&r->units);
	unit_state_close(&r->unit);
	free(r->lane);
	spool_free(r->spool);
	memory_free(r->memory);
	cleanup_closep(&r->events);
	cleanup_closep(&r->execs);
	cleanup_closep(&r->accounts);
	cleanup_closep(&r->signals);
	cleanup_closep(&r->stop);
	cleanup_closep(&r->asked);
	place_close(&r->o.place);
	free(r);
}

/* --- running it --- */

static void turn_exact(struct boot_recorder *r)
{
	struct error e = ERROR_INIT;
	int res;

	if (!r->exact || !r->is_recording ||
	    r->now_ns < exact_trace_next(r->exact) * CLOCK_NS_PER_MS)
		return;
	res = exact_trace_turn(r->exact, r->now_ns / CLOCK_NS_PER_MS, &e);
	if (res >= 0 || res == -EAGAIN)
		return;
	error_prefix(&e, -res, "no exact states");
	record_sink_mark(r->sink, r->now_ns, BOOT_MARK_MISSING, e.text);
	boot_recorder_log(r, "%s", e.text);
}

int boot_recorder_start(struct boot_recorder *r, struct error *e)
{
	int res = boot_lane_start(r->lane, r->cpus, e);

	if (res < 0)
		return res;
	r->is_recording = true;
	r->start_ns = r->next_ns = r->now_ns = clock_mono_ns();
	r->wakes = WAKES_BURST;
	r->wakes_ns = r->now_ns;
	r->real_off_ns = (int64_t)clock_real_ns() - (int64_t)clock_mono_ns();
	turn_exact(r);
	res = boot_recorder_pass(r, e);
	if (!res)
		boot_recorder_say_missing(r);
	return res;
}

/* An exec may wake the recorder, as long as there are not too many. */
static bool may_wake(struct boot_recorder *r)
{
	uint64_t since = r->now_ns - r->wakes_ns, more = since * WAKES_PER_S / CLOCK_NS_PER_S;

	if (more) {
		r->wakes = r->wakes + more < WAKES_BURST ? r->wakes + more : WAKES_BURST;
		r->wakes_ns = r->now_ns;
	}
	return r->wakes > 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When there is something to do if nothing comes. */
static uint64_t next_turn(const struct boot_recorder *r)
{
	uint64_t next = UINT64_MAX;

	if (r->is_recording)
		next = r->next_ns;
	if (r->is_recording && r->exact && exact_trace_next(r->exact) != UINT64_MAX)
		next = least(next, exact_trace_next(r->exact) * CLOCK_NS_PER_MS);
	if (r->link && side_link_next(r->link) != UINT64_MAX)
		next = least(next, side_link_next(r->link) * CLOCK_NS_PER_MS);
	else if (!r->link && r->s->collector[0] && !r->is_recording)
		next = least(next, r->now_ns + CLOCK_NS_PER_S);
	return next;
}

static void take_signal(struct boot_recorder *r)
{
	struct signalfd_siginfo info;

	if (read(r->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	r->was_told = !r->is_recording; /* the second time: do not wait for the collector */
	boot_recorder_stop(r, "it was told to");
}

static void take_asked(struct boot_recorder *r)
{
	int fd = boot_stop_take(r->stop);

	if (fd < 0)
		return;
	cleanup_closep(&r->asked);
	r->asked = fd;
	boot_recorder_stop(r, "it was told to");
}

enum { FD_SIGNALS, FD_STOP, FD_EXECS, FD_UNITS, FD_LINK, FD_EXACT, FDS };

static int wait_for_something(struct boot_recorder *r, struct error *e)
{
	struct pollfd fds[FDS] = {
		[FD_SIGNALS] = { r->signals, POLLIN, 0 },
		[FD_STOP] = { r->stop, POLLIN, 0 },
		[FD_EXECS] = { r->is_recording && may_wake(r) ? r->execs : -1, POLLIN, 0 },
		[FD_UNITS] = { r->is_recording ? r->units.fd : -1, POLLIN, 0 },
		[FD_LINK] = { -1, 0, 0 },
		[FD_EXACT] = { r->is_recording && r->exact ? exact_trace_fd(r->exact) : -1, POLLIN,
			       0 },
	};
	uint64_t next = next_turn(r), now = clock_mono_ns(), wait = next > now ? next - now : 0;
	struct timespec timeout = { (time_t)(wait / CLOCK_NS_PER_S),
				    (long)(wait % CLOCK_NS_PER_S) };

	if (r->link) {
		fds[FD_LINK].fd = side_link_fd(r->link);
		fds[FD_LINK].events = side_link_events(r->link);
	}
	if (ppoll(fds, FDS, next == UINT64_MAX ? NULL : &timeout, NULL) < 0 && errno != EINTR)
		return error_set(e, errno, "cannot wait for events: %s", strerror(errno));
	r->now_ns = clock_mono_ns();
	if (fds[FD_EXECS].revents) {
		r->wakes--;
		boot_recorder_take_told(r, true);
	}
	if (fds[FD_UNITS].revents)
		unit_watch_take(&r->units, r->sink, r->now_ns);
	if (fds[FD_SIGNALS].revents)
		take_signal(r);
	if (fds[FD_STOP].revents)
		take_asked(r);
	return 0;
}

/* What the kernel has said can wait, but not so long that it is overwritten. For the first pass init waits: there it is
 * not taken at all. */
static int take_turn(struct boot_recorder *r, struct error *e)
{
	bool is_time = r->now_ns - r->start_ns >= LOG_PATIENCE_NS;
	int res = boot_recorder_pass(r, e);

	if (res >= 0 && r->is_recording && (is_time || sampler_is_calm(r->sampler)))
		kernel_log_take(&r->log, r->now_ns, KERNEL_LOG_CALM);
	return res;
}

int boot_recorder_run(struct boot_recorder *r, struct error *e)
{
	int res = 0;

	r->now_ns = clock_mono_ns();
	while (!res && !r->is_over) {
		turn_exact(r);
		if (r->is_recording && r->now_ns >= r->next_ns)
			res = take_turn(r, e);
		if (res < 0)
			boot_recorder_stop(r, e->text);
		boot_recorder_put_out(r);
		if (!res && !r->is_over)
			res = wait_for_something(r, e);
	}
	boot_recorder_finish_file(r);
	return res;
}
