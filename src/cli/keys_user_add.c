/* SPDX-License-Identifier: MIT */
/* keys user add: somebody who may log in. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "cli/secret.h"
#include "command/say.h"

static int add(const struct args *a, struct people_user *u, struct error *e)
{
	CLEANUP(people) struct people *p = NULL;
	char password[PASSWORD_MOST + 2];
	int r = people_list_open(&p, a, e);

	if (r == 0)
		r = secret_ask("password", password, sizeof(password), e);
	if (r == 0)
		r = password_hash(password, u->hash, e);
	explicit_bzero(password, sizeof(password));
	return r < 0 ? r : people_add_user(p, u, e);
}

static int run(const struct args *a)
{
	uint64_t now = (uint64_t)time(NULL);
	struct people_user u = { .made_s = now, .changed_s = now };
	struct error e = ERROR_INIT;

	if (people_list_role(a, &u.role, &e) < 0)
		return say_usage(&e);
	/* A name that is cut here is too long for roster_is_name(), too. */
	snprintf(u.name, sizeof(u.name), "%s",
		 strlen(a->operands[0]) < sizeof(u.name) ? a->operands[0] : "");
	if (add(a, &u, &e) < 0)
		return say_failure(&e);
	printf("%s may %s\n", u.name, people_role_name(u.role));
	return EXIT_OK;
}

static const struct cli_option options[] = {
	PEOPLE_ROLE_OPTION,
	KEY_FOLDER_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "A colleague who may tell devices what to trace:",
	  "kiseki keys user add ann --role control" },
	{ NULL, NULL },
};

const struct command command_keys_user_add = {
	.name = "add",
	.summary = "add somebody who may log in",
	.usage = "NAME [--role ROLE] [--dir DIR]",
	.description =
		"Asks for the password, twice and without showing it; if standard input is no "
		"terminal, its first line is the password. It has at least 8 bytes. What is kept "
		"of it is a yescrypt hash.",
	.options = options,
	.examples = examples,
	.parent = &command_keys_user,
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
