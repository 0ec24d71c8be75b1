/* SPDX-License-Identifier: MIT */
/*
 * authority: the private authority of a collector: its key and its certificate, the collector's own,
 * and the signing of those of devices. Where its files lie and what a rotation leaves behind is said
 * in docs/design/keys.md.
 */
#ifndef KISEKI_KEYS_AUTHORITY_H
#define KISEKI_KEYS_AUTHORITY_H

#include <gnutls/gnutls.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/enroll.h"

#define AUTHORITY_SERIAL_LEN 16U
/* A key stands in one file with its certificate, so that no death leaves one without the other. */
#define AUTHORITY_FILE "authority.pem"
#define AUTHORITY_PUBLIC "ca.pem"	 /* its certificate alone, for browsers */
#define AUTHORITY_BEFORE "ca-before.pem" /* who it was before a rotation */
#define AUTHORITY_CROSS "ca-cross.pem"	 /* our key, signed by that one */
#define COLLECTOR_FILE "collector.pem"

#define AUTHORITY_HOSTS_MAX 16U

struct authority;

/* Makes the folder with a new authority and the certificate of a collector that is reached by these
 * names and numeric addresses. -EEXIST: there is one. */
int authority_init(const char *folder, const char *const *hosts, size_t n, struct error *e);

int authority_open(struct authority **ret, const char *folder, struct error *e);
void authority_free(struct authority *a);
DEFINE_CLEANUP(authority, authority_free)

/* A new authority, which the present one vouches for; then its key is gone. The collector gets a new
 * key and certificate, too. `a` is the new one then. */
int authority_rotate(struct authority *a, const char *folder, struct error *e);

/* A new key and certificate for the collector, with the names that it has. */
/* When its certificate begins to hold, in seconds since 1970. */
uint64_t authority_get_start(const struct authority *a);
int authority_renew_collector(struct authority *a, const char *folder, struct error *e);

/* The first bytes of the SHA-256 of its public key. */
void authority_get_fingerprint(const struct authority *a, uint8_t ret[TOKEN_FINGERPRINT_LEN]);

/* Its certificate in DER, borrowed. */
gnutls_datum_t authority_get_der(const struct authority *a);

struct authority_wish {
	const char *name; /* the subject */
	uint8_t serial[AUTHORITY_SERIAL_LEN];
	uint64_t from_s, until_s; /* since 1970 */
	const uint8_t *request;	  /* PKCS #10, in DER */
	size_t request_len;
};

/* A device's certificate in DER; the request's key is all that is taken from it. -EINVAL: it is no
 * request, it is not signed by its own key, or the key is of no kind that is used here. */
int authority_sign(const struct authority *a, const struct authority_wish *w, uint8_t *der,
		   size_t *len, struct error *e);

#endif
