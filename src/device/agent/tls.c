/* SPDX-License-Identifier: MIT */
/* tls: see tls.h. */
#include "device/agent/tls.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#ifdef __arm__
#include <asm/hwcap.h> /* HWCAP2_AES */
#endif

#include "base/key_file.h"
#include "device/agent/gnutls_table.h"
#include "device/agent/kernel_tls.h"

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:"
#define AES_FIRST PRIORITY "+AES-128-GCM:+CHACHA20-POLY1305"
#define AES_ONLY PRIORITY "+AES-128-GCM"
#define CHACHA_FIRST PRIORITY "+CHACHA20-POLY1305:+AES-128-GCM"
#define CHAIN_MAX 4U /* certificates that are looked at */

struct tls {
	const struct gnutls_table *g;
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t session;
	bool is_stranger, is_aes_only;
	uint8_t fingerprint[TOKEN_FINGERPRINT_LEN];
	uint64_t from_s, until_s; /* of our certificate */
};

const char *tls_folder(const char *state_dir, char out[TLS_FOLDER_MAX])
{
	snprintf(out, TLS_FOLDER_MAX, "%s/keys", state_dir);
	return out;
}

bool tls_has_keys(const char *state_dir)
{
	char folder[TLS_FOLDER_MAX];

	return key_file_exists(tls_folder(state_dir, folder), TLS_DEVICE_FILE);
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	if (t->session)
		t->g->gnutls_deinit(t->session);
	if (t->credentials)
		t->g->gnutls_certificate_free_credentials(t->credentials);
	free(t);
}

static int make(struct tls **ret, struct error *e)
{
	CLEANUP(tls) struct tls *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return error_set(e, ENOMEM, "cannot use keys: out of memory");
	t->g = gnutls_table_get(e);
	if (!t->g)
		return -ENOSYS;
	r = t->g->gnutls_certificate_allocate_credentials(&t->credentials);
	if (r < 0)
		return gnutls_table_error(t->g, e, "use keys", r);
	*ret = take_ptr(t);
	return 0;
}

/* From when to when our certificate is good. */
static int read_times(struct tls *t, const gnutls_datum_t *pem)
{
	gnutls_x509_crt_t c = NULL;
	int r = t->g->gnutls_x509_crt_init(&c);

	if (r >= 0)
		r = t->g->gnutls_x509_crt_import(c, pem, GNUTLS_X509_FMT_PEM);
	if (r >= 0) {
		/* On 32 bits the library's time_t may be shorter than ours; then there is nothing above these. */
		t->from_s = (uint32_t)t->g->gnutls_x509_crt_get_activation_time(c);
		t->until_s = (uint32_t)t->g->gnutls_x509_crt_get_expiration_time(c);
	}
	if (c)
		t->g->gnutls_x509_crt_deinit(c);
	return r;
}

static int load(struct tls *t, const char *folder, struct error *e)
{
	_cleanup_free_ char *own = NULL, *trust = NULL;
	gnutls_datum_t own_pem, trust_pem;
	size_t own_len, trust_len;
	int r = key_file_dup(folder, TLS_DEVICE_FILE, &own, &own_len, e);

	if (r == 0)
		r = key_file_dup(folder, TLS_TRUST_FILE, &trust, &trust_len, e);
	if (r < 0)
		return r;
	own_pem = (gnutls_datum_t){ (unsigned char *)own, (unsigned int)own_len };
	trust_pem = (gnutls_datum_t){ (unsigned char *)trust, (unsigned int)trust_len };
	r = t->g->gnutls_certificate_set_x509_trust_mem(t->credentials, &trust_pem,
							GNUTLS_X509_FMT_PEM);
	if (r >= 0)
		r = t->g->gnutls_certificate_set_x509_key_mem(t->credentials, &own_pem, &own_pem,
							      GNUTLS_X509_FMT_PEM);
	if (r >= 0)
		r = read_times(t, &own_pem);
	explicit_bzero(own, own_len);
	if (r < 0)
		return gnutls_table_error(t->g, e, "use the keys of this device", r);
	/* A clock that is behind our own certificate is wrong, and says nothing about others. */
	if (time(NULL) < (time_t)t->from_s)
		t->g->gnutls_certificate_set_verify_flags(t->credentials,
							  GNUTLS_VERIFY_DISABLE_TIME_CHECKS);
	return 0;
}

int tls_new(struct tls **ret, const char *state_dir, struct error *e)
{
	CLEANUP(tls) struct tls *t = NULL;
	char folder[TLS_FOLDER_MAX];
	int r = make(&t, e);

	if (r == 0)
		r = load(t, tls_folder(state_dir, folder), e);
	if (r < 0)
		return r;
	*ret = take_ptr(t);
	return 0;
}

int tls_new_stranger(struct tls **ret, const uint8_t fingerprint[TOKEN_FINGERPRINT_LEN],
		     struct error *e)
{
	struct tls *t;
	int r = make(&t, e);

	if (r < 0)
		return r;
	t->is_stranger = true;
	memcpy(t->fingerprint, fingerprint, TOKEN_FINGERPRINT_LEN);
	*ret = t;
	return 0;
}

/* --- the collector's certificate --- */

static bool is_authority(const struct tls *t, gnutls_x509_crt_t c)
{
	uint8_t id[32];
	size_t len = sizeof(id);

	return t->g->gnutls_x509_crt_get_key_id(c, GNUTLS_KEYID_USE_SHA256, id, &len) >= 0 &&
	       !memcmp(id, t->fingerprint, TOKEN_FINGERPRINT_LEN);
}

static gnutls_typed_vdata_st for_servers(void)
{
	return (gnutls_typed_vdata_st){ GNUTLS_DT_KEY_PURPOSE_OID,
					(unsigned char *)GNUTLS_KP_TLS_WWW_SERVER, 0 };
}

/* Is the first one signed by that of the token, which is among those behind it? No time is compared:
 * a device that comes from the factory may have none, and the token was made a moment ago. */
static int verify_list(const struct tls *t, gnutls_x509_crt_t *list, unsigned int n)
{
	gnutls_typed_vdata_st purpose = for_servers();
	gnutls_x509_trust_list_t trust = NULL;
	unsigned int i, status = GNUTLS_CERT_INVALID;

	if (t->g->gnutls_x509_trust_list_init(&trust, 0) < 0)
		return -ENOMEM;
	for (i = 1; i < n; i++)
		if (is_authority(t, list[i]) &&
		    t->g->gnutls_x509_trust_list_add_cas(trust, &list[i], 1, 0) == 1 &&
		    t->g->gnutls_x509_trust_list_verify_crt2(trust, list, 1, &purpose, 1,
							     GNUTLS_VERIFY_DISABLE_TIME_CHECKS,
							     &status, NULL) >= 0)
			break;
	t->g->gnutls_x509_trust_list_deinit(trust, 0);
	return status ? -EKEYREJECTED : 0;
}

static int verify_stranger(const struct tls *t)
{
	gnutls_x509_crt_t list[CHAIN_MAX] = { NULL };
	unsigned int n = 0, have = 0, i;
	const gnutls_datum_t *der = t->g->gnutls_certificate_get_peers(t->session, &have);
	int r = der && have <= CHAIN_MAX ? 0 : -EKEYREJECTED;

	for (n = 0; r >= 0 && n < have; n++) {
		r = t->g->gnutls_x509_crt_init(&list[n]);
		if (r >= 0)
			r = t->g->gnutls_x509_crt_import(list[n], &der[n], GNUTLS_X509_FMT_DER);
	}
	if (r >= 0)
		r = verify_list(t, list, n);
	for (i = 0; i < CHAIN_MAX; i++)
		if (list[i])
			t->g->gnutls_x509_crt_deinit(list[i]);
	return r;
}

static int verify(const struct tls *t, struct error *e)
{
	gnutls_typed_vdata_st purpose = for_servers();
	unsigned int status = GNUTLS_CERT_INVALID;
	int r;

	if (t->is_stranger) {
		if (verify_stranger(t) < 0)
			return error_set(e, EKEYREJECTED,
					 "cannot trust the collector: the token is of another one");
		return 0;
	}
	r = t->g->gnutls_certificate_verify_peers(t->session, &purpose, 1, &status);
	if (r >= 0 && !status)
		return 0;
	if (r >= 0 && status & (GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED))
		return error_set(e, EKEYREJECTED,
				 "cannot trust the collector: its certificate has ended, or the "
				 "clock of this device is wrong");
	return error_set(e, EKEYREJECTED,
			 "cannot trust the collector: its certificate is of another authority");
}

/* --- the connection --- */

/* Whoever has no instructions for AES does the other with less work; the collector follows. */
static const char *priority(void)
{
#if defined(__aarch64__)
	return getauxval(AT_HWCAP) & HWCAP_AES ? AES_FIRST : CHACHA_FIRST;
#elif defined(__arm__)
	return getauxval(AT_HWCAP2) & HWCAP2_AES ? AES_FIRST : CHACHA_FIRST;
#else
	return AES_FIRST;
#endif
}

static int start(struct tls *t, int fd, struct error *e)
{
	int r = t->g->gnutls_init(&t->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL);

	if (r >= 0)
		r = t->g->gnutls_priority_set_direct(t->session,
						     t->is_aes_only ? AES_ONLY : priority(), NULL);
	if (r >= 0)
		r = t->g->gnutls_credentials_set(t->session, GNUTLS_CRD_CERTIFICATE,
						 t->credentials);
	if (r < 0)
		return gnutls_table_error(t->g, e, "secure the connection", r);
	t->g->gnutls_transport_set_int2(t->session, fd, fd);
	return 0;
}

int tls_open(struct tls *t, int fd, struct error *e)
{
	int r = t->session ? 0 : start(t, fd, e);

	if (r < 0)
		return r;
	do
		r = t->g->gnutls_handshake(t->session);
	while (r < 0 && r != GNUTLS_E_AGAIN && !t->g->gnutls_error_is_fatal(r));
	if (r == GNUTLS_E_AGAIN)
		return 0;
	if (r == GNUTLS_E_UNEXPECTED_PACKET_LENGTH || r == GNUTLS_E_UNEXPECTED_PACKET)
		return error_set(e, EPROTO,
				 "cannot secure the connection: the collector has no "
				 "keys");
	if (r < 0)
		return gnutls_table_error(t->g, e, "secure the connection", r);
	r = verify(t, e);
	return r < 0 ? r : 1;
}

short tls_events(const struct tls *t)
{
	return t->session && t->g->gnutls_record_get_direction(t->session) ? POLLOUT : POLLIN;
}

static ssize_t code_of(const struct tls *t, ssize_t r)
{
	if (r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED ||
	    !t->g->gnutls_error_is_fatal((int)r))
		return -EAGAIN;
	return r == GNUTLS_E_PREMATURE_TERMINATION ? 0 : -EPROTO;
}

ssize_t tls_recv(struct tls *t, void *out, size_t room)
{
	ssize_t r = t->g->gnutls_record_recv(t->session, out, room);

	return r < 0 ? code_of(t, r) : r;
}

ssize_t tls_send(struct tls *t, const void *bytes, size_t len)
{
	ssize_t r = t->g->gnutls_record_send(t->session, bytes, len);

	r = r < 0 ? code_of(t, r) : r;
	return r ? r : -EPIPE;
}

bool tls_has_unread(const struct tls *t)
{
	return t->session && t->g->gnutls_record_check_pending(t->session);
}

/* --- giving it to the kernel --- */

void tls_set_aes_only(struct tls *t)
{
	t->is_aes_only = true;
}

static int get_key(const struct tls *t, struct kernel_tls_key *ret)
{
	bool is_aes = t->g->gnutls_cipher_get(t->session) == GNUTLS_CIPHER_AES_128_GCM;
	gnutls_datum_t iv, key;
	int r = t->g->gnutls_record_get_state(t->session, !ret->is_sending, NULL, &iv, &key,
					      ret->sequence);

	if (r < 0 || iv.size != sizeof(ret->iv) || key.size != (is_aes ? 16 : sizeof(ret->key)))
		return -EPROTO;
	ret->cipher = is_aes ? KERNEL_TLS_AES_128_GCM : KERNEL_TLS_CHACHA20_POLY1305;
	memcpy(ret->iv, iv.data, iv.size);
	memcpy(ret->key, key.data, key.size);
	return 0;
}

static int give_way(const struct tls *t, int fd, bool is_sending, struct error *e)
{
	struct kernel_tls_key k = { .is_sending = is_sending };
	int r = get_key(t, &k);

	r = r < 0 ? error_set(e, -r, "cannot secure the driver's connection: it has no key")
		  : kernel_tls_set(fd, &k, e);
	explicit_bzero(&k, sizeof(k));
	return r;
}

/* The library reads a record at a time, and the collector sends none before it hears a HELLO but one
 * that says why it refuses: what it has read is used up, or this is not our collector. */
int tls_give(struct tls *t, int fd, struct error *e)
{
	int r = kernel_tls_open(fd, e);

	if (r == 0 && tls_has_unread(t))
		r = error_set(e, EPROTO,
			      "cannot secure the driver's connection: the collector spoke first");
	if (r == 0)
		r = give_way(t, fd, true, e);
	return r < 0 ? r : give_way(t, fd, false, e);
}

uint64_t tls_get_start(const struct tls *t)
{
	return t->from_s;
}

uint64_t tls_get_renewal(const struct tls *t)
{
	return t->from_s + (t->until_s - t->from_s) * 2 / 3;
}
