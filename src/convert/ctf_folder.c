/* SPDX-License-Identifier: MIT */
/* ctf_folder: see ctf_folder.h. */
#include "convert/ctf_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define STREAM_PREFIX "channel0_"

struct ctf_folder {
	char *path;
	char *temporary; /* NULL once committed */
};

static int failed(const struct ctf_folder *f, int code, struct error *e)
{
	return error_set(e, code, "cannot write %s: %s", f->path, strerror(code));
}

static bool is_own_name(const char *name)
{
	return !strcmp(name, "metadata") || !strncmp(name, STREAM_PREFIX, strlen(STREAM_PREFIX));
}

/* Calls once per entry; stops at the first that is not zero. */
static int each_entry(const char *path, int (*call)(int fd, const char *name))
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int r = 0;

	if (!dir)
		return -errno;
	while (errno = 0, r == 0 && (d = readdir(dir)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = call(dirfd(dir), d->d_name);
	if (r == 0)
		r = -errno;
	closedir(dir);
	return r;
}

static int entry_is_foreign(int fd, const char *name)
{
	const char head[] = CTF_METADATA_HEAD;
	char found[sizeof(head)] = "";
	_cleanup_close_ int file = -1;

	if (!is_own_name(name))
		return 1;
	if (strcmp(name, "metadata") != 0)
		return 0;
	file = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return file < 0 || read(file, found, sizeof(head) - 1) != (ssize_t)sizeof(head) - 1 ||
	       memcmp(found, head, sizeof(head) - 1) != 0;
}

static int entry_remove(int fd, const char *name)
{
	return is_own_name(name) && unlinkat(fd, name, 0) < 0 ? -errno : 0;
}

static int entry_found(int fd, const char *name)
{
	(void)fd;
	(void)name;
	return 1;
}

static void remove_folder(const char *path)
{
	each_entry(path, entry_remove);
	rmdir(path);
}

/* Streams without metadata are not ours either: who knows whose channel0_0 that is. */
static int check_target(const struct ctf_folder *f, struct error *e)
{
	_cleanup_free_ char *metadata = NULL;
	struct stat st;
	int r;

	if (lstat(f->path, &st) < 0)
		return errno == ENOENT ? 0 : failed(f, errno, e);
	if (!S_ISDIR(st.st_mode))
		return error_set(e, EEXIST, "cannot write %s: it exists and is not a folder",
				 f->path);
	r = each_entry(f->path, entry_found);
	if (r <= 0)
		return r < 0 ? failed(f, -r, e) : 0;
	if (asprintf(&metadata, "%s/metadata", f->path) < 0) {
		metadata = NULL;
		return failed(f, ENOMEM, e);
	}
	r = access(metadata, F_OK) < 0 ? 1 : each_entry(f->path, entry_is_foreign);
	if (r < 0)
		return failed(f, -r, e);
	return r == 0 ? 0
		      : error_set(e, EEXIST,
				  "cannot write %s: the folder has files that Kiseki did not write",
				  f->path);
}

int ctf_folder_open(struct ctf_folder **ret, const char *path, struct error *e)
{
	CLEANUP(ctf_folder) struct ctf_folder *f = NULL;
	char *temporary = NULL;
	size_t len = strlen(path);
	int r;

	if (!strcmp(path, "-"))
		return error_set(e, EINVAL, "cannot write CTF to a pipe: it is a folder of files");
	while (len > 1 && path[len - 1] == '/')
		len--;
	f = calloc(1, sizeof(*f));
	if (!f || !(f->path = strndup(path, len)))
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	r = check_target(f, e);
	if (r < 0)
		return r;
	if (asprintf(&temporary, "%s.partial.%d", f->path, (int)getpid()) < 0)
		return failed(f, ENOMEM, e);
	if (mkdir(temporary, 0777) < 0) {
		r = failed(f, errno, e);
		free(temporary);
		return r;
	}
	f->temporary = temporary;
	*ret = take_ptr(f);
	return 0;
}

void ctf_folder_free(struct ctf_folder *f)
{
	if (!f)
		return;
	if (f->temporary)
		remove_folder(f->temporary);
	free(f->temporary);
	free(f->path);
	free(f);
}

const char *ctf_folder_path(const struct ctf_folder *f)
{
	return f->temporary;
}

int ctf_folder_append(struct ctf_folder *f, uint32_t cpu, const void *data, size_t len,
		      struct error *e)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	const char *p = data;

	if (asprintf(&path, "%s/" STREAM_PREFIX "%u", f->temporary, cpu) < 0) {
		path = NULL;
		return failed(f, ENOMEM, e);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return failed(f, errno, e);
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed(f, n < 0 ? errno : EIO, e);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* An older export steps aside first, because rename() replaces only empty folders. */
int ctf_folder_commit(struct ctf_folder *f, struct error *e)
{
	_cleanup_free_ char *old = NULL;
	int r = check_target(f, e);

	if (r < 0)
		return r;
	if (rename(f->temporary, f->path) < 0) {
		if (errno != ENOTEMPTY && errno != EEXIST)
			return failed(f, errno, e);
		if (asprintf(&old, "%s.old.%d", f->path, (int)getpid()) < 0) {
			old = NULL;
			return failed(f, ENOMEM, e);
		}
		if (rename(f->path, old) < 0)
			return failed(f, errno, e);
		if (rename(f->temporary, f->path) < 0) {
			r = errno;
			if (rename(old, f->path) < 0)
				return error_set(e, r, "cannot write %s: %s; its old state is %s",
						 f->path, strerror(r), old);
			return failed(f, r, e);
		}
		remove_folder(old);
	}
	free(f->temporary);
	f->temporary = NULL;
	return 0;
}
