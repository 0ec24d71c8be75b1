/* SPDX-License-Identifier: MIT */
/*
 * bootchart_archive: the files of a bootchart, wherever they lie: in a tar file, plain or compressed with gzip, or
 * in a folder (docs/format/bootchart.md).
 *
 * Only the files that are read are kept, each whole, since they have to be read side by side; what they may take
 * together is bounded. An archive that ends too early gives what there is of it, and says so.
 */
#ifndef KISEKI_CONVERT_BOOTCHART_ARCHIVE_H
#define KISEKI_CONVERT_BOOTCHART_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define BOOTCHART_BYTES_MAX (512U << 20) /* of all files together */

enum bootchart_file {
	BOOTCHART_HEADER,
	BOOTCHART_STAT,
	BOOTCHART_PS,
	BOOTCHART_TASKSTATS,
	BOOTCHART_DISKSTATS,
	BOOTCHART_MEMINFO,
	BOOTCHART_CMDLINE,
	BOOTCHART_PATERNITY,
	BOOTCHART_PACCT,
	BOOTCHART_DMESG,
	BOOTCHART_FILES,
};
extern const char *const bootchart_names[BOOTCHART_FILES];

struct bootchart_archive {
	struct {
		char *data; /* NULL: it is not there */
		size_t len, room;
	} file[BOOTCHART_FILES];
	bool is_cut;
};

/* Whether a file that begins so is such an archive: the first file in it that its first bytes reach to is one of
 * the above. */
bool bootchart_archive_is(const uint8_t *data, size_t len);

/* -ENODATA: these are no files of a bootchart. fd: of a file, read from where it is, or of a folder; the path is for what is said of it. */
int bootchart_archive_read(struct bootchart_archive *a, int fd, const char *path, struct error *e);
int bootchart_archive_parse(struct bootchart_archive *a, const uint8_t *data, size_t len,
			    struct error *e);
void bootchart_archive_done(struct bootchart_archive *a);

#endif
