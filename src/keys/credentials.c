/* SPDX-License-Identifier: MIT */
/*
 * credentials: see credentials.h. The chain is always two certificates: the collector's, and one that
 * has the key of who signed it. A device that enrolls finds the fingerprint of its token there; one
 * that trusts only the authority of before finds that one's signature.
 */
#include "keys/credentials.h"

#include <errno.h>

#include "base/key_file.h"
#include "keys/authority.h"
#include "keys/certificate.h"

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3"

struct credentials {
	unsigned int refs;
	gnutls_certificate_credentials_t x509;
	gnutls_priority_t priority;
};

struct credentials *credentials_ref(struct credentials *c)
{
	c->refs++;
	return c;
}

void credentials_unref(struct credentials *c)
{
	if (!c || --c->refs)
		return;
	if (c->x509)
		gnutls_certificate_free_credentials(c->x509);
	if (c->priority)
		gnutls_priority_deinit(c->priority);
	free(c);
}

/* Who vouches for the collector's certificate: the authority, if there was another before it as that
 * one signed it; or that one, if a rotation was cut in the middle. */
static const char *issuer_of(gnutls_x509_crt_t collector, gnutls_x509_crt_t authority,
			     const char *folder)
{
	bool was_another = key_file_exists(folder, AUTHORITY_CROSS);

	if (gnutls_x509_crt_check_issuer(collector, authority))
		return was_another ? AUTHORITY_CROSS : AUTHORITY_FILE;
	return was_another ? AUTHORITY_BEFORE : AUTHORITY_FILE;
}

static int set_chain(struct credentials *c, const char *folder, gnutls_x509_crt_t authority,
		     struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t own = NULL, issuer = NULL;
	CLEANUP_KEY gnutls_x509_privkey_t key = NULL;
	gnutls_x509_crt_t chain[2];
	int r = certificate_load(&own, folder, COLLECTOR_FILE, e);

	if (r == 0)
		r = certificate_key_load(&key, folder, COLLECTOR_FILE, e);
	if (r == 0)
		r = certificate_load(&issuer, folder, issuer_of(own, authority, folder), e);
	if (r < 0)
		return r;
	chain[0] = own;
	chain[1] = issuer;
	r = gnutls_certificate_set_x509_key(c->x509, chain, 2, key);
	return r < 0 ? certificate_error(e, "use the collector's certificate", r) : 0;
}

static int set_trust(struct credentials *c, const char *folder, gnutls_x509_crt_t authority,
		     struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t before = NULL;
	gnutls_x509_crt_t list[2] = { authority };
	int r, n = 1;

	if (key_file_exists(folder, AUTHORITY_BEFORE)) {
		r = certificate_load(&before, folder, AUTHORITY_BEFORE, e);
		if (r < 0)
			return r;
		list[n++] = before;
	}
	/* From when to when a device's certificate holds is in the roster, where every one is looked up
	 * (keys_judge()). What the certificate says is of the clock that we had when we signed it. */
	gnutls_certificate_set_verify_flags(c->x509, GNUTLS_VERIFY_DISABLE_TIME_CHECKS);
	r = gnutls_certificate_set_x509_trust(c->x509, list, n);
	return r < 0 ? certificate_error(e, "use the authority", r) : 0;
}

static int make_empty(struct credentials **ret, struct error *e)
{
	CLEANUP(credentials) struct credentials *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot use the keys: out of memory");
	c->refs = 1;
	r = gnutls_certificate_allocate_credentials(&c->x509);
	if (r >= 0)
		r = gnutls_priority_init(&c->priority, PRIORITY, NULL);
	if (r < 0)
		return certificate_error(e, "use the keys", r);
	*ret = take_ptr(c);
	return 0;
}

int credentials_new_files(struct credentials **ret, const char *certificate, const char *key,
			  struct error *e)
{
	CLEANUP(credentials) struct credentials *c = NULL;
	int r = make_empty(&c, e);

	if (r < 0)
		return r;
	r = gnutls_certificate_set_x509_key_file(c->x509, certificate, key, GNUTLS_X509_FMT_PEM);
	if (r < 0)
		return error_set(e, EINVAL, "cannot use the certificate %s with the key %s: %s",
				 certificate, key, gnutls_strerror(r));
	*ret = take_ptr(c);
	return 0;
}

int credentials_new(struct credentials **ret, const char *folder, struct error *e)
{
	CLEANUP(credentials) struct credentials *c = NULL;
	CLEANUP_CRT gnutls_x509_crt_t authority = NULL;
	int r = make_empty(&c, e);

	if (r < 0)
		return r;
	r = certificate_load(&authority, folder, AUTHORITY_FILE, e);
	if (r == 0)
		r = set_chain(c, folder, authority, e);
	if (r == 0)
		r = set_trust(c, folder, authority, e);
	if (r < 0)
		return r;
	*ret = take_ptr(c);
	return 0;
}

gnutls_certificate_credentials_t credentials_get_x509(const struct credentials *c)
{
	return c->x509;
}

gnutls_priority_t credentials_get_priority(const struct credentials *c)
{
	return c->priority;
}
