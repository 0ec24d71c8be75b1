/* SPDX-License-Identifier: MIT */
/*
 * enroll_program: `kiseki-agent enroll`. The token is read and not an argument: whoever lists the
 * processes of a machine would see it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/man.h"
#include "command/say.h"
#include "device/agent/enroll.h"
#include "device/agent/program.h"
#include "device/agent/settings.h"
#include "device/agent/tls.h"

#define INPUT_MAX 256U

static int read_token(const struct args *a, struct token *ret, struct error *e)
{
	const char *path = args_get(a, "token");
	_cleanup_close_ int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	char text[INPUT_MAX];
	size_t len = 0;
	ssize_t n = 1;

	path = path ? path : "standard input";
	if (fd < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	while (n > 0 && len < sizeof(text)) {
		n = read(fd, text + len, sizeof(text) - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	n = token_parse(ret, text, len) ? 0 : -EINVAL;
	explicit_bzero(text, sizeof(text));
	if (n < 0)
		return error_set(e, EINVAL,
				 "cannot enroll: there is no token on %s; `kiseki keys enroll` "
				 "makes one",
				 path);
	return 0;
}

static int run(const struct args *a)
{
	struct error e = ERROR_INIT;
	struct settings settings;
	struct token token;
	int r;

	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	settings_init(&settings);
	if (settings_load(&settings, a, &e) < 0)
		return say_usage(&e);
	r = args_has(a, "renew") ? 0 : read_token(a, &token, &e);
	if (r == 0)
		r = enroll_run(&(struct enroll_options){ settings.collector, settings.name,
							 settings.state_dir,
							 args_has(a, "renew") ? NULL : &token },
			       &e);
	explicit_bzero(&token, sizeof(token));
	if (r < 0)
		return say_failure(&e);
	printf("enrolled at %s, keys in %s/keys\n", settings.collector, settings.state_dir);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'c', "collector", "HOST:PORT", "where the collector listens (127.0.0.1:7077)", NULL },
	{ 'n', "name", "NAME", "as of the agent (the host name)", NULL },
	{ 0, "token", "FILE", "where the token is (standard input)", NULL },
	{ 0, "renew", NULL, "no token: the next certificate, with the one there is", NULL },
	{ 0, "state-dir", "DIR", "where keys are kept (/var/lib/kiseki-agent)", NULL },
	{ 0, "config", "FILE", "the agent's settings (" SETTINGS_FILE ")", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "With the token that `kiseki keys enroll` printed:",
	  "kiseki-agent enroll --collector traces.example:7077 --token token.txt" },
	{ NULL, NULL },
};

const struct command command_agent_enroll = {
	.name = "enroll",
	.summary = "get this device's certificate from the collector, with a token",
	.usage = "[--collector HOST:PORT] [--token FILE] [OPTION...]",
	.description =
		"Makes a key, sends the token and a request, and keeps the certificate in `keys` "
		"of the state folder, for root alone. From then on the agent and the recorders "
		"beside it connect over TLS, and only to collectors of the same authority; so does "
		"the kernel driver by the agent, where the kernel has TLS (CONFIG_TLS). The agent "
		"renews the certificate by itself when two thirds of its time are over.",
	.options = options,
	.examples = examples,
	.parent = &command_agent,
	.run = run,
};
