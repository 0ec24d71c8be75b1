/* SPDX-License-Identifier: MIT */
/*
 * profile record: samples of this machine, taken by `kiseki-agent profile`, whose options are passed on as they are.
 *
 * The agent runs the command, so that it can sample nothing else; its exit status is the command's, and ours. Ctrl-C
 * reaches it by itself: it ends the recording and completes the file. What it says on standard error it says as
 * itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent_path.h"
#include "cli/kiseki.h"
#include "command/args.h"
#include "command/profile_options.h"
#include "command/say.h"

#define WORD_MAX 4096U

static const struct cli_option options[] = {
	PROFILE_OPTIONS,
	{ 0 },
};

struct words {
	char agent[AGENT_PATH_MAX];
	char texts[PROFILE_OPTIONS_N][WORD_MAX];
	const char *list[PROFILE_OPTIONS_N + ARGS_OPERANDS_MAX + 4];
};

static int make_words(struct words *w, const struct args *a, struct error *e)
{
	size_t n = 0, i;
	int len;

	w->list[n++] = w->agent;
	w->list[n++] = "profile";
	for (i = 0; i < PROFILE_OPTIONS_N; i++) {
		if (!a->values[i])
			continue;
		len = snprintf(w->texts[i], WORD_MAX, options[i].argument ? "--%s=%s" : "--%s",
			       options[i].name, a->values[i]);
		if (len >= (int)WORD_MAX)
			return error_set(e, E2BIG, "cannot use --%s: it is too long",
					 options[i].name);
		w->list[n++] = w->texts[i];
	}
	if (a->n_operands)
		w->list[n++] = "--";
	memcpy(w->list + n, a->operands, a->n_operands * sizeof(*w->list));
	w->list[n + a->n_operands] = NULL;
	return 0;
}

static int run(const struct args *a)
{
	static struct words w; /* there are many */
	struct error e = ERROR_INIT;
	int r = agent_path_find(w.agent, &e);

	if (r >= 0)
		r = make_words(&w, a, &e);
	if (r < 0)
		return say_failure(&e);
	execv(w.agent, (char *const *)(uintptr_t)w.list);
	error_set(&e, errno, "cannot run %s: %s", w.agent, strerror(errno));
	return say_failure(&e);
}

static const struct cli_example examples[] = {
	{ "Where does a program spend its time?", "kiseki profile record -- make" },
	{ "The whole machine, for ten seconds:", "kiseki profile record -a -t 10s -o all.ksk" },
	{ NULL, NULL },
};

const struct command command_profile_record = {
	.name = "record",
	.summary = "sample a command, processes, or all CPUs of this machine",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
		"Executes kiseki-agent profile (that of KISEKI_AGENT, or beside this program, or "
		"in "
		"PATH) with the same options: see kiseki-agent-profile(1). Without a command and "
		"without --pid all CPUs are sampled, until Ctrl-C, which needs root; processes of "
		"one's own do not, where kernel.perf_event_paranoid is 2 or less. The exit status "
		"is the command's.\n\n"
		"The file is one for kiseki profile report, flame, diff and export "
		"(docs/profile.md).",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
