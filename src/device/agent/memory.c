/* SPDX-License-Identifier: MIT */
/*
 * memory: see memory.h.
 *
 * What is reserved when the file is made is head, checkpoints and spool, so that a full /run is an
 * error then and not a signal in the middle of an event. The staging pages are reserved by the
 * source that uses them, and the rows of threads by the function run; who has neither does not pay
 * for them.
 *
 * A file from before there were function runs has 0 rows and 0 as the last one's number, which is
 * what it would have today; so the version is still the first.
 *
 * The lock is on the file itself and goes with the process, however it ends. Whoever has locked a
 * file looks whether it still has its name: another agent may have put it aside in between.
 */
#include "device/agent/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "wire/crc32c.h"

#define ASIDE_MAX 512U /* bytes of the path of a file that is put aside */
#define MAGIC "KSKSTATE"
#define ORDER 0x01020304U
#define OPEN_TRIES 8
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 10000000

_Static_assert(sizeof(struct memory_name) == 40, "the head's layout is part of the version");
_Static_assert(sizeof(struct memory_mark) == 56, "the mark's layout is part of the version");
_Static_assert(offsetof(struct memory_head, mark) == 512, "both marks lie in one sector");
_Static_assert(offsetof(struct memory_head, runs) == 1024, "the runs have a sector of their own");
_Static_assert(offsetof(struct memory_head, words) == 2048, "so have the words");
_Static_assert(offsetof(struct memory_head, config) == MEMORY_PAGE, "page 1");
_Static_assert(sizeof(struct memory_head) == MEMORY_PAGE + 2 * MEMORY_CONFIG_MAX, "whole pages");
_Static_assert(sizeof(struct memory_slot) == 16, "the slots' layout is part of the version");
_Static_assert(sizeof(struct memory_func_place) == 104, "so is that of the threads' places");
_Static_assert(sizeof(struct memory_func_row) == 256, "and of their rows");

struct layout {
	size_t checkpoints, slots, pages, ring, func, len; /* offsets; all but slots at pages */
};

struct memory {
	int fd;
	uint8_t *map;
	struct layout at;
	bool is_borrowed; /* of memory_adopt() */
	bool is_same_boot;
	uint8_t boot[16];
	char note[ASIDE_MAX + sizeof(((struct error *)NULL)->text) + 64];
};

uint32_t memory_crc(const void *fields, size_t len)
{
	return crc32c_add(0, fields, len);
}

static uint64_t rounded(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

/* In 64 bits, so that no sizes can make it wrap around; false if this machine cannot address it. */
static bool place(struct layout *l, const struct memory_name *n)
{
	uint64_t pages = n->slot_bytes > MEMORY_PAGE ? n->slot_bytes : MEMORY_PAGE, at;

	l->checkpoints = sizeof(struct memory_head);
	at = n->cpus + 1ULL + (n->func_rows ? 1 : 0);
	at = l->checkpoints + at * 2 * sizeof(struct memory_checkpoint);
	at = rounded(at, MEMORY_PAGE);
	l->slots = (size_t)at;
	at = rounded(at + (uint64_t)n->cpus * n->slots * sizeof(struct memory_slot), pages);
	l->pages = (size_t)at;
	at += (uint64_t)n->cpus * n->slots * n->slot_bytes;
	l->ring = (size_t)at;
	at += n->spool_bytes;
	l->func = (size_t)at;
	at = rounded(at + (uint64_t)n->func_rows * sizeof(struct memory_func_row), MEMORY_PAGE);
	l->len = (size_t)at;
	return at <= SIZE_MAX / 2;
}

static int check_sizes(const struct memory_name *n, struct error *e)
{
	if (!n->cpus || n->cpus > MEMORY_CPUS_MAX)
		return error_set(e, EINVAL, "%u CPUs, not 1 to %u", n->cpus, MEMORY_CPUS_MAX);
	if (n->slots > MEMORY_SLOTS_MAX)
		return error_set(e, EINVAL, "%u staging pages, more than %u", n->slots,
				 MEMORY_SLOTS_MAX);
	if (n->slot_bytes % MEMORY_PAGE || !n->slot_bytes || n->slot_bytes > MEMORY_SLOT_MOST)
		return error_set(e, EINVAL, "staging pages of %u bytes", n->slot_bytes);
	if (n->spool_bytes % MEMORY_PAGE || n->spool_bytes < MEMORY_SPOOL_LEAST ||
	    n->spool_bytes > MEMORY_SPOOL_MOST)
		return error_set(e, EINVAL, "a spool of %u bytes, not %u to %u", n->spool_bytes,
				 MEMORY_SPOOL_LEAST, MEMORY_SPOOL_MOST);
	if (n->func_rows > MEMORY_FUNC_ROWS_MAX)
		return error_set(e, EINVAL, "%u threads of a function run, more than %u",
				 n->func_rows, MEMORY_FUNC_ROWS_MAX);
	return 0;
}

static bool mark_is_sound(const struct memory_mark *m, const struct memory_name *n)
{
	return m->crc == memory_crc(m, offsetof(struct memory_mark, crc)) && m->tail <= m->head &&
	       m->head - m->tail <= n->spool_bytes && m->head < UINT64_MAX / 2 &&
	       m->head % 8 == 0 && m->tail % 8 == 0 && m->state <= MEMORY_TRACING &&
	       (m->func & 3) <= MEMORY_TRACING;
}

int memory_check(const void *bytes, size_t len, struct error *e)
{
	struct memory_name n;
	struct memory_mark m[2];
	struct layout l;
	int r;

	if (len < sizeof(struct memory_head))
		return error_set(e, EBADMSG, "%zu bytes are too few", len);
	memcpy(&n, bytes, sizeof(n));
	if (memcmp(n.magic, MAGIC, sizeof(n.magic)))
		return error_set(e, EBADMSG, "no state of an agent");
	if (n.order != ORDER)
		return error_set(e, EBADMSG, "of a machine with another byte order");
	if (n.version != MEMORY_VERSION)
		return error_set(e, EBADMSG, "version %u, this agent has %u", n.version,
				 MEMORY_VERSION);
	if (n.crc != memory_crc(&n, offsetof(struct memory_name, crc)))
		return error_set(e, EBADMSG, "its head is damaged");
	r = check_sizes(&n, e);
	if (r < 0)
		return r;
	if (!place(&l, &n) || l.len != len)
		return error_set(e, EBADMSG, "has %zu bytes, its head says %zu", len, l.len);
	memcpy(m, (const uint8_t *)bytes + offsetof(struct memory_head, mark), sizeof(m));
	if (!mark_is_sound(&m[0], &n) && !mark_is_sound(&m[1], &n))
		return error_set(e, EBADMSG, "its marks are damaged");
	return 0;
}

static int read_boot(uint8_t boot[16], struct error *e)
{
	const char *path = "/proc/sys/kernel/random/boot_id";
	char text[64];
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, i;
	int digits = 0;

	if (fd < 0)
		return error_set(e, errno, "cannot open %s: %m", path);
	n = read(fd, text, sizeof(text));
	memset(boot, 0, 16);
	for (i = 0; i < n && digits < 32; i++) {
		char c = text[i];
		int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (v < 0)
			continue;
		boot[digits / 2] |= (uint8_t)(v << (digits % 2 ? 0 : 4));
		digits++;
	}
	return digits == 32 ? 0 : error_set(e, EBADMSG, "cannot read %s: no boot id in it", path);
}

struct memory_head *memory_get_head(struct memory *m)
{
	return (struct memory_head *)m->map;
}

static const struct memory_head *head_of(const struct memory *m)
{
	return (const struct memory_head *)m->map;
}

/* The state of a checked file. A mark that is not the current one is only taken when that one is
 * damaged, and then nothing that the kernel has can be trusted to fit to it. */
static void take_mark(struct memory *m)
{
	struct memory_head *h = memory_get_head(m);
	uint32_t now = h->current & 1;
	bool is_sound = mark_is_sound(&h->mark[now], &h->name);

	place(&m->at, &h->name);
	if (!is_sound)
		__atomic_store_n(&h->current, now ^ 1, __ATOMIC_RELEASE);
	m->is_same_boot = is_sound && !memcmp(memory_get_mark(m)->boot, m->boot, 16);
}

int memory_adopt(struct memory **ret, void *bytes, size_t len, struct error *e)
{
	CLEANUP(memory) struct memory *m = NULL;
	int r = memory_check(bytes, len, e);

	if (r < 0)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		return error_set(e, ENOMEM, "cannot open a state: %m");
	m->fd = -1;
	m->map = bytes;
	m->is_borrowed = true;
	r = read_boot(m->boot, e);
	if (r < 0)
		return r;
	take_mark(m);
	*ret = take_ptr(m);
	return 0;
}

/* The range holds nothing that matters: where a file system cannot reserve, zeros are written. */
static int reserve(const struct memory *m, size_t from, size_t to, struct error *e)
{
	static const uint8_t zeros[MEMORY_PAGE];
	ssize_t n;

	if (m->fd < 0 || from == to || !fallocate(m->fd, 0, (off_t)from, (off_t)(to - from)))
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return error_set(e, errno, "cannot reserve %zu bytes of it: %m", to - from);
	for (; from < to; from += (size_t)n) {
		n = pwrite(m->fd, zeros, to - from < sizeof(zeros) ? to - from : sizeof(zeros),
			   (off_t)from);
		if (n <= 0)
			return error_set(e, n ? errno : ENOSPC, "cannot reserve its bytes: %m");
	}
	return 0;
}

static int map_file(struct memory *m, size_t len, struct error *e)
{
	int flags = m->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, m->fd, 0);

	if (map == MAP_FAILED)
		return error_set(e, errno, "cannot map its %zu bytes: %m", len);
	m->map = map;
	m->at.len = len;
	return 0;
}

/* A new file is whole before it has a magic number. */
static int make(struct memory *m, const struct memory_name *wanted, struct error *e)
{
	struct memory_name n = *wanted;
	struct memory_mark first = { .head = 0 };
	struct memory_head *h;
	int r;

	if (!place(&m->at, &n))
		return error_set(e, EFBIG, "its sizes do not fit into this machine's memory");
	if (m->fd >= 0 && (ftruncate(m->fd, 0) || ftruncate(m->fd, (off_t)m->at.len)))
		return error_set(e, errno, "cannot give it %zu bytes: %m", m->at.len);
	r = reserve(m, 0, m->at.slots, e);
	if (!r)
		r = reserve(m, m->at.ring, m->at.func, e);
	if (!r)
		r = map_file(m, m->at.len, e);
	if (r < 0)
		return r;
	h = memory_get_head(m);
	n.order = ORDER;
	n.version = MEMORY_VERSION;
	memcpy(n.magic, MAGIC, sizeof(n.magic));
	n.crc = memory_crc(&n, offsetof(struct memory_name, crc));
	memory_publish(m, &first);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	h->name = n;
	m->is_same_boot = true;
	return 0;
}

/* /run is empty after each boot. */
static void make_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash > path ? strndup(path, (size_t)(slash - path)) : NULL;

	if (folder)
		mkdir(folder, 0755); /* if it fails, opening the file says why */
}

/* An agent that was killed holds its lock until the kernel has taken its mapping down, which whoever
 * looks at its /proc at that moment delays: so a lock is waited for, a little. */
static int lock_file(int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

/* Locked, and still what the path names. */
static int open_locked(const char *path, int *ret_fd, struct error *e)
{
	struct stat by_fd, by_name;
	int i, r;

	make_folder(path);
	for (i = 0; i < OPEN_TRIES; i++) {
		_cleanup_close_ int fd =
			open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return error_set(e, errno, "cannot open %s: %m", path);
		r = lock_file(fd);
		if (r == -EBUSY)
			return error_set(e, EBUSY, "cannot open %s: another agent uses it", path);
		if (r < 0)
			return error_set(e, -r, "cannot lock %s: %s", path, strerror(-r));
		if (!fstat(fd, &by_fd) && !stat(path, &by_name) && by_fd.st_ino == by_name.st_ino &&
		    by_fd.st_dev == by_name.st_dev) {
			*ret_fd = take_fd(&fd);
			return 0;
		}
	}
	return error_set(e, EAGAIN, "cannot open %s: others keep replacing it", path);
}

static void unmap(struct memory *m)
{
	if (m->map && !m->is_borrowed)
		munmap(m->map, m->at.len);
	m->map = NULL;
}

/* A file that has nothing to lose is made anew with the sizes that are asked for. */
static bool is_worth_keeping(const struct memory *m, const struct memory_name *wanted)
{
	const struct memory_head *h = head_of(m);
	const struct memory_mark *mark = memory_get_mark(m);

	return mark->head != mark->tail ||
	       (m->is_same_boot && (mark->state != MEMORY_IDLE || mark->func & 3)) ||
	       (h->name.cpus == wanted->cpus && h->name.slots == wanted->slots &&
		h->name.slot_bytes == wanted->slot_bytes &&
		h->name.spool_bytes == wanted->spool_bytes &&
		h->name.func_rows == wanted->func_rows);
}

/* 1: the file is in use now; 0: it can be made anew; else why not. */
static int take_up(struct memory *m, const struct memory_name *wanted, struct error *e)
{
	struct stat st;
	int r;

	if (fstat(m->fd, &st))
		return error_set(e, errno, "cannot look at it: %m");
	if (!st.st_size)
		return 0;
	if ((uint64_t)st.st_size > SIZE_MAX / 2)
		return error_set(e, EBADMSG, "too large for this machine");
	r = map_file(m, (size_t)st.st_size, e);
	if (!r)
		r = memory_check(m->map, (size_t)st.st_size, e);
	if (!r && head_of(m)->name.cpus < wanted->cpus)
		r = error_set(e, EBADMSG, "made for %u CPUs, there are %u", head_of(m)->name.cpus,
			      wanted->cpus);
	/* A file that died while it was made has no magic number, and nothing in it. */
	if (r < 0 && m->map && !memcmp(m->map, "\0\0\0\0\0\0\0\0", 8))
		r = 0;
	else if (!r)
		take_mark(m);
	if (!r && m->at.ring && is_worth_keeping(m, wanted))
		return 1;
	unmap(m);
	return r;
}

static int open_file(struct memory *m, const char *path, const struct memory_name *wanted,
		     struct error *e)
{
	struct error why = ERROR_INIT;
	char aside[ASIDE_MAX];
	int r;

	r = open_locked(path, &m->fd, e);
	if (r < 0)
		return r;
	r = take_up(m, wanted, &why);
	if (r > 0)
		return 0;
	if (r < 0) {
		if (snprintf(aside, sizeof(aside), "%s.old", path) >= (int)sizeof(aside) ||
		    rename(path, aside))
			return error_set(e, errno, "cannot put %s aside: %m", path);
		snprintf(m->note, sizeof(m->note),
			 "the old file is kept as %s, a new one is made: %s", aside, why.text);
		cleanup_closep(&m->fd);
		m->fd = -1;
		r = open_locked(path, &m->fd, e);
	}
	if (!r)
		r = make(m, wanted, e);
	return r < 0 ? error_prefix(e, -r, "cannot use %s", path) : 0;
}

int memory_open(struct memory **ret, const struct memory_options *o, struct error *e)
{
	struct memory_name wanted = { .cpus = o->cpus,
				      .slots = o->slots,
				      .func_rows = o->func_rows };
	CLEANUP(memory) struct memory *m = calloc(1, sizeof(*m));
	long page = sysconf(_SC_PAGESIZE);
	int r;

	if (!m)
		return error_set(e, ENOMEM, "cannot open the agent's memory: %m");
	m->fd = -1;
	wanted.slot_bytes = o->slot_bytes ? o->slot_bytes : (uint32_t)page;
	wanted.spool_bytes = o->spool_bytes > MEMORY_SPOOL_MOST
				     ? o->spool_bytes
				     : (uint32_t)rounded(o->spool_bytes, MEMORY_PAGE);
	r = check_sizes(&wanted, e);
	if (r < 0)
		return error_prefix(e, -r, "cannot open the agent's memory");
	if (o->boot)
		memcpy(m->boot, o->boot, sizeof(m->boot));
	else
		r = read_boot(m->boot, e);
	if (!r)
		r = o->path ? open_file(m, o->path, &wanted, e) : make(m, &wanted, e);
	if (r < 0)
		return r;
	*ret = take_ptr(m);
	return 0;
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	unmap(m);
	cleanup_closep(&m->fd);
	free(m);
}

const char *memory_get_note(const struct memory *m)
{
	return m->note;
}

size_t memory_get_len(const struct memory *m)
{
	return m->at.len;
}

bool memory_is_same_boot(const struct memory *m)
{
	return m->is_same_boot;
}

const struct memory_mark *memory_get_mark(const struct memory *m)
{
	return &head_of(m)->mark[head_of(m)->current & 1];
}

void memory_publish(struct memory *m, struct memory_mark *next)
{
	struct memory_head *h = memory_get_head(m);
	uint32_t other = (h->current & 1) ^ 1;

	memcpy(next->boot, m->boot, sizeof(next->boot));
	next->crc = memory_crc(next, offsetof(struct memory_mark, crc));
	h->mark[other] = *next;
	__atomic_store_n(&h->current, other, __ATOMIC_RELEASE);
}

struct memory_checkpoint *memory_get_checkpoints(struct memory *m, uint32_t stream)
{
	return (struct memory_checkpoint *)(m->map + m->at.checkpoints) + (size_t)stream * 2;
}

static size_t slot_index(const struct memory *m, uint32_t cpu, uint64_t number)
{
	const struct memory_name *n = &head_of(m)->name;

	return (size_t)cpu * n->slots + (size_t)(number % n->slots);
}

struct memory_slot *memory_get_slot(struct memory *m, uint32_t cpu, uint64_t number)
{
	return (struct memory_slot *)(m->map + m->at.slots) + slot_index(m, cpu, number);
}

uint8_t *memory_get_page(struct memory *m, uint32_t cpu, uint64_t number)
{
	return m->map + m->at.pages + slot_index(m, cpu, number) * head_of(m)->name.slot_bytes;
}

uint8_t *memory_get_ring(struct memory *m)
{
	return m->map + m->at.ring;
}

struct memory_func_row *memory_get_func_rows(struct memory *m)
{
	return (struct memory_func_row *)(m->map + m->at.func);
}

int memory_clear_slots(struct memory *m, struct error *e)
{
	const struct memory_name *n = &head_of(m)->name;
	int r = reserve(m, m->at.slots, m->at.ring, e);

	if (!r)
		memset(m->map + m->at.slots, 0,
		       (size_t)n->cpus * n->slots * sizeof(struct memory_slot));
	return r;
}

int memory_clear_func_rows(struct memory *m, struct error *e)
{
	int r = reserve(m, m->at.func, m->at.len, e);

	if (!r)
		memset(m->map + m->at.func, 0, m->at.len - m->at.func);
	return r;
}

void memory_give_back_ring(struct memory *m)
{
	if (m->fd < 0 && !m->is_borrowed)
		madvise(m->map + m->at.ring, m->at.func - m->at.ring, MADV_DONTNEED);
}

int memory_sync(struct memory *m, struct error *e)
{
	if (m->fd >= 0 && fdatasync(m->fd))
		return error_set(e, errno, "cannot write the agent's memory to its disk: %m");
	return 0;
}
