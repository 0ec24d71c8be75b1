/* SPDX-License-Identifier: MIT */
/*
 * confinement: see confinement.h.
 *
 * The list is what the system tests of the collector need, and what the libraries in it may choose
 * instead of that on another machine (tests/boards/collector.py) or in another version. prlimit64 is for asking alone: limits
 * were set at the start.
 */
#include "collector/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "sandbox/syscall_filter.h"
#include "sandbox/syscall_number.h"

#define ALWAYS(name)                                                                               \
	{                                                                                          \
		.number = __NR_##name                                                              \
	}
#define WHERE(name, n, m, v)                                                                       \
	{                                                                                          \
		.number = __NR_##name, .argument = n, .mask = m, .value = v                        \
	}
#define EXACTLY(name, n, v) WHERE(name, n, UINT32_MAX, v)
#define REFUSED(name)                                                                              \
	{                                                                                          \
		.number = __NR_##name, .code = ENOSYS                                              \
	}

#define CLONE_SPACES                                                                               \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

static const struct syscall_rule rules[] = {
	/* Files and folders. */
	ALWAYS(read),
	ALWAYS(write),
	ALWAYS(readv),
	ALWAYS(writev),
	ALWAYS(pread64),
	ALWAYS(pwrite64),
	ALWAYS(preadv),
	ALWAYS(pwritev),
	ALWAYS(preadv2),
	ALWAYS(pwritev2),
	ALWAYS(close),
	ALWAYS(close_range),
	ALWAYS(open),
	ALWAYS(openat),
	ALWAYS(openat2),
	ALWAYS(lseek),
	ALWAYS(_llseek),
	ALWAYS(fstat),
	ALWAYS(fstat64),
	ALWAYS(stat),
	ALWAYS(lstat),
	ALWAYS(newfstatat),
	ALWAYS(fstatat64),
	ALWAYS(statx),
	ALWAYS(statfs),
	ALWAYS(statfs64),
	ALWAYS(fstatfs),
	ALWAYS(fstatfs64),
	ALWAYS(getdents64),
	ALWAYS(readlink),
	ALWAYS(readlinkat),
	ALWAYS(access),
	ALWAYS(faccessat),
	ALWAYS(faccessat2),
	ALWAYS(mkdir),
	ALWAYS(mkdirat),
	ALWAYS(rmdir),
	ALWAYS(unlink),
	ALWAYS(unlinkat),
	ALWAYS(rename),
	ALWAYS(renameat),
	ALWAYS(renameat2),
	ALWAYS(link),
	ALWAYS(linkat),
	ALWAYS(ftruncate),
	ALWAYS(ftruncate64),
	ALWAYS(fallocate),
	ALWAYS(fsync),
	ALWAYS(fdatasync),
	ALWAYS(sync_file_range),
	ALWAYS(sync_file_range2),
	ALWAYS(arm_sync_file_range),
	ALWAYS(fchmod),
	ALWAYS(chmod),
	ALWAYS(fchmodat),
	ALWAYS(fchown),
	ALWAYS(fchown32),
	ALWAYS(utimensat),
	ALWAYS(utimensat_time64),
	ALWAYS(flock),
	ALWAYS(fcntl),
	ALWAYS(fcntl64),
	ALWAYS(fadvise64),
	ALWAYS(arm_fadvise64_64),
	ALWAYS(fadvise64_64),
	/* Pipes and copies. */
	ALWAYS(dup),
	ALWAYS(dup2),
	ALWAYS(dup3),
	ALWAYS(pipe),
	ALWAYS(pipe2),
	ALWAYS(getcwd),
	ALWAYS(umask),
	ALWAYS(sendfile),
	ALWAYS(sendfile64),
	ALWAYS(splice),
	ALWAYS(tee),
	ALWAYS(copy_file_range),
	ALWAYS(memfd_create),
	/* The network. */
	ALWAYS(socketpair),
	ALWAYS(bind),
	ALWAYS(listen),
	ALWAYS(accept),
	ALWAYS(accept4),
	ALWAYS(connect),
	ALWAYS(getsockname),
	ALWAYS(getpeername),
	ALWAYS(setsockopt),
	ALWAYS(getsockopt),
	ALWAYS(send),
	ALWAYS(recv),
	ALWAYS(sendto),
	ALWAYS(recvfrom),
	ALWAYS(sendmsg),
	ALWAYS(recvmsg),
	ALWAYS(sendmmsg),
	ALWAYS(recvmmsg),
	ALWAYS(recvmmsg_time64),
	ALWAYS(shutdown),
	/* Waiting. */
	ALWAYS(epoll_create),
	ALWAYS(epoll_create1),
	ALWAYS(epoll_ctl),
	ALWAYS(epoll_wait),
	ALWAYS(epoll_pwait),
	ALWAYS(epoll_pwait2),
	ALWAYS(poll),
	ALWAYS(ppoll),
	ALWAYS(ppoll_time64),
	ALWAYS(select),
	ALWAYS(_newselect),
	ALWAYS(pselect6),
	ALWAYS(pselect6_time64),
	ALWAYS(eventfd),
	ALWAYS(eventfd2),
	ALWAYS(timerfd_create),
	ALWAYS(timerfd_settime),
	ALWAYS(timerfd_settime64),
	ALWAYS(timerfd_gettime),
	ALWAYS(timerfd_gettime64),
	/* Memory. */
	ALWAYS(munmap),
	ALWAYS(mremap),
	ALWAYS(madvise),
	ALWAYS(brk),
	ALWAYS(msync),
	ALWAYS(mincore),
	ALWAYS(mlock),
	ALWAYS(munlock),
	/* Threads. */
	ALWAYS(futex),
	ALWAYS(futex_time64),
	ALWAYS(futex_waitv),
	ALWAYS(set_robust_list),
	ALWAYS(get_robust_list),
	ALWAYS(rseq),
	ALWAYS(membarrier),
	ALWAYS(set_tid_address),
	ALWAYS(exit),
	ALWAYS(exit_group),
	/* Signals. */
	ALWAYS(rt_sigaction),
	ALWAYS(rt_sigprocmask),
	ALWAYS(rt_sigreturn),
	ALWAYS(rt_sigtimedwait),
	ALWAYS(rt_sigtimedwait_time64),
	ALWAYS(rt_sigpending),
	ALWAYS(rt_sigsuspend),
	ALWAYS(sigaltstack),
	ALWAYS(sigreturn),
	ALWAYS(tgkill),
	ALWAYS(gettid),
	ALWAYS(getpid),
	ALWAYS(getppid),
	/* Who it is, and its turn. */
	ALWAYS(getuid),
	ALWAYS(geteuid),
	ALWAYS(getgid),
	ALWAYS(getegid),
	ALWAYS(getuid32),
	ALWAYS(geteuid32),
	ALWAYS(getgid32),
	ALWAYS(getegid32),
	ALWAYS(sched_yield),
	ALWAYS(sched_getaffinity),
	ALWAYS(sched_getparam),
	ALWAYS(sched_getscheduler),
	ALWAYS(sched_get_priority_min),
	ALWAYS(sched_get_priority_max),
	ALWAYS(getpriority),
	ALWAYS(setpriority),
	/* Time and the rest. */
	ALWAYS(clock_gettime),
	ALWAYS(clock_gettime64),
	ALWAYS(clock_getres),
	ALWAYS(clock_getres_time64),
	ALWAYS(clock_nanosleep),
	ALWAYS(clock_nanosleep_time64),
	ALWAYS(nanosleep),
	ALWAYS(gettimeofday),
	ALWAYS(time),
	ALWAYS(times),
	ALWAYS(getrusage),
	ALWAYS(getrandom),
	ALWAYS(uname),
	ALWAYS(sysinfo),
	ALWAYS(getcpu),
	ALWAYS(restart_syscall),
	ALWAYS(wait4), /* for the reader of objects, at the end */
	ALWAYS(getrlimit),
	ALWAYS(ugetrlimit),
	/* With limits. */
	EXACTLY(socket, 0, AF_UNIX),
	EXACTLY(socket, 0, AF_INET),
	EXACTLY(socket, 0, AF_INET6),
	EXACTLY(socket, 0, AF_NETLINK), /* getaddrinfo() asks which addresses there are */
	EXACTLY(ioctl, 1, FIONREAD),
	EXACTLY(ioctl, 1, FIONBIO),
	EXACTLY(ioctl, 1, TCGETS),
	EXACTLY(ioctl, 1, TIOCGWINSZ),
	WHERE(mmap, 2, PROT_EXEC, 0),
	WHERE(mmap, 2, PROT_WRITE, 0), /* a library that the resolver of names loads */
	WHERE(mmap2, 2, PROT_EXEC, 0),
	WHERE(mmap2, 2, PROT_WRITE, 0),
	WHERE(mprotect, 2, PROT_EXEC, 0),
	WHERE(clone, 0, CLONE_THREAD | CLONE_SPACES, CLONE_THREAD),
	EXACTLY(prctl, 0, PR_SET_NAME),
	EXACTLY(prctl, 0, PR_GET_NAME),
	EXACTLY(prctl, 0, PR_SET_VMA), /* the C library names its memory where it can */
	EXACTLY(prlimit64, 2, 0),
	/* New processes: in these the C library blocks all signals, and a line could not be told. */
	{ .number = __NR_clone, .code = EPERM },
	{ .number = __NR_fork, .code = EPERM },
	{ .number = __NR_vfork, .code = EPERM },
	/* Its flags are in memory, where no filter can look; the C library then takes clone(). */
	REFUSED(clone3),
	/* libuv goes without it. */
	REFUSED(io_uring_setup),
};

_Static_assert(sizeof(rules) / sizeof(rules[0]) <= SYSCALL_RULES_MAX, "the rules fit a filter");

int confinement_enter(struct error *e)
{
	const struct syscall_filter f = { .rules = rules,
					  .n = sizeof(rules) / sizeof(rules[0]),
					  .otherwise = SYSCALL_TELL };

	return syscall_filter_install(&f, e);
}
