/* SPDX-License-Identifier: MIT */
/*
 * fault: a library for LD_PRELOAD that lets the Nth allocation of a program fail, or lets it read and write less
 * than it asked for. Errors of system calls are strace's part (campaign.py), which can neither see memory nor
 * move only a part of the bytes.
 *
 *	KISEKI_FAULT=alloc:N          the Nth allocation finds no memory
 *	KISEKI_FAULT=site:CALLER.HASH the first allocation of that place finds no memory
 *	KISEKI_FAULT=short:N          each Nth read and write moves half of its bytes
 *	KISEKI_FAULT_COUNT=FILE       how many allocations there were and their places are appended, by each process
 *	KISEKI_FAULT_STRUCK=FILE      of eight bytes: how often something failed, as this machine writes an uint64_t
 *	KISEKI_FAULT_TELL=1           says on the standard error where the allocation was
 *
 * Calls are counted over all threads from where main() begins. A place is the functions that led to the allocation, by their addresses:
 * the same in another run only if the kernel does not choose others (setarch -R).
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* The project hides what is not said to be seen; whatever is preloaded must be. */
#pragma GCC visibility push(default)

static struct {
	unsigned long alloc, part; /* 0: never */
	struct site {
		uint64_t caller, hash; /* 0: none */
	} site;
	bool is_begun, tells;
	char count_file[256];
} plan;

#define WHOLE 8U	     /* bytes that a kernel never parts: a counter of eventfd() */
#define FRAMES 10	     /* this library's with them */
#define SITES_MAX (1U << 16) /* the rest is not told apart */

static atomic_ulong allocations, moves;
static _Atomic uint64_t
	*struck; /* shared memory, for a process in a sandbox can open no file any more */
static struct {
	_Atomic uint64_t hash; /* 0: free */
	uint64_t caller;
} sites[SITES_MAX];
static atomic_bool is_struck;
static __thread bool inside; /* what telling does is not counted */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static void map_struck(const char *file)
{
	int fd = open(file, O_RDWR | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED
			   : mmap(NULL, sizeof(*struck), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (map != MAP_FAILED)
		struck = map;
}

static void strike(void)
{
	if (struck)
		atomic_fetch_add(struck, 1);
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("KISEKI_FAULT"), *file = getenv("KISEKI_FAULT_COUNT"), *dot;

	if (text && !strncmp(text, "alloc:", 6))
		plan.alloc = strtoul(text + 6, NULL, 10);
	else if (text && !strncmp(text, "short:", 6))
		plan.part = strtoul(text + 6, NULL, 10);
	else if (text && !strncmp(text, "site:", 5) && (dot = strchr(text, '.')))
		plan.site =
			(struct site){ strtoull(text + 5, NULL, 16), strtoull(dot + 1, NULL, 16) };
	if (text && !plan.alloc && !plan.part && !plan.site.hash) {
		fprintf(stderr, "fault: cannot use KISEKI_FAULT=%s\n", text);
		_exit(99);
	}
	if (file && strlen(file) < sizeof(plan.count_file))
		memcpy(plan.count_file, file, strlen(file));
	if (getenv("KISEKI_FAULT_STRUCK"))
		map_struck(getenv("KISEKI_FAULT_STRUCK"));
	plan.tells = getenv("KISEKI_FAULT_TELL") != NULL;
	plan.is_begun = true;
}

__attribute__((destructor)) static void end(void)
{
	size_t i;
	int fd;

	plan.is_begun = false;
	if (!plan.count_file[0])
		return;
	fd = open(plan.count_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	dprintf(fd, "%lu", atomic_load(&allocations));
	for (i = 0; i < SITES_MAX; i++)
		if (sites[i].hash)
			dprintf(fd, " %llx.%llx", (unsigned long long)sites[i].caller,
				(unsigned long long)sites[i].hash);
	dprintf(fd, "\n");
}

static void tell(void)
{
	void *frames[24];
	int n;

	inside = true;
	n = backtrace(frames, 24);
	dprintf(2, "fault: allocation %lu of process %d fails here:\n", atomic_load(&allocations),
		(int)getpid());
	backtrace_symbols_fd(frames, n, 2);
	inside = false;
}

/* --- memory --- */

/* Of the place that allocates, never 0. */
static uint64_t get_hash(void)
{
	void *frames[FRAMES];
	uint64_t hash = 14695981039346656037U;
	int i, n;

	inside = true;
	n = backtrace(frames, FRAMES);
	inside = false;
	for (i = 0; i < n; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211U;
	return hash ? hash : 1;
}

static void note_site(uint64_t caller, uint64_t hash)
{
	uint64_t is;
	size_t i, n;

	for (i = hash % SITES_MAX, n = 0; n < SITES_MAX; i = (i + 1) % SITES_MAX, n++) {
		is = 0;
		if (atomic_compare_exchange_strong(&sites[i].hash, &is, hash))
			sites[i].caller = caller;
		if (!is || is == hash)
			return;
	}
}

/* The caller is compared first, for it costs nothing. */
static bool is_chosen(uint64_t caller)
{
	const bool is_near = plan.site.hash && plan.site.caller == caller && !is_struck;
	uint64_t hash;

	if (atomic_fetch_add(&allocations, 1) + 1 == plan.alloc)
		return true;
	if (!is_near && !plan.count_file[0])
		return false;
	hash = get_hash(); /* from one place, which is in it */
	if (plan.count_file[0])
		note_site(caller, hash);
	return is_near && hash == plan.site.hash && !atomic_exchange(&is_struck, true);
}

static bool is_out_of_memory(const void *caller)
{
	if (!plan.is_begun || inside || !is_chosen((uintptr_t)caller))
		return false;
	strike();
	if (plan.tells)
		tell();
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_out_of_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_out_of_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_out_of_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}

/* --- half of the bytes --- */

/* How many of them are moved. */
static size_t cut(size_t len)
{
	if (!plan.part || !plan.is_begun || len <= WHOLE ||
	    (atomic_fetch_add(&moves, 1) + 1) % plan.part)
		return len;
	strike();
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
