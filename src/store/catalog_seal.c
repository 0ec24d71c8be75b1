/* SPDX-License-Identifier: MIT */
/* catalog_seal: see catalog_seal.h. */
#include "store/catalog_seal.h"

#include <errno.h>

/* Each gives a row if something is wrong. */
static const char *const questions[] = {
	"SELECT 1 FROM files WHERE seal IS NOT row_seal(file, bytes, first_ns, last_ns, rows)",
	"SELECT 1 FROM runs WHERE seal IS NOT"
	" row_seal(run, file, device, id, boot, from_tick, to_tick, state_in, state_out)",
	"SELECT 1 FROM ledger WHERE seal IS NOT"
	" row_seal(run, file, stream, cause, from_tick, to_tick, count)",
	"SELECT 1 FROM devices WHERE seal IS NOT"
	" row_seal(id, file, name, kernel, machine, agent, cpus, seen_ns)",
	"SELECT 1 WHERE (SELECT count(*) FROM runs) + (SELECT count(*) FROM ledger) +"
	" (SELECT count(*) FROM devices) IS NOT (SELECT coalesce(sum(rows), 0) FROM files)",
};

int catalog_seal_check(sqlite3 *db, struct error *e)
{
	sqlite3_stmt *q = NULL;
	int code = SQLITE_DONE;
	size_t i;

	for (i = 0; i < sizeof(questions) / sizeof(*questions) && code == SQLITE_DONE; i++) {
		code = sqlite3_prepare_v2(db, questions[i], -1, &q, NULL);
		if (code == SQLITE_OK)
			code = sqlite3_step(q);
		sqlite3_finalize(q);
	}
	if (code == SQLITE_DONE)
		return 0;
	return code == SQLITE_ROW
		       ? error_set(e, EBADMSG, "the catalog is damaged")
		       : error_set(e, EIO, "cannot use the catalog: %s", sqlite3_errmsg(db));
}
