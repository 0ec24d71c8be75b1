/* SPDX-License-Identifier: MIT */
/*
 * http_tls: the certificate that people and programs are shown, as it is on the disk now.
 *
 * The library would read it once, at its start. So each connection gets its credentials when it begins, before its
 * handshake: files that were changed since are read again, and those whose connection has begun keep what they were shown.
 * From any thread.
 */
#ifndef KISEKI_COLLECTOR_HTTP_TLS_H
#define KISEKI_COLLECTOR_HTTP_TLS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "keys/credentials.h"

/* Browsers of the last years speak 1.3; scripts on older machines may not. */
#define HTTP_TLS_PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct http_tls;

struct http_tls_files {
	const char *folder;	       /* of keys */
	const char *certificate, *key; /* of somebody else's making; NULL: those of the folder */
};

/* The strings must stay. */
int http_tls_new(struct http_tls **ret, const struct http_tls_files *f, struct error *e);
void http_tls_free(struct http_tls *t);
DEFINE_CLEANUP(http_tls, http_tls_free)

/* For one connection, until http_tls_put(). Files that are no good leave what was: 1, and the reason. */
int http_tls_take(struct http_tls *t, struct credentials **ret, struct error *e);
void http_tls_put(struct http_tls *t, struct credentials *c);

#endif
