/* SPDX-License-Identifier: MIT */
/* keys repair: what a disk damaged is dropped, since nobody can say what it was. */
#include <stdio.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "command/say.h"

static int run(const struct args *a)
{
	CLEANUP(people) struct people *p = NULL;
	CLEANUP(keys) struct keys *k = NULL;
	struct error e = ERROR_INIT;
	int rows, people;

	if (key_folder_open(&k, a, &e) < 0 || people_list_open(&p, a, &e) < 0)
		return say_failure(&e);
	rows = keys_drop_damaged(k, &e);
	people = rows < 0 ? rows : people_drop_damaged(p, &e);
	if (people < 0)
		return say_failure(&e);
	if (rows)
		printf("%d damaged row%s of devices dropped: enroll again who is refused\n", rows,
		       rows == 1 ? "" : "s");
	if (people)
		printf("%d damaged row%s of users and tokens dropped: add again who is missing\n",
		       people, people == 1 ? "" : "s");
	if (!rows && !people)
		puts("nothing is damaged");
	return EXIT_OK;
}

static const struct cli_option options[] = {
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_repair = {
	.name = "repair",
	.summary = "drop what the disk has damaged",
	.usage = "[--dir DIR]",
	.description =
		"Each device, user and token has a row with a checksum. One that does not fit lets "
		"nobody in, whatever it says; `kiseki check` and the collector's log tell of it, "
		"and `kiseki keys list` shows which. This drops them. Who they were of is enrolled "
		"or added again.",
	.options = options,
	.parent = &command_keys,
	.run = run,
};
