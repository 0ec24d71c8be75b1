/* SPDX-License-Identifier: MIT */
/*
 * web_file: the files of the page, carried by the program. tools/embed-folder makes the table, from
 * the bundle of web/ or, without it, from the folder page/ here.
 *
 * What gzip makes smaller is kept as gzip alone: nearly every client takes it as it is, and for the
 * others it is unpacked.
 */
#ifndef KISEKI_COLLECTOR_WEB_FILE_H
#define KISEKI_COLLECTOR_WEB_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct web_file {
	const char *path; /* "index.html", "assets/page.js" */
	const char *type; /* media type */
	const char *hash; /* of the content, 32 hexadecimal digits */
	const unsigned char *data;
	size_t data_len; /* as it is kept */
	size_t len;	 /* of the content */
	bool gzip;	 /* data is the content in gzip */
	bool fixed;	 /* the name has the content's hash in it: it never means another one */
};

/* The table of this program. */
extern const struct web_file static_web[];
extern const size_t static_web_len;

/* By path, in a table sorted by it; NULL. */
const struct web_file *web_file_find(const struct web_file *table, size_t n, const char *path);

/* The content, unpacked; free(*ret). -ENOMEM, -EIO. */
int web_file_dup(const struct web_file *f, char **ret, struct error *e);

#endif
