/* SPDX-License-Identifier: MIT */
/* soundness: see soundness.h. */
#include "collector/soundness.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "store/database.h"

static const struct file {
	const char *name, *advice;
	bool is_key;
} files[SOUNDNESS_FILES] = {
	{ "fleet.db", "instructions that are damaged are marked, groups are dropped", false },
	{ "roster.db", "devices are refused whose rows are damaged or gone: kiseki keys repair",
	  true },
	{ "people.db",
	  "users and tokens are refused whose rows are damaged or gone: kiseki keys repair", true },
};

void soundness_look(struct soundness *s, const char *data, const char *keys)
{
	char path[PATH_MAX];
	uint32_t i;
	int r;

	for (i = 0; i < SOUNDNESS_FILES; i++) {
		const char *folder = files[i].is_key ? keys : data;

		s->found[i].text[0] = 0;
		if (!*folder)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
		r = database_check(path, &s->found[i]);
		if (r == -ENOENT && files[i].is_key) /* `kiseki keys init` makes it */
			error_set(&s->found[i], ENOENT, "it is missing");
		else if (r != -EBADMSG)
			s->found[i].text[0] = 0;
	}
}

void soundness_tell(const struct soundness *s, const struct collector_options *o)
{
	char line[sizeof(struct error) + 128];
	uint32_t i;

	for (i = 0; i < SOUNDNESS_FILES && o->log; i++)
		if (s->found[i].text[0]) {
			snprintf(line, sizeof(line), "%s is damaged: %s; %s", files[i].name,
				 s->found[i].text, files[i].advice);
			o->log(o->log_context, line);
		}
}
