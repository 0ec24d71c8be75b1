/* SPDX-License-Identifier: MIT */
/* facts: what the chart says about the machine in its head: command line, CPU, release, how it was recorded. */
#ifndef KISEKI_DEVICE_BOOT_FACTS_H
#define KISEKI_DEVICE_BOOT_FACTS_H

#include "device/boot/boot_settings.h"
#include "device/boot/place.h"
#include "device/boot/record_sink.h"

void facts_say(struct record_sink *sink, const struct place *p, const struct boot_settings *s,
	       uint64_t tick);

/* The value of a line "key<blanks>: value" of /proc/cpuinfo, or KEY="value" of os-release; its length, 0 if there
 * is none. */
size_t facts_find(const char *text, size_t len, const char *key, const char **ret);

#endif
