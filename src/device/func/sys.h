/* SPDX-License-Identifier: MIT */
/*
 * sys: the few system calls of the hooks that the C library wraps in too much.
 *
 * Its open, read, write, close and sleep are points where a thread may be cancelled; a hook must
 * not be. All of them leave errno as the C library does; who calls the hook's slow path keeps it.
 */
#ifndef KISEKI_DEVICE_FUNC_SYS_H
#define KISEKI_DEVICE_FUNC_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int sys_open(const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline void sys_close(int fd)
{
	syscall(SYS_close, fd);
}

static inline ssize_t sys_read(int fd, void *out, size_t len)
{
	ssize_t n;

	do
		n = syscall(SYS_read, fd, out, len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* All of it, or false. */
static inline bool sys_write(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = syscall(SYS_write, fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* Of sockets: as the calls without the prefix, of which all are points of cancellation. */
static inline int sys_connect(int fd, const void *to, size_t len)
{
	return (int)syscall(SYS_connect, fd, to, len);
}

static inline ssize_t sys_send(int fd, const void *data, size_t len)
{
	return syscall(SYS_sendto, fd, data, len, MSG_NOSIGNAL, NULL, 0);
}

static inline ssize_t sys_receive(int fd, struct msghdr *m)
{
	return syscall(SYS_recvmsg, fd, m, MSG_CMSG_CLOEXEC);
}

static inline uint32_t sys_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Whether the kernel says that this process has no such thread. */
static inline bool sys_thread_is_gone(uint32_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) < 0 && errno == ESRCH;
}

/* Whether no process of this system has a thread of this number. */
static inline bool sys_task_is_gone(uint32_t tid)
{
	return syscall(SYS_tkill, tid, 0) < 0 && errno == ESRCH;
}

/* The set of the kernel, which has more signals on some machines than others; the C library's own are in it. */
struct sys_signals {
	unsigned long set[128 / 8 / sizeof(unsigned long)];
};

/* No handler runs from here on, so nothing can be jumped out of. What the thread does to itself still
 * comes: held back, it would end the program. */
static inline void sys_hold_signals(struct sys_signals *was)
{
	struct sys_signals all;
	size_t i;

	for (i = 0; i < sizeof(all.set) / sizeof(all.set[0]); i++)
		all.set[i] = ~0UL;
	all.set[0] &= ~(1UL << (SIGSEGV - 1) | 1UL << (SIGBUS - 1) | 1UL << (SIGILL - 1) |
			1UL << (SIGFPE - 1) | 1UL << (SIGTRAP - 1));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, all.set, was->set, _NSIG / 8);
}

static inline void sys_release_signals(const struct sys_signals *was)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, was->set, NULL, _NSIG / 8);
}

static inline void sys_sleep_us(uint32_t us)
{
#ifdef SYS_nanosleep
	long time[2] = { 0, (long)us * 1000 };

	syscall(SYS_nanosleep, time, NULL);
#else
	int64_t time[2] = { 0, (int64_t)us * 1000 };

	syscall(SYS_clock_nanosleep_time64, 1, 0, time, NULL);
#endif
}

#endif
