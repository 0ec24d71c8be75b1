/* SPDX-License-Identifier: MIT */
/* symcache: see symcache.h. */
#include "symbol/symcache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"

#define END ".ksym"
#define LEFT_S                                                                                     \
	3600	   /* a file that is still being written after this was left by somebody who died */
#define TOUCH_S 60 /* a use is not written down more often: opening shall not write */
#define FIRST_ROWS 64U

struct symcache {
	char *folder;
	uint64_t bytes_max;
};

DEFINE_CLEANUP(symcache, symcache_close)

void symcache_close(struct symcache *c)
{
	if (!c)
		return;
	free(c->folder);
	free(c);
}

/* The folder and those above it. */
static int make_folders(const char *folder)
{
	_cleanup_free_ char *path = strdup(folder);
	struct stat st;
	char *p;

	if (!path)
		return -ENOMEM;
	for (p = path + 1; *path && (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0)
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	return -errno;
}

int symcache_open(const char *folder, uint64_t bytes_max, struct symcache **ret, struct error *e)
{
	CLEANUP(symcache) struct symcache *c = calloc(1, sizeof(*c));
	int r = make_folders(folder);

	if (r == 0 && c)
		c->folder = strdup(folder);
	if (r == 0 && (!c || !c->folder))
		r = -ENOMEM;
	if (r < 0)
		return error_set(e, -r, "cannot open folder %s: %s", folder, strerror(-r));
	c->bytes_max = bytes_max ? bytes_max : SYMCACHE_BYTES;
	*ret = take_ptr(c);
	return 0;
}

static char *dup_path(const struct symcache *c, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", c->folder, name) < 0 ? NULL : path;
}

static void format_name(enum symfile_kind kind, const uint8_t *id, size_t id_len,
			char out[SYMCACHE_NAME_MAX])
{
	hex_format(id, id_len, out);
	strcat(out, kind == SYMFILE_KERNEL    ? ".kernel" END
		    : kind == SYMFILE_MODULES ? ".modules" END
		    : kind == SYMFILE_LINES   ? ".lines" END
					      : END);
}

static int open_table(const char *path, bool is_use, struct symfile **ret, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct timespec now;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot be opened: %s", strerror(errno));
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return error_set(e, EPERM, "belongs to somebody else");
	clock_gettime(CLOCK_REALTIME, &now);
	/* A folder that cannot be written to is as good to read. */
	if (is_use && now.tv_sec - st.st_mtim.tv_sec > TOUCH_S && futimens(fd, NULL) < 0)
		errno = 0;
	return symfile_open(take_fd(&fd), ret, e);
}

int symcache_get(struct symcache *c, enum symfile_kind kind, const uint8_t *id, size_t id_len,
		 struct symfile **ret)
{
	char name[SYMCACHE_NAME_MAX];
	_cleanup_free_ char *path = NULL;
	const struct symfile_head *h;
	struct symfile *f;
	int r;

	if (id_len == 0 || id_len > SYMFILE_ID_MAX)
		return 0;
	format_name(kind, id, id_len, name);
	path = dup_path(c, name);
	if (!path)
		return -ENOMEM;
	r = open_table(path, true, &f, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	h = symfile_get_head(f);
	if (h->kind != kind || h->id_len != id_len || memcmp(h->id, id, id_len) != 0) {
		symfile_close(f);
		return 0;
	}
	*ret = f;
	return 1;
}

/* --- what is there --- */

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && strcmp(name + len - n, end) == 0;
}

/* A table on its way has more behind the end of its name. */
static void remove_left(int folder, const char *name, const struct stat *st)
{
	if (strstr(name, END ".") && time(NULL) - st->st_mtim.tv_sec > LEFT_S)
		unlinkat(folder, name, 0);
}

static int push_row(struct symcache_row **rows, size_t *n, size_t *room,
		    const struct symcache_row *row)
{
	struct symcache_row *moved;

	if (*n == *room) {
		*room = *room ? *room * 2 : FIRST_ROWS;
		moved = realloc(*rows, *room * sizeof(*moved));
		if (!moved)
			return -ENOMEM;
		*rows = moved;
	}
	(*rows)[(*n)++] = *row;
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct symcache_row *a = left, *b = right;

	if (a->used_ns != b->used_ns)
		return a->used_ns < b->used_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int read_rows(DIR *d, struct symcache_row **rows, size_t *n)
{
	const struct dirent *entry;
	size_t room = 0;
	struct stat st;
	int r = 0;

	while (r == 0 && *n < SYMCACHE_FILES_MAX && (entry = readdir(d))) {
		struct symcache_row row = { 0 };

		if (strlen(entry->d_name) >= sizeof(row.name) ||
		    fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		remove_left(dirfd(d), entry->d_name, &st);
		if (!ends_with(entry->d_name, END))
			continue;
		strcpy(row.name, entry->d_name);
		row.bytes = (uint64_t)st.st_size;
		row.used_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
		r = push_row(rows, n, &room, &row);
	}
	return r;
}

int symcache_dup_rows(struct symcache *c, struct symcache_row **ret, size_t *ret_n)
{
	_cleanup_free_ struct symcache_row *rows = NULL;
	DIR *d = opendir(c->folder);
	size_t n = 0;
	int r;

	if (!d)
		return -errno;
	r = read_rows(d, &rows, &n);
	closedir(d);
	if (r < 0)
		return r;
	if (n)
		qsort(rows, n, sizeof(*rows), compare_rows);
	*ret = take_ptr(rows);
	*ret_n = n;
	return 0;
}

int symcache_open_row(struct symcache *c, const struct symcache_row *row, struct symfile **ret,
		      struct error *e)
{
	_cleanup_free_ char *path = dup_path(c, row->name);

	if (!path)
		return error_set(e, ENOMEM, "cannot be opened: %s", strerror(ENOMEM));
	return open_table(path, false, ret, e);
}

/* --- a new one --- */

/* The one that was just made stays, however large it is. */
static void trim(struct symcache *c, const char *kept)
{
	_cleanup_free_ struct symcache_row *rows = NULL;
	uint64_t sum = 0;
	size_t n = 0, i;

	if (symcache_dup_rows(c, &rows, &n) < 0)
		return;
	for (i = 0; i < n; i++)
		sum += rows[i].bytes;
	for (i = 0; i < n && sum > c->bytes_max; i++) {
		_cleanup_free_ char *path = dup_path(c, rows[i].name);

		if (path && strcmp(rows[i].name, kept) != 0 && unlink(path) == 0)
			sum -= rows[i].bytes;
	}
}

static int copy_table(int to, int from)
{
	off_t at = 0;
	char bytes[16384];
	ssize_t n;

	while ((n = pread(from, bytes, sizeof(bytes), at)) > 0) {
		if (pwrite(to, bytes, (size_t)n, at) != n)
			return errno ? -errno : -EIO;
		at += n;
	}
	return n < 0 ? -errno : 0;
}

/* What a new table is made of. */
struct origin {
	const struct symfile_source *source; /* NULL: it is a copy of a file */
	int fd;
};

/* A name of our own, for two threads may make the same table. */
static int write_beside(const char *path, const struct origin *from)
{
	_cleanup_free_ char *beside = NULL;
	_cleanup_close_ int fd = -1;
	int r;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = from->source ? symfile_write(fd, from->source) : copy_table(fd, from->fd);
	if (r == 0 && (fchmod(fd, 0644) < 0 || fdatasync(fd) < 0 || rename(beside, path) < 0))
		r = -errno;
	if (r < 0)
		unlink(beside);
	return r;
}

static int put(struct symcache *c, const char *name, const struct origin *from,
	       struct symfile **ret, struct error *e)
{
	_cleanup_free_ char *path = dup_path(c, name);
	int r = path ? write_beside(path, from) : -ENOMEM;

	if (r < 0)
		return error_set(e, -r, "cannot write %s/%s: %s", c->folder, name, strerror(-r));
	trim(c, name);
	r = open_table(path, true, ret, e);
	return r < 0 ? error_prefix(e, -r, "cannot open the new table") : 1;
}

int symcache_put(struct symcache *c, const struct symfile_source *s, struct symfile **ret,
		 struct error *e)
{
	char name[SYMCACHE_NAME_MAX];

	if (s->id_len == 0 || s->id_len > SYMFILE_ID_MAX)
		return error_set(e, EINVAL, "cannot keep a table without a build-id");
	format_name(s->kind, s->id, s->id_len, name);
	return put(c, name, &(struct origin){ s, -1 }, ret, e);
}

int symcache_put_copy(struct symcache *c, const struct symfile_head *h, int from,
		      struct symfile **ret, struct error *e)
{
	char name[SYMCACHE_NAME_MAX];

	if (h->id_len == 0 || h->id_len > SYMFILE_ID_MAX)
		return error_set(e, EINVAL, "cannot keep a table without a build-id");
	format_name(h->kind, h->id, h->id_len, name);
	return put(c, name, &(struct origin){ NULL, from }, ret, e);
}
