/* SPDX-License-Identifier: MIT */
/*
 * record: runs a command and records the scheduler's events meanwhile, as a trace.dat (v6).
 *
 *	record [-t SECONDS] OUT.dat COMMAND [ARG…]
 *
 * The benchmarks need real traces with every kind of event we carry, made by nothing of ours that
 * is being measured: so this takes the ring's own pages out of the kernel and puts trace-cmd's file
 * header before them. It works in a tracing instance of its own, which leaves all others alone and
 * is gone afterwards. After SECONDS the recording ends and the command is stopped with everything
 * it has started; without -t it ends with the command.
 *
 * Full pages are moved by splice while the command runs, a few times in each tenth of a second; the
 * last, partly filled page of each CPU is read when tracing is off. The kernel marks losses in the
 * pages themselves. The reader never blocks, so a signal or the end of the command is noticed
 * within one turn.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define RING_KB "16384"
#define TURN_MS 20
#define STOP_TURNS 250		   /* how long the command may take to end */
#define KILL_TURN 100		   /* when asking it is over */
#define CPU_BYTES_MAX (1ULL << 30) /* no benchmark needs more of one CPU */
#define TEXT_MAX (1U << 20)	   /* of any one file of tracefs */

const char *const sched_events[SCHED_EVENTS] = { "sched_switch",       "sched_waking",
						 "sched_wakeup_new",   "sched_process_fork",
						 "sched_process_exec", "sched_process_exit",
						 "sched_pi_setprio",   "sched_wakeup" };

static volatile sig_atomic_t interrupted;

static void on_signal(int signo)
{
	(void)signo;
	interrupted = 1;
}

int fail(const char *what, const char *object)
{
	fprintf(stderr, "record: cannot %s %s: %s\n", what, object, strerror(errno));
	return -1;
}

char *read_text(const char *path, size_t *ret_len)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = malloc(TEXT_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && text && len < TEXT_MAX && (n = read(fd, text + len, TEXT_MAX - len)) > 0)
		len += (size_t)n;
	if (fd < 0 || !text || n < 0) {
		fail("read", path);
		return NULL;
	}
	text[len] = 0;
	*ret_len = len;
	return take_ptr(text);
}

static int write_text(const char *file, const char *text)
{
	_cleanup_close_ int fd = -1;
	char path[256];

	snprintf(path, sizeof(path), INSTANCE "/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return fail("write", path);
	return 0;
}

/* ---- the instance ---- */

static int set_events(const char *on)
{
	char file[128];
	size_t i;

	for (i = 0; i + 1 < SCHED_EVENTS; i++) {
		snprintf(file, sizeof(file), "events/sched/%s/enable", sched_events[i]);
		if (write_text(file, on))
			return -1;
	}
	return write_text("events/task/task_rename/enable", on);
}

static int instance_make(void)
{
	if (rmdir(INSTANCE) && errno != ENOENT) /* left by one that was killed */
		return fail("remove the old", INSTANCE);
	return mkdir(INSTANCE, 0700) ? fail("create", INSTANCE) : 0;
}

static int cpu_open(struct cpu *c, int number, const char *out)
{
	char path[4096];

	snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/trace_pipe_raw", number);
	c->raw_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c->raw_fd < 0)
		return fail("open", path);
	snprintf(path, sizeof(path), "%.4000s.cpu%d.XXXXXX", out, number);
	c->file_fd = mkostemp(path, O_CLOEXEC);
	if (c->file_fd < 0)
		return fail("create", path);
	unlink(path);
	return 0;
}

static int recording_open(struct recording *r, const char *out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (write_text("tracing_on", "0") || write_text("buffer_size_kb", RING_KB) ||
	    set_events("1"))
		return -1;
	if (pipe2(r->pipe_fd, O_CLOEXEC | O_NONBLOCK))
		return fail("create", "a pipe");
	fcntl(r->pipe_fd[1], F_SETPIPE_SZ, 1 << 20); /* if it stays smaller, there are more turns */
	while (r->cpus < cpus && r->cpus < CPUS_MAX) {
		struct cpu *c = &r->cpu[r->cpus];

		c->raw_fd = c->file_fd = -1;
		r->cpus++;
		if (cpu_open(c, r->cpus - 1, out))
			return -1;
	}
	return 0;
}

/* The instance cannot be removed while its files are open. */
static int recording_close(struct recording *r)
{
	int cpu;

	for (cpu = 0; cpu < r->cpus; cpu++) {
		cleanup_closep(&r->cpu[cpu].raw_fd);
		cleanup_closep(&r->cpu[cpu].file_fd);
	}
	r->cpus = 0;
	return rmdir(INSTANCE) ? fail("remove", INSTANCE) : 0;
}

/* ---- moving pages ---- */

static int pipe_to_file(struct recording *r, struct cpu *c, size_t len)
{
	ssize_t n;

	while (len) {
		n = splice(r->pipe_fd[0], NULL, c->file_fd, NULL, len, SPLICE_F_MOVE);
		if (n <= 0)
			return fail("write", "the pages");
		len -= (size_t)n;
		c->bytes += (uint64_t)n;
	}
	return 0;
}

/* All full pages that are there. */
static int move_pages(struct recording *r, struct cpu *c)
{
	ssize_t n;

	while (c->bytes < CPU_BYTES_MAX) {
		n = splice(c->raw_fd, NULL, r->pipe_fd[1], NULL, 64 * PAGE,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return fail("read", "the ring");
		if (n <= 0)
			return 0;
		if (pipe_to_file(r, c, (size_t)n))
			return -1;
	}
	errno = EFBIG;
	return fail("record", "more of one CPU");
}

/* What splice leaves: the page that was being filled. */
static int move_rest(struct cpu *c)
{
	uint8_t page[PAGE];
	ssize_t n;

	while ((n = read(c->raw_fd, page, PAGE)) > 0) {
		if (n != PAGE) {
			errno = EINVAL;
			return fail("take", "a ring page of another size");
		}
		if (write(c->file_fd, page, PAGE) != PAGE)
			return fail("write", "the pages");
		c->bytes += PAGE;
	}
	return n < 0 && errno != EAGAIN ? fail("read", "the ring") : 0;
}

static int move_all(struct recording *r, bool rest)
{
	int cpu;

	for (cpu = 0; cpu < r->cpus; cpu++)
		if (move_pages(r, &r->cpu[cpu]) || (rest && move_rest(&r->cpu[cpu])))
			return -1;
	return 0;
}

/* ---- the command ---- */

/* As the subreaper this process becomes the parent of everything that the command leaves behind,
 * whatever group or session it went to. */
static int command_start(struct recording *r, char **argv)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	r->child = fork();
	if (r->child < 0)
		return fail("start", argv[0]);
	if (r->child == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execvp(argv[0], argv);
		fail("run", argv[0]);
		_exit(127);
	}
	setpgid(r->child, r->child);
	return 0;
}

static void signal_children(const struct recording *r, int signo)
{
	_cleanup_free_ char *children = NULL;
	char path[64], *next, *p;
	size_t len;
	long pid;

	kill(-r->child, signo);
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (access(path, R_OK)) /* a kernel without it: the group has to do */
		return;
	children = read_text(path, &len);
	for (p = children; p && (pid = strtol(p, &next, 10)) > 0; p = next)
		kill((pid_t)pid, signo);
}

/* Ends the command and all that it started: asks, then kills, until no child is left. */
static int command_stop(const struct recording *r)
{
	int turn;

	for (turn = 0; turn < STOP_TURNS; turn++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG) < 0) /* ECHILD */
			return 0;
		signal_children(r, turn < KILL_TURN ? SIGTERM : SIGKILL);
		poll(NULL, 0, TURN_MS);
	}
	errno = EBUSY;
	return fail("stop", "the command");
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Records until the command ends or its time is over. */
static int record_command(struct recording *r, char **argv, unsigned seconds)
{
	uint64_t end = now_ms() + seconds * 1000ULL;
	int status = 0, failed = 0;
	bool ended = false;

	if (write_text("tracing_on", "1") || command_start(r, argv))
		return -1;
	while (!failed && !ended && !interrupted && (!seconds || now_ms() < end)) {
		poll(NULL, 0, TURN_MS);
		failed = move_all(r, false);
		ended = waitpid(r->child, &status, WNOHANG) == r->child;
	}
	if (write_text("tracing_on", "0") || set_events("0"))
		failed = -1;
	if (command_stop(r) || failed || move_all(r, true))
		return -1;
	if (interrupted || (ended && status)) {
		fprintf(stderr, "record: %s: %s\n", argv[0], interrupted ? "stopped" : "failed");
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct recording r = { 0 };
	unsigned seconds = 0;
	int failed, opt;

	while ((opt = getopt(argc, argv, "+t:")) == 't')
		seconds = (unsigned)strtoul(optarg, NULL, 10);
	if (opt != -1 || argc - optind < 2) {
		fprintf(stderr, "usage: record [-t SECONDS] OUT.dat COMMAND [ARG…]\n");
		return 2;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (instance_make())
		return 1;
	failed = recording_open(&r, argv[optind]) ||
		 record_command(&r, argv + optind + 1, seconds) || write_dat(&r, argv[optind]);
	if (recording_close(&r))
		failed = 1;
	return failed ? 1 : 0;
}
