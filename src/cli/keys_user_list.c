/* SPDX-License-Identifier: MIT */
/* keys user list: who may log in. */
#include <stdio.h>

#include "cli/jsonout.h"
#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "cli/table.h"
#include "command/say.h"

static const struct table_column columns[] = {
	{ "user", true }, { "role", true }, { "made", true }, { "password", true }, { NULL, false },
};

static void push_user(struct table *t, json_t *list, const struct people_user *u)
{
	const char *role = u->is_damaged ? "damaged" : people_role_name(u->role);
	char made[PEOPLE_WHEN_MAX], changed[PEOPLE_WHEN_MAX];

	people_list_when(u->made_s, made);
	people_list_when(u->changed_s, changed);
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "user", u->name, "role", role,
					      "made", made, "password", changed));
	table_push(t, u->name);
	table_push(t, role);
	table_push(t, made);
	table_push(t, changed);
}

static int run(const struct args *a)
{
	_cleanup_free_ struct people_user *users = NULL;
	CLEANUP_TABLE struct table t = { 0 };
	CLEANUP(people) struct people *p = NULL;
	struct error e = ERROR_INIT;
	json_t *list;
	size_t n, i;

	if (people_list_open(&p, a, &e) < 0 || people_dup_users(p, &users, &n, &e) < 0)
		return say_failure(&e);
	table_init(&t, columns);
	list = json_array();
	for (i = 0; i < n; i++)
		push_user(&t, list, &users[i]);
	if (args_has(a, "json"))
		return jsonout_print(json_pack("{s:o}", "users", list));
	json_decref(list);
	table_print(&t, stdout, 0);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print JSON", NULL },
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_user_list = {
	.name = "list",
	.summary = "list users and their roles",
	.usage = "[--json] [--dir DIR]",
	.description = "By name; `password` is when it was set.",
	.options = options,
	.parent = &command_keys_user,
	.run = run,
};
