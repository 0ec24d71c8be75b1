/* SPDX-License-Identifier: MIT */
/* facts_local: see facts_local.h. Here: labels of devices. */
#include <errno.h>
#include <string.h>

#include "facts/facts_local.h"

/* Of the device's others. */
static int count_labels(struct facts_db *d, const struct facts_label_row *r, uint64_t *ret,
			struct error *e)
{
	sqlite3_stmt *s = facts_db_use(d, FACTS_ST_LABEL_COUNT, NULL, 0);
	int code;

	if (s) {
		facts_db_bind_id(s, 1, &r->device);
		sqlite3_bind_text(s, 2, r->key, -1, SQLITE_STATIC);
	}
	code = facts_db_step(d, s, e);
	if (code == 1)
		*ret = facts_db_get_number(s, 0);
	sqlite3_reset(s);
	return code < 0 ? code : 0;
}

static int write_label(struct facts_db *d, const struct facts_label_row *r, struct error *e)
{
	sqlite3_stmt *s =
		facts_db_use(d, r->value ? FACTS_ST_PUT_LABEL : FACTS_ST_DROP_LABEL, NULL, 0);

	if (s) {
		facts_db_bind_id(s, 1, &r->device);
		sqlite3_bind_text(s, 2, r->key, -1, SQLITE_STATIC);
	}
	if (s && r->value)
		sqlite3_bind_text(s, 3, r->value, -1, SQLITE_STATIC);
	return facts_db_run(d, s, e);
}

int facts_local_label(struct facts *f, const struct facts_label_row *r, struct error *e)
{
	struct facts_local *l = (struct facts_local *)f;
	struct facts_db *d;
	uint64_t others = 0;
	int code = facts_local_begin(l, &d, e);

	if (code < 0)
		return code;
	code = count_labels(d, r, &others, e);
	if (code == 0 && r->value && others >= FACTS_LABELS_MAX)
		code = error_set(e, E2BIG, "a device has at most %u labels", FACTS_LABELS_MAX);
	if (code == 0)
		code = write_label(d, r, e);
	return facts_local_end(l, code, e);
}

int facts_local_labels(struct facts *f, facts_label_fn fn, void *context, struct error *e)
{
	CLEANUP(facts_db) struct facts_db *d = NULL;
	struct facts_label_row row;
	sqlite3_stmt *s;
	int r = facts_db_open(&d, ((struct facts_local *)f)->path, false, e);

	if (r < 0)
		return r;
	s = facts_db_use(d, FACTS_ST_LABELS, NULL, 0);
	while ((r = facts_db_step(d, s, e)) == 1) {
		row.device = facts_db_get_id(s, 0);
		row.key = (const char *)sqlite3_column_text(s, 1);
		row.value = (const char *)sqlite3_column_text(s, 2);
		r = row.key && row.value ? fn(context, &row) : 0;
		if (r)
			break;
	}
	return r;
}
