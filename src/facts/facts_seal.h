/* SPDX-License-Identifier: MIT */
/*
 * facts_seal: checksums of the rows of facts.sqlite (docs/format/facts.md, section 6).
 *
 * SQLite finds pages that are no pages, but takes any number for a number. A minute outlives its blocks, so nothing could tell
 * a flipped one from a true one. Head and list have a checksum each, for a tree is read without its list; so have the tree and the
 * rest of a body. A row of before there were seals has none, and is believed.
 */
#ifndef KISEKI_FACTS_FACTS_SEAL_H
#define KISEKI_FACTS_FACTS_SEAL_H

#include <sqlite3.h>

#include "facts/facts.h"

struct facts_bytes {
	const void *data;
	size_t len;
};

/* The values of the two columns. The second of them covers the bytes of both parts, one behind the other. */
uint64_t facts_seal_fact(const struct facts_head *h, struct facts_bytes list);
uint64_t facts_seal_body(struct facts_bytes tree, struct facts_bytes tasks,
			 struct facts_bytes objects);

/* Whether what was read is what was sealed: both parts, or only the first. `column` is that of the seal. */
bool facts_seal_fits(sqlite3_stmt *s, int column, uint64_t seal);
bool facts_seal_fits_first(sqlite3_stmt *s, int column, uint64_t seal);

struct facts_bytes facts_seal_column(sqlite3_stmt *s, int column);

#endif
