/* SPDX-License-Identifier: MIT */
/*
 * client: the commands' side of the collector's HTTP API.
 *
 * One request at a time. Answers of the JSON kind are bounded and whole; others are handed on as
 * they come, and between the pieces the caller can look at a terminal, a clock or a signal. What
 * fails is said as one line with what to do next.
 */
#ifndef KISEKI_CLI_CLIENT_H
#define KISEKI_CLI_CLIENT_H

#include <jansson.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/outfile.h"
#include "cli/url.h"
#include "command/args.h"

#define CLIENT_SERVER "http://127.0.0.1:8080"
#define CLIENT_ANSWER_MAX (64U << 20) /* bytes of a JSON answer */
#define CLIENT_FDS_MAX 4U

/* For the tables of commands. */
#define CLIENT_OPTION                                                                              \
	{                                                                                          \
		0, "server", "URL", "the collector; default KISEKI_SERVER or " CLIENT_SERVER, NULL \
	}

struct client;

/* By --server, KISEKI_SERVER, or the default. */
int client_open(struct client **ret, const struct args *a, struct error *e);
void client_free(struct client *c);
DEFINE_CLEANUP(client, client_free)

const char *client_server(const struct client *c); /* for messages */

/* A failure that the server reports has its text and is -ENOENT (404), -EINVAL (400), … or -EIO. */
int client_get_json(struct client *c, const struct url *u, json_t **ret, struct error *e);
int client_post_json(struct client *c, const struct url *u, const json_t *body, json_t **ret,
		     struct error *e);

struct client_watch {
	void *context;
	/* Bytes of the answer's body came. Not 0 stops. */
	int (*take)(void *context, const char *bytes, size_t len, struct error *e);
	/* May be NULL: called at least every turn_ms, and when a descriptor can be read. Not 0
	 * stops. */
	int (*turn)(void *context, struct error *e);
	int fds[CLIENT_FDS_MAX];
	unsigned int n_fds;
	int turn_ms;
};

/* 0 at the end of the answer; what take or turn returned; < 0. */
int client_stream(struct client *c, const struct url *u, const struct client_watch *w,
		  struct error *e);

/* What the server said about the last answer beside its bytes, or "". */
const char *client_note(const struct client *c);

#endif
