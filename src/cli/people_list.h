/* SPDX-License-Identifier: MIT */
/* people_list: what the commands of `kiseki keys user` and `kiseki keys token` have in common. */
#ifndef KISEKI_CLI_PEOPLE_LIST_H
#define KISEKI_CLI_PEOPLE_LIST_H

#include "base/error.h"
#include "command/args.h"
#include "keys/people.h"

#define PEOPLE_ROLE_OPTION                                                                         \
	{                                                                                          \
		0, "role", "ROLE", "what it may: view, control or admin (view)",                   \
			"view control admin"                                                       \
	}

/* people.db of the folder that --dir says, or the default, which must have keys. */
int people_list_open(struct people **ret, const struct args *a, struct error *e);

/* By --role; ROLE_VIEW without. -EINVAL. */
int people_list_role(const struct args *a, enum people_role *ret, struct error *e);

/* Points in time as people read them; "-" for 0. */
#define PEOPLE_WHEN_MAX 64U
const char *people_list_when(uint64_t s, char ret[PEOPLE_WHEN_MAX]);

#endif
