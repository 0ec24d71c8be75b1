/* SPDX-License-Identifier: MIT */
/*
 * file_rules: which files a process may still open by name (landlock, Linux 5.13). Those that are open stay open.
 */
#ifndef KISEKI_SANDBOX_FILE_RULES_H
#define KISEKI_SANDBOX_FILE_RULES_H

#include <stdbool.h>

#include "base/error.h"

/* Only what is below the folder, and that only to read; NULL: none at all. `more` are other folders, and files, where they
 * exist, up to a NULL; NULL: none. For good. -ENOSYS: this kernel cannot. */
int file_rules_enter(const char *folder, const char *const *more, struct error *e);

bool file_rules_exist(void);

#endif
