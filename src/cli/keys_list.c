/* SPDX-License-Identifier: MIT */
/* keys list: which devices have a certificate, or a token that waits. */
#include <stdio.h>
#include <time.h>

#include "base/hex.h"
#include "base/when.h"
#include "cli/jsonout.h"
#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "command/say.h"

#define NS_PER_S 1000000000ULL

static const struct table_column columns[] = {
	{ "device", true }, { "state", true },	{ "made", true },
	{ "until", true },  { "serial", true }, { NULL, false },
};

static const char *state_of(const struct roster_entry *entry, uint64_t now_s)
{
	if (entry->is_damaged)
		return "damaged";
	if (entry->row.revoked_s)
		return "revoked";
	if (entry->row.until_s <= now_s)
		return entry->is_token ? "token too old" : "ended";
	return entry->is_token ? "token waits" : "holds";
}

static void push_entry(struct table *t, json_t *list, const struct roster_entry *entry)
{
	const struct roster_row *row = &entry->row;
	const char *state = state_of(entry, (uint64_t)time(NULL));
	char serial[2 * AUTHORITY_SERIAL_LEN + 1], made[WHEN_MAX], until[WHEN_MAX];

	hex_format(row->serial, sizeof(row->serial), serial);
	when_format(row->made_s * NS_PER_S, made);
	when_format(row->until_s * NS_PER_S, until);
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:s, s:s, s:o}", "device", row->name, "state",
					state, "made", made, "until", until, "serial",
					entry->is_token ? json_null() : json_string(serial)));
	table_push(t, row->name);
	table_push(t, state);
	table_push(t, made);
	table_push(t, until);
	table_push(t, entry->is_token ? NULL : serial);
}

static int run(const struct args *a)
{
	_cleanup_free_ struct roster_entry *entries = NULL;
	CLEANUP_TABLE struct table t = { 0 };
	CLEANUP(keys) struct keys *k = NULL;
	struct error e = ERROR_INIT;
	json_t *list;
	size_t n, i;

	if (key_folder_open(&k, a, &e) < 0 || keys_dup_entries(k, &entries, &n, &e) < 0)
		return say_failure(&e);
	table_init(&t, columns);
	list = json_array();
	for (i = 0; i < n; i++)
		push_entry(&t, list, &entries[i]);
	if (args_has(a, "json"))
		return jsonout_print(json_pack("{s:o}", "devices", list));
	json_decref(list);
	table_print(&t, stdout, 0);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print JSON", NULL },
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_list = {
	.name = "list",
	.summary = "list devices that have a certificate, or a token that waits",
	.usage = "[--json] [--dir DIR]",
	.description = "The latest certificate of each device, by name.",
	.options = options,
	.parent = &command_keys,
	.run = run,
};
