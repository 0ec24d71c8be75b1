/* SPDX-License-Identifier: MIT */
/* keys: see keys.h. */
#include "keys/keys.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/key_file.h"
#include "base/when.h"
#include "keys/certificate.h"

#define RENEW_PART 10U	    /* of its time must be over before a certificate is renewed */
#define AHEAD_S 3600U	    /* collectors' clocks differ by less */
#define RENEW_AGAIN_S 3600U /* after a failure */
#define NS_PER_S 1000000000ULL

struct keys {
	char folder[KEY_FOLDER_MAX];
	struct authority *authority;
	struct roster *roster;
	struct credentials *credentials;
	struct stat seen; /* the collector's file */
	gnutls_datum_t before;
	uint64_t renew_s; /* the collector's certificate, from then on */
	uint64_t from_s;  /* when it begins to hold; 0: it is being replaced */
	bool is_changed;  /* by ourselves, which the roster does not tell */
	char enrolled[ROSTER_NAME_MAX];
	uint8_t der[ENROLL_CERTIFICATE_MAX]; /* what keys_enroll() made */
};

/* Any of them: where one is missing, nobody may be let in without, as if there had never been keys. */
bool keys_exist(const char *folder)
{
	return key_file_exists(folder, AUTHORITY_FILE) || key_file_exists(folder, COLLECTOR_FILE) ||
	       key_file_exists(folder, ROSTER_FILE);
}

void keys_close(struct keys *k)
{
	if (!k)
		return;
	authority_free(k->authority);
	roster_close(k->roster);
	credentials_unref(k->credentials);
	gnutls_free(k->before.data);
	free(k);
}

static bool see_file(struct keys *k)
{
	char path[KEY_PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", k->folder, COLLECTOR_FILE);
	if (stat(path, &st) < 0 ||
	    (st.st_ino == k->seen.st_ino && st.st_mtim.tv_sec == k->seen.st_mtim.tv_sec &&
	     st.st_mtim.tv_nsec == k->seen.st_mtim.tv_nsec))
		return false;
	k->seen = st;
	return true;
}

/* Who it was before a rotation, for devices to go on trusting while their fellows have it. */
static int load_before(struct keys *k, struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t c = NULL;
	int r;

	gnutls_free(k->before.data);
	k->before = (gnutls_datum_t){ NULL, 0 };
	if (!key_file_exists(k->folder, AUTHORITY_BEFORE))
		return 0;
	r = certificate_load(&c, k->folder, AUTHORITY_BEFORE, e);
	if (r < 0)
		return r;
	r = gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_DER, &k->before);
	return r < 0 ? certificate_error(e, "read the authority of before", r) : 0;
}

/* When two thirds of its time are over. */
static int read_renewal(struct keys *k, struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t c = NULL;
	uint64_t from_s, until_s;
	int r = certificate_load(&c, k->folder, COLLECTOR_FILE, e);

	if (r < 0)
		return r;
	from_s = (uint64_t)gnutls_x509_crt_get_activation_time(c);
	until_s = (uint64_t)gnutls_x509_crt_get_expiration_time(c);
	k->renew_s = from_s + (until_s - from_s) / 3 * 2;
	k->from_s = from_s;
	return 0;
}

static int load(struct keys *k, struct error *e)
{
	CLEANUP(authority) struct authority *a = NULL;
	CLEANUP(credentials) struct credentials *c = NULL;
	int r = authority_open(&a, k->folder, e);

	if (r == 0)
		r = credentials_new(&c, k->folder, e);
	if (r == 0)
		r = load_before(k, e);
	if (r == 0)
		r = read_renewal(k, e);
	if (r < 0)
		return r;
	authority_free(k->authority);
	credentials_unref(k->credentials);
	k->authority = take_ptr(a);
	k->credentials = take_ptr(c);
	return 0;
}

int keys_open(struct keys **ret, const char *folder, struct error *e)
{
	CLEANUP(keys) struct keys *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return error_set(e, ENOMEM, "cannot open %s: out of memory", folder);
	if (snprintf(k->folder, sizeof(k->folder), "%s", folder) >= (int)sizeof(k->folder))
		return error_set(e, ENAMETOOLONG, "cannot open %s: too long a name", folder);
	if (!keys_exist(folder))
		return error_set(e, ENOENT,
				 "cannot find keys in %s: make them with "
				 "`kiseki keys init`",
				 folder);
	see_file(k);
	r = load(k, e);
	if (r == 0)
		r = roster_open(&k->roster, folder, e);
	if (r < 0)
		return r;
	*ret = take_ptr(k);
	return 0;
}

/* --- what people do --- */

static int hash_secret(const uint8_t secret[TOKEN_SECRET_LEN], uint8_t ret[ROSTER_HASH_LEN],
		       struct error *e)
{
	int r = gnutls_hash_fast(GNUTLS_DIG_SHA256, secret, TOKEN_SECRET_LEN, ret);

	return r < 0 ? certificate_error(e, "hash a token", r) : 0;
}

int keys_make_token(struct keys *k, const struct keys_wish *w, char ret[TOKEN_TEXT_LEN + 1],
		    struct error *e)
{
	struct roster_token row = { .made_s = w->now_s,
				    .until_s = w->now_s + w->wait_s,
				    .valid_s = w->valid_s };
	struct token t;
	int r;

	if (!roster_is_name(w->name))
		return error_set(e, EINVAL,
				 "cannot enroll '%s': a name has up to 63 letters, digits, '.', "
				 "'_' and '-'",
				 w->name);
	snprintf(row.name, sizeof(row.name), "%s", w->name);
	r = gnutls_rnd(GNUTLS_RND_KEY, t.secret, sizeof(t.secret));
	if (r < 0)
		return certificate_error(e, "make a token", r);
	authority_get_fingerprint(k->authority, t.fingerprint);
	r = hash_secret(t.secret, row.hash, e);
	if (r == 0)
		r = roster_put_token(k->roster, &row, e);
	if (r == 0)
		token_format(&t, ret);
	gnutls_memset(&t, 0, sizeof(t));
	return r;
}

/* Ends what roster_begin() began, with what came of it. */
static int settle(struct keys *k, int r, struct error *e)
{
	int end = roster_end(k->roster, r >= 0, r >= 0 ? e : NULL);

	return r < 0 ? r : end < 0 ? end : r;
}

int keys_revoke(struct keys *k, const char *name, uint64_t now_s, struct error *e)
{
	int r = roster_begin(k->roster, e);

	return r < 0 ? r : settle(k, roster_revoke(k->roster, name, now_s, e), e);
}

int keys_drop_damaged(struct keys *k, struct error *e)
{
	int r = roster_begin(k->roster, e);

	return r < 0 ? r : settle(k, roster_drop_damaged(k->roster, e), e);
}

int keys_rotate(struct keys *k, bool collector_alone, struct error *e)
{
	int r = collector_alone ? authority_renew_collector(k->authority, k->folder, e)
				: authority_rotate(k->authority, k->folder, e);

	return r < 0 ? r : load(k, e);
}

int keys_dup_entries(struct keys *k, struct roster_entry **ret, size_t *ret_n, struct error *e)
{
	return roster_dup_entries(k->roster, ret, ret_n, e);
}

/* --- the collector --- */

/* A certificate that does not hold yet was made while the clock was ahead. If not even our authority holds, it is
 * the clock that is behind, and devices with the right time take what there is. */
static bool is_of_the_future(const struct keys *k, uint64_t now_s)
{
	return now_s < k->from_s && now_s >= authority_get_start(k->authority);
}

int keys_turn(struct keys *k, uint64_t now_s, struct error *e)
{
	bool is_changed = roster_has_changed(k->roster) || k->is_changed;
	int r = 0;

	k->is_changed = false;
	if (now_s >= k->renew_s || is_of_the_future(k, now_s)) {
		k->renew_s = now_s + RENEW_AGAIN_S;
		k->from_s = 0;
		r = authority_renew_collector(k->authority, k->folder, e);
	}
	if (r < 0)
		return r;
	if (!see_file(k))
		return is_changed;
	r = load(k, e);
	return r < 0 ? r : 1;
}

struct credentials *keys_get_credentials(struct keys *k)
{
	return k->credentials;
}

int keys_judge(struct keys *k, const uint8_t serial[AUTHORITY_SERIAL_LEN], uint64_t now_s,
	       struct roster_row *ret, struct error *e)
{
	int r = roster_get(k->roster, serial, ret, e);

	if (r == -ENOENT)
		return error_set(e, EKEYREJECTED, "its certificate is not in the roster");
	if (r < 0)
		return r;
	if (ret->revoked_s)
		return error_set(e, EKEYREJECTED, "its certificate was revoked");
	if (ret->until_s <= now_s)
		return error_set(e, EKEYREJECTED, "its certificate has ended; enroll it again");
	return 0;
}

/* A token that is good is used up in the same transaction. */
static int take_token(struct keys *k, const struct keys_asking *a, struct roster_row *row,
		      struct error *e)
{
	uint8_t hash[ROSTER_HASH_LEN];
	struct roster_token t;
	char when[WHEN_MAX];
	int r = hash_secret(a->message->secret, hash, e);

	if (r == 0)
		r = roster_get_token(k->roster, hash, &t, e);
	if (r == -ENOENT)
		return error_set(e, EKEYREJECTED, "its token is not known here");
	if (r < 0)
		return r;
	if (t.used_s)
		return error_set(e, EKEYREJECTED, "its token, for %s, was used from %s at %s",
				 t.name, t.used_from, when_format(t.used_s * NS_PER_S, when));
	if (t.until_s <= a->now_s)
		return error_set(e, EKEYREJECTED, "its token, for %s, is too old", t.name);
	t.used_s = a->now_s;
	snprintf(t.used_from, sizeof(t.used_from), "%s", a->from);
	memcpy(row->name, t.name, sizeof(row->name));
	row->valid_s = t.valid_s;
	r = roster_use_token(k->roster, &t, e);
	if (r == 0)
		r = roster_revoke(k->roster, t.name, a->now_s, e);
	return r < 0 ? r : 0;
}

/* A device's certificate that was made while our clock was ahead. It would hold for too long, so it may be replaced at
 * once; but not by a clock that is certainly behind, whose certificates would end before they are used. */
static bool is_made_ahead(const struct keys *k, const struct roster_row *p, uint64_t now_s)
{
	return now_s + AHEAD_S < p->made_s && now_s >= authority_get_start(k->authority);
}

static int take_peer(const struct keys *k, const struct keys_asking *a, struct roster_row *row,
		     struct error *e)
{
	const struct roster_row *p = a->peer;

	if (!p)
		return error_set(e, EKEYREJECTED, "it has neither a token nor a certificate");
	if (memcmp(&p->device, &a->message->device, sizeof(p->device)) != 0)
		return error_set(e, EKEYREJECTED, "its certificate is of another device");
	if (a->now_s < p->made_s + p->valid_s / RENEW_PART && !is_made_ahead(k, p, a->now_s))
		return error_set(e, EKEYREJECTED, "its certificate is too young to be renewed");
	memcpy(row->name, p->name, sizeof(row->name));
	row->valid_s = p->valid_s;
	/* The other one is still needed, if what is said here gets lost. */
	return is_made_ahead(k, p, a->now_s) ? roster_shorten(k->roster, p->name, a->now_s, e) : 0;
}

static int make_certificate(struct keys *k, const struct keys_asking *a, struct roster_row *row,
			    size_t *len, struct error *e)
{
	struct authority_wish w = { .name = row->name,
				    .from_s = row->made_s,
				    .until_s = row->until_s,
				    .request = a->message->request.at,
				    .request_len = a->message->request.len };
	int r = gnutls_rnd(GNUTLS_RND_NONCE, row->serial, sizeof(row->serial));

	if (r < 0)
		return certificate_error(e, "make a certificate", r);
	row->serial[0] = (row->serial[0] & 0x3f) | 0x40; /* positive, and of full length */
	memcpy(w.serial, row->serial, sizeof(w.serial));
	*len = sizeof(k->der);
	r = authority_sign(k->authority, &w, k->der, len, e);
	return r == -EINVAL ? -EKEYREJECTED : r;
}

static int enroll(struct keys *k, const struct keys_asking *a, size_t *len, struct error *e)
{
	struct roster_row row = { .device = a->message->device, .made_s = a->now_s };
	char owner[ROSTER_NAME_MAX];
	int r = a->message->has_secret ? take_token(k, a, &row, e) : take_peer(k, a, &row, e);

	if (r == 0)
		r = roster_get_owner(k->roster, &row, owner, e);
	if (r > 0)
		return error_set(e, EKEYREJECTED,
				 "its identity is that of %s; revoke that one first, or give this "
				 "device another (device-id in its state folder)",
				 owner);
	if (r < 0)
		return r;
	row.until_s = a->now_s + row.valid_s;
	memcpy(k->enrolled, row.name, sizeof(k->enrolled));
	r = make_certificate(k, a, &row, len, e);
	return r < 0 ? r : roster_put(k->roster, &row, e);
}

const char *keys_get_enrolled(const struct keys *k)
{
	return k->enrolled;
}

int keys_enroll(struct keys *k, const struct keys_asking *a, struct message_certificate *ret,
		struct error *e)
{
	gnutls_datum_t own = authority_get_der(k->authority);
	size_t len;
	int r;

	if (a->message->version != ENROLL_VERSION)
		return error_set(e, EKEYREJECTED, "it enrolls in a way that is not known here");
	r = roster_begin(k->roster, e);
	if (r == 0)
		r = settle(k, enroll(k, a, &len, e), e);
	if (r < 0)
		return r;
	k->is_changed = true;
	memset(ret, 0, sizeof(*ret));
	ret->certificate = (struct enroll_bytes){ k->der, (uint32_t)len };
	ret->authorities[ret->n_authorities++] = (struct enroll_bytes){ own.data, own.size };
	if (k->before.data)
		ret->authorities[ret->n_authorities++] =
			(struct enroll_bytes){ k->before.data, k->before.size };
	return 0;
}
