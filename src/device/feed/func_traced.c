/* SPDX-License-Identifier: MIT */
/*
 * func_traced: see func_traced.h.
 *
 * Words are changed by a pwrite() of four bytes. Of a state only the lowest byte ever differs, so it
 * does not matter how the kernel copies them.
 */
#include "device/feed/func_traced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/feed/func_alive.h"
#include "wire/varint.h"

#define SAME_NAMES_MAX 1000U
#define SLOT_BYTES_MAX (1U << 24)
#define COUNT_MAX (1ULL << 50) /* of events: beyond it, it is no count */

/* --- the files --- */

static void format_name(struct func_traced *t, const struct func_traced_owner *owner, uint32_t n)
{
	char comm[SCHED_COMM_LEN + 1] = "";
	char *p;

	memcpy(comm, owner->comm, SCHED_COMM_LEN);
	for (p = comm; *p; p++)
		if (*p == '/' || (unsigned char)*p < ' ')
			*p = '_';
	if (n < 2)
		snprintf(t->name, sizeof(t->name), "%s.%d", comm[0] ? comm : "_", (int)owner->pid);
	else
		snprintf(t->name, sizeof(t->name), "%s.%d.%u", comm[0] ? comm : "_",
			 (int)owner->pid, n);
}

int func_traced_beside(const struct func_traced *t, const char *suffix, int flags)
{
	char path[FUNC_TRACED_NAME_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s%s", t->name, suffix);
	fd = openat(t->folder, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

/* Under the first name that is free. A record that was removed may have left its maps. */
static int create(struct func_traced *t, const struct func_traced_owner *owner)
{
	uint32_t n;
	int maps;

	for (n = 1; n < SAME_NAMES_MAX; n++) {
		format_name(t, owner, n);
		t->fd = openat(t->folder, t->name,
			       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (t->fd >= 0 || errno != EEXIST)
			break;
	}
	if (t->fd < 0)
		return -errno;
	maps = func_traced_beside(t, FUNC_TRACED_MAPS, O_WRONLY | O_CREAT | O_TRUNC);
	if (maps >= 0)
		close(maps);
	return maps < 0 ? maps : 0;
}

int func_traced_open(struct func_traced *t, int folder, const struct func_traced_owner *owner,
		     uint64_t bytes, struct error *e)
{
	struct stat st;
	int r;

	memset(t, 0, sizeof(*t));
	t->folder = folder;
	t->fd = t->pidfd = -1;
	t->pid = t->made_for = owner->pid;
	t->bytes = bytes;
	r = create(t, owner);
	if (r >= 0 && (ftruncate(t->fd, (off_t)bytes) < 0 || fstat(t->fd, &st) < 0))
		r = -errno;
	if (r < 0) {
		if (t->fd >= 0)
			func_traced_remove(t);
		return error_set(e, -r, "cannot make a record: %s", strerror(-r));
	}
	t->inode = (uint64_t)st.st_ino;
	t->pidfd = func_alive_open(t->pid);
	t->born = func_alive_born(t->pid);
	return 0;
}

/* COMMAND.PID or COMMAND.PID.N, and the command may have dots of its own: the last number of the
 * name, or the one before it. */
static int32_t number_in_name(const struct func_traced *t, bool is_last)
{
	const char *at = t->name + strlen(t->name);
	int parts;

	for (parts = is_last ? 1 : 2; parts && at > t->name; parts--)
		for (at--; at > t->name && *at != '.'; at--)
			;
	return *at == '.' ? (int32_t)strtol(at + 1, NULL, 10) : 0;
}

/* The process whose record this is, if it still has it. Where its map may not be read (it is another
 * user's, and this one has not all of root's powers), a process of that number has to do. */
static void find_owner(struct func_traced *t)
{
	int32_t pid;
	int i, has;

	for (i = 0; i < 2; i++) {
		pid = number_in_name(t, i == 0);
		has = pid > 0 ? func_alive_has(pid, t->inode, t->name) : 0;
		if (!has || !func_alive_born(pid))
			continue;
		t->pid = t->made_for = pid;
		t->pidfd = func_alive_open(pid);
		t->born = func_alive_born(pid);
		return;
	}
}

/* For whom it was made if that process is gone. What the header says helps to read the name, and no
 * more: it is the number by which the process knew itself. */
static void guess_owner(struct func_traced *t, int32_t said)
{
	int32_t last = number_in_name(t, true), before = number_in_name(t, false);
	bool has_two = before > 0 && last < (int32_t)SAME_NAMES_MAX;

	if (!t->made_for)
		t->made_for = last != said && (before == said || has_two) ? before : last;
}

static bool is_record_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot[1] && dot[1 + strspn(dot + 1, "0123456789")] == 0 &&
	       strlen(name) < FUNC_TRACED_NAME_MAX;
}

int func_traced_take(struct func_traced *t, int folder, const char *name, struct error *e)
{
	struct stat st;

	memset(t, 0, sizeof(*t));
	t->folder = folder;
	t->fd = t->pidfd = -1;
	if (!is_record_name(name))
		return error_set(e, ENOENT, "cannot take up %s: it is no record", name);
	memcpy(t->name, name, strlen(name)); /* which fits, and zeroes are behind it */
	t->fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (t->fd < 0 || fstat(t->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		func_traced_close(t);
		return error_set(e, ENOENT, "cannot take up %s: %s", name, strerror(errno));
	}
	t->bytes = (uint64_t)st.st_size;
	t->inode = (uint64_t)st.st_ino;
	find_owner(t);
	return 0;
}

void func_traced_close(struct func_traced *t)
{
	cleanup_closep(&t->fd);
	cleanup_closep(&t->pidfd);
	t->fd = t->pidfd = -1;
}

void func_traced_remove(struct func_traced *t)
{
	static const char *const suffixes[] = { "", FUNC_TRACED_MAPS, FUNC_TRACED_TOLD };
	char path[FUNC_TRACED_NAME_MAX + 16];
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", t->name, suffixes[i]);
		unlinkat(t->folder, path, 0);
	}
	func_traced_close(t);
}

/* --- the process --- */

bool func_traced_is_gone(const struct func_traced *t)
{
	return !t->pid || func_alive_is_gone(t->pid, t->pidfd, t->born);
}

bool func_traced_is_mapped(const struct func_traced *t)
{
	return func_alive_has(t->pid, t->inode, t->name) != 0;
}

/* --- what it says --- */

/* All of `len` bytes; -ENODATA: the file ends before. */
static int read_at(const struct func_traced *t, uint64_t at, uint8_t *out, size_t len)
{
	ssize_t n;

	while (len) {
		n = pread(t->fd, out, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		out += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static void write_word(const struct func_traced *t, uint64_t at, uint32_t value)
{
	uint8_t bytes[4];

	put_le32(bytes, value);
	while (pwrite(t->fd, bytes, sizeof(bytes), (off_t)at) < 0 && errno == EINTR)
		;
}

void func_traced_put(const struct func_traced *t, enum func_buffer_header at, uint32_t value)
{
	write_word(t, at, value);
}

static int parse_layout(struct func_traced *t, const uint8_t *h, struct error *e)
{
	uint32_t header = get_le32(h + FUNC_BUFFER_AT_HEADER_BYTES);

	t->slots = get_le32(h + FUNC_BUFFER_AT_SLOTS);
	t->slot_bytes = get_le32(h + FUNC_BUFFER_AT_SLOT_BYTES);
	t->chunks = get_le32(h + FUNC_BUFFER_AT_CHUNKS);
	t->chunk_bytes = get_le32(h + FUNC_BUFFER_AT_CHUNK_BYTES);
	t->slots_at = get_le64(h + FUNC_BUFFER_AT_SLOTS_AT);
	t->chunks_at = get_le64(h + FUNC_BUFFER_AT_CHUNKS_AT);
	if (header >= FUNC_BUFFER_HEADER && t->slots <= FUNC_BUFFER_SLOTS_MAX &&
	    t->slot_bytes >= FUNC_SLOT_HEAD && t->slot_bytes <= SLOT_BYTES_MAX &&
	    t->chunk_bytes > FUNC_CHUNK_HEAD && t->chunk_bytes <= FUNC_BUFFER_CHUNK_MAX &&
	    t->slots_at >= header && t->chunks_at >= t->slots_at && t->chunks_at <= t->bytes &&
	    t->chunks_at - t->slots_at >= (uint64_t)t->slots * t->slot_bytes &&
	    t->chunks <= (t->bytes - t->chunks_at) / t->chunk_bytes)
		return 0;
	return error_set(e, EBADMSG,
			 "cannot read the record %s: it does not say where its parts are", t->name);
}

static int parse_header(struct func_traced *t, const uint8_t *h, struct error *e)
{
	int r;

	if (get_le32(h + FUNC_BUFFER_AT_VERSION) != FUNC_BUFFER_VERSION)
		return error_set(e, EBADMSG, "cannot read the record %s: it is of version %u",
				 t->name, get_le32(h + FUNC_BUFFER_AT_VERSION));
	r = parse_layout(t, h, e);
	if (r < 0)
		return r;
	t->start_tick = get_le64(h + FUNC_BUFFER_AT_START_TICK);
	t->tick_hz = get_le64(h + FUNC_BUFFER_AT_TICK_HZ);
	t->shift = get_le32(h + FUNC_BUFFER_AT_TICK_SHIFT);
	t->clock = get_le32(h + FUNC_BUFFER_AT_CLOCK);
	t->policy = get_le32(h + FUNC_BUFFER_AT_POLICY);
	t->freed = get_le32(h + FUNC_BUFFER_AT_FREED);
	if (t->clock > FUNC_CLOCK_MONOTONIC || t->shift > 31)
		return error_set(e, EBADMSG, "cannot read the record %s: its clock is not known",
				 t->name);
	guess_owner(t, (int32_t)get_le32(h + FUNC_BUFFER_AT_PID));
	t->is_known = true;
	return 0;
}

int func_traced_look(struct func_traced *t, struct func_traced_header *ret, struct error *e)
{
	int r = read_at(t, 0, ret->bytes, sizeof(ret->bytes));

	if (r < 0)
		return error_set(e, EBADMSG, "cannot read the record %s: %s", t->name,
				 r == -ENODATA ? "it was cut short" : strerror(-r));
	if (t->is_known)
		return 1;
	if (memcmp(ret->bytes, FUNC_BUFFER_MAGIC, 8))
		return 0;
	/* The magic is stored last; what was copied before it was seen may be older. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	r = read_at(t, 0, ret->bytes, sizeof(ret->bytes));
	if (r >= 0)
		r = parse_header(t, ret->bytes, e);
	return r < 0 ? -EBADMSG : 1;
}

/* --- chunks --- */

static uint64_t chunk_at(const struct func_traced *t, uint32_t number)
{
	return t->chunks_at + (uint64_t)number * t->chunk_bytes;
}

/* False: it holds nothing. */
static bool read_head(const struct func_traced *t, uint32_t number, struct func_traced_chunk *ret)
{
	uint8_t h[FUNC_CHUNK_HEAD];

	if (read_at(t, chunk_at(t, number), h, sizeof(h)) < 0)
		return false;
	ret->state = get_le32(h + FUNC_CHUNK_AT_STATE);
	if (ret->state != FUNC_CHUNK_WRITING && ret->state != FUNC_CHUNK_FULL)
		return false;
	ret->number = number;
	ret->stream = get_le32(h + FUNC_CHUNK_AT_STREAM);
	ret->tid = (int32_t)get_le32(h + FUNC_CHUNK_AT_TID);
	ret->flags = get_le32(h + FUNC_CHUNK_AT_FLAGS);
	ret->used = get_le32(h + FUNC_CHUNK_AT_USED);
	ret->sequence = get_le64(h + FUNC_CHUNK_AT_SEQUENCE);
	ret->tick = get_le64(h + FUNC_CHUNK_AT_TICK);
	ret->before = get_le64(h + FUNC_CHUNK_AT_BEFORE);
	ret->lost = get_le64(h + FUNC_CHUNK_AT_LOST);
	ret->is_bad = ret->used > t->chunk_bytes - FUNC_CHUNK_HEAD ||
		      !(ret->flags & FUNC_CHUNK_KEY) || ret->before > COUNT_MAX ||
		      ret->lost > ret->before || ret->stream == UINT32_MAX;
	return true;
}

static bool is_behind(const struct func_traced_chunk *a, const struct func_traced_chunk *b,
		      bool by_stream)
{
	if (by_stream && a->stream != b->stream)
		return a->stream > b->stream;
	return a->sequence > b->sequence;
}

/* In place and without memory of its own. */
static void sort(struct func_traced_chunks *c, bool by_stream)
{
	struct func_traced_chunk one;
	uint32_t gap, i, j;

	for (gap = c->n / 2; gap; gap /= 2) {
		for (i = gap; i < c->n; i++) {
			one = c->at[i];
			for (j = i; j >= gap && is_behind(&c->at[j - gap], &one, by_stream);
			     j -= gap)
				c->at[j] = c->at[j - gap];
			c->at[j] = one;
		}
	}
}

void func_traced_get_chunks(const struct func_traced *t, struct func_traced_chunks *ret)
{
	uint32_t i;

	ret->n = ret->full = 0;
	for (i = 0; i < t->chunks; i++) {
		if (ret->n == FUNC_TRACED_CHUNKS) {
			sort(ret, false);
			ret->n /= 2;
		}
		if (!read_head(t, i, &ret->at[ret->n]))
			continue;
		ret->full += ret->at[ret->n].state == FUNC_CHUNK_FULL;
		ret->n++;
	}
	sort(ret, true);
}

static bool is_same(const struct func_traced *t, const struct func_traced_chunk *c,
		    struct func_traced_chunk *now)
{
	return read_head(t, c->number, now) && now->stream == c->stream &&
	       now->sequence == c->sequence && now->used >= c->used;
}

int func_traced_read(const struct func_traced *t, const struct func_traced_chunk *c, uint32_t at,
		     uint8_t *out, uint32_t len)
{
	struct func_traced_chunk now;
	int r;

	/* `used` was copied together with the rest of the head, perhaps while it changed: it is right
	 * if it is not less now, and only then are the bytes there. */
	if (!is_same(t, c, &now))
		return -ESTALE;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	r = read_at(t, chunk_at(t, c->number) + FUNC_CHUNK_HEAD + at, out, len);
	if (r < 0)
		return -ESTALE;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is_same(t, c, &now) ? 0 : -ESTALE;
}

void func_traced_give_back(struct func_traced *t, const struct func_traced_chunk *c)
{
	/* With FUNC_FLIGHT it may be taken at this moment, and then it is not ours to give. */
	if (t->policy == FUNC_FLIGHT)
		return;
	write_word(t, chunk_at(t, c->number) + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE);
	func_traced_put(t, FUNC_BUFFER_AT_FREED, ++t->freed);
}

bool func_traced_next_slot(const struct func_traced *t, uint32_t *at, struct func_traced_slot *ret)
{
	uint8_t h[FUNC_SLOT_HEAD];

	while (*at < t->slots) {
		if (read_at(t, t->slots_at + (uint64_t)(*at)++ * t->slot_bytes, h, sizeof(h)) < 0)
			return false;
		ret->tid = (int32_t)get_le32(h + FUNC_SLOT_AT_TID);
		ret->stream = get_le32(h + FUNC_SLOT_AT_STREAM);
		if (!ret->tid || ret->stream == UINT32_MAX)
			continue;
		ret->lost = get_le64(h + FUNC_SLOT_AT_LOST);
		ret->events = get_le64(h + FUNC_SLOT_AT_EVENTS);
		memcpy(ret->comm, h + FUNC_SLOT_AT_COMM, SCHED_COMM_LEN);
		if (ret->lost <= COUNT_MAX && ret->events <= COUNT_MAX)
			return true;
	}
	return false;
}
