/* SPDX-License-Identifier: MIT */
/* keys enroll: a token with which one device gets its certificate. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/when.h"
#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "command/say.h"

#define NS_PER_S 1000000000ULL
#define LENGTH_MOST_S (3650ULL * 86400)

/* Whole seconds, at least one. */
static int get_length(const struct args *a, const char *name, uint64_t *ret_s, struct error *e)
{
	const char *text = args_get(a, name);
	uint64_t ns;

	if (!text)
		return 0;
	if (when_parse_length(text, &ns, NULL) < 0 || ns < NS_PER_S ||
	    ns / NS_PER_S > LENGTH_MOST_S)
		return error_set(e, EINVAL,
				 "cannot use --%s %s: a length of time from 1s to 3650d is wanted",
				 name, text);
	*ret_s = ns / NS_PER_S;
	return 0;
}

static int run(const struct args *a)
{
	struct keys_wish w = { .name = a->operands[0],
			       .now_s = (uint64_t)time(NULL),
			       .wait_s = KEYS_TOKEN_S,
			       .valid_s = KEYS_VALID_S };
	CLEANUP(keys) struct keys *k = NULL;
	struct error e = ERROR_INIT;
	char token[TOKEN_TEXT_LEN + 1];

	if (get_length(a, "wait", &w.wait_s, &e) < 0 || get_length(a, "valid", &w.valid_s, &e) < 0)
		return say_usage(&e);
	if (key_folder_open(&k, a, &e) < 0 || keys_make_token(k, &w, token, &e) < 0)
		return say_failure(&e);
	puts(token);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "wait", "TIME", "how long the token can be used (1d)", NULL },
	{ 0, "valid", "TIME", "how long its certificates hold (90d)", NULL },
	KEY_FOLDER_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Enroll a board that can be reached by ssh:",
	  "kiseki keys enroll b7 | ssh b7 kiseki-agent enroll -c traces.example:7077" },
	{ NULL, NULL },
};

const struct command command_keys_enroll = {
	.name = "enroll",
	.summary = "make a token with which a device gets its certificate, once",
	.usage = "DEVICE [--wait TIME] [--valid TIME] [--dir DIR]",
	.description =
		"Prints the token, which nobody can show again. On the device, `kiseki-agent "
		"enroll` reads it. It holds the authority's fingerprint, so the device cannot be "
		"led to another collector; it serves once, and who tries it again is refused and "
		"logged by the collector. The device is called DEVICE from then on. Certificates "
		"that this name had are revoked when the token is used. A device renews its "
		"certificate by itself.",
	.options = options,
	.examples = examples,
	.parent = &command_keys,
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
