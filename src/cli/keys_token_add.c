/* SPDX-License-Identifier: MIT */
/* keys token add: a token for a program that asks. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "command/say.h"

#define DAYS 365U
#define DAYS_MOST 3650U
#define DAY_S 86400U

static int set_until(const struct args *a, struct people_token *t, struct error *e)
{
	const char *text = args_get(a, "days");
	unsigned long days = DAYS;
	char *end;

	if (text) {
		days = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : DAYS_MOST + 1;
		if (days > DAYS_MOST || *end)
			return error_set(e, EINVAL,
					 "cannot use --days %s: a number from 0 to 3650 is wanted",
					 text);
	}
	t->until_s = days ? t->made_s + days * DAY_S : 0;
	return 0;
}

static int run(const struct args *a)
{
	struct people_token t = { .made_s = (uint64_t)time(NULL) };
	CLEANUP(people) struct people *p = NULL;
	struct error e = ERROR_INIT;
	char text[PEOPLE_TOKEN_LEN + 1];

	if (people_list_role(a, &t.role, &e) < 0 || set_until(a, &t, &e) < 0)
		return say_usage(&e);
	/* A name that is left out here is too long for any. */
	snprintf(t.name, sizeof(t.name), "%s",
		 strlen(a->operands[0]) < sizeof(t.name) ? a->operands[0] : "");
	if (people_list_open(&p, a, &e) < 0 || people_add_token(p, &t, text, &e) < 0)
		return say_failure(&e);
	puts(text);
	explicit_bzero(text, sizeof(text));
	return EXIT_OK;
}

static const struct cli_option options[] = {
	PEOPLE_ROLE_OPTION,
	{ 0, "days", "N", "how long it holds; 0: until it is revoked (365)", NULL },
	KEY_FOLDER_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "For a program that exports every night:",
	  "(umask 077; kiseki keys token add nightly >~/.config/kiseki/token)" },
	{ NULL, NULL },
};

const struct command command_keys_token_add = {
	.name = "add",
	.summary = "make a token with which a program asks",
	.usage = "NAME [--role ROLE] [--days N] [--dir DIR]",
	.description = "Prints the token, which nobody can show again; what is kept is a hash. "
		       "NAME is for "
		       "the lists, and for taking it back.",
	.options = options,
	.examples = examples,
	.parent = &command_keys_token,
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
