/* SPDX-License-Identifier: MIT */
/*
 * doctor: what this machine can trace with; the agent knows, so it is asked. Whether files of others are read in a
 * sandbox here is a matter of this program, which says that itself, in the agent's form.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/agent_path.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "command/args.h"
#include "command/say.h"
#include "sandbox/sandbox.h"

#define NO_LANDLOCK "no landlock (Linux 5.13): a reader of code or of CTF can open what you can"

struct finding {
	const char *verdict, *mark; /* as JSON has it, as people see it */
	const char *name;
	char text[256];
	const char *help; /* "": none */
};

static void find(struct finding *d, const char *name, const char *text, const char *help)
{
	d->name = name;
	d->help = help;
	snprintf(d->text, sizeof(d->text), "%s", text);
}

static void check_sandbox(struct finding *d)
{
	struct sandbox_abilities can;
	struct error why = ERROR_INIT;
	char text[256];
	int r = sandbox_try(&why);

	sandbox_probe(&can);
	d->verdict = r < 0 || !can.has_landlock ? "note" : "ok";
	d->mark = r < 0 || !can.has_landlock ? "note" : "ok  ";
	if (r == 0 && can.has_landlock) {
		find(d, "sandbox", "files of others are read by processes that can do nothing else",
		     "");
	} else if (r == 0) {
		find(d, "sandbox", NO_LANDLOCK, "CONFIG_SECURITY_LANDLOCK, and landlock in lsm=");
	} else if (r == -ENOSYS) {
		snprintf(text, sizeof(text), "none for readers of files: %.200s", why.text);
		find(d, "sandbox", text, "CONFIG_SECCOMP_FILTER");
	} else {
		d->verdict = "bad";
		d->mark = "BAD ";
		snprintf(text, sizeof(text), "none, so no foreign file is read: %.200s", why.text);
		find(d, "sandbox", text, "let this container or unit call seccomp()");
	}
}

/* The agent's answer; NULL: it has none, which it said. */
static json_t *ask_agent(const char *path, int *ret_status)
{
	_cleanup_close_ int from = -1;
	json_t *answer;
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return NULL;
	from = ends[0];
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(path, "kiseki-agent", "doctor", "--json", (char *)NULL);
		_exit(EXIT_FAILED);
	}
	close(ends[1]);
	answer = pid > 0 ? json_loadfd(from, 0, NULL) : NULL;
	if (pid > 0 && waitpid(pid, ret_status, 0) != pid)
		*ret_status = -1;
	return answer;
}

static int run_json(const char *path, const struct finding *f)
{
	struct error e = ERROR_INIT;
	int status = -1;
	json_t *answer = ask_agent(path, &status);

	if (!answer) {
		error_set(&e, EIO, "cannot run %s: it gave no answer", path);
		return say_failure(&e);
	}
	json_array_append_new(json_object_get(answer, "findings"),
			      json_pack("{s:s, s:s, s:s, s:s}", "verdict", f->verdict, "name",
					f->name, "text", f->text, "help", f->help));
	if (jsonout_print(answer) != EXIT_OK)
		return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static int run(const struct args *a)
{
	char path[AGENT_PATH_MAX];
	struct error e = ERROR_INIT;
	struct finding f;

	if (agent_path_find(path, &e) < 0)
		return say_failure(&e);
	check_sandbox(&f);
	if (args_has(a, "json"))
		return run_json(path, &f);
	printf("%s  %-20s %s\n", f.mark, f.name, f.text);
	if (*f.help)
		printf("%28s-> %s\n", "", f.help);
	fflush(stdout);
	execl(path, "kiseki-agent", "doctor", (char *)NULL);
	error_set(&e, errno, "cannot run %s: %s", path, strerror(errno));
	return say_failure(&e);
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print JSON", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "As root, who may look at everything:", "sudo kiseki doctor" },
	{ NULL, NULL },
};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say what this machine can trace with, and how to enable the rest",
	.usage = "[--json]",
	.description =
		"Runs `kiseki-agent doctor` (that of KISEKI_AGENT, or beside this program, or in "
		"PATH): which sources of events this kernel has, which "
		"are missing and why, and what to do about it; and whether files of others are "
		"read in a sandbox here. The exit status is 0 if at least one can record.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.run = run,
};
