/* SPDX-License-Identifier: MIT */
/* agent_run: see agent_run.h. */
#include "cli/agent_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent_path.h"
#include "command/say.h"

#define WORD_MAX 4096U

struct words {
	char agent[AGENT_PATH_MAX];
	char texts[COMMAND_OPTIONS_MAX][WORD_MAX];
	const char *list[COMMAND_OPTIONS_MAX + ARGS_OPERANDS_MAX + 4];
};

static int make_words(struct words *w, const char *command, const struct args *a, struct error *e)
{
	const struct cli_option *o = a->command->options;
	size_t n = 0, i;
	int len;

	w->list[n++] = w->agent;
	w->list[n++] = command;
	for (i = 0; o[i].name; i++) {
		if (!a->values[i])
			continue;
		len = snprintf(w->texts[i], WORD_MAX, o[i].argument ? "--%s=%s" : "--%s", o[i].name,
			       a->values[i]);
		if (len >= (int)WORD_MAX)
			return error_set(e, E2BIG, "cannot use --%s: it is too long", o[i].name);
		w->list[n++] = w->texts[i];
	}
	if (a->n_operands)
		w->list[n++] = "--";
	memcpy(w->list + n, a->operands, a->n_operands * sizeof(*w->list));
	w->list[n + a->n_operands] = NULL;
	return 0;
}

int agent_run(const char *command, const struct args *a)
{
	static struct words w; /* there are many */
	struct error e = ERROR_INIT;
	int r = agent_path_find(w.agent, &e);

	if (r >= 0)
		r = make_words(&w, command, a, &e);
	if (r < 0)
		return say_failure(&e);
	execv(w.agent, (char *const *)(uintptr_t)w.list);
	error_set(&e, errno, "cannot run %s: %s", w.agent, strerror(errno));
	return say_failure(&e);
}
