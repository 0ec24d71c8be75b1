/* SPDX-License-Identifier: MIT */
/*
 * credentials: what the collector shows to those who connect, and whom it trusts: the files of the
 * folder of keys, as they were when it was made. Connections hold on to theirs when the files change.
 * All of one thread.
 */
#ifndef KISEKI_KEYS_CREDENTIALS_H
#define KISEKI_KEYS_CREDENTIALS_H

#include <gnutls/gnutls.h>

#include "base/cleanup.h"
#include "base/error.h"

struct credentials;

int credentials_new(struct credentials **ret, const char *folder, struct error *e);
/* What people and programs that ask are shown instead: a certificate, with those that vouch for it behind it, and its key,
 * both PEM. */
int credentials_new_files(struct credentials **ret, const char *certificate, const char *key,
			  struct error *e);

struct credentials *credentials_ref(struct credentials *c);
void credentials_unref(struct credentials *c);
DEFINE_CLEANUP(credentials, credentials_unref)

/* Borrowed. */
gnutls_certificate_credentials_t credentials_get_x509(const struct credentials *c);
gnutls_priority_t credentials_get_priority(const struct credentials *c);

#endif
