/* SPDX-License-Identifier: MIT */
/* agent: see agent.h; here is the loop. */
#include "device/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/clock.h"
#include "device/agent/agent_state.h"
#include "device/feed/func_run.h"
#include "device/profile/told_objects.h"

void agent_log(const struct agent *a, const char *fmt, ...)
{
	char line[600];
	va_list ap;

	if (!a->o.log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	a->o.log(a->o.log_context, line);
}

bool agent_is_tracing(const struct agent *a)
{
	return a->tracing.source;
}

enum device_state agent_state(const struct agent *a)
{
	if (agent_is_tracing(a))
		return DEVICE_TRACING;
	return a->wanted ? DEVICE_FAILED : DEVICE_IDLE;
}

/* --- making it --- */

/* The spool's folder, if only that is missing. */
static void make_folder(const char *file)
{
	char path[SETTINGS_PATH_MAX];
	char *slash;

	snprintf(path, sizeof(path), "%s", file);
	slash = strrchr(path, '/');
	if (!slash || slash == path)
		return;
	*slash = 0;
	mkdir(path, 0700); /* if it fails, the open that follows says why */
}

static int open_spool(struct agent *a, struct error *e)
{
	const struct settings *s = a->o.settings;
	struct memory_options m = { .path = s->spool_file,
				    .cpus = a->identity.cpus,
				    .slots = STAGING_SLOTS,
				    .spool_bytes = (uint32_t)s->spool_bytes,
				    .func_rows = func_run_rows((uint32_t)s->spool_bytes) };
	struct spool_options o = { .policy = s->config.policy, .sync_ms = SYNC_MS };
	struct recorder_options r = { .device = s->name, .cpus = a->identity.cpus };
	int res;

	make_folder(s->spool_file);
	res = memory_open(&a->memory, &m, e);
	if (res < 0)
		return res;
	if (memory_get_note(a->memory)[0])
		agent_log(a, "%s", memory_get_note(a->memory));
	o.memory = a->memory;
	if (!strncmp(s->spool_file, "/run/", 5) || !strncmp(s->spool_file, "/dev/shm/", 9))
		o.sync_ms = 0; /* there is no disk below */
	res = spool_open(&a->spool, &o, e);
	if (res < 0)
		return res;
	r.spool = a->spool;
	return recorder_new(&a->recorder, &r, e);
}

/* A block ends when it is full, so with its last event it may be larger (those of calls never are);
 * an end has a row for each stream. */
static uint32_t largest_entry(const struct agent *a)
{
	uint32_t block = BLOCK_HEADER_MAX + CONFIG_BLOCK_MOST + 2 * SCHED_FILENAME_MAX;
	uint32_t calls = FUNC_LANES * memory_get_head(a->memory)->name.func_rows;
	uint32_t rows = 2 + (calls > a->identity.cpus ? calls : a->identity.cpus);

	return block > rows * SPOOL_END_ROW ? block : rows * SPOOL_END_ROW;
}

static int make_uplink(struct agent *a, struct error *e)
{
	struct uplink_options o = { .spool = a->spool,
				    .device = a->identity.device,
				    .boot = a->identity.boot,
				    .name = a->o.settings->name,
				    .agent = KISEKI_VERSION,
				    .kernel = a->identity.system.release,
				    .machine = a->identity.system.machine,
				    .cpus = a->identity.cpus,
				    .threads = memory_get_head(a->memory)->name.func_rows,
				    .entry_max = largest_entry(a),
				    .hooks = { a, agent_instruct, agent_clocks } };
	int r;

	if (a->told) {
		o.hooks.want = agent_want_object;
		o.hooks.piece = agent_put_piece;
	}
	if (getrandom(&o.seed, sizeof(o.seed), 0) < 0)
		o.seed = clock_mono_ms();
	r = uplink_new(&a->uplink, &o, e);
	return r < 0 ? r
		     : line_new(&a->line,
				&(struct line_options){ a->o.settings->collector,
							a->o.settings->name,
							a->o.settings->state_dir, false },
				e);
}

static int make_descriptors(struct agent *a, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	a->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (a->signals < 0 || a->timer < 0)
		return error_set(e, errno, "cannot make the agent's timer: %s", strerror(errno));
	a->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	return 0;
}

static uint64_t all_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

int agent_new(struct agent **ret, const struct agent_options *o, struct error *e)
{
	CLEANUP(agent) struct agent *a = calloc(1, sizeof(*a));
	char *dot;
	int r;

	if (!a)
		return error_set(e, ENOMEM, "cannot make the agent: out of memory");
	a->o = *o;
	a->timer = a->signals = a->statm = -1;
	a->config = o->settings->config;
	a->wanted = o->settings->start;
	a->low_mark = 1;
	a->armed_ms = UINT64_MAX;
	a->origins = tracing_origins(0);
	snprintf(a->instance, sizeof(a->instance), "kiseki-%s", o->settings->name);
	for (dot = a->instance; (dot = strchr(dot, '.'));)
		*dot = '_'; /* bpffs takes none */
	r = identity_init(&a->identity, o->settings->name, o->settings->state_dir, e);
	if (r >= 0)
		r = open_spool(a, e);
	agent_make_told(a);
	if (r >= 0)
		r = make_uplink(a, e);
	if (r >= 0)
		r = make_descriptors(a, e);
	if (r < 0)
		return r;
	a->ring_most_kib = settings_ring_most_kib(o->settings, all_memory(), a->identity.cpus);
	a->tracing = (struct tracing){ .memory = a->memory,
				       .spool = a->spool,
				       .recorder = a->recorder,
				       .cpus = a->identity.cpus,
				       .instance = a->instance };
	agent_open_feed(a);
	*ret = take_ptr(a);
	return 0;
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	if (agent_is_tracing(a))
		tracing_leave(&a->tracing);
	func_feed_free(a->feed);
	told_objects_free(a->told);
	uplink_free(a->uplink);
	line_free(a->line);
	recorder_free(a->recorder);
	spool_free(a->spool);
	memory_free(a->memory);
	cleanup_closep(&a->timer);
	cleanup_closep(&a->signals);
	cleanup_closep(&a->statm);
	free(a);
}

/* --- running it --- */

static uint64_t tick_length(const struct agent *a)
{
	return a->config.flush_ms < TICK_MS ? a->config.flush_ms : TICK_MS;
}

/* One failure is none: what the kernel holds is still there, and the next time may be a better one. */
static void take_failure(struct agent *a, const struct error *e)
{
	a->tick_ms = a->now_ms + tick_length(a);
	if (!a->failing_ms) {
		agent_log(a, "%s; tries again", e->text);
		a->failing_ms = a->now_ms;
	}
	if (a->now_ms - a->failing_ms < PATIENCE_MS)
		return;
	agent_log(a, "%s", e->text);
	a->failure = *e;
	a->failing_ms = 0;
	a->retry_ms = a->now_ms + RETRY_MS;
	agent_stop(a, NULL);
}

static void tell_mended(const struct agent *a)
{
	struct error *mended = &a->tracing.source->mended;

	if (mended->text[0])
		agent_log(a, "%s", mended->text);
	mended->text[0] = 0;
}

static void turn_tracing(struct agent *a)
{
	struct error e = ERROR_INIT;
	uint64_t length = tick_length(a);
	int r;

	if (!agent_is_tracing(a)) {
		if (a->wanted && a->now_ms >= a->retry_ms)
			agent_start(a, NULL);
		return;
	}
	r = tracing_drain(&a->tracing, a->now_ms, &e);
	if (r < 0) {
		take_failure(a, &e);
		return;
	}
	a->failing_ms = 0;
	tell_mended(a);
	/* On the same grid, also after a turn out of it. */
	a->tick_ms = r > 0 ? a->now_ms + (SOON_MS < length ? SOON_MS : length)
			   : (a->now_ms / length + 1) * length;
}

/* A disk that fails takes the safety from a loss of power, not the events: they are still in memory, and go on to the
 * collector. */
static void turn_spool(struct agent *a)
{
	struct error e = ERROR_INIT;
	int r = spool_sync(a->spool, a->now_ms, &e);

	if (r < 0 && strcmp(e.text, a->disk_failure.text))
		agent_log(a, "%s", e.text);
	if (r)
		a->disk_failure = e;
}

static void turn_status(struct agent *a)
{
	if (a->now_ms < a->status_ms || !uplink_is_welcome(a->uplink))
		return;
	agent_tell_status(a);
	a->status_ms = a->now_ms + (agent_is_tracing(a) || agent_is_fed(a) ? STATUS_MS - TICK_MS / 2
									   : STATUS_IDLE_MS);
}

static void begin_to_end(struct agent *a, const char *why)
{
	a->is_over = a->is_ending; /* told twice: at once */
	a->is_ending = true;
	a->end_ms = a->now_ms + LAST_MS;
	agent_log(a, "ends: %s", why);
	a->wanted = false;
	agent_end_feed(a, a->o.settings->keep_recording);
	if (!agent_is_tracing(a))
		return;
	if (a->o.settings->keep_recording)
		tracing_leave(&a->tracing);
	else
		agent_stop(a, NULL);
}

/* The last blocks are sent and their acknowledgement is awaited, if there is somebody. */
static void turn_end(struct agent *a)
{
	if (!a->is_ending && line_is_spent(a->line))
		begin_to_end(a, "the connection that was given is over");
	if (!a->is_ending || a->is_over)
		return;
	a->is_over = a->now_ms >= a->end_ms || uplink_is_closed(a->uplink) ||
		     (uplink_is_welcome(a->uplink) && !spool_used(a->spool));
}

static void take_signal(struct agent *a)
{
	struct signalfd_siginfo info;

	if (read(a->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		begin_to_end(a, strsignal((int)info.ssi_signo));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void set_timer(struct agent *a)
{
	struct itimerspec at = { { 0, 0 }, { 0, 0 } };
	uint64_t next = least(agent_next_link(a), agent_next_feed(a));

	if (a->wanted && !agent_is_tracing(a))
		next = least(next, a->retry_ms);
	if (agent_is_tracing(a))
		next = least(next, a->tick_ms);
	else if (uplink_is_welcome(a->uplink) && !agent_is_fed(a))
		next = least(next, a->status_ms); /* else it goes with a tick */
	if (a->is_ending)
		next = least(next, a->end_ms);
	if (next == a->armed_ms || next == UINT64_MAX)
		return;
	a->armed_ms = next;
	next = next ? next : 1; /* 0 would switch it off */
	at.it_value.tv_sec = (time_t)(next / 1000);
	at.it_value.tv_nsec = (long)(next % 1000) * 1000000;
	timerfd_settime(a->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static int wait_for_something(struct agent *a, struct error *e)
{
	struct pollfd fds[] = {
		{ .fd = a->timer, .events = POLLIN },
		{ .fd = a->signals, .events = POLLIN },
		{ .fd = line_fd(a->line), .events = agent_link_events(a) },
		{ .fd = tracing_wake_fd(&a->tracing), .events = POLLIN },
		{ .fd = agent_feed_fd(a), .events = POLLIN },
	};
	uint64_t expired;

	set_timer(a);
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0 && errno != EINTR)
		return error_set(e, errno, "cannot wait for events: %s", strerror(errno));
	a->wakeups++;
	a->now_ms = clock_mono_ms();
	if (fds[0].revents && read(a->timer, &expired, sizeof(expired)) > 0)
		a->armed_ms = UINT64_MAX;
	if (fds[1].revents)
		take_signal(a);
	/* A ring that fills up does not wait for the tick. */
	if (fds[3].revents)
		a->tick_ms = a->now_ms;
	if (fds[4].revents && a->feed)
		agent_answer_feed(a);
	return 0;
}

int agent_run(struct agent *a, struct error *e)
{
	int r = 0;

	a->now_ms = clock_mono_ms();
	agent_take_up(a);
	while (r >= 0 && !a->is_over) {
		if (!agent_is_tracing(a) || a->now_ms >= a->tick_ms)
			turn_tracing(a);
		agent_turn_feed(a);
		turn_spool(a);
		turn_status(a);
		agent_turn_link(a);
		turn_end(a);
		if (!a->is_over)
			r = wait_for_something(a, e);
	}
	uplink_bye(a->uplink, BYE_DONE, "the agent ends");
	agent_turn_link(a);
	if (!uplink_is_closed(a->uplink))
		agent_drop_link(a, NULL);
	return r;
}
