/* SPDX-License-Identifier: MIT */
/* access: see access.h. */
#include "cli/access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/secret.h"

/* "" if there is no such folder. */
static const char *own_file(const char *name, char ret[PATH_MAX])
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n = 0;

	ret[0] = 0;
	if (config && *config)
		n = snprintf(ret, PATH_MAX, "%s/kiseki/%s", config, name);
	else if (home && *home)
		n = snprintf(ret, PATH_MAX, "%s/.config/kiseki/%s", home, name);
	if (n >= PATH_MAX || access(ret, F_OK) < 0)
		ret[0] = 0;
	return ret;
}

static const char *named(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

static int load_token(struct access *a, struct error *e)
{
	const char *text = named("KISEKI_TOKEN"), *file = named("KISEKI_TOKEN_FILE");
	char room[PATH_MAX];

	if (text && strlen(text) >= sizeof(a->token))
		return error_set(e, E2BIG, "cannot use KISEKI_TOKEN: it is no token");
	if (text) {
		strcpy(a->token, text);
		return 0;
	}
	if (!file)
		file = own_file("token", room);
	return *file ? secret_read(file, a->token, sizeof(a->token), e) : 0;
}

int access_load(struct access *a, const char *server, struct error *e)
{
	const char *authority = named("KISEKI_CA");

	memset(a, 0, sizeof(*a));
	if (strncasecmp(server, "https://", 8) != 0)
		return 0;
	if (!authority)
		own_file("ca.pem", a->authority);
	else if (access(authority, R_OK) < 0 || strlen(authority) >= sizeof(a->authority))
		return error_set(e, errno, "cannot read KISEKI_CA, %s: %s", authority,
				 strerror(errno));
	else
		strcpy(a->authority, authority);
	return load_token(a, e);
}
