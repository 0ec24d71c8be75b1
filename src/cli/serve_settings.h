/* SPDX-License-Identifier: MIT */
/*
 * serve_settings: what `kiseki serve` is told, by the command line and by a file.
 *
 * The file has lines `key = value`; one that starts with # is a remark. The keys are the long options
 * without their dashes, so there is one meaning and one check of each value. The command line goes
 * over the file, the file over the defaults.
 */
#ifndef KISEKI_CLI_SERVE_SETTINGS_H
#define KISEKI_CLI_SERVE_SETTINGS_H

#include "base/error.h"
#include "collector/collector.h"
#include "command/args.h"

#define SERVE_FILE "/etc/kiseki/collector.conf"
#define SERVE_FILE_MAX 65536U
#define SERVE_TEXT_MAX 1024U

struct serve_settings {
	char listen[SERVE_TEXT_MAX], http[SERVE_TEXT_MAX], data[SERVE_TEXT_MAX];
	struct collector_options options; /* its texts are those above */
};

void serve_settings_init(struct serve_settings *s); /* the defaults */

/* -EINVAL with "<key> is …, not '<value>'". */
int serve_settings_set(struct serve_settings *s, const char *key, const char *value,
		       struct error *e);

/* Errors name file and line. */
int serve_settings_parse(struct serve_settings *s, const char *text, const char *file,
			 struct error *e);

/* Reads the file that --config names, or SERVE_FILE if that is there; then the options. */
int serve_settings_load(struct serve_settings *s, const struct args *a, struct error *e);

#endif
