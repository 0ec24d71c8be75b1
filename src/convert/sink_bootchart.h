/* SPDX-License-Identifier: MIT */
/*
 * sink_bootchart: the records of a boot as a bootchart's archive (.tgz), for tools that read these.
 */
#ifndef KISEKI_CONVERT_SINK_BOOTCHART_H
#define KISEKI_CONVERT_SINK_BOOTCHART_H

#include <stdio.h>

#include "trace/boot_source.h"

int sink_bootchart_write(FILE *f, struct boot_source *s, struct error *e);

#endif
