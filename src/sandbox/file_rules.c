/* SPDX-License-Identifier: MIT */
/*
 * file_rules: see file_rules.h.
 *
 * The calls and structs are written out, for the headers of the C library that this is built with may be
 * older than the kernel it runs on.
 */
#include "sandbox/file_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/syscall_number.h"

/* The same on all machines. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define VERSION_FLAG 1U
#define RULE_PATH_BENEATH 1

#define READ_FILE (1ULL << 2)
#define READ_DIR (1ULL << 3)
#define ALL_FIRST ((1ULL << 13) - 1) /* of version 1: execute, write, read, make, remove */
#define TRUNCATE (1ULL << 14)	     /* of version 3 */
#define TRUNCATE_VERSION 3

struct path_rule {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

static long get_version(void)
{
	return syscall(CREATE_RULESET, NULL, (size_t)0, VERSION_FLAG);
}

bool file_rules_exist(void)
{
	return get_version() > 0;
}

/* What cannot be found here cannot be opened later: it needs no rule. */
static int add_path(int rules, const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct path_rule rule = { .allowed = READ_FILE, .folder = fd };
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		rule.allowed |= READ_DIR;
	return syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0) < 0 ? -errno : 0;
}

int file_rules_enter(const char *folder, const char *const *more, struct error *e)
{
	long version = get_version();
	uint64_t handled = ALL_FIRST | (version >= TRUNCATE_VERSION ? TRUNCATE : 0);
	_cleanup_close_ int rules = -1;
	int r;

	if (version <= 0)
		return error_set(e, ENOSYS, "cannot limit files: this kernel has no landlock");
	rules = (int)syscall(CREATE_RULESET, &handled, sizeof(handled), 0);
	if (rules < 0)
		return error_set(e, errno, "cannot limit files: %s", strerror(errno));
	r = folder ? add_path(rules, folder) : 0;
	for (; folder && more && *more && r == 0; more++)
		r = add_path(rules, *more);
	if (r == 0 &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(RESTRICT_SELF, rules, 0) < 0))
		r = -errno;
	return r < 0 ? error_set(e, -r, "cannot limit files: %s", strerror(-r)) : 0;
}
