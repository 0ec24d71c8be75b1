/* SPDX-License-Identifier: MIT */
/* func_library: where libkiseki-func.so is that belongs to this kiseki. */
#ifndef KISEKI_CLI_FUNC_LIBRARY_H
#define KISEKI_CLI_FUNC_LIBRARY_H

#include "base/error.h"

#define FUNC_LIBRARY_MAX 4096U

/* KISEKI_LIBFUNC, then beside this program, then where the build puts it, then where it is
 * installed. -ENOENT. */
int func_library_find(char path[FUNC_LIBRARY_MAX], struct error *e);

#endif
