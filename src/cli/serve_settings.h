/* SPDX-License-Identifier: MIT */
/*
 * serve_settings: what `kiseki serve` is told, by a file and by the command line
 * (command/setting.h).
 */
#ifndef KISEKI_CLI_SERVE_SETTINGS_H
#define KISEKI_CLI_SERVE_SETTINGS_H

#include "base/error.h"
#include "collector/collector.h"
#include "command/args.h"

#define SERVE_FILE "/etc/kiseki/collector.conf"
#define SERVE_TEXT_MAX 1024U

struct serve_settings {
	char listen[SERVE_TEXT_MAX], http[SERVE_TEXT_MAX], data[SERVE_TEXT_MAX];
	char symbols[SERVE_TEXT_MAX], store[SERVE_TEXT_MAX], alert_webhook[SERVE_TEXT_MAX];
	char keys[SERVE_TEXT_MAX], http_certificate[SERVE_TEXT_MAX], http_key[SERVE_TEXT_MAX];
	bool no_sandbox;
	struct collector_options options; /* its texts are those above */
};

void serve_settings_init(struct serve_settings *s); /* the defaults */

/* The key at a place of the list; NULL is the last. */
const char *serve_settings_key(size_t i);

/* Errors name file and line. */
int serve_settings_parse(struct serve_settings *s, const char *text, const char *file,
			 struct error *e);

/* Reads the file that --config names, or SERVE_FILE if that is there; then the options. */
int serve_settings_load(struct serve_settings *s, const struct args *a, struct error *e);

#endif
