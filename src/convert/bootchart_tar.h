/* SPDX-License-Identifier: MIT */
/*
 * bootchart_tar: writes a tar file compressed with gzip: ustar, files only, made by nobody in particular.
 */
#ifndef KISEKI_CONVERT_BOOTCHART_TAR_H
#define KISEKI_CONVERT_BOOTCHART_TAR_H

#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"

struct bootchart_tar;

/* f is borrowed. time: of all its files, in seconds. NULL: out of memory. */
struct bootchart_tar *bootchart_tar_new(FILE *f, uint64_t time);
void bootchart_tar_free(struct bootchart_tar *t);
DEFINE_CLEANUP(bootchart_tar, bootchart_tar_free)

/* All of a file, from its start. The name has at most 99 bytes. 0 or a negative errno. */
int bootchart_tar_put(struct bootchart_tar *t, const char *name, FILE *content);

/* Ends the archive. To be called once. */
int bootchart_tar_finish(struct bootchart_tar *t);

#endif
