/* SPDX-License-Identifier: MIT */
/* keys token list: which tokens there are; what they are nobody can show. */
#include <stdio.h>
#include <time.h>

#include "cli/jsonout.h"
#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "cli/table.h"
#include "command/say.h"

static const struct table_column columns[] = {
	{ "token", true }, { "role", true },  { "state", true },
	{ "made", true },  { "until", true }, { NULL, false },
};

static void push_token(struct table *t, json_t *list, const struct people_token *token)
{
	bool has_ended = token->until_s && token->until_s <= (uint64_t)time(NULL);
	const char *state = token->is_damaged ? "damaged" : has_ended ? "ended" : "holds";
	char made[PEOPLE_WHEN_MAX], until[PEOPLE_WHEN_MAX];

	people_list_when(token->made_s, made);
	people_list_when(token->until_s, until);
	json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:o}", "token", token->name,
					      "role", people_role_name(token->role), "state", state,
					      "made", made, "until",
					      token->until_s ? json_string(until) : json_null()));
	table_push(t, token->name);
	table_push(t, people_role_name(token->role));
	table_push(t, state);
	table_push(t, made);
	table_push(t, until);
}

static int run(const struct args *a)
{
	_cleanup_free_ struct people_token *tokens = NULL;
	CLEANUP_TABLE struct table t = { 0 };
	CLEANUP(people) struct people *p = NULL;
	struct error e = ERROR_INIT;
	json_t *list;
	size_t n, i;

	if (people_list_open(&p, a, &e) < 0 || people_dup_tokens(p, &tokens, &n, &e) < 0)
		return say_failure(&e);
	table_init(&t, columns);
	list = json_array();
	for (i = 0; i < n; i++)
		push_token(&t, list, &tokens[i]);
	if (args_has(a, "json"))
		return jsonout_print(json_pack("{s:o}", "tokens", list));
	json_decref(list);
	table_print(&t, stdout, 0);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print JSON", NULL },
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_token_list = {
	.name = "list",
	.summary = "list tokens, their roles and until when they hold",
	.usage = "[--json] [--dir DIR]",
	.description = "By name. What a token is, nobody can show again.",
	.options = options,
	.parent = &command_keys_token,
	.run = run,
};
