/* SPDX-License-Identifier: MIT */
/* certificate: see certificate.h. */
#include "keys/certificate.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/key_file.h"

#define SERIAL_LEN 16U

int certificate_error(struct error *e, const char *verb, int code)
{
	return error_set(e, code == GNUTLS_E_MEMORY_ERROR ? ENOMEM : EINVAL, "cannot %s: %s", verb,
			 gnutls_strerror(code));
}

static gnutls_datum_t datum_of(char *text, size_t len)
{
	return (gnutls_datum_t){ (unsigned char *)text, (unsigned int)len };
}

static int bad_file(struct error *e, const char *folder, const char *name, int code)
{
	return error_set(e, EINVAL, "cannot read %s/%s: %s", folder, name, gnutls_strerror(code));
}

int certificate_load(gnutls_x509_crt_t *ret, const char *folder, const char *name, struct error *e)
{
	_cleanup_free_ char *text = NULL;
	gnutls_datum_t d;
	size_t len;
	int r = key_file_dup(folder, name, &text, &len, e);

	if (r < 0)
		return r;
	d = datum_of(text, len);
	r = gnutls_x509_crt_init(ret);
	if (r >= 0)
		r = gnutls_x509_crt_import(*ret, &d, GNUTLS_X509_FMT_PEM);
	return r < 0 ? bad_file(e, folder, name, r) : 0;
}

int certificate_save(gnutls_x509_crt_t c, const char *folder, const char *name, struct error *e)
{
	CLEANUP_DATUM gnutls_datum_t pem = { NULL, 0 };
	int r = gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_PEM, &pem);

	if (r < 0)
		return certificate_error(e, "write a certificate", r);
	return key_file_write(folder, name, pem.data, pem.size, e);
}

int certificate_key_new(gnutls_x509_privkey_t *ret, struct error *e)
{
	int r = gnutls_x509_privkey_init(ret);

	if (r >= 0)
		r = gnutls_x509_privkey_generate(*ret, GNUTLS_PK_ECDSA,
						 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
						 0);
	return r < 0 ? certificate_error(e, "make a key", r) : 0;
}

int certificate_key_load(gnutls_x509_privkey_t *ret, const char *folder, const char *name,
			 struct error *e)
{
	_cleanup_free_ char *text = NULL;
	gnutls_datum_t d;
	size_t len;
	int r = key_file_dup(folder, name, &text, &len, e);

	if (r < 0)
		return r;
	d = datum_of(text, len);
	r = gnutls_x509_privkey_init(ret);
	if (r >= 0)
		r = gnutls_x509_privkey_import(*ret, &d, GNUTLS_X509_FMT_PEM);
	gnutls_memset(text, 0, len);
	return r < 0 ? bad_file(e, folder, name, r) : 0;
}

int certificate_save_pair(gnutls_x509_privkey_t k, gnutls_x509_crt_t c, const char *folder,
			  const char *name, struct error *e)
{
	CLEANUP_DATUM gnutls_datum_t key = { NULL, 0 }, certificate = { NULL, 0 };
	_cleanup_free_ char *both = NULL;
	int r = gnutls_x509_privkey_export2(k, GNUTLS_X509_FMT_PEM, &key);

	if (r >= 0)
		r = gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_PEM, &certificate);
	if (r < 0)
		return certificate_error(e, "write a key", r);
	both = malloc(key.size + certificate.size);
	if (!both)
		return error_set(e, ENOMEM, "cannot write a key: out of memory");
	memcpy(both, key.data, key.size);
	memcpy(both + key.size, certificate.data, certificate.size);
	r = key_file_write(folder, name, both, key.size + certificate.size, e);
	gnutls_memset(key.data, 0, key.size);
	gnutls_memset(both, 0, key.size);
	return r;
}

int certificate_begin(gnutls_x509_crt_t *ret, const struct certificate_head *h, struct error *e)
{
	uint8_t random[SERIAL_LEN];
	const uint8_t *serial = h->serial;
	size_t len = h->serial_len;
	gnutls_x509_crt_t c;
	int r = 0;

	if (!serial) {
		r = gnutls_rnd(GNUTLS_RND_NONCE, random, sizeof(random));
		random[0] = (random[0] & 0x3f) | 0x40; /* positive, and of full length */
		serial = random;
		len = sizeof(random);
	}
	if (r >= 0)
		r = gnutls_x509_crt_init(ret);
	if (r < 0)
		return certificate_error(e, "make a certificate", r);
	c = *ret;
	if ((r = gnutls_x509_crt_set_version(c, 3)) < 0 ||
	    (r = gnutls_x509_crt_set_serial(c, serial, len)) < 0 ||
	    (r = gnutls_x509_crt_set_activation_time(c, (time_t)h->from_s)) < 0 ||
	    (r = gnutls_x509_crt_set_expiration_time(c, (time_t)h->until_s)) < 0 ||
	    (r = gnutls_x509_crt_set_dn_by_oid(c, GNUTLS_OID_X520_COMMON_NAME, 0, h->name,
					       (unsigned int)strlen(h->name))) < 0)
		return certificate_error(e, "make a certificate", r);
	return 0;
}
