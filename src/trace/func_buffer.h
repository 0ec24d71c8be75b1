/* SPDX-License-Identifier: MIT */
/*
 * func_buffer: the record of a process (func_record.h), or a folder of such records, as a function
 * source.
 *
 * Beside `command.pid` lies `command.pid.maps`; without it there are addresses and no objects. Ticks
 * are those of the record. The threads are those of which anything is left, in the order in which
 * they came; if calls were lost of which no thread is known, a last one stands for all such threads,
 * with tid 0.
 *
 * A folder's records are merged (func_merge.h): they are taken to be of one machine since one boot.
 */
#ifndef KISEKI_TRACE_FUNC_BUFFER_H
#define KISEKI_TRACE_FUNC_BUFFER_H

#include "trace/func_source.h"

#define FUNC_BUFFER_FILES_MAX FUNC_PROCESSES_MAX /* records of a folder */

int func_buffer_open(const char *path, struct func_source **ret, struct error *e);

/* All files of the folder that are records. -ENOENT: there is none. One that cannot be read fails
 * them all. */
int func_buffer_open_folder(const char *path, struct func_source **ret, struct error *e);

/* Bytes that the caller keeps as long as the source lives; the maps are optional. */
struct func_buffer_bytes {
	const uint8_t *data;
	size_t len;
	const char *maps;
	size_t maps_len;
};
int func_buffer_open_memory(const struct func_buffer_bytes *b, struct func_source **ret,
			    struct error *e);

/* Whether a file that starts so is a record. */
bool func_buffer_is_record(const uint8_t *data, size_t len);

#endif
