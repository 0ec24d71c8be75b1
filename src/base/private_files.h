/* SPDX-License-Identifier: MIT */
/*
 * private_files: what a program makes from now on is not for other users of the machine.
 *
 * SQLite and others make files with the mode that the umask leaves them. Where logins decide who sees
 * a collector's data, the files of its folder must not show it to everybody with an account. For the
 * start of programs: a process has one umask.
 */
#ifndef KISEKI_BASE_PRIVATE_FILES_H
#define KISEKI_BASE_PRIVATE_FILES_H

#include <sys/stat.h>

static inline void private_files_only(void)
{
	umask(umask(S_IRWXO) | S_IWGRP | S_IRWXO);
}

#endif
