/* SPDX-License-Identifier: MIT */
/* key_file: see key_file.h. */
#include "base/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/secrecy.h"

static const char *path_of(const char *folder, const char *name, char path[KEY_PATH_MAX])
{
	snprintf(path, KEY_PATH_MAX, "%s/%s", folder, name);
	return path;
}

static int say(struct error *e, const char *verb, const char *folder, const char *name)
{
	int code = errno;

	return error_set(e, code, "cannot %s %s/%s: %s", verb, folder, name, strerror(code));
}

/* A new one belongs to whom the folder around it belongs: so does what root makes for another user. */
static int give_folder(const char *folder)
{
	char around[KEY_FOLDER_MAX + 4];
	struct stat owner;

	snprintf(around, sizeof(around), "%s/..", folder);
	return stat(around, &owner) < 0 ? -1 : lchown(folder, owner.st_uid, owner.st_gid);
}

int key_folder_make(const char *folder, struct error *e)
{
	int r;

	if (strlen(folder) >= KEY_FOLDER_MAX)
		return error_set(e, ENAMETOOLONG, "cannot make %s: too long a name", folder);
	r = mkdir(folder, 0700);
	if (r == 0 && geteuid() == 0)
		r = give_folder(folder);
	else if (r < 0 && errno == EEXIST)
		r = 0;
	return r < 0 ? error_set(e, errno, "cannot make %s: %s", folder, strerror(errno)) : 0;
}

static int sync_folder(const char *folder)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

static int open_new(const char *folder, const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	struct stat owner;

	if (fd < 0 || fchmod(fd, 0600) < 0)
		return -1;
	if (geteuid() == 0 &&
	    (stat(folder, &owner) < 0 || fchown(fd, owner.st_uid, owner.st_gid) < 0))
		return -1;
	return take_fd(&fd);
}

int key_file_write(const char *folder, const char *name, const void *data, size_t len,
		   struct error *e)
{
	char path[KEY_PATH_MAX], partial[KEY_PATH_MAX + 8];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	secrecy_enter();
	snprintf(partial, sizeof(partial), "%s.partial", path_of(folder, name, path));
	unlink(partial); /* of one that died; what others may have put there is not written to */
	fd = open_new(folder, partial, O_EXCL);
	if (fd < 0)
		return say(e, "write", folder, name);
	n = write(fd, data, len);
	if (n >= 0 && (size_t)n != len)
		errno = ENOSPC;
	if (n != (ssize_t)len || fsync(fd) < 0 || rename(partial, path) < 0 ||
	    sync_folder(folder) < 0) {
		say(e, "write", folder, name);
		unlink(partial);
		return -EIO;
	}
	return 0;
}

int key_file_remove(const char *folder, const char *name, struct error *e)
{
	char path[KEY_PATH_MAX];

	if (unlink(path_of(folder, name, path)) < 0 && errno != ENOENT)
		return say(e, "remove", folder, name);
	return sync_folder(folder) < 0 ? say(e, "remove", folder, name) : 0;
}

int key_file_dup(const char *folder, const char *name, char **ret, size_t *ret_len, struct error *e)
{
	char path[KEY_PATH_MAX];
	_cleanup_close_ int fd = open(path_of(folder, name, path), O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	ssize_t n;

	secrecy_enter();
	if (fd < 0)
		return say(e, "read", folder, name);
	text = malloc(KEY_FILE_MAX + 1);
	if (!text)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", path);
	n = read(fd, text, KEY_FILE_MAX + 1);
	if (n < 0)
		return say(e, "read", folder, name);
	if (n > (ssize_t)KEY_FILE_MAX)
		return error_set(e, EFBIG, "cannot read %s: it is no file of keys", path);
	text[n] = 0;
	*ret_len = (size_t)n;
	*ret = take_ptr(text);
	return 0;
}

bool key_file_exists(const char *folder, const char *name)
{
	char path[KEY_PATH_MAX];

	/* One that may not be looked at is there: who goes on without keys must know that there are none. */
	return access(path_of(folder, name, path), F_OK) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

int key_file_touch(const char *folder, const char *name, struct error *e)
{
	char path[KEY_PATH_MAX];
	_cleanup_close_ int fd = open_new(folder, path_of(folder, name, path), O_NOFOLLOW);

	return fd < 0 ? say(e, "make", folder, name) : 0;
}
