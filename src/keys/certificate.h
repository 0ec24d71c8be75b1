/* SPDX-License-Identifier: MIT */
/*
 * certificate: a certificate and a key on their way between the library and files, and what ours have
 * in common. Names are those of GnuTLS; an object that is NULL may be freed.
 */
#ifndef KISEKI_KEYS_CERTIFICATE_H
#define KISEKI_KEYS_CERTIFICATE_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>

#include "base/error.h"

static inline void cleanup_crtp(gnutls_x509_crt_t *c)
{
	if (*c)
		gnutls_x509_crt_deinit(*c);
}

static inline void cleanup_keyp(gnutls_x509_privkey_t *k)
{
	if (*k)
		gnutls_x509_privkey_deinit(*k);
}

static inline void cleanup_datump(gnutls_datum_t *d)
{
	gnutls_free(d->data);
}

#define CLEANUP_CRT __attribute__((cleanup(cleanup_crtp)))
#define CLEANUP_KEY __attribute__((cleanup(cleanup_keyp)))
#define CLEANUP_DATUM __attribute__((cleanup(cleanup_datump)))

/* What the library says, as "cannot <verb>: <reason>". */
int certificate_error(struct error *e, const char *verb, int code);

int certificate_load(gnutls_x509_crt_t *ret, const char *folder, const char *name, struct error *e);
int certificate_save(gnutls_x509_crt_t c, const char *folder, const char *name, struct error *e);

/* A new one, of the curve P-256. */
int certificate_key_new(gnutls_x509_privkey_t *ret, struct error *e);
int certificate_key_load(gnutls_x509_privkey_t *ret, const char *folder, const char *name,
			 struct error *e);

/* Both in one file. */
int certificate_save_pair(gnutls_x509_privkey_t k, gnutls_x509_crt_t c, const char *folder,
			  const char *name, struct error *e);

/* A serial number, a subject and times; a key and what it is for are the caller's. */
struct certificate_head {
	const char *name;
	const uint8_t *serial; /* NULL: a random one */
	size_t serial_len;
	uint64_t from_s, until_s;
};
int certificate_begin(gnutls_x509_crt_t *ret, const struct certificate_head *h, struct error *e);

#endif
