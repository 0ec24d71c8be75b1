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
 * pages themselves. CONTROL: the reader never blocks, so a signal or the end of the command is
 * noticed within one turn.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define TRACEFS "/sys/kernel/tracing"
#define INSTANCE TRACEFS "/instances/kiseki-bench"
#define PAGE 4096U /* size of a ring page that this program asks for */
#define RING_KB "16384"
#define TURN_MS 20
#define CPUS_MAX 256
#define CPU_BYTES_MAX (1ULL << 30) /* no benchmark needs more of one CPU */
#define TEXT_MAX (1U << 20)	   /* of any one file of tracefs */
#define OPTION_CPUSTAT 2
#define OPTION_TRACECLOCK 4
#define OPTION_UNAME 5
#define OPTION_CPUCOUNT 8

/* Recorded events; the last one only has its format in the file, because KernelShark looks for it.
 */
static const char *const sched_events[] = { "sched_switch",	  "sched_waking",
					    "sched_wakeup_new",	  "sched_process_fork",
					    "sched_process_exec", "sched_process_exit",
					    "sched_pi_setprio",	  "sched_wakeup" };
#define SCHED_EVENTS (sizeof(sched_events) / sizeof(sched_events[0]))

struct cpu {
	int raw_fd;  /* the kernel's pages */
	int file_fd; /* unnamed file that collects them */
	uint64_t bytes;
};

struct recording {
	int cpus;
	struct cpu cpu[CPUS_MAX];
	int pipe_fd[2];
	pid_t child; /* also its process group */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signo)
{
	(void)signo;
	interrupted = 1;
}

static int fail(const char *what, const char *object)
{
	fprintf(stderr, "record: cannot %s %s: %s\n", what, object, strerror(errno));
	return -1;
}

static int write_text(const char *dir, const char *file, const char *text)
{
	_cleanup_close_ int fd = -1;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return fail("write", path);
	return 0;
}

/* A whole file of tracefs or /proc, which do not know their size. NULL: said why. */
static char *read_text(const char *path, size_t *ret_len)
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

/* ---- the instance ---- */

static int set_events(const char *on)
{
	char file[128];
	size_t i;

	for (i = 0; i + 1 < SCHED_EVENTS; i++) {
		snprintf(file, sizeof(file), "events/sched/%s/enable", sched_events[i]);
		if (write_text(INSTANCE, file, on))
			return -1;
	}
	return write_text(INSTANCE, "events/task/task_rename/enable", on);
}

static int instance_open(void)
{
	if (rmdir(INSTANCE) && errno != ENOENT) /* left by one that was killed */
		return fail("remove the old", INSTANCE);
	if (mkdir(INSTANCE, 0700))
		return fail("create", INSTANCE);
	if (write_text(INSTANCE, "tracing_on", "0") ||
	    write_text(INSTANCE, "buffer_size_kb", RING_KB))
		return -1;
	return set_events("1");
}

static int cpu_open(struct recording *r, int cpu, const char *out)
{
	_cleanup_free_ char *dir = strdup(out);
	char path[256], *slash = dir ? strrchr(dir, '/') : NULL;

	if (slash)
		*slash = 0;
	snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/trace_pipe_raw", cpu);
	r->cpu[cpu].raw_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (r->cpu[cpu].raw_fd < 0)
		return fail("open", path);
	r->cpu[cpu].file_fd = open(slash ? dir : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (r->cpu[cpu].file_fd < 0)
		return fail("create a file beside", out);
	r->cpus = cpu + 1;
	return 0;
}

static int recording_open(struct recording *r, const char *out)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int cpu;

	if (pipe2(r->pipe_fd, O_CLOEXEC | O_NONBLOCK))
		return fail("create", "a pipe");
	fcntl(r->pipe_fd[1], F_SETPIPE_SZ, 1 << 20);
	for (cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++)
		if (cpu_open(r, cpu, out))
			return -1;
	return 0;
}

/* The instance cannot be removed while its files are open. */
static void recording_close(struct recording *r)
{
	int cpu;

	for (cpu = 0; cpu < r->cpus; cpu++) {
		close(r->cpu[cpu].raw_fd);
		close(r->cpu[cpu].file_fd);
	}
	r->cpus = 0;
	if (rmdir(INSTANCE))
		fail("remove", INSTANCE);
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

static int command_start(struct recording *r, char **argv)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* what it leaves behind is ours to end */
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

/* Stops what is left of the command's group: gently, then for certain. Returns how the command
 * itself ended if it did so by itself, else 0. */
static int command_stop(struct recording *r, bool ended)
{
	int turn;

	if (!ended)
		kill(-r->child, SIGTERM);
	for (turn = 0; turn < 150; turn++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (kill(-r->child, 0))
			return 0;
		if (turn == 100 || (ended && turn == 0))
			kill(-r->child, turn ? SIGKILL : SIGTERM);
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

	if (write_text(INSTANCE, "tracing_on", "1") || command_start(r, argv))
		return -1;
	while (!failed && !ended && !interrupted && (!seconds || now_ms() < end)) {
		poll(NULL, 0, TURN_MS);
		failed = move_all(r, false);
		ended = waitpid(r->child, &status, WNOHANG) == r->child;
	}
	if (write_text(INSTANCE, "tracing_on", "0") || set_events("0"))
		failed = -1;
	if (command_stop(r, ended) || failed || move_all(r, true))
		return -1;
	if (interrupted || (ended && status)) {
		fprintf(stderr, "record: %s: %s\n", argv[0], interrupted ? "stopped" : "failed");
		return -1;
	}
	return 0;
}

/* ---- trace.dat, version 6: all numbers in this machine's byte order ---- */

static void put(FILE *f, const void *p, size_t len)
{
	fwrite(p, 1, len, f); /* errors stay in the FILE, asked for once at the end */
}

static void put16(FILE *f, uint16_t v)
{
	put(f, &v, sizeof(v));
}

static void put32(FILE *f, uint32_t v)
{
	put(f, &v, sizeof(v));
}

static void put64(FILE *f, uint64_t v)
{
	put(f, &v, sizeof(v));
}

/* 64-bit length, then the file. */
static int put_file(FILE *f, const char *path)
{
	size_t len;
	_cleanup_free_ char *text = read_text(path, &len);

	if (!text)
		return -1;
	put64(f, len);
	put(f, text, len);
	return 0;
}

static int put_format(FILE *f, const char *system, const char *event)
{
	char path[512];

	snprintf(path, sizeof(path), INSTANCE "/events/%s/%s/format", system, event);
	return put_file(f, path);
}

static int put_head(FILE *f)
{
	uint16_t one = 1;
	uint8_t little = *(uint8_t *)&one;

	put(f, "\x17\x08\x44tracing6", 12);
	fputc(!little, f);
	fputc(sizeof(long), f);
	put32(f, PAGE);
	put(f, "header_page", 12);
	if (put_file(f, INSTANCE "/events/header_page"))
		return -1;
	put(f, "header_event", 13);
	return put_file(f, INSTANCE "/events/header_event");
}

/* No ftrace formats: none of those events is recorded. */
static int put_formats(FILE *f)
{
	size_t i;

	put32(f, 0);
	put32(f, 2);
	put(f, "sched", 6);
	put32(f, SCHED_EVENTS);
	for (i = 0; i < SCHED_EVENTS; i++)
		if (put_format(f, "sched", sched_events[i]))
			return -1;
	put(f, "task", 5);
	put32(f, 1);
	return put_format(f, "task", "task_rename");
}

/* The kernel's own table, which is small, then the tasks alive now that it does not name. */
static int put_cmdlines(FILE *f)
{
	size_t len, comm_len, all_len = 0;
	_cleanup_free_ char *saved = read_text(TRACEFS "/saved_cmdlines", &len);
	_cleanup_free_ char *all = NULL;
	char path[320], key[32];
	struct dirent *d;
	FILE *list = open_memstream(&all, &all_len);
	DIR *proc = opendir("/proc");

	if (!saved || !list || !proc)
		return fail("list", "the tasks");
	fprintf(list, "\n%s", saved);
	while ((d = readdir(proc))) {
		_cleanup_free_ char *comm = NULL;

		if (d->d_name[0] < '0' || d->d_name[0] > '9')
			continue;
		snprintf(key, sizeof(key), "\n%.16s ", d->d_name);
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		fflush(list);
		if (access(path, R_OK) || strstr(all, key))
			continue;
		comm = read_text(path, &comm_len);
		if (comm)
			fprintf(list, "%s %s", d->d_name, comm);
	}
	closedir(proc);
	fclose(list);
	put64(f, all_len - 1);
	put(f, all + 1, all_len - 1);
	return 0;
}

static void put_option(FILE *f, uint16_t id, const void *data, size_t len)
{
	put16(f, id);
	put32(f, (uint32_t)len);
	put(f, data, len);
}

static int put_options(FILE *f, const struct recording *r)
{
	uint32_t cpus = (uint32_t)r->cpus;
	char path[256], text[1024];
	struct utsname u;
	size_t len;
	int cpu;

	put(f, "options  ", 10);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%d/stats", cpu);
		_cleanup_free_ char *stats = read_text(path, &len);

		if (!stats)
			return -1;
		snprintf(text, sizeof(text), "CPU: %d\n%s", cpu, stats);
		put_option(f, OPTION_CPUSTAT, text, strlen(text) + 1);
	}
	put_option(f, OPTION_TRACECLOCK, NULL, 0); /* the text follows the table of CPUs */
	uname(&u);
	snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
	put_option(f, OPTION_UNAME, text, strlen(text) + 1);
	put_option(f, OPTION_CPUCOUNT, &cpus, sizeof(cpus));
	put16(f, 0);
	put(f, "flyrecord", 10);
	return 0;
}

static uint64_t page_up(uint64_t offset)
{
	return (offset + PAGE - 1) / PAGE * PAGE;
}

static int put_pages(FILE *f, const struct cpu *c, uint64_t offset)
{
	uint8_t page[PAGE];
	uint64_t at;

	if (fseeko(f, (off_t)offset, SEEK_SET))
		return fail("seek in", "the output");
	for (at = 0; at < c->bytes; at += PAGE) {
		if (pread(c->file_fd, page, PAGE, (off_t)at) != PAGE)
			return fail("read", "the collected pages");
		put(f, page, PAGE);
	}
	return 0;
}

/* The table says where each CPU's pages are; they start on a page of the file. */
static int put_data(FILE *f, const struct recording *r)
{
	size_t clock_len;
	_cleanup_free_ char *clock_text = read_text(INSTANCE "/trace_clock", &clock_len);
	uint64_t offset[CPUS_MAX], next;
	int cpu;

	if (!clock_text)
		return -1;
	next = page_up((uint64_t)ftello(f) + (uint64_t)r->cpus * 16 + 8 + clock_len);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		offset[cpu] = next;
		put64(f, next);
		put64(f, r->cpu[cpu].bytes);
		next += r->cpu[cpu].bytes;
	}
	put64(f, clock_len);
	put(f, clock_text, clock_len);
	for (cpu = 0; cpu < r->cpus; cpu++)
		if (put_pages(f, &r->cpu[cpu], offset[cpu]))
			return -1;
	return 0;
}

static int write_trace(const struct recording *r, const char *out)
{
	FILE *f = fopen(out, "wbe");
	int failed;

	if (!f)
		return fail("create", out);
	failed = put_head(f) || put_formats(f);
	if (!failed) {
		put32(f, 0); /* no kallsyms */
		put32(f, 0); /* no printk formats */
		failed = put_cmdlines(f);
	}
	if (!failed) {
		put32(f, (uint32_t)r->cpus);
		failed = put_options(f, r) || put_data(f, r);
	}
	if (!failed && ferror(f))
		failed = fail("write", out);
	if (fclose(f) && !failed)
		failed = fail("write", out);
	if (failed)
		unlink(out);
	return failed ? -1 : 0;
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
	if (instance_open())
		return 1;
	failed = recording_open(&r, argv[optind]) ||
		 record_command(&r, argv + optind + 1, seconds) || write_trace(&r, argv[optind]);
	recording_close(&r);
	return failed ? 1 : 0;
}
