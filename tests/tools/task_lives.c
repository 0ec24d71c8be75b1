/* SPDX-License-Identifier: MIT */
/*
 * task_lives: gives the same pids to one process after the other, and says how long each has run.
 *
 *	task_lives PIDS LIVES
 *
 * PIDS pids are used for LIVES processes each, by clone3 with set_tid (root; Linux 5.5). What a process
 * does depends on its number: it computes; renames itself first; sleeps in between; calls exec; or calls
 * exec and starts a thread. A line for each process and each thread, as it ends:
 *
 *	{"pid": …, "life": …, "from_ns": …, "to_ns": …, "cpu_ns": …, "least_ns": …, "most_ns": …, "comms": ["first", "last"]}
 *
 * from_ns and to_ns are CLOCK_MONOTONIC right before and after its life. "life" counts the lives of its pid, and is null
 * for threads.
 *
 * cpu_ns is the CPU time that the kernel charged to the task until its last line of code. Interrupts, and in a virtual
 * machine what the host took, are not in it, though the task had the CPU. So there is a second figure, by the clock: the
 * time from its first line to its last, without its sleeps, which it measures, and without run_delay, the kernel's count
 * of the time for which it was ready and had no CPU (/proc/thread-self/schedstat). That is least_ns. most_ns adds the
 * time before the first line and behind the last, of which only the longest possible is known.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIDS_MAX 64U
#define SEARCH 4096 /* numbers that are tried for each pid */

enum kind { COMPUTES, RENAMES, SLEEPS, EXECS, THREADS, KINDS };

/* A time, and for how long the task had waited for a CPU until then. */
struct moment {
	uint64_t ns, delay_ns;
};

/* What a task says of itself; a process leaves it in a file that its parent reads. */
struct account {
	struct moment start, end; /* its first and last line */
	uint64_t slept_ns, cpu_ns;
};

static int account_file = -1;
static struct account own; /* of a process */

static uint64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The kernel's count of the time for which the calling thread waited for a CPU. */
static uint64_t run_delay(void)
{
	char text[96];
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	uint64_t delay_ns;

	close(fd);
	if (n <= 0)
		_exit(5);
	text[n] = '\0';
	if (sscanf(text, "%*u %" SCNu64, &delay_ns) != 1)
		_exit(5);
	return delay_ns;
}

/* Both were true at once if the task lost its CPU at no time in between. */
static struct moment moment_now(void)
{
	struct moment m;

	do {
		m.delay_ns = run_delay();
		m.ns = clock_now(CLOCK_MONOTONIC);
	} while (run_delay() != m.delay_ns);
	return m;
}

/* The time between, without what the task waited for a CPU. */
static uint64_t moment_since(const struct moment *m, const struct moment *before)
{
	return m->ns - before->ns - (m->delay_ns - before->delay_ns);
}

static void account_end(struct account *a)
{
	a->cpu_ns = clock_now(CLOCK_THREAD_CPUTIME_ID);
	a->end = moment_now();
}

static void account_save(const struct account *a)
{
	if (pwrite(account_file, a, sizeof(*a), 0) != sizeof(*a))
		_exit(5);
}

static void compute(unsigned int ms)
{
	uint64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ULL;

	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
}

/* Behind a call that sleeps. */
static void account_sleep(struct account *a, const struct moment *before)
{
	struct moment now = moment_now();

	a->slept_ns += moment_since(&now, before);
}

struct life {
	pid_t pid;
	int number; /* below 0: of a thread */
	uint64_t from_ns, to_ns;
	const char *first, *last;
};

static void tell(const struct life *l, const struct account *a)
{
	uint64_t least_ns = moment_since(&a->end, &a->start) - a->slept_ns;
	uint64_t before_ns = a->start.ns - l->from_ns, behind_ns = l->to_ns - a->end.ns;
	char line[256], number[16] = "null";
	int n;

	before_ns -= before_ns < a->start.delay_ns ? before_ns : a->start.delay_ns;
	if (l->number >= 0)
		snprintf(number, sizeof(number), "%d", l->number);
	n = snprintf(line, sizeof(line),
		     "{\"pid\": %d, \"life\": %s, \"from_ns\": %" PRIu64 ", \"to_ns\": %" PRIu64
		     ", \"cpu_ns\": %" PRIu64 ", \"least_ns\": %" PRIu64 ", \"most_ns\": %" PRIu64
		     ", \"comms\": [\"%s\", \"%s\"]}\n",
		     (int)l->pid, number, l->from_ns, l->to_ns, a->cpu_ns, least_ns,
		     least_ns + before_ns + behind_ns, l->first, l->last);
	if (write(STDOUT_FILENO, line, (size_t)n) != n) /* at once: lines do not mix */
		_exit(3);
}

struct order {
	unsigned int ms;
	pid_t tid;
	struct account account;
};

static void *thread(void *context)
{
	struct order *o = context;

	o->account.start = moment_now();
	o->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_NAME, "lives-thread");
	compute(o->ms);
	account_end(&o->account);
	return NULL;
}

static int run_thread(unsigned int ms)
{
	struct life l = { .number = -1, .first = "lives-exec", .last = "lives-thread" };
	struct order o = { .ms = 2 * ms };
	struct moment before;
	pthread_t t;

	l.from_ns = clock_now(CLOCK_MONOTONIC);
	if (pthread_create(&t, NULL, thread, &o))
		return 1;
	compute(ms);
	before = moment_now();
	pthread_join(t, NULL);
	account_sleep(&own, &before);
	l.to_ns = clock_now(CLOCK_MONOTONIC);
	l.pid = o.tid;
	tell(&l, &o.account);
	return 0;
}

static int after_exec(unsigned int ms, bool threads)
{
	int r = 0;

	if (pread(account_file, &own, sizeof(own), 0) != sizeof(own))
		return 5;
	prctl(PR_SET_NAME, "lives-exec");
	if (threads)
		r = run_thread(ms);
	else
		compute(ms);
	account_end(&own);
	account_save(&own);
	return r;
}

static void live(enum kind kind, int life, unsigned int ms)
{
	char name[16], length[16], file[16];
	struct moment before;

	own.start = moment_now();
	if (kind == RENAMES) {
		snprintf(name, sizeof(name), "lives-%u", (unsigned int)life % 1000U);
		prctl(PR_SET_NAME, name);
	}
	compute(ms);
	if (kind < EXECS) {
		if (kind == SLEEPS) {
			before = moment_now();
			usleep(1000);
			account_sleep(&own, &before);
			compute(ms);
		}
		account_end(&own);
		account_save(&own);
		_exit(0);
	}
	account_save(&own);
	snprintf(length, sizeof(length), "%u", ms);
	snprintf(file, sizeof(file), "%d", account_file);
	execl("/proc/self/exe", "task_lives", "after-exec", length, kind == THREADS ? "1" : "0",
	      file, (char *)NULL);
	_exit(2);
}

/* A process with this pid; 0: it is in use. */
static pid_t start(pid_t pid, enum kind kind, int life, unsigned int ms)
{
	struct clone_args a = { .exit_signal = SIGCHLD,
				.set_tid = (uint64_t)(uintptr_t)&pid,
				.set_tid_size = 1 };
	long r = syscall(SYS_clone3, &a, sizeof(a));

	if (r == 0)
		live(kind, life, ms);
	if (r < 0 && errno == EEXIST)
		return 0;
	return (pid_t)r;
}

static int run(pid_t pid, enum kind kind, int life)
{
	unsigned int ms = 2U + (unsigned int)(life * 7 + pid) % 9U;
	struct life l = { .pid = pid, .number = life, .first = "task_lives" };
	char last[16] = "task_lives";
	struct account a;
	pid_t child;
	int status;

	l.from_ns = clock_now(CLOCK_MONOTONIC);
	child = start(pid, kind, life, ms);
	if (child <= 0)
		return child < 0 ? -errno : 0;
	if (wait4(child, &status, 0, NULL) != child || status)
		return -ECHILD;
	l.to_ns = clock_now(CLOCK_MONOTONIC);
	if (pread(account_file, &a, sizeof(a), 0) != sizeof(a))
		return -EIO;
	if (kind == RENAMES)
		snprintf(last, sizeof(last), "lives-%u", (unsigned int)life % 1000U);
	l.last = kind >= EXECS ? "lives-exec" : last;
	tell(&l, &a);
	return 1;
}

/* Numbers that nobody has, far below the one that the kernel gives next. */
static int choose(pid_t *pids, int n)
{
	pid_t at = getpid() - 64;
	int found = 0, r, tries;

	for (tries = 0; found < n && tries < SEARCH; tries++, at--) {
		if (at < 400) { /* the kernel gives no smaller ones twice */
			at += 30000;
			continue;
		}
		r = run(at, COMPUTES, 0);
		if (r < 0)
			return r;
		if (r)
			pids[found++] = at;
	}
	return found == n ? 0 : -EAGAIN;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, lives = argc > 2 ? atoi(argv[2]) : 0, i, k, r;
	pid_t pids[PIDS_MAX];

	if (argc == 5 && !strcmp(argv[1], "after-exec")) {
		account_file = atoi(argv[4]);
		return after_exec((unsigned int)atoi(argv[2]), atoi(argv[3]) != 0);
	}
	if (n < 1 || n > (int)PIDS_MAX || lives < 1) {
		fprintf(stderr, "usage: task_lives PIDS LIVES\n");
		return 2;
	}
	/* The parent sees the end of a life at once; the lives are ordinary tasks. Without the right
	 * to do this the limits are only wider. */
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &(struct sched_param){ 1 });
	account_file = memfd_create("account", 0);
	if (account_file < 0) {
		perror("task_lives: memfd_create");
		return 1;
	}
	r = choose(pids, n);
	for (k = 1; r >= 0 && k < lives; k++)
		for (i = 0; i < n && r >= 0; i++) {
			r = run(pids[i], (enum kind)((k + i) % KINDS), k);
			if (r == 0) { /* somebody else was given it */
				fprintf(stderr, "task_lives: pid %d is in use\n", (int)pids[i]);
				return 4;
			}
		}
	if (r < 0) {
		fprintf(stderr, "task_lives: %s\n", strerror(-r));
		return r == -EPERM || r == -ENOSYS || r == -EINVAL ? 77 : 1;
	}
	return 0;
}
