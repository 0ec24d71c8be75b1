/* SPDX-License-Identifier: MIT */
/* symbols list: which tables of symbols are kept. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/when.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/symbol_tables.h"
#include "cli/table.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/say.h"
#include "symbol/symcache.h"

static const struct table_column columns[] = {
	{ "id", true },	  { "kind", true },  { "symbols", false }, { "size", false },
	{ "used", true }, { "state", true }, { NULL, false },
};

struct row {
	const struct symcache_row *file;
	struct symfile_head head; /* zeros, if it is not sound */
	char id[2 * SYMFILE_ID_MAX + 1];
	const char *state;
	char used[WHEN_MAX];
};

static const char *const kinds[] = { NULL, "object", "kernel", "modules", "lines" };

/* `whole`: all its bytes are looked at, else its head. */
static void read_row(struct symcache *c, const struct symcache_row *file, bool whole,
		     struct row *ret)
{
	struct symfile *f = NULL;

	*ret = (struct row){ .file = file, .state = "unsound" };
	when_format((uint64_t)file->used_ns, ret->used);
	snprintf(ret->id, sizeof(ret->id), "%.*s", (int)strcspn(file->name, "."), file->name);
	if (symcache_open_row(c, file, &f, NULL) < 0)
		return;
	ret->head = *symfile_get_head(f);
	hex_format(ret->head.id, ret->head.id_len, ret->id);
	ret->state = ret->head.flags & SYMFILE_PARTIAL ? "exports only" : "whole";
	if (whole && symfile_check(f) < 0)
		ret->state = "damaged";
	symfile_close(f);
}

static json_t *make_json(const struct row *r)
{
	const char *kind = kinds[r->head.kind];

	return json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:s}", "id", r->id, "kind",
			 kind ? json_string(kind) : json_null(), "symbols",
			 jsonout_count(r->head.n_symbols), "bytes", jsonout_count(r->file->bytes),
			 "used", r->used, "state", r->state, "file", r->file->name);
}

static void push_row(struct table *t, const struct row *r)
{
	char text[UNITS_LEN];

	table_push(t, r->id);
	table_push(t, kinds[r->head.kind]);
	table_printf(t, "%" PRIu32, r->head.n_symbols);
	table_push(t, units_bytes(r->file->bytes, text));
	table_push(t, r->used);
	table_push(t, r->state);
}

static int print_rows(struct symcache *c, const struct args *a, const struct symcache_row *rows,
		      size_t n)
{
	CLEANUP_TABLE struct table t = { 0 };
	json_t *list = json_array();
	char text[UNITS_LEN];
	uint64_t sum = 0;
	struct row r;

	table_init(&t, columns);
	while (n--) {
		read_row(c, &rows[n], args_has(a, "check"), &r);
		sum += rows[n].bytes;
		if (args_has(a, "json"))
			json_array_append_new(list, make_json(&r));
		else
			push_row(&t, &r);
	}
	if (args_has(a, "json"))
		return jsonout_print(json_pack("{s:s, s:o, s:o}", "folder", symbol_tables_folder(),
					       "bytes", jsonout_count(sum), "tables", list));
	json_decref(list);
	table_print(&t, stdout, 0);
	printf("%s in %s\n", units_bytes(sum, text), symbol_tables_folder());
	return EXIT_OK;
}

static int run(const struct args *a)
{
	CLEANUP(symcache) struct symcache *c = NULL;
	_cleanup_free_ struct symcache_row *rows = NULL;
	struct error e = ERROR_INIT;
	size_t n = 0;
	int r;

	if (symbol_tables_open(&c, &e) < 0)
		return say_failure(&e);
	r = symcache_dup_rows(c, &rows, &n);
	if (r < 0) {
		error_set(&e, -r, "cannot read %s: %s", symbol_tables_folder(), strerror(-r));
		return say_failure(&e);
	}
	return print_rows(c, a, rows, n);
}

static const struct cli_option options[] = {
	{ 0, "check", NULL, "read all of each table, and compare its checksum", NULL },
	{ 0, "json", NULL, "print JSON", NULL },
	{ 0 },
};

const struct command command_symbols_list = {
	.name = "list",
	.summary = "list the tables of symbols that are kept",
	.usage = "[--check] [--json]",
	.description = "The latest used first. A table of \"exports only\" was made of a stripped "
		       "object, and gives way when a debug file turns up.",
	.options = options,
	.parent = &command_symbols,
	.run = run,
};
