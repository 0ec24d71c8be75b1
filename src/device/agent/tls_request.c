/* SPDX-License-Identifier: MIT */
/* tls_request: a new key of the device and the request for its certificate; see tls.h. */
#include <errno.h>
#include <string.h>

#include "base/secrecy.h"
#include "device/agent/gnutls_table.h"
#include "device/agent/tls.h"

#define REQUEST_MAX 1024U

struct tls_request {
	const struct gnutls_table *g;
	gnutls_x509_privkey_t key;
	uint8_t der[REQUEST_MAX];
	size_t len;
};

void tls_request_free(struct tls_request *r)
{
	if (!r)
		return;
	if (r->key)
		r->g->gnutls_x509_privkey_deinit(r->key);
	free(r);
}

/* The name in it is the collector's business: there is none. */
static int sign(struct tls_request *q)
{
	const struct gnutls_table *g = q->g;
	gnutls_x509_crq_t request = NULL;
	int r = g->gnutls_x509_crq_init(&request);

	q->len = sizeof(q->der);
	if (r >= 0 && (r = g->gnutls_x509_crq_set_version(request, 1)) >= 0 &&
	    (r = g->gnutls_x509_crq_set_key(request, q->key)) >= 0 &&
	    (r = g->gnutls_x509_crq_sign2(request, q->key, GNUTLS_DIG_SHA256, 0)) >= 0)
		r = g->gnutls_x509_crq_export(request, GNUTLS_X509_FMT_DER, q->der, &q->len);
	if (request)
		g->gnutls_x509_crq_deinit(request);
	return r;
}

int tls_request_new(struct tls_request **ret, struct error *e)
{
	CLEANUP(tls_request) struct tls_request *q = calloc(1, sizeof(*q));
	int r;

	secrecy_enter();
	if (!q)
		return error_set(e, ENOMEM, "cannot make a key: out of memory");
	q->g = gnutls_table_get(e);
	if (!q->g)
		return -ENOSYS;
	r = q->g->gnutls_x509_privkey_init(&q->key);
	if (r >= 0)
		r = q->g->gnutls_x509_privkey_generate(q->key, GNUTLS_PK_ECDSA,
						       GNUTLS_CURVE_TO_BITS(
							       GNUTLS_ECC_CURVE_SECP256R1),
						       0);
	if (r >= 0)
		r = sign(q);
	if (r < 0)
		return gnutls_table_error(q->g, e, "make a key", r);
	*ret = take_ptr(q);
	return 0;
}

const uint8_t *tls_request_get(const struct tls_request *r, size_t *ret_len)
{
	*ret_len = r->len;
	return r->der;
}

int tls_certificate_format(const uint8_t *der, size_t der_len, char *out, size_t *len)
{
	const struct gnutls_table *g = gnutls_table_get(NULL);
	gnutls_datum_t d = { (unsigned char *)der, (unsigned int)der_len };
	gnutls_x509_crt_t c = NULL;
	int r = g ? g->gnutls_x509_crt_init(&c) : -1;

	if (r >= 0)
		r = g->gnutls_x509_crt_import(c, &d, GNUTLS_X509_FMT_DER);
	if (r >= 0)
		r = g->gnutls_x509_crt_export(c, GNUTLS_X509_FMT_PEM, out, len);
	if (c)
		g->gnutls_x509_crt_deinit(c);
	return r < 0 ? -EINVAL : 0;
}

int tls_request_format(const struct tls_request *r, const uint8_t *der, size_t der_len, char *out,
		       size_t *len)
{
	size_t key = *len, rest;

	if (r->g->gnutls_x509_privkey_export(r->key, GNUTLS_X509_FMT_PEM, out, &key) < 0)
		return -EINVAL;
	rest = *len - key;
	if (tls_certificate_format(der, der_len, out + key, &rest) < 0)
		return -EINVAL;
	*len = key + rest;
	return 0;
}
