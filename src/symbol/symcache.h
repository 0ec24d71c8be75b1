/* SPDX-License-Identifier: MIT */
/*
 * symcache: a folder of symbol tables, one file of names for each build-id, and one of lines where somebody
 * asked for them, made once and shared.
 *
 * Any number of threads and processes use one folder at the same time, without locks: a table is written
 * beside its place, synced and renamed, so a name in the folder always is a whole file; two that make
 * the same table at once do the same work, and the later one stays. Nothing but the asking thread waits
 * for it. A file that is unsound or of another version counts as missing, and is replaced. Files of
 * other users are not opened, root's excepted.
 *
 * The folder has a ceiling in bytes. What was used longest ago goes first; when a table was used its
 * file's time of modification tells. Whoever has a removed file mapped keeps it.
 */
#ifndef KISEKI_SYMBOL_SYMCACHE_H
#define KISEKI_SYMBOL_SYMCACHE_H

#include "symbol/symfile_write.h"

#define SYMCACHE_BYTES (1ULL << 30) /* unless told otherwise */
#define SYMCACHE_FILES_MAX 65536U   /* looked at; more are not counted and stay */
#define SYMCACHE_NAME_MAX (2 * SYMFILE_ID_MAX + 32U)

struct symcache;

/* A table of the folder, as a list shows it. */
struct symcache_row {
	char name[SYMCACHE_NAME_MAX]; /* of the file */
	uint64_t bytes;
	int64_t used_ns; /* CLOCK_REALTIME */
};

/* Makes the folder if need be, and those above. bytes_max 0: SYMCACHE_BYTES. */
int symcache_open(const char *folder, uint64_t bytes_max, struct symcache **ret, struct error *e);
void symcache_close(struct symcache *c);

/* 1: *ret is to be closed; 0: there is no sound one; -ENOMEM. */
int symcache_get(struct symcache *c, enum symfile_kind kind, const uint8_t *id, size_t id_len,
		 struct symfile **ret);

/* Writes a table, makes room for it, and opens it as above. */
int symcache_put(struct symcache *c, const struct symfile_source *s, struct symfile **ret,
		 struct error *e);

/* The same of a table that is a file already, whose head was read. */
int symcache_put_copy(struct symcache *c, const struct symfile_head *h, int from,
		      struct symfile **ret, struct error *e);

/* What is there, the longest unused first; to be freed. */
int symcache_dup_rows(struct symcache *c, struct symcache_row **ret, size_t *ret_n);

/* The table of a row, which does not count as a use; the text of e is the reason alone. */
int symcache_open_row(struct symcache *c, const struct symcache_row *row, struct symfile **ret,
		      struct error *e);

#endif
