/* SPDX-License-Identifier: MIT */
/* vm_guest_identity: see vm_guest_identity.h. */
#include "device/vm/vm_guest_identity.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"

#define PATH_ROOM 512U
#define LINE_ROOM (128U << 10) /* of a command line; the rest of a longer one is not looked at */
#define FILES_MAX 65536U       /* descriptors of a process that are looked at */
#define VM_FILE "anon_inode:kvm-vm"

/* --- command lines --- */

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "cid" and the number: guest-cid=7, cid=7, "guest-cid": 7, --cid 7. */
static bool is_cid_at(const char *p, const char *end, uint32_t cid)
{
	char digits[16];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%u", cid);

	p += 3;
	while (p < end && (*p == '"' || *p == '=' || *p == ':' || *p == ' ' || *p == 0))
		p++;
	return (size_t)(end - p) >= n && !memcmp(p, digits, n) &&
	       ((size_t)(end - p) == n || !is_word(p[n]));
}

bool vm_guest_identity_has_cid(const char *line, size_t len, uint32_t cid)
{
	size_t i;

	for (i = 0; i + 4 < len; i++)
		if (!memcmp(line + i, "cid", 3) && !is_word(line[i + 3]) &&
		    (!i || !is_word(line[i - 1])) && is_cid_at(line + i, line + len, cid))
			return true;
	return false;
}

/* Its 32 digits, with dashes between them wherever they are. */
static bool is_uuid_at(const char *p, const char *end, const uint8_t uuid[GUEST_UUID_LEN])
{
	uint32_t n = 0;

	for (; p < end && n < 2 * GUEST_UUID_LEN; p++) {
		if (*p == '-' && n)
			continue;
		if (hex_digit(*p) != (n & 1 ? uuid[n / 2] & 15 : uuid[n / 2] >> 4))
			return false;
		n++;
	}
	return n == 2 * GUEST_UUID_LEN && (p == end || !is_word(*p));
}

bool vm_guest_identity_has_uuid(const char *line, size_t len, const uint8_t uuid[GUEST_UUID_LEN])
{
	size_t i;

	for (i = 0; i + 2 * GUEST_UUID_LEN <= len; i++)
		if ((!i || !is_word(line[i - 1])) && is_uuid_at(line + i, line + len, uuid))
			return true;
	return false;
}

/* --- processes --- */

static bool is_vmm(const char *proc, int32_t pid)
{
	char path[PATH_ROOM], target[sizeof(VM_FILE) + 1];
	const struct dirent *d;
	uint32_t files = 0;
	bool found = false;
	DIR *folder;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/fd", proc, pid);
	folder = opendir(path);
	while (folder && !found && files++ < FILES_MAX && (d = readdir(folder))) {
		n = readlinkat(dirfd(folder), d->d_name, target, sizeof(target));
		found = n == sizeof(VM_FILE) - 1 && !memcmp(target, VM_FILE, sizeof(VM_FILE) - 1);
	}
	if (folder)
		closedir(folder);
	return found;
}

int32_t vm_guest_identity_by_pid(const char *proc, int32_t pid, struct error *e)
{
	if (pid > 0 && is_vmm(proc, pid))
		return pid;
	return error_set(e, EPERM, "it runs no virtual machine");
}

struct wanted {
	const uint8_t *uuid; /* NULL: it is the cid */
	uint32_t cid;
	char line[LINE_ROOM];
};

static bool is_wanted(struct wanted *w, const char *proc, int32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_ROOM];
	size_t len = 0;
	ssize_t n = 1;

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n > 0 && len < LINE_ROOM) {
		n = read(fd, w->line + len, LINE_ROOM - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (w->uuid ? !vm_guest_identity_has_uuid(w->line, len, w->uuid)
		    : !vm_guest_identity_has_cid(w->line, len, w->cid))
		return false;
	return is_vmm(proc, pid);
}

/* The one whose command line has it. */
static int32_t find(struct wanted *w, const char *proc, const char *what, struct error *e)
{
	DIR *folder = opendir(proc);
	const struct dirent *d;
	int32_t found = 0, n = 0, pid;

	while (folder && (d = readdir(folder))) {
		pid = (int32_t)atoi(d->d_name);
		if (pid <= 0 || !is_wanted(w, proc, pid))
			continue;
		found = pid;
		n++;
	}
	if (folder)
		closedir(folder);
	if (n == 1)
		return found;
	return error_set(e, n ? ENOTUNIQ : ENOENT,
			 "%s virtual machine has the %s on its command line",
			 n ? "more than one" : "no", what);
}

int32_t vm_guest_identity_by_cid(const char *proc, uint32_t cid, struct error *e)
{
	_cleanup_free_ struct wanted *w = calloc(1, sizeof(*w));
	char what[32];

	if (!w)
		return error_set(e, ENOMEM, "out of memory");
	w->cid = cid;
	snprintf(what, sizeof(what), "number cid=%u", cid);
	return find(w, proc, what, e);
}

int32_t vm_guest_identity_by_uuid(const char *proc, const uint8_t uuid[GUEST_UUID_LEN],
				  struct error *e)
{
	_cleanup_free_ struct wanted *w = calloc(1, sizeof(*w));
	char what[64], digits[2 * GUEST_UUID_LEN + 1];
	static const uint8_t none[GUEST_UUID_LEN];

	if (!w)
		return error_set(e, ENOMEM, "out of memory");
	if (!memcmp(uuid, none, sizeof(none)))
		return error_set(e, ENOENT, "the guest does not know its UUID");
	w->uuid = uuid;
	snprintf(what, sizeof(what), "UUID %s", hex_format(uuid, GUEST_UUID_LEN, digits));
	return find(w, proc, what, e);
}
