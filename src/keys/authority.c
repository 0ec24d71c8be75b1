/* SPDX-License-Identifier: MIT */
/* authority: see authority.h. */
#include "keys/authority.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hex.h"
#include "base/key_file.h"
#include "keys/certificate.h"

#define DAY_S 86400U
#define AUTHORITY_DAYS 3650U
#define COLLECTOR_DAYS 800U /* browsers take no more of an authority of one's own */
#define SLACK_DAYS 1U	    /* a device's clock may be behind */
#define OID_NAMES "2.5.29.17"
#define KEY_BITS 256U
#define NAMES_MAX 4096U /* bytes of that extension */

struct authority {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t certificate;
	gnutls_datum_t der;
};

void authority_free(struct authority *a)
{
	if (!a)
		return;
	cleanup_keyp(&a->key);
	cleanup_crtp(&a->certificate);
	gnutls_free(a->der.data);
	free(a);
}

/* With the key's own signature as long as nobody else's is there. */
static int sign(gnutls_x509_crt_t c, gnutls_x509_crt_t issuer, gnutls_x509_privkey_t key,
		struct error *e)
{
	int r = gnutls_x509_crt_sign2(c, issuer, key, GNUTLS_DIG_SHA256, 0);

	return r < 0 ? certificate_error(e, "sign a certificate", r) : 0;
}

static int set_key_id(gnutls_x509_crt_t c, bool of_issuer, gnutls_x509_crt_t from)
{
	uint8_t id[64];
	size_t len = sizeof(id);
	int r = gnutls_x509_crt_get_key_id(from, 0, id, &len);

	if (r < 0)
		return r;
	return of_issuer ? gnutls_x509_crt_set_authority_key_id(c, id, len)
			 : gnutls_x509_crt_set_subject_key_id(c, id, len);
}

/* --- making an authority --- */

/* A clock that was never set may be in 1970, or before. */
static uint64_t get_now(void)
{
	time_t now = time(NULL);

	return now < (time_t)(SLACK_DAYS * DAY_S) ? SLACK_DAYS * DAY_S : (uint64_t)now;
}

/* Of the key, in the name of the subject; *ret is not signed yet. */
static int describe_authority(gnutls_x509_crt_t *ret, const char *name, gnutls_x509_privkey_t key,
			      struct error *e)
{
	uint64_t now = get_now();
	struct certificate_head h = { .name = name,
				      .from_s = now - SLACK_DAYS * DAY_S,
				      .until_s = now + (uint64_t)AUTHORITY_DAYS * DAY_S };
	int r = certificate_begin(ret, &h, e);

	if (r < 0)
		return r;
	if ((r = gnutls_x509_crt_set_key(*ret, key)) < 0 ||
	    (r = gnutls_x509_crt_set_basic_constraints(*ret, 1, 1)) < 0 ||
	    (r = gnutls_x509_crt_set_key_usage(*ret, GNUTLS_KEY_KEY_CERT_SIGN)) < 0 ||
	    (r = set_key_id(*ret, false, *ret)) < 0)
		return certificate_error(e, "make an authority", r);
	return 0;
}

static int make_name(char *out, size_t room, struct error *e)
{
	uint8_t random[4];
	char digits[2 * sizeof(random) + 1];
	int r = gnutls_rnd(GNUTLS_RND_NONCE, random, sizeof(random));

	if (r < 0)
		return certificate_error(e, "make an authority", r);
	snprintf(out, room, "Kiseki authority %s", hex_format(random, sizeof(random), digits));
	return 0;
}

static int authority_make(struct authority **ret, struct error *e)
{
	CLEANUP(authority) struct authority *a = calloc(1, sizeof(*a));
	char name[40];
	int r;

	if (!a)
		return error_set(e, ENOMEM, "cannot make an authority: out of memory");
	r = make_name(name, sizeof(name), e);
	if (r == 0)
		r = certificate_key_new(&a->key, e);
	if (r == 0)
		r = describe_authority(&a->certificate, name, a->key, e);
	if (r == 0)
		r = sign(a->certificate, a->certificate, a->key, e);
	if (r < 0)
		return r;
	r = gnutls_x509_crt_export2(a->certificate, GNUTLS_X509_FMT_DER, &a->der);
	if (r < 0)
		return certificate_error(e, "make an authority", r);
	*ret = take_ptr(a);
	return 0;
}

int authority_open(struct authority **ret, const char *folder, struct error *e)
{
	CLEANUP(authority) struct authority *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return error_set(e, ENOMEM, "cannot read %s: out of memory", folder);
	r = certificate_load(&a->certificate, folder, AUTHORITY_FILE, e);
	if (r == 0)
		r = certificate_key_load(&a->key, folder, AUTHORITY_FILE, e);
	if (r < 0)
		return r;
	r = gnutls_x509_crt_export2(a->certificate, GNUTLS_X509_FMT_DER, &a->der);
	if (r < 0)
		return certificate_error(e, "read the authority", r);
	*ret = take_ptr(a);
	return 0;
}

/* --- the collector's certificate --- */

static int add_host(gnutls_x509_crt_t c, const char *host)
{
	uint8_t address[16];

	if (inet_pton(AF_INET, host, address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_IPADDRESS, address, 4,
							    GNUTLS_FSAN_APPEND);
	if (inet_pton(AF_INET6, host, address) == 1)
		return gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_IPADDRESS, address, 16,
							    GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_DNSNAME, host,
						    (unsigned int)strlen(host), GNUTLS_FSAN_APPEND);
}

/* The names, as they stand in the certificate that is there. */
static int copy_hosts(gnutls_x509_crt_t to, const char *folder, struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t from = NULL;
	uint8_t names[NAMES_MAX];
	size_t len = sizeof(names);
	unsigned int critical;
	int r = certificate_load(&from, folder, COLLECTOR_FILE, e);

	if (r < 0)
		return r;
	r = gnutls_x509_crt_get_extension_by_oid(from, OID_NAMES, 0, names, &len, &critical);
	if (r >= 0)
		r = gnutls_x509_crt_set_extension_by_oid(to, OID_NAMES, names, len, 0);
	return r < 0 ? certificate_error(e, "read the collector's names", r) : 0;
}

static int begin_collector(gnutls_x509_crt_t *ret, gnutls_x509_privkey_t key, struct error *e)
{
	uint64_t now = get_now();
	struct certificate_head h = { .name = "Kiseki collector",
				      .from_s = now - SLACK_DAYS * DAY_S,
				      .until_s = now + (uint64_t)COLLECTOR_DAYS * DAY_S };
	int r = certificate_begin(ret, &h, e);

	if (r < 0)
		return r;
	if ((r = gnutls_x509_crt_set_key(*ret, key)) < 0 ||
	    (r = gnutls_x509_crt_set_basic_constraints(*ret, 0, -1)) < 0 ||
	    (r = gnutls_x509_crt_set_key_usage(*ret, GNUTLS_KEY_DIGITAL_SIGNATURE)) < 0 ||
	    (r = gnutls_x509_crt_set_key_purpose_oid(*ret, GNUTLS_KP_TLS_WWW_SERVER, 0)) < 0)
		return certificate_error(e, "make the collector's certificate", r);
	return 0;
}

/* hosts NULL: those of the certificate that is there. */
static int make_collector(struct authority *a, const char *folder, const char *const *hosts,
			  size_t n, struct error *e)
{
	CLEANUP_KEY gnutls_x509_privkey_t key = NULL;
	CLEANUP_CRT gnutls_x509_crt_t c = NULL;
	size_t i;
	int r = certificate_key_new(&key, e);

	if (r == 0)
		r = begin_collector(&c, key, e);
	if (r < 0)
		return r;
	for (i = 0; hosts && i < n; i++)
		if ((r = add_host(c, hosts[i])) < 0)
			return certificate_error(e, "name the collector", r);
	r = hosts ? 0 : copy_hosts(c, folder, e);
	if (r == 0 && (r = set_key_id(c, true, a->certificate)) < 0)
		r = certificate_error(e, "make the collector's certificate", r);
	if (r == 0)
		r = sign(c, a->certificate, a->key, e);
	return r < 0 ? r : certificate_save_pair(key, c, folder, COLLECTOR_FILE, e);
}

uint64_t authority_get_start(const struct authority *a)
{
	return (uint64_t)gnutls_x509_crt_get_activation_time(a->certificate);
}

int authority_renew_collector(struct authority *a, const char *folder, struct error *e)
{
	return make_collector(a, folder, NULL, 0, e);
}

int authority_init(const char *folder, const char *const *hosts, size_t n, struct error *e)
{
	CLEANUP(authority) struct authority *a = NULL;
	int r;

	if (n > AUTHORITY_HOSTS_MAX)
		return error_set(e, E2BIG, "cannot name the collector: more than %u names",
				 AUTHORITY_HOSTS_MAX);
	if (key_file_exists(folder, AUTHORITY_FILE))
		return error_set(e, EEXIST, "cannot make keys in %s: there are some", folder);
	r = key_folder_make(folder, e);
	if (r == 0)
		r = authority_make(&a, e);
	if (r == 0)
		r = certificate_save_pair(a->key, a->certificate, folder, AUTHORITY_FILE, e);
	if (r == 0)
		r = certificate_save(a->certificate, folder, AUTHORITY_PUBLIC, e);
	return r < 0 ? r : make_collector(a, folder, hosts, n, e);
}

/* --- rotation --- */

/* The new authority's key in the name that it has, signed by the old one. */
static int make_cross(struct authority *old, struct authority *new, const char *folder,
		      struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t c = NULL;
	char name[64];
	size_t len = sizeof(name);
	int r = gnutls_x509_crt_get_dn_by_oid(new->certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
					      name, &len);

	if (r < 0)
		return certificate_error(e, "read the authority's name", r);
	r = describe_authority(&c, name, new->key, e);
	if (r == 0 && (r = set_key_id(c, true, old->certificate)) < 0)
		r = certificate_error(e, "sign the new authority", r);
	if (r == 0)
		r = sign(c, old->certificate, old->key, e);
	return r < 0 ? r : certificate_save(c, folder, AUTHORITY_CROSS, e);
}

int authority_rotate(struct authority *a, const char *folder, struct error *e)
{
	CLEANUP(authority) struct authority *new = NULL;
	struct authority old;
	int r = authority_make(&new, e);

	if (r == 0)
		r = certificate_save(a->certificate, folder, AUTHORITY_BEFORE, e);
	if (r == 0)
		r = make_cross(a, new, folder, e);
	if (r == 0)
		r = certificate_save_pair(new->key, new->certificate, folder, AUTHORITY_FILE, e);
	if (r == 0)
		r = certificate_save(new->certificate, folder, AUTHORITY_PUBLIC, e);
	if (r < 0)
		return r;
	old = *a;
	*a = *new;
	*new = old; /* freed, and with it the only copy of its key */
	return make_collector(a, folder, NULL, 0, e);
}

/* --- devices --- */

static int import_request(gnutls_pubkey_t *ret, const struct authority_wish *w, struct error *e)
{
	gnutls_datum_t d = { (unsigned char *)w->request, (unsigned int)w->request_len };
	gnutls_x509_crq_t request = NULL;
	unsigned int bits = 0;
	int r = gnutls_x509_crq_init(&request);

	if (r >= 0)
		r = gnutls_x509_crq_import(request, &d, GNUTLS_X509_FMT_DER);
	if (r >= 0)
		r = gnutls_x509_crq_verify(request, 0);
	if (r >= 0 && (gnutls_x509_crq_get_pk_algorithm(request, &bits) != GNUTLS_PK_ECDSA ||
		       bits != KEY_BITS))
		r = GNUTLS_E_UNSUPPORTED_SIGNATURE_ALGORITHM;
	if (r >= 0)
		r = gnutls_pubkey_init(ret);
	if (r >= 0)
		r = gnutls_pubkey_import_x509_crq(*ret, request, 0);
	if (request)
		gnutls_x509_crq_deinit(request);
	return r < 0 ? certificate_error(e, "use the request for a certificate", r) : 0;
}

static int describe_device(gnutls_x509_crt_t c, gnutls_pubkey_t key, gnutls_x509_crt_t issuer)
{
	int r;

	if ((r = gnutls_x509_crt_set_pubkey(c, key)) < 0 ||
	    (r = gnutls_x509_crt_set_basic_constraints(c, 0, -1)) < 0 ||
	    (r = gnutls_x509_crt_set_key_usage(c, GNUTLS_KEY_DIGITAL_SIGNATURE)) < 0 ||
	    (r = gnutls_x509_crt_set_key_purpose_oid(c, GNUTLS_KP_TLS_WWW_CLIENT, 0)) < 0 ||
	    (r = set_key_id(c, true, issuer)) < 0)
		return r;
	return 0;
}

int authority_sign(const struct authority *a, const struct authority_wish *w, uint8_t *der,
		   size_t *len, struct error *e)
{
	struct certificate_head h = { w->name, w->serial, sizeof(w->serial), w->from_s,
				      w->until_s };
	CLEANUP_CRT gnutls_x509_crt_t c = NULL;
	gnutls_pubkey_t key = NULL;
	int r = import_request(&key, w, e);

	if (r == 0)
		r = certificate_begin(&c, &h, e);
	if (r == 0 && (r = describe_device(c, key, a->certificate)) < 0)
		r = certificate_error(e, "make a device's certificate", r);
	if (key)
		gnutls_pubkey_deinit(key);
	if (r == 0)
		r = sign(c, a->certificate, a->key, e);
	if (r < 0)
		return r;
	r = gnutls_x509_crt_export(c, GNUTLS_X509_FMT_DER, der, len);
	return r < 0 ? certificate_error(e, "write a device's certificate", r) : 0;
}

void authority_get_fingerprint(const struct authority *a, uint8_t ret[TOKEN_FINGERPRINT_LEN])
{
	uint8_t id[32] = { 0 };
	size_t len = sizeof(id);

	gnutls_x509_crt_get_key_id(a->certificate, GNUTLS_KEYID_USE_SHA256, id, &len);
	memcpy(ret, id, TOKEN_FINGERPRINT_LEN);
}

gnutls_datum_t authority_get_der(const struct authority *a)
{
	return a->der;
}
