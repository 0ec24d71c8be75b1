/* SPDX-License-Identifier: MIT */
/*
 * clock: a library for LD_PRELOAD that shifts the real time of a program, from outside and while it runs.
 *
 *	KISEKI_CLOCK=FILE      its first eight bytes: nanoseconds to add, as this machine writes an int64_t
 *
 * The monotonic clock stays what it is, as it does when somebody sets the time. What the kernel says by itself (times of
 * files) is not shifted.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The project hides what is not said to be seen; whatever is preloaded must be. */
#pragma GCC visibility push(default)

#define NS_PER_S 1000000000LL

static const volatile int64_t *shift_ns;

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("KISEKI_CLOCK");
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	void *map =
		fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shift_ns), PROT_READ, MAP_SHARED, fd, 0);

	if (file && map == MAP_FAILED) {
		fprintf(stderr, "clock: cannot use KISEKI_CLOCK=%s\n", file);
		_exit(99);
	}
	if (file)
		shift_ns = map;
	if (fd >= 0)
		close(fd);
}

static void shift(struct timespec *t)
{
	int64_t by = shift_ns ? *shift_ns : 0, s = by / NS_PER_S, ns = t->tv_nsec + by % NS_PER_S;

	if (ns < 0 || ns >= NS_PER_S) {
		s += ns < 0 ? -1 : 1;
		ns += ns < 0 ? NS_PER_S : -NS_PER_S;
	}
	t->tv_sec += s;
	t->tv_nsec = ns;
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, id, ret);

	if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		shift(ret);
	return r;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	struct timespec t;
	int r = clock_gettime(CLOCK_REALTIME, &t);

	(void)zone;
	ret->tv_sec = t.tv_sec;
	ret->tv_usec = t.tv_nsec / 1000;
	return r;
}

time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}
