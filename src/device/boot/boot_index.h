/* SPDX-License-Identifier: MIT */
/*
 * boot_index: the index at the end of a .ksk file (docs/format/ksk.md, section 3), made from the file itself.
 *
 * A file can be read without it; with it, it says that it is whole. The recorder keeps no list of its
 * blocks, so when all is written it goes through their headers once.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_INDEX_H
#define KISEKI_DEVICE_BOOT_BOOT_INDEX_H

#include <stdint.h>

#include "base/error.h"

/* Puts index and trailer behind the first `end` bytes, which are a head and blocks. */
int boot_index_put(int fd, uint64_t end, struct error *e);

#endif
