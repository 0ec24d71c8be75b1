/* SPDX-License-Identifier: MIT */
/*
 * build_id: the number that the linker gave an object, read from its ELF header in memory.
 */
#ifndef KISEKI_DEVICE_FUNC_BUILD_ID_H
#define KISEKI_DEVICE_FUNC_BUILD_ID_H

#include "device/func/maps.h"

/* Of the object whose header is mapped at `head`; nothing is read behind `end`. Returns its length,
 * 0: it has none that can be found. */
uint32_t build_id_get(uint64_t head, uint64_t end, uint8_t ret[MAPS_BUILD_ID_MAX]);

#endif
