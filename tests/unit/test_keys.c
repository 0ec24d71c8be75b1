/* SPDX-License-Identifier: MIT */
/*
 * keys: a folder of keys, asked as a collector asks it: tokens once and in time, identities that belong
 * to one name, renewal, revocation, rotation; and the TLS of a connection from bytes to bytes, cut
 * anywhere, with a client that has the real library behind it.
 */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#include "keys/channel.h"
#include "keys/keys.h"
#include "tools/damage_row.h"

#define NOW 1763200000ULL
#define DAY 86400ULL

static char folder[64];
static struct keys *keys;
static struct error e;

static int begin(void **state)
{
	static const char *const hosts[] = { "localhost", "127.0.0.1", "::1" };

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kiseki-keys.XXXXXX");
	assert_non_null(mkdtemp(folder));
	strcat(folder, "/k");
	e = (struct error)ERROR_INIT;
	assert_false(keys_exist(folder));
	assert_int_equal(keys_open(&keys, folder, &e), -ENOENT);
	assert_int_equal(authority_init(folder, hosts, 3, &e), 0);
	assert_int_equal(authority_init(folder, hosts, 3, &e), -EEXIST);
	assert_int_equal(keys_open(&keys, folder, &e), 0);
	return 0;
}

static int drop(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	(void)what;
	(void)at;
	return remove(path);
}

static int finish(void **state)
{
	(void)state;
	keys_close(keys);
	keys = NULL;
	*strrchr(folder, '/') = 0;
	nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* --- a device --- */

struct device {
	gnutls_x509_privkey_t key;
	uint8_t request[ENROLL_REQUEST_MAX];
	size_t request_len;
	uint8_t der[ENROLL_CERTIFICATE_MAX], ca[ENROLL_CERTIFICATE_MAX];
	gnutls_datum_t certificate, authority;
};

static void device_init(struct device *d, gnutls_pk_algorithm_t kind, unsigned int bits)
{
	gnutls_x509_crq_t request;

	memset(d, 0, sizeof(*d));
	gnutls_x509_privkey_init(&d->key);
	assert_int_equal(gnutls_x509_privkey_generate(d->key, kind, bits, 0), 0);
	gnutls_x509_crq_init(&request);
	gnutls_x509_crq_set_key(request, d->key);
	gnutls_x509_crq_sign2(request, d->key, GNUTLS_DIG_SHA256, 0);
	d->request_len = sizeof(d->request);
	assert_int_equal(gnutls_x509_crq_export(request, GNUTLS_X509_FMT_DER, d->request,
						&d->request_len),
			 0);
	gnutls_x509_crq_deinit(request);
}

static void device_init_usual(struct device *d)
{
	device_init(d, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1));
}

static void device_done(struct device *d)
{
	gnutls_x509_privkey_deinit(d->key);
}

static void make_token(const char *name, uint64_t wait_s, struct token *ret)
{
	struct keys_wish w = { name, NOW, wait_s, 90 * DAY };
	char text[TOKEN_TEXT_LEN + 1];

	assert_int_equal(keys_make_token(keys, &w, text, &e), 0);
	assert_true(token_parse(ret, text, TOKEN_TEXT_LEN));
}

/* By a token, or as who shows `peer`. */
static int enroll(struct device *d, uint8_t number, const struct token *t,
		  const struct roster_row *peer, uint64_t now_s)
{
	struct message_enroll m = { .version = ENROLL_VERSION,
				    .has_secret = t,
				    .request = { d->request, (uint32_t)d->request_len } };
	struct keys_asking a = { &m, peer, "192.0.2.1:5", now_s };
	struct message_certificate c;
	int r;

	memset(m.device.bytes, number, sizeof(m.device.bytes));
	if (t)
		memcpy(m.secret, t->secret, sizeof(m.secret));
	r = keys_enroll(keys, &a, &c, &e);
	if (r < 0)
		return r;
	memcpy(d->der, c.certificate.at, c.certificate.len);
	memcpy(d->ca, c.authorities[0].at, c.authorities[0].len);
	d->certificate = (gnutls_datum_t){ d->der, c.certificate.len };
	d->authority = (gnutls_datum_t){ d->ca, c.authorities[0].len };
	return (int)c.n_authorities;
}

static void get_serial(const struct device *d, uint8_t ret[AUTHORITY_SERIAL_LEN])
{
	size_t len = AUTHORITY_SERIAL_LEN;
	gnutls_x509_crt_t c;

	gnutls_x509_crt_init(&c);
	assert_int_equal(gnutls_x509_crt_import(c, &d->certificate, GNUTLS_X509_FMT_DER), 0);
	assert_int_equal(gnutls_x509_crt_get_serial(c, ret, &len), 0);
	assert_int_equal(len, AUTHORITY_SERIAL_LEN);
	gnutls_x509_crt_deinit(c);
}

static int judge(const struct device *d, uint64_t now_s, struct roster_row *row)
{
	uint8_t serial[AUTHORITY_SERIAL_LEN];

	get_serial(d, serial);
	return keys_judge(keys, serial, now_s, row, &e);
}

/* --- tokens and certificates --- */

static void once(void **state)
{
	struct roster_row row;
	struct device d;
	struct token t;

	(void)state;
	device_init_usual(&d);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW + 1), 1);
	assert_string_equal(keys_get_enrolled(keys), "board");
	assert_int_equal(judge(&d, NOW + 2, &row), 0);
	assert_string_equal(row.name, "board");
	assert_int_equal(row.device.bytes[15], 1);
	assert_int_equal(row.until_s, NOW + 1 + 90 * DAY);
	assert_int_equal(judge(&d, row.until_s, &row), -EKEYREJECTED);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW + 3), -EKEYREJECTED);
	assert_non_null(strstr(e.text, "was used from 192.0.2.1:5"));
	device_done(&d);
}

static void refusals(void **state)
{
	struct device d, rsa;
	struct token t;

	(void)state;
	device_init_usual(&d);
	device_init(&rsa, GNUTLS_PK_RSA, 1024);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW + DAY), -EKEYREJECTED); /* too old */
	assert_int_equal(enroll(&d, 1, NULL, NULL, NOW), -EKEYREJECTED);     /* neither */
	assert_int_equal(enroll(&rsa, 1, &t, NULL, NOW), -EKEYREJECTED);
	d.request[d.request_len / 2] ^= 1; /* its own signature is wrong then */
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), -EKEYREJECTED);
	d.request[d.request_len / 2] ^= 1;
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), 1); /* none of them used it up */
	make_token("other", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), -EKEYREJECTED);
	assert_non_null(strstr(e.text, "its identity is that of board"));
	t.secret[0] ^= 1;
	assert_int_equal(enroll(&d, 2, &t, NULL, NOW), -EKEYREJECTED);
	assert_non_null(strstr(e.text, "not known"));
	assert_false(roster_is_name(""));
	assert_false(roster_is_name(".x"));
	assert_false(roster_is_name("a/b"));
	device_done(&d);
	device_done(&rsa);
}

static void renewal(void **state)
{
	struct device d, next, ninth;
	struct roster_row row;
	struct token t;

	(void)state;
	device_init_usual(&d);
	device_init_usual(&ninth);
	device_init_usual(&next);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), 1);
	assert_int_equal(judge(&d, NOW, &row), 0);
	/* Too young, until a tenth of its 90 days is over. */
	assert_int_equal(enroll(&next, 1, NULL, &row, NOW + DAY), -EKEYREJECTED);
	assert_int_equal(enroll(&next, 1, NULL, &row, NOW + 9 * DAY - 1), -EKEYREJECTED);
	assert_int_equal(enroll(&ninth, 1, NULL, &row, NOW + 9 * DAY), 1);
	assert_int_equal(enroll(&next, 2, NULL, &row, NOW + 60 * DAY), -EKEYREJECTED);
	assert_int_equal(enroll(&next, 1, NULL, &row, NOW + 60 * DAY), 1);
	assert_int_equal(judge(&d, NOW + 61 * DAY, &row), 0); /* both hold for a while */
	assert_int_equal(judge(&next, NOW + 61 * DAY, &row), 0);
	assert_int_equal(judge(&d, NOW + 90 * DAY, &row), -EKEYREJECTED);
	assert_int_equal(judge(&next, NOW + 90 * DAY, &row), 0);
	assert_int_equal(keys_revoke(keys, "board", NOW + 90 * DAY, &e), 3);
	assert_int_equal(judge(&next, NOW + 90 * DAY, &row), -EKEYREJECTED);
	assert_int_equal(keys_revoke(keys, "board", NOW + 90 * DAY, &e), 0);
	device_done(&d);
	device_done(&ninth);
	device_done(&next);
}

/* A certificate that was made while the clock was ahead holds, and may be replaced at once when it no longer is. */
static void made_ahead(void **state)
{
	const uint64_t now = (uint64_t)time(NULL); /* the authority was made by the real one */
	struct device d, next;
	struct roster_row row;
	struct token t;

	(void)state;
	device_init_usual(&d);
	device_init_usual(&next);
	make_token("board", 100000 * DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, now + 100 * DAY), 1);
	assert_int_equal(judge(&d, now, &row), 0);
	/* By some minutes the clocks of collectors differ. */
	assert_int_equal(enroll(&next, 1, NULL, &row, now + 100 * DAY - 600), -EKEYREJECTED);
	/* A clock from before the authority was made is wrong. */
	assert_int_equal(enroll(&next, 1, NULL, &row, now - 2 * DAY), -EKEYREJECTED);
	assert_int_equal(enroll(&next, 1, NULL, &row, now), 1);
	assert_int_equal(judge(&next, now + DAY, &row), 0);
	assert_int_equal(row.made_s, now);
	assert_int_equal(row.until_s, now + 90 * DAY);
	/* The first holds as long, in case that nobody heard of the second. */
	assert_int_equal(judge(&d, now + 89 * DAY, &row), 0);
	assert_int_equal(judge(&d, now + 90 * DAY, &row), -EKEYREJECTED);
	device_done(&d);
	device_done(&next);
}

/* What another program does to the folder is seen. */
static void changes(void **state)
{
	struct keys *other = NULL;
	struct device d;
	struct token t;

	(void)state;
	device_init_usual(&d);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), 1);
	keys_turn(keys, NOW, &e);
	assert_int_equal(keys_turn(keys, NOW, &e), 0);
	assert_int_equal(keys_open(&other, folder, &e), 0);
	assert_int_equal(keys_revoke(other, "board", NOW, &e), 1);
	assert_int_equal(keys_turn(keys, NOW, &e), 1);
	assert_int_equal(keys_turn(keys, NOW, &e), 0);
	assert_int_equal(keys_rotate(other, false, &e), 0);
	assert_int_equal(keys_turn(keys, NOW, &e), 1);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), 2); /* it learns of both authorities */
	keys_close(other);
	/* The collector's own certificate is renewed by itself. */
	keys_turn(keys, NOW, &e);
	assert_int_equal(keys_turn(keys, (uint64_t)time(NULL) + 500 * DAY, &e), 0);
	assert_int_equal(keys_turn(keys, (uint64_t)time(NULL) + 600 * DAY, &e), 1);
	assert_int_equal(keys_turn(keys, NOW, &e), 0);
	device_done(&d);
}

/* A disk makes a certificate hold again that was revoked, and a token wait that was used: neither is believed. */
static void damage(void **state)
{
	struct roster_entry *entries;
	struct roster_row row;
	struct device d;
	struct token t;
	char path[96];
	size_t n;

	(void)state;
	device_init_usual(&d);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), 1);
	assert_int_equal(keys_revoke(keys, "board", NOW, &e), 1);
	keys_close(keys);
	snprintf(path, sizeof(path), "%s/roster.db", folder);
	damage_row(path, "certificate", "revoked = 0");
	damage_row(path, "token", "used = 0");
	assert_int_equal(keys_open(&keys, folder, &e), 0);
	assert_int_equal(judge(&d, NOW, &row), -EBADMSG);
	assert_non_null(strstr(e.text, "damaged"));
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), -EBADMSG);
	assert_non_null(strstr(e.text, "damaged"));
	assert_int_equal(keys_dup_entries(keys, &entries, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_true(entries[0].is_damaged);
	free(entries);
	/* To revoke it is well, but makes nothing whole. */
	assert_int_equal(keys_revoke(keys, "board", NOW + 1, &e), 2);
	assert_int_equal(judge(&d, NOW, &row), -EBADMSG);
	assert_int_equal(keys_drop_damaged(keys, &e), 1); /* the token went with its name */
	assert_int_equal(keys_drop_damaged(keys, &e), 0);
	assert_int_equal(judge(&d, NOW, &row), -EKEYREJECTED);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, NOW), 1);
	assert_int_equal(judge(&d, NOW, &row), 0);
	device_done(&d);
}

/* --- TLS, from bytes to bytes --- */

struct ends {
	struct channel *channel;
	gnutls_session_t client;
	gnutls_certificate_credentials_t credentials;
	uint8_t to_client[65536], to_channel[65536];
	size_t to_client_len, to_channel_len;
};

static bool take_sent(void *context, const uint8_t *bytes, size_t len)
{
	struct ends *t = context;

	assert_true(len <= sizeof(t->to_client) - t->to_client_len);
	memcpy(t->to_client + t->to_client_len, bytes, len);
	t->to_client_len += len;
	return true;
}

static ssize_t client_push(gnutls_transport_ptr_t context, const void *bytes, size_t len)
{
	struct ends *t = context;

	assert_true(len <= sizeof(t->to_channel) - t->to_channel_len);
	memcpy(t->to_channel + t->to_channel_len, bytes, len);
	t->to_channel_len += len;
	return (ssize_t)len;
}

static ssize_t client_pull(gnutls_transport_ptr_t context, void *out, size_t room)
{
	struct ends *t = context;
	size_t n = room < t->to_client_len ? room : t->to_client_len;

	if (!n) {
		gnutls_transport_set_errno(t->client, EAGAIN);
		return -1;
	}
	memcpy(out, t->to_client, n);
	t->to_client_len -= n;
	memmove(t->to_client, t->to_client + n, t->to_client_len);
	return (ssize_t)n;
}

static void ends_init(struct ends *t, const struct device *d)
{
	const struct channel_hooks hooks = { t, take_sent };
	gnutls_x509_crt_t crt;

	memset(t, 0, sizeof(*t));
	assert_int_equal(channel_new(&t->channel, keys_get_credentials(keys), &hooks, &e), 0);
	gnutls_init(&t->client, GNUTLS_CLIENT | GNUTLS_NONBLOCK);
	gnutls_set_default_priority(t->client);
	gnutls_certificate_allocate_credentials(&t->credentials);
	if (d) {
		gnutls_x509_crt_init(&crt);
		gnutls_x509_crt_import(crt, &d->certificate, GNUTLS_X509_FMT_DER);
		assert_int_equal(gnutls_certificate_set_x509_key(t->credentials, &crt, 1, d->key),
				 0);
		gnutls_x509_crt_deinit(crt);
	}
	gnutls_credentials_set(t->client, GNUTLS_CRD_CERTIFICATE, t->credentials);
	gnutls_transport_set_ptr(t->client, t);
	gnutls_transport_set_push_function(t->client, client_push);
	gnutls_transport_set_pull_function(t->client, client_pull);
}

static void ends_done(struct ends *t)
{
	channel_free(t->channel);
	gnutls_deinit(t->client);
	gnutls_certificate_free_credentials(t->credentials);
}

/* What the client sent, in steps; the plain bytes of it. */
static int feed(struct ends *t, size_t step, uint8_t *out, size_t room)
{
	size_t at, n, have = 0;
	int r = 0;

	for (at = 0; r >= 0 && at < t->to_channel_len; at += n) {
		n = t->to_channel_len - at < step ? t->to_channel_len - at : step;
		r = channel_push(t->channel, (struct channel_bytes){ t->to_channel + at, n },
				 out + have, room - have, &e);
		have += r > 0 ? (size_t)r : 0;
	}
	t->to_channel_len = 0;
	return r < 0 ? r : (int)have;
}

static void greet(struct ends *t, size_t step)
{
	uint8_t out[65536];
	int r = GNUTLS_E_AGAIN, i;

	for (i = 0; i < 20 && (r < 0 || !channel_is_open(t->channel)); i++) {
		if (r < 0)
			r = gnutls_handshake(t->client);
		assert_int_equal(feed(t, step, out, sizeof(out)), 0);
	}
	assert_int_equal(r, 0);
	assert_true(channel_is_open(t->channel));
}

static void speaks(void **state)
{
	static const size_t steps[] = { 1, 7, 1000, 65536 };
	static uint8_t said[20000], out[65536];
	uint8_t serial[AUTHORITY_SERIAL_LEN], own[AUTHORITY_SERIAL_LEN];
	struct device d;
	struct token t;
	static struct ends x;
	size_t i;

	(void)state;
	device_init_usual(&d);
	make_token("board", DAY, &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, (uint64_t)time(NULL) - 10), -EKEYREJECTED);
	make_token("board", (uint64_t)time(NULL), &t);
	assert_int_equal(enroll(&d, 1, &t, NULL, (uint64_t)time(NULL)), 1);
	get_serial(&d, own);
	memset(said, 'x', sizeof(said));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		ends_init(&x, &d);
		assert_int_equal(channel_send(x.channel, said, 1), -EPIPE);
		greet(&x, steps[i]);
		assert_int_equal(channel_get_serial(x.channel, serial, &e), 1);
		assert_memory_equal(serial, own, sizeof(own));
		assert_int_equal(gnutls_record_send(x.client, said, 9000), 9000);
		assert_int_equal(gnutls_record_send(x.client, said, 11000), 11000);
		assert_int_equal(feed(&x, steps[i], out, sizeof(out)), 20000);
		assert_memory_equal(out, said, 20000);
		assert_int_equal(channel_send(x.channel, said, 16000), 0);
		assert_int_equal(gnutls_record_recv(x.client, out, sizeof(out)), 16000);
		channel_bye(x.channel);
		assert_int_equal(gnutls_record_recv(x.client, out, sizeof(out)), 0);
		ends_done(&x);
	}
	device_done(&d);
}

static void strangers(void **state)
{
	static uint8_t garbage[1000], out[65536];
	uint8_t serial[AUTHORITY_SERIAL_LEN];
	static struct ends x;

	(void)state;
	ends_init(&x, NULL);
	greet(&x, 100);
	assert_int_equal(channel_get_serial(x.channel, serial, &e), 0);
	ends_done(&x);
	ends_init(&x, NULL);
	memset(garbage, CHANNEL_FIRST_BYTE, sizeof(garbage));
	assert_int_equal(channel_push(x.channel, (struct channel_bytes){ garbage, sizeof(garbage) },
				      out, sizeof(out), &e),
			 -EPROTO);
	assert_int_equal(channel_push(x.channel, (struct channel_bytes){ garbage, 1 }, out,
				      sizeof(out), &e),
			 -EPROTO);
	assert_false(channel_is_open(x.channel));
	ends_done(&x);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(once),    CASE(refusals), CASE(renewal), CASE(made_ahead),
		CASE(changes), CASE(damage),   CASE(speaks),  CASE(strangers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
