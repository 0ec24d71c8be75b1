/* SPDX-License-Identifier: MIT */
/*
 * access: what a command shows to a collector with keys, and whom it trusts: a token, and the certificate of the
 * collector's authority.
 *
 * The token is in KISEKI_TOKEN, in the file that KISEKI_TOKEN_FILE names, or in ~/.config/kiseki/token; it goes out over
 * https alone. The authority is in the file that KISEKI_CA names or in ~/.config/kiseki/ca.pem; without one, those of
 * the system hold.
 */
#ifndef KISEKI_CLI_ACCESS_H
#define KISEKI_CLI_ACCESS_H

#include <limits.h>

#include "base/error.h"

#define ACCESS_TOKEN_MAX 256U

struct access {
	char token[ACCESS_TOKEN_MAX]; /* "": none */
	char authority[PATH_MAX];     /* file; "": those of the system */
};

/* For a server, by its URL. Files that are named must be good; so must those that are there. */
int access_load(struct access *a, const char *server, struct error *e);

#endif
