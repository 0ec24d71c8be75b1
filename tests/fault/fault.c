/* SPDX-License-Identifier: MIT */
/*
 * fault: a library for LD_PRELOAD that lets the Nth allocation of a program fail, or lets it read and write less
 * than it asked for. Errors of system calls are strace's part (campaign.py), which can neither see memory nor
 * move only a part of the bytes.
 *
 *	KISEKI_FAULT=alloc:N          the Nth allocation finds no memory
 *	KISEKI_FAULT=short:N          each Nth read and write moves half of its bytes
 *	KISEKI_FAULT_COUNT=FILE       how many allocations there were is appended, by each process
 *	KISEKI_FAULT_TELL=1           says on the standard error where the allocation was
 *
 * Calls are counted over all threads from where main() begins.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The project hides what is not said to be seen; whatever is preloaded must be. */
#pragma GCC visibility push(default)

static struct {
	unsigned long alloc, part; /* 0: never */
	bool is_begun, tells;
	char count_file[256];
} plan;

#define WHOLE 8U /* bytes that a kernel never parts: a counter of eventfd() */

static atomic_ulong allocations, moves;
static __thread bool inside; /* what telling does is not counted */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("KISEKI_FAULT"), *file = getenv("KISEKI_FAULT_COUNT");

	if (text && !strncmp(text, "alloc:", 6))
		plan.alloc = strtoul(text + 6, NULL, 10);
	else if (text && !strncmp(text, "short:", 6))
		plan.part = strtoul(text + 6, NULL, 10);
	if (text && !plan.alloc && !plan.part) {
		fprintf(stderr, "fault: cannot use KISEKI_FAULT=%s\n", text);
		_exit(99);
	}
	if (file && strlen(file) < sizeof(plan.count_file))
		memcpy(plan.count_file, file, strlen(file));
	plan.tells = getenv("KISEKI_FAULT_TELL") != NULL;
	plan.is_begun = true;
}

__attribute__((destructor)) static void end(void)
{
	int fd;

	plan.is_begun = false;
	if (!plan.count_file[0])
		return;
	fd = open(plan.count_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0)
		dprintf(fd, "%lu\n", atomic_load(&allocations));
}

static void tell(void)
{
	void *frames[24];
	int n;

	inside = true;
	n = backtrace(frames, 24);
	dprintf(2, "fault: allocation %lu of process %d fails here:\n", plan.alloc, (int)getpid());
	backtrace_symbols_fd(frames, n, 2);
	inside = false;
}

/* --- memory --- */

static bool is_out_of_memory(void)
{
	if (!plan.is_begun || inside || atomic_fetch_add(&allocations, 1) + 1 != plan.alloc)
		return false;
	if (plan.tells)
		tell();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_out_of_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_out_of_memory() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_out_of_memory() ? NULL : __libc_realloc(p, size);
}

/* --- half of the bytes --- */

/* How many of them are moved. */
static size_t cut(size_t len)
{
	if (!plan.part || !plan.is_begun || len <= WHOLE ||
	    (atomic_fetch_add(&moves, 1) + 1) % plan.part)
		return len;
	return len / 2;
}

/* The function of that name that is hidden by ours. */
#define REAL(name)                                                                                 \
	static __typeof__(&(name)) real;                                                           \
	if (!real)                                                                                 \
	real = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name)

ssize_t read(int fd, void *out, size_t len)
{
	REAL(read);
	return real(fd, out, cut(len));
}

ssize_t pread64(int fd, void *out, size_t len, off64_t at)
{
	REAL(pread64);
	return real(fd, out, cut(len), at);
}

ssize_t write(int fd, const void *from, size_t len)
{
	REAL(write);
	return real(fd, from, cut(len));
}

ssize_t pwrite64(int fd, const void *from, size_t len, off64_t at)
{
	REAL(pwrite64);
	return real(fd, from, cut(len), at);
}

ssize_t recv(int fd, void *out, size_t len, int flags)
{
	REAL(recv);
	return real(fd, out, cut(len), flags);
}

ssize_t send(int fd, const void *from, size_t len, int flags)
{
	REAL(send);
	return real(fd, from, cut(len), flags);
}

/* Of several parts the first half, of one the first half of it. */
static int cut_parts(const struct iovec *v, int n, struct iovec *one)
{
	if (n > 1) /* a part is as good as half of them */
		return cut(WHOLE + 1) > WHOLE ? n : n / 2;
	*one = v[0];
	one->iov_len = cut(one->iov_len);
	return n;
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
	REAL(writev);
	struct iovec one;

	if (n != 1)
		return real(fd, v, n > 0 ? cut_parts(v, n, &one) : n);
	cut_parts(v, n, &one);
	return real(fd, &one, 1);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	REAL(sendmsg);
	struct msghdr less = *m;
	struct iovec one;

	if (m->msg_iovlen)
		less.msg_iovlen = (size_t)cut_parts(m->msg_iov, (int)m->msg_iovlen, &one);
	if (m->msg_iovlen == 1)
		less.msg_iov = &one;
	return real(fd, &less, flags);
}
