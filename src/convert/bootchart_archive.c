/* SPDX-License-Identifier: MIT */
/*
 * bootchart_archive: see bootchart_archive.h.
 *
 * Bytes are pushed through: those of the file, unpacked if need be, into a reader of tar that takes them in pieces
 * of any length. So neither the packed nor the unpacked archive is ever in memory, but only the files that count.
 */
#include "convert/bootchart_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/cleanup.h"

#define BLOCK 512U
#define PIECE 65536U
#define NAME_MAX_BYTES 4096U /* of a name longer than the header holds */

const char *const bootchart_names[BOOTCHART_FILES] = {
	[BOOTCHART_HEADER] = "header",
	[BOOTCHART_STAT] = "proc_stat.log",
	[BOOTCHART_PS] = "proc_ps.log",
	[BOOTCHART_TASKSTATS] = "taskstats.log",
	[BOOTCHART_DISKSTATS] = "proc_diskstats.log",
	[BOOTCHART_MEMINFO] = "proc_meminfo.log",
	[BOOTCHART_CMDLINE] = "cmdline2.log",
	[BOOTCHART_PATERNITY] = "paternity.log",
	[BOOTCHART_PACCT] = "kernel_pacct",
	[BOOTCHART_DMESG] = "dmesg",
};

/* What the bytes at hand are. */
enum what { HEAD, CONTENT, LONG_NAME, EXTENDED, SKIPPED };

struct tar {
	struct bootchart_archive *to;
	uint8_t head[BLOCK];
	size_t have; /* of the head */
	enum what what;
	uint64_t left;		       /* of the content, */
	uint32_t padding;	       /* and behind it */
	unsigned int file;	       /* enum bootchart_file, of CONTENT */
	char name[NAME_MAX_BYTES + 1]; /* of the next file, where it is told apart */
	size_t name_len;
	bool is_tar; /* a head was good */
	bool is_over;
	size_t total; /* bytes kept */
};

/* --- tar --- */

static bool parse_octal(const uint8_t *p, size_t len, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < len && p[i] == ' ')
		i++;
	if (i == len || p[i] < '0' || p[i] > '7')
		return false;
	for (; i < len && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	*ret = v;
	return i == len || p[i] == 0 || p[i] == ' ';
}

/* Some writers have summed the bytes as signed ones. */
static bool sum_is_good(const uint8_t head[BLOCK])
{
	uint64_t told;
	uint32_t sum = 0;
	int32_t other = 0;
	size_t i;

	for (i = 0; i < BLOCK; i++) {
		uint8_t c = i >= 148 && i < 156 ? ' ' : head[i];

		sum += c;
		other += c < 128 ? (int32_t)c : (int32_t)c - 256;
	}
	return parse_octal(head + 148, 8, &told) && (told == sum || (int64_t)told == other);
}

static unsigned int find_file(const char *name)
{
	const char *slash = strrchr(name, '/');
	unsigned int i;

	name = slash ? slash + 1 : name;
	for (i = 0; i < BOOTCHART_FILES; i++)
		if (!strcmp(name, bootchart_names[i]))
			break;
	return i;
}

static bool is_zero(const uint8_t head[BLOCK])
{
	size_t i;

	for (i = 0; i < BLOCK; i++)
		if (head[i])
			return false;
	return true;
}

/* A file twice: the later one counts, as it does for tar. */
static int begin_file(struct tar *t, uint64_t size)
{
	if (size > BOOTCHART_BYTES_MAX - t->total)
		return -EFBIG;
	t->total -= t->to->file[t->file].len;
	free(t->to->file[t->file].data);
	/* No more than what comes: what the head says is not believed yet. */
	t->to->file[t->file].data = malloc(1);
	t->to->file[t->file].len = t->to->file[t->file].room = 0;
	return t->to->file[t->file].data ? 0 : -ENOMEM;
}

static int begin(struct tar *t)
{
	char name[101];
	uint64_t size;
	uint8_t type = t->head[156];

	if (is_zero(t->head)) {
		t->is_over = true;
		return 0;
	}
	if (!sum_is_good(t->head) || !parse_octal(t->head + 124, 12, &size))
		return -EBADMSG;
	t->is_tar = true;
	t->left = size;
	t->padding = (uint32_t)(0 - size) % BLOCK;
	t->what = SKIPPED;
	if (type == 'L' || type == 'x') {
		t->what = type == 'L' ? LONG_NAME : EXTENDED;
		t->name_len = 0;
		return 0;
	}
	if (type == '0' || type == 0 || type == '7') {
		memcpy(name, t->head, 100);
		name[100] = 0;
		t->file = find_file(t->name_len ? t->name : name);
		t->what = t->file < BOOTCHART_FILES ? CONTENT : SKIPPED;
	}
	t->name_len = 0;
	return t->what == CONTENT ? begin_file(t, size) : 0;
}

static int keep(struct tar *t, const uint8_t *data, size_t len)
{
	size_t have = t->to->file[t->file].len, room = t->to->file[t->file].room;
	char *p;

	if (have + len > room) {
		while (room < have + len)
			room = room * 2 + 4096;
		p = realloc(t->to->file[t->file].data, room);
		if (!p)
			return -ENOMEM;
		t->to->file[t->file].data = p;
		t->to->file[t->file].room = room;
	}
	memcpy(t->to->file[t->file].data + have, data, len);
	t->to->file[t->file].len += len;
	t->total += len;
	return 0;
}

/* Records "<length> path=<name>\n". */
static void find_path(struct tar *t)
{
	char *at = t->name, *end;

	while (*at) {
		char *line = strchr(at, ' ');

		end = strchr(at, '\n');
		if (!line || !end || line > end)
			break;
		if (!strncmp(line + 1, "path=", 5)) {
			*end = 0;
			memmove(t->name, line + 6, (size_t)(end - line - 5));
			t->name_len = strlen(t->name);
			return;
		}
		at = end + 1;
	}
	t->name_len = 0;
}

static int take_content(struct tar *t, const uint8_t *data, size_t len)
{
	if (t->what == CONTENT)
		return keep(t, data, len);
	if (t->what == SKIPPED || t->name_len + len > NAME_MAX_BYTES)
		return 0;
	memcpy(t->name + t->name_len, data, len);
	t->name_len += len;
	t->name[t->name_len] = 0;
	return 0;
}

static void end_content(struct tar *t)
{
	if (t->what == EXTENDED)
		find_path(t);
	t->what = HEAD;
	t->have = 0;
}

static size_t least(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

static int push_tar(struct tar *t, const uint8_t *data, size_t len)
{
	size_t n;
	int r = 0;

	while (len && !t->is_over && r >= 0) {
		if (t->what == HEAD) {
			n = least(BLOCK - t->have, len);
			memcpy(t->head + t->have, data, n);
			t->have += n;
			if (t->have == BLOCK)
				r = begin(t);
		} else if (t->left) {
			n = least(t->left, len);
			r = take_content(t, data, n);
			t->left -= n;
		} else {
			n = least(t->padding, len);
			t->padding -= (uint32_t)n;
		}
		data += n;
		len -= n;
		if (r >= 0 && t->what != HEAD && !t->left && !t->padding)
			end_content(t);
	}
	return r;
}

/* --- gzip --- */

struct unpacker {
	struct tar tar;
	z_stream z;
	bool is_begun, is_packed;
	bool is_over; /* the last packed part has ended */
};

static int push_packed(struct unpacker *u, const uint8_t *data, size_t len)
{
	uint8_t out[PIECE / 4];
	int r = 0, z = Z_OK;

	u->z.next_in = (Bytef *)(uintptr_t)data;
	u->z.avail_in = (uInt)len;
	while (r >= 0 && !u->tar.is_over && (u->z.avail_in || z == Z_OK)) {
		u->z.next_out = out;
		u->z.avail_out = sizeof(out);
		z = inflate(&u->z, Z_NO_FLUSH);
		r = push_tar(&u->tar, out, sizeof(out) - u->z.avail_out);
		u->is_over = z == Z_STREAM_END;
		if (z == Z_STREAM_END && u->z.avail_in)
			z = inflateReset(&u->z);
		else if (z == Z_BUF_ERROR || z == Z_STREAM_END)
			break;
		if (z != Z_OK && r >= 0)
			r = -EBADMSG;
	}
	return r;
}

static int push(struct unpacker *u, const uint8_t *data, size_t len)
{
	if (!u->is_begun) {
		u->is_begun = true;
		u->is_packed = len >= 2 && data[0] == 0x1f && data[1] == 0x8b;
		if (u->is_packed && inflateInit2(&u->z, 15 + 16) != Z_OK)
			return -ENOMEM;
	}
	return u->is_packed ? push_packed(u, data, len) : push_tar(&u->tar, data, len);
}

static void unpacker_free(struct unpacker *u)
{
	if (u && u->is_packed)
		inflateEnd(&u->z);
	free(u);
}
DEFINE_CLEANUP(unpacker, unpacker_free)

static bool has_any(const struct bootchart_archive *a)
{
	return a->file[BOOTCHART_PS].data || a->file[BOOTCHART_TASKSTATS].data ||
	       a->file[BOOTCHART_STAT].data;
}

/* What came of it; r: of the last push. */
static int finish(struct unpacker *u, int r, struct error *e)
{
	if (r == -EFBIG)
		return error_set(e, EFBIG, "its files have more than %u MiB",
				 BOOTCHART_BYTES_MAX >> 20);
	if (r == -ENOMEM)
		return error_set(e, ENOMEM, "%s", strerror(ENOMEM));
	if (!u->tar.is_tar || !has_any(u->tar.to))
		return error_set(e, ENODATA, "it is no archive of a bootchart");
	/* Damage in the middle, or its end missing: the rest is what there is. */
	u->tar.to->is_cut = r < 0 || !u->tar.is_over;
	return 0;
}

bool bootchart_archive_is(const uint8_t *data, size_t len)
{
	CLEANUP(unpacker) struct unpacker *u = NULL;
	struct bootchart_archive a = { .is_cut = false };
	unsigned int i;
	bool is = false;

	/* Most that is asked about is neither; then nothing is set up. */
	if (len < 2 || !((data[0] == 0x1f && data[1] == 0x8b) || len >= BLOCK))
		return false;
	if (data[0] != 0x1f && !sum_is_good(data))
		return false;
	u = calloc(1, sizeof(*u));
	if (!u)
		return false;
	u->tar.to = &a;
	push(u, data, len < PIECE ? len : PIECE);
	for (i = 0; i < BOOTCHART_FILES; i++)
		is = is || (a.file[i].data && i != BOOTCHART_DMESG);
	bootchart_archive_done(&a);
	return is;
}

int bootchart_archive_parse(struct bootchart_archive *a, const uint8_t *data, size_t len,
			    struct error *e)
{
	CLEANUP(unpacker) struct unpacker *u = calloc(1, sizeof(*u));
	size_t at, n;
	int r = 0;

	memset(a, 0, sizeof(*a));
	if (!u)
		return error_set(e, ENOMEM, "%s", strerror(ENOMEM));
	u->tar.to = a;
	for (at = 0; at < len && r >= 0; at += n) {
		n = least(len - at, PIECE);
		r = push(u, data + at, n);
	}
	r = finish(u, r, e);
	if (r < 0)
		bootchart_archive_done(a);
	return r;
}

/* --- files --- */

static int read_packed(struct bootchart_archive *a, int fd, const char *path, struct error *e)
{
	CLEANUP(unpacker) struct unpacker *u = calloc(1, sizeof(*u));
	_cleanup_free_ uint8_t *piece = malloc(PIECE);
	ssize_t n = 0;
	int r = 0;

	if (!u || !piece)
		return error_set(e, ENOMEM, "cannot read %s: %s", path, strerror(ENOMEM));
	u->tar.to = a;
	while (r >= 0 && !u->tar.is_over && (n = read(fd, piece, PIECE)) != 0) {
		if (n < 0 && errno != EINTR)
			return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
		if (n > 0)
			r = push(u, piece, (size_t)n);
	}
	r = finish(u, r, e);
	return r < 0 ? error_prefix(e, r, "cannot read %s", path) : 0;
}

static int read_plain(int fd, char **ret, size_t *ret_len, size_t room)
{
	size_t len = 0, size = 4096;
	char *p = NULL, *more;
	ssize_t n;

	for (;;) {
		more = realloc(p, size);
		if (!more) {
			free(p);
			return -ENOMEM;
		}
		p = more;
		while (len < size && (n = read(fd, p + len, size - len)) != 0) {
			if (n < 0 && errno != EINTR) {
				free(p);
				return -errno;
			}
			len += n > 0 ? (size_t)n : 0;
		}
		if (len < size || len > room)
			break;
		size *= 2;
	}
	*ret = p;
	*ret_len = len;
	return len > room ? -EFBIG : 0;
}

static int read_folder(struct bootchart_archive *a, int folder, const char *path, struct error *e)
{
	size_t total = 0;
	unsigned int i;
	int r;

	for (i = 0; i < BOOTCHART_FILES; i++) {
		_cleanup_close_ int fd =
			openat(folder, bootchart_names[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0 && errno == ENOENT)
			continue;
		r = fd < 0 ? -errno
			   : read_plain(fd, &a->file[i].data, &a->file[i].len,
					BOOTCHART_BYTES_MAX - total);
		total += a->file[i].len;
		if (r < 0)
			return error_set(e, r, "cannot read %s/%s: %s", path, bootchart_names[i],
					 strerror(-r));
	}
	if (!has_any(a))
		return error_set(e, ENODATA, "cannot read %s: it is no folder of a bootchart",
				 path);
	return 0;
}

int bootchart_archive_read(struct bootchart_archive *a, int fd, const char *path, struct error *e)
{
	struct stat st;
	int r;

	memset(a, 0, sizeof(*a));
	if (fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	r = S_ISDIR(st.st_mode) ? read_folder(a, fd, path, e) : read_packed(a, fd, path, e);
	if (r < 0)
		bootchart_archive_done(a);
	return r;
}

void bootchart_archive_done(struct bootchart_archive *a)
{
	unsigned int i;

	for (i = 0; i < BOOTCHART_FILES; i++)
		free(a->file[i].data);
	memset(a, 0, sizeof(*a));
}
