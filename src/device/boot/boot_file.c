/* SPDX-License-Identifier: MIT */
/*
 * boot_file: see boot_file.h.
 *
 * Runs have descriptions of their own, and a file has one: their blocks are numbered anew, in the order in which
 * they are written.
 */
#include "device/boot/boot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/boot/boot_index.h"
#include "wire/block.h"

#define OPEN_MS 100U   /* between two attempts to make it */
#define CHECK_MS 1000U /* between two looks at where the path leads, and two syncs */
#define COPY 4096U
#define GIVE_BACK (32U << 10) /* bytes that are written before the spool's memory is given back */
#define FLAGS (O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)

static const uint8_t head[BOOT_FILE_HEAD] = { 'K', 'I', 'S', 'E', 'K', 'I', '\r', '\n', 1 };

struct boot_file {
	struct boot_file_options o;
	int fd;
	uint64_t len, reserved;
	bool can_reserve;
	uint64_t place; /* in the spool: what is before it is in the file */
	uint64_t meta;	/* sequence of the next block of the description */
	uint64_t released;
	uint64_t given_back; /* length of the file when the spool's memory last was */
	uint64_t open_ms, check_ms;
	bool is_dirty;
	int sync_pipe; /* descriptors that the thread is to bring to the disk */
	int n_syncing;
	pthread_t thread;
	bool has_thread;
	int sync_end; /* the thread's */
	uint8_t room[BLOCK_HEADER_MAX + SPOOL_META_MOST];
};

/* --- to the disk --- */

static void *run_sync(void *context)
{
	struct boot_file *f = context;
	int fd;

	while (read(f->sync_end, &fd, sizeof(fd)) == (ssize_t)sizeof(fd)) {
		fdatasync(fd);
		close(fd);
		__atomic_sub_fetch(&f->n_syncing, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void start_sync(struct boot_file *f)
{
	int pipe_fds[2];

	if (pipe2(pipe_fds, O_CLOEXEC))
		return;
	f->sync_end = pipe_fds[0];
	f->sync_pipe = pipe_fds[1];
	f->has_thread = !pthread_create(&f->thread, NULL, run_sync, f);
}

/* If the last one is still under way, this one waits for its turn. */
static void sync_file(struct boot_file *f)
{
	int fd;

	if (!f->is_dirty || __atomic_load_n(&f->n_syncing, __ATOMIC_ACQUIRE))
		return;
	f->is_dirty = false;
	fd = f->has_thread ? fcntl(f->fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (fd < 0) {
		fdatasync(f->fd);
		return;
	}
	__atomic_add_fetch(&f->n_syncing, 1, __ATOMIC_RELEASE);
	if (write(f->sync_pipe, &fd, sizeof(fd)) != (ssize_t)sizeof(fd)) {
		close(fd);
		__atomic_sub_fetch(&f->n_syncing, 1, __ATOMIC_RELEASE);
	}
}

static void stop_sync(struct boot_file *f)
{
	cleanup_closep(&f->sync_pipe);
	f->sync_pipe = -1;
	if (f->has_thread)
		pthread_join(f->thread, NULL);
	f->has_thread = false;
	cleanup_closep(&f->sync_end);
	f->sync_end = -1;
}

/* --- the file --- */

static int write_all(int fd, const uint8_t *p, size_t len, uint64_t at)
{
	ssize_t n;

	for (; len; p += n, at += (uint64_t)n, len -= (size_t)n) {
		n = pwrite(fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -ENOSPC;
	}
	return 0;
}

/* So many bytes more, and the room for the end behind them. */
static int reserve(struct boot_file *f, uint64_t len)
{
	uint64_t need = f->len + len + BOOT_FILE_AHEAD;

	if (!f->can_reserve || need <= f->reserved)
		return 0;
	need += BOOT_FILE_AHEAD; /* not for every block */
	if (!fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->len, (off_t)(need - f->len))) {
		f->reserved = need;
		return 0;
	}
	if (errno == ENOSPC || errno == EDQUOT)
		return f->len + len + BOOT_FILE_AHEAD / 2 <= f->reserved ? 0 : -ENOSPC;
	f->can_reserve = false;
	return 0;
}

static int append(struct boot_file *f, const uint8_t *p, uint32_t len)
{
	int r = write_all(f->fd, p, len, f->len);

	if (r < 0) {
		/* Nothing torn stays; if even that fails, readers know what a cut block is. */
		if (ftruncate(f->fd, (off_t)f->len))
			return r;
		f->reserved = 0;
		return r;
	}
	f->len += len;
	f->is_dirty = true;
	return 0;
}

/* A new file of this name, not yet with a head. */
static int make(const struct boot_file *f)
{
	char room[PLACE_PATH_MAX], old[PLACE_PATH_MAX + 8];
	const char *path = place_get_path(f->o.place, f->o.path, room), *slash;
	int fd;

	if (f->o.keep_old && snprintf(old, sizeof(old), "%s.old", path) < (int)sizeof(old))
		rename(path, old);
	fd = open(path, FLAGS, 0644);
	slash = strrchr(path, '/');
	if (fd >= 0 || errno != ENOENT || !slash || slash == path)
		return fd;
	/* /run is empty after each boot. */
	snprintf(old, sizeof(old), "%.*s", (int)(slash - path), path);
	mkdir(old, 0755);
	return open(path, FLAGS, 0644);
}

static int open_file(struct boot_file *f, uint64_t now_ms, struct error *e)
{
	int r;

	if (now_ms < f->open_ms)
		return -EAGAIN;
	f->open_ms = now_ms + OPEN_MS;
	f->fd = make(f);
	if (f->fd < 0) {
		f->fd = -1;
		return error_set(e, EAGAIN, "cannot write %s: %s", f->o.path, strerror(errno));
	}
	f->can_reserve = true;
	f->check_ms = now_ms + CHECK_MS;
	r = reserve(f, sizeof(head));
	if (!r)
		r = append(f, head, sizeof(head));
	if (!r && !f->has_thread)
		start_sync(f);
	return r < 0 ? error_set(e, -r, "cannot write %s: %s", f->o.path, strerror(-r)) : 0;
}

static int copy_to(const struct boot_file *f, int to)
{
	uint8_t bytes[COPY];
	uint64_t at = 0;
	ssize_t n;
	int r;

	for (; at < f->len; at += (uint64_t)n) {
		n = pread(f->fd, bytes, sizeof(bytes), (off_t)at);
		if (n <= 0)
			return n ? -errno : -EIO;
		r = write_all(to, bytes, (size_t)n, at);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Does the path lead elsewhere by now? Then the file moves there, if it can. */
static void follow_path(struct boot_file *f)
{
	char room[PLACE_PATH_MAX];
	const char *path = place_get_path(f->o.place, f->o.path, room);
	struct stat own, named;
	_cleanup_close_ int to = -1;

	if (fstat(f->fd, &own) ||
	    (!stat(path, &named) && own.st_dev == named.st_dev && own.st_ino == named.st_ino))
		return;
	to = make(f);
	if (to < 0)
		return;
	if (copy_to(f, to) < 0) {
		unlink(path);
		return;
	}
	close(f->fd);
	f->fd = take_fd(&to);
	f->reserved = 0;
	f->is_dirty = true;
}

/* --- blocks --- */

static int write_meta(struct boot_file *f, const struct spool_entry *entry)
{
	uint8_t *payload = f->room + BLOCK_HEADER_MAX, *bytes;
	struct block b;
	uint32_t len;
	int r;

	if (block_decode(entry->bytes, entry->len, &b) != WIRE_OK ||
	    b.payload_len > SPOOL_META_MOST)
		return 0;
	memcpy(payload, b.payload, b.payload_len);
	b.sequence = f->meta;
	bytes = block_encode(&b, payload, &len);
	r = append(f, bytes, len);
	if (!r)
		f->meta++;
	return r;
}

static int write_blocks(struct boot_file *f, bool is_last)
{
	struct spool_entry entry;
	uint64_t next = f->place;
	int r = 0;

	for (; !r && spool_next(f->o.spool, &next, &entry); f->place = r ? f->place : next) {
		if (entry.kind != FRAME_BLOCK)
			continue;
		if (!is_last)
			r = reserve(f, entry.len);
		if (!r)
			r = entry.stream == STREAM_META ? write_meta(f, &entry)
							: append(f, entry.bytes, entry.len);
	}
	return r;
}

int boot_file_turn(struct boot_file *f, uint64_t now_ms, struct error *e)
{
	int r = 0;

	if (f->fd < 0)
		r = open_file(f, now_ms, e);
	if (r < 0)
		return r;
	r = write_blocks(f, false);
	if (r < 0)
		return error_set(e, -r, "cannot write %s: %s", f->o.path, strerror(-r));
	if (now_ms >= f->check_ms) {
		f->check_ms = now_ms + CHECK_MS;
		follow_path(f);
		sync_file(f);
	}
	return 0;
}

int boot_file_finish(struct boot_file *f, struct error *e)
{
	int r = 0, failed;

	if (f->fd < 0)
		r = open_file(f, f->open_ms, e);
	if (r < 0)
		return r;
	follow_path(f);
	failed = write_blocks(f, true);
	if (failed < 0)
		r = error_set(e, -failed, "cannot write %s: %s", f->o.path, strerror(-failed));
	stop_sync(f);
	if (!r)
		r = boot_index_put(f->fd, f->len, e);
	/* What was reserved and is not needed goes back. */
	if (f->can_reserve) {
		struct stat st;

		if (!fstat(f->fd, &st) && ftruncate(f->fd, st.st_size) && !r)
			r = error_set(e, errno, "cannot write %s: %s", f->o.path, strerror(errno));
	}
	if (fsync(f->fd) && !r)
		r = error_set(e, errno, "cannot write %s: %s", f->o.path, strerror(errno));
	return r;
}

int boot_file_new(struct boot_file **ret, const struct boot_file_options *o, struct error *e)
{
	struct boot_file *f = calloc(1, sizeof(*f));

	if (!f)
		return error_set(e, ENOMEM, "cannot make a file: out of memory");
	f->o = *o;
	f->fd = f->sync_pipe = f->sync_end = -1;
	*ret = f;
	return 0;
}

void boot_file_free(struct boot_file *f)
{
	if (!f)
		return;
	stop_sync(f);
	cleanup_closep(&f->fd);
	free(f);
}

bool boot_file_is_open(const struct boot_file *f)
{
	return f->fd >= 0;
}

bool boot_file_has_all(const struct boot_file *f)
{
	struct spool_entry entry;
	uint64_t next = f->place;

	return f->fd >= 0 && !spool_next(f->o.spool, &next, &entry);
}

void boot_file_release(struct boot_file *f)
{
	struct spool_entry entry;

	if (!boot_file_has_all(f))
		return;
	while (spool_peek(f->o.spool, &entry)) {
		spool_sent(f->o.spool);
		f->released++;
	}
	spool_ack(f->o.spool, f->released);
	if (f->len - f->given_back < GIVE_BACK)
		return;
	f->given_back = f->len;
	spool_give_back(f->o.spool); /* a ring would soon have used all of its pages */
}
