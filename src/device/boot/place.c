/* SPDX-License-Identifier: MIT */
/* place: see place.h. */
#include "device/boot/place.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/boot/kernel_abi.h"

/* Younger than the headers of some machines that build; the same number on all architectures. */
#ifndef SYS_fsopen
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#define COMMAND_CREATE 6 /* FSCONFIG_CMD_CREATE */
#define CLOSE_ON_EXEC 1	 /* FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC */

static bool is_proc(int fd)
{
	struct statfs f;

	return !fstatfs(fd, &f) && (uint32_t)f.f_type == ABI_PROC;
}

/* In no tree. */
static int mount_apart(const char *type)
{
	_cleanup_close_ int fs = (int)syscall(SYS_fsopen, type, CLOSE_ON_EXEC);
	long fd;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, COMMAND_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = syscall(SYS_fsmount, fs, CLOSE_ON_EXEC, MS_NOSUID | MS_NOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* On a folder, for the moment that it takes to open it. */
static int mount_aside(const char *type)
{
	static const char *const folders[] = { "/proc", "/sys", "/dev", "/mnt",
					       "/run",	"/tmp", "/root" };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		if (mount(type, folders[i], type, MS_NOSUID | MS_NOEXEC, NULL))
			continue;
		fd = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		umount2(folders[i], MNT_DETACH);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

static int mount_private(const char *type)
{
	int fd = mount_apart(type);

	return fd < 0 ? mount_aside(type) : fd;
}

int place_open(struct place *p, struct error *e)
{
	_cleanup_close_ int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !is_proc(fd)) {
		cleanup_closep(&fd);
		fd = mount_private("proc");
	}
	if (fd < 0)
		return error_set(e, -fd, "cannot mount /proc: %s", strerror(-fd));
	p->proc = take_fd(&fd);
	return 0;
}

void place_close(struct place *p)
{
	cleanup_closep(&p->proc);
	p->proc = -1;
}

/* A device of major number 1, by its name in /dev, wherever that may be. */
static int open_device(const char *name, unsigned int minor, int flags)
{
	_cleanup_close_ int dev = -1;
	char path[32] = "/dev/";
	int fd;

	strcat(path, name);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		return fd;
	dev = mount_private("devtmpfs");
	fd = dev < 0 ? -1 : openat(dev, name, flags | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		return fd;
	cleanup_closep(&dev);
	dev = mount_private("tmpfs");
	if (dev < 0)
		return dev;
	if (mknodat(dev, name, S_IFCHR | 0600, makedev(1, minor)))
		return -errno;
	fd = openat(dev, name, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int place_open_log(int flags)
{
	return open_device("kmsg", 11, flags);
}

int place_open_null(void)
{
	return open_device("null", 3, O_RDWR);
}

bool place_is_first_root(void)
{
	struct statfs f;

	return !statfs("/", &f) &&
	       ((uint32_t)f.f_type == ABI_RAMFS || (uint32_t)f.f_type == ABI_TMPFS);
}

void place_hide(struct place *p)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return;
	mount("proc", "/proc", "proc", MS_NOSUID | MS_NOEXEC, NULL);
	mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NOEXEC, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", MS_NOSUID | MS_NOEXEC, NULL);
	p->is_private = true;
}

const char *place_get_path(const struct place *p, const char *path, char room[PLACE_PATH_MAX])
{
	if (!p->is_private || path[0] != '/')
		return path;
	snprintf(room, PLACE_PATH_MAX, PLACE_ROOT "%s", path);
	return room;
}

static bool go_to_root(const struct place *p)
{
	return !fchdir(p->proc) && !chroot("1/root") && !chdir("/");
}

bool place_follow(struct place *p)
{
	struct stat now;
	bool is_first = !p->root_inode;

	if (fstatat(p->proc, "1/root/.", &now, 0) ||
	    (p->root_dev == now.st_dev && p->root_inode == now.st_ino))
		return false;
	p->root_dev = now.st_dev;
	p->root_inode = now.st_ino;
	if (is_first)
		return false;
	if (!p->is_private)
		go_to_root(p);
	return true;
}

void place_come_out(struct place *p)
{
	if (p->is_private && go_to_root(p))
		p->is_private = false;
}
