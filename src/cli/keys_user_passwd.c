/* SPDX-License-Identifier: MIT */
/* keys user passwd: another password, which ends all logins. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "cli/secret.h"
#include "command/say.h"

static int change(const struct args *a, struct error *e)
{
	CLEANUP(people) struct people *p = NULL;
	char password[PASSWORD_MOST + 2];
	struct people_user u;
	int r = people_list_open(&p, a, e);

	if (r == 0)
		r = people_get_user(p, a->operands[0], &u, e);
	if (r == 0)
		r = secret_ask("new password", password, sizeof(password), e);
	if (r == 0)
		r = password_hash(password, u.hash, e);
	explicit_bzero(password, sizeof(password));
	if (r < 0)
		return r;
	u.changed_s = (uint64_t)time(NULL);
	return people_change_user(p, &u, e);
}

static int run(const struct args *a)
{
	struct error e = ERROR_INIT;

	if (change(a, &e) < 0)
		return say_failure(&e);
	printf("%s has a new password\n", a->operands[0]);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_user_passwd = {
	.name = "passwd",
	.summary = "give somebody another password",
	.usage = "NAME [--dir DIR]",
	.description = "Asks as `kiseki keys user add` does. All logins of this user end.",
	.options = options,
	.parent = &command_keys_user,
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
