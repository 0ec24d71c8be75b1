/* SPDX-License-Identifier: MIT */
/*
 * mapping: see mapping.h.
 *
 * The handler looks for the page in a list of all mappings. Their lock is one that it may take: who holds it touches no mapping, so
 * no thread waits for itself, and the others hold it for a few instructions. Signals that no mapping of ours has caused end the
 * program as they would have.
 */
#include "base/mapping.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct mapping *mappings;
static atomic_flag mappings_lock = ATOMIC_FLAG_INIT;
static uintptr_t page_bytes;

static void lock(void)
{
	while (atomic_flag_test_and_set_explicit(&mappings_lock, memory_order_acquire))
		sched_yield();
}

static void unlock(void)
{
	atomic_flag_clear_explicit(&mappings_lock, memory_order_release);
}

/* Zeros, where the file has nothing to give. */
static bool mend(uintptr_t at)
{
	void *page = (void *)(at & ~(page_bytes - 1));
	struct mapping *m;
	bool mended;

	lock();
	for (m = mappings; m && at - (uintptr_t)m->data >= m->len; m = m->next)
		;
	mended = m && mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0) == page;
	if (mended)
		__atomic_store_n(&m->torn, 1, __ATOMIC_RELAXED);
	unlock();
	return mended;
}

static void handle(int number, siginfo_t *info, void *context)
{
	int before = errno;

	(void)context;
	/* Back to where it happened, or to the end. One that somebody sent has no place. */
	if (info->si_code != BUS_ADRERR || !mend((uintptr_t)info->si_addr)) {
		signal(number, SIG_DFL);
		if (info->si_code <= 0)
			raise(number);
	}
	errno = before;
}

void mapping_guard(void)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigfillset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

static void push(struct mapping *m)
{
	lock();
	m->next = mappings;
	if (mappings)
		mappings->last = m;
	mappings = m;
	unlock();
}

static void drop(struct mapping *m)
{
	lock();
	if (m->next)
		m->next->last = m->last;
	if (m->last)
		m->last->next = m->next;
	else
		mappings = m->next;
	unlock();
}

int mapping_open(struct mapping **ret, int fd, uint64_t most)
{
	CLEANUP(mapping) struct mapping *m = calloc(1, sizeof(*m));
	struct stat st;
	void *data;

	if (!m)
		return -ENOMEM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > most || (uint64_t)st.st_size > SIZE_MAX)
		return -EFBIG;
	if (st.st_size) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			return -errno;
		m->data = data;
		m->len = (size_t)st.st_size;
		push(m);
	}
	*ret = take_ptr(m);
	return 0;
}

void mapping_close(struct mapping *m)
{
	if (!m)
		return;
	if (m->data) {
		drop(m);
		munmap((void *)m->data, m->len);
	}
	free(m);
}

bool mapping_is_torn(const struct mapping *m)
{
	return m && __atomic_load_n(&m->torn, __ATOMIC_RELAXED);
}
