/* SPDX-License-Identifier: MIT */
/*
 * boot_child: a source of a boot chart's records whose reader is a process of its own, in a sandbox (child_process.h).
 */
#ifndef KISEKI_CONVERT_BOOT_CHILD_H
#define KISEKI_CONVERT_BOOT_CHILD_H

#include "convert/child_process.h"
#include "trace/boot_source.h"

struct boot_child_job {
	/* In the child, in the sandbox. The source is never freed. */
	int (*open)(const struct boot_child_job *job, struct boot_source **ret, struct error *e);
	const char
		*path; /* for what is said of it; and the folder that may be read, if it is one */
	int fd;	       /* of the path, taken */
	bool is_folder;
};

int boot_child_open(struct boot_source **ret, const struct boot_child_job *job, struct error *e);

#endif
