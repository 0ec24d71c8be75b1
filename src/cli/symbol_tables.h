/* SPDX-License-Identifier: MIT */
/*
 * symbol_tables: the folder in which the programs of one user keep tables of symbols.
 *
 * $KISEKI_SYMBOL_CACHE, or kiseki/symbols in $XDG_CACHE_HOME or in ~/.cache. Where there is none of
 * these, or the last two cannot be made, nothing is kept and nothing is said: it saves time, no more.
 * An empty $KISEKI_SYMBOL_CACHE turns it off.
 */
#ifndef KISEKI_CLI_SYMBOL_TABLES_H
#define KISEKI_CLI_SYMBOL_TABLES_H

#include "base/cleanup.h"
#include "base/error.h"
#include "symbol/symcache.h"

DEFINE_CLEANUP(symcache, symcache_close)

/* The same string each time; NULL: none. */
const char *symbol_tables_folder(void);

/* For who cannot do without it. */
int symbol_tables_open(struct symcache **ret, struct error *e);

#endif
