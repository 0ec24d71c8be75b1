/* SPDX-License-Identifier: MIT */
/*
 * source_bootchart: the archive of a bootchart (bootchart2, busybox, Android) as a source of records.
 *
 * A tar file, plain or compressed with gzip, or a folder, with `header`, `proc_stat.log`, `proc_ps.log`,
 * `proc_diskstats.log`, and where there are any `proc_meminfo.log`, `cmdline2.log`, `paternity.log`, `kernel_pacct`,
 * `dmesg`.
 */
#ifndef KISEKI_CONVERT_SOURCE_BOOTCHART_H
#define KISEKI_CONVERT_SOURCE_BOOTCHART_H

#include "trace/boot_source.h"

/* -ENODATA: it is no bootchart. It is read by another process (boot_child.h), from memory by this one. */
int source_bootchart_open(const char *path, struct boot_source **ret, struct error *e);
int source_bootchart_open_memory(const uint8_t *data, size_t len, struct boot_source **ret,
				 struct error *e);

#endif
