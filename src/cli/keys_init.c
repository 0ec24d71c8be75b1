/* SPDX-License-Identifier: MIT */
/* keys init: makes the authority of a collector, and the collector's certificate. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private_files.h"
#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "command/say.h"
#include "keys/people.h"

/* The folder above it: that of the collector's data, on a machine where none has run yet. */
static int make_parent(const char *folder, struct error *e)
{
	char path[KEY_FOLDER_ROOM];
	char *slash;

	snprintf(path, sizeof(path), "%s", folder);
	slash = strrchr(path, '/');
	if (!slash || slash == path)
		return 0;
	*slash = 0;
	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", path, strerror(errno));
	return 0;
}

/* The names in order; those that every collector has come first. */
static size_t list_hosts(const struct args *a, const char *hosts[AUTHORITY_HOSTS_MAX],
			 char own[HOST_NAME_MAX + 1])
{
	size_t n = 0, i;

	hosts[n++] = "localhost";
	hosts[n++] = "127.0.0.1";
	hosts[n++] = "::1";
	own[HOST_NAME_MAX] = 0;
	if (gethostname(own, HOST_NAME_MAX) == 0 && own[0])
		hosts[n++] = own;
	for (i = 0; i < a->n_operands && n < AUTHORITY_HOSTS_MAX; i++)
		hosts[n++] = a->operands[i];
	return n;
}

static int run(const struct args *a)
{
	char room[KEY_FOLDER_ROOM], own[HOST_NAME_MAX + 1];
	const char *folder = key_folder_get(a, room);
	const char *hosts[AUTHORITY_HOSTS_MAX];
	CLEANUP(people) struct people *p = NULL;
	CLEANUP(keys) struct keys *k = NULL;
	struct error e = ERROR_INIT;
	size_t n = list_hosts(a, hosts, own);
	int r;

	private_files_only();
	r = make_parent(folder, &e);
	if (r == 0)
		r = authority_init(folder, hosts, n, &e);
	if (r == 0)
		r = keys_open(&k, folder, &e); /* makes the roster, too */
	if (r == 0)
		r = people_open(&p, folder, &e); /* so one that is not there was lost */
	if (r < 0)
		return say_failure(&e);
	printf("keys in %s\n", folder);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	KEY_FOLDER_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "For a collector that browsers reach by a name and by an address:",
	  "kiseki keys init traces.example 192.0.2.7" },
	{ NULL, NULL },
};

const struct command command_keys_init = {
	.name = "init",
	.summary = "make a private authority and the collector's certificate",
	.usage = "[HOST...] [--dir DIR]",
	.description =
		"HOSTs are names and numeric addresses by which browsers reach the collector, "
		"beside this machine's own name and localhost. Devices do not need them. Where "
		"there are keys already, nothing is done.\n\n"
		"All files are for their owner's eyes alone. Who has authority.pem can make "
		"devices and collectors: keep a copy in a safe place, and no other.",
	.options = options,
	.examples = examples,
	.parent = &command_keys,
	.operands_max = AUTHORITY_HOSTS_MAX - 4,
	.run = run,
};
