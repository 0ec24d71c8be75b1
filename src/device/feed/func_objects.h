/* SPDX-License-Identifier: MIT */
/*
 * func_objects: the files of code of traced programs, for a collector that lacks them (profile/told_objects.h).
 *
 * Which file lay where says the program itself, and it may be anybody's. So a file is told of only if the kernel says that this process has it mapped, or,
 * where the process is gone or not to be looked at, if everybody may read it.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_OBJECTS_H
#define KISEKI_DEVICE_FEED_FUNC_OBJECTS_H

#include "device/profile/told_objects.h"
#include "wire/func_meta_encode.h"

void func_objects_tell(struct told_objects *to, int32_t pid, const struct func_meta_mapping *m);

#endif
