/* SPDX-License-Identifier: MIT */
/* channel: see channel.h. */
#include "keys/channel.h"

#include <errno.h>
#include <string.h>

#include "keys/certificate.h"

struct channel {
	gnutls_session_t session;
	struct credentials *credentials;
	struct channel_hooks hooks;
	struct channel_bytes in; /* while channel_push() runs */
	bool is_open, is_broken;
};

static ssize_t pull(gnutls_transport_ptr_t context, void *out, size_t room)
{
	struct channel *c = context;
	size_t n = room < c->in.len ? room : c->in.len;

	if (!n) {
		gnutls_transport_set_errno(c->session, EAGAIN);
		return -1;
	}
	memcpy(out, c->in.at, n);
	c->in.at += n;
	c->in.len -= n;
	return (ssize_t)n;
}

static int pull_timeout(gnutls_transport_ptr_t context, unsigned int ms)
{
	const struct channel *c = context;

	(void)ms;
	return c->in.len ? 1 : 0;
}

static ssize_t push(gnutls_transport_ptr_t context, const void *bytes, size_t len)
{
	struct channel *c = context;

	if (c->hooks.send(c->hooks.context, bytes, len))
		return (ssize_t)len;
	gnutls_transport_set_errno(c->session, EPIPE);
	return -1;
}

int channel_new(struct channel **ret, struct credentials *credentials,
		const struct channel_hooks *hooks, struct error *e)
{
	CLEANUP(channel) struct channel *c = calloc(1, sizeof(*c));
	gnutls_session_t s;
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot secure a connection: out of memory");
	c->hooks = *hooks;
	c->credentials = credentials_ref(credentials);
	r = gnutls_init(&c->session,
			GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS);
	if (r < 0)
		return certificate_error(e, "secure a connection", r);
	s = c->session;
	r = gnutls_priority_set(s, credentials_get_priority(credentials));
	if (r >= 0)
		r = gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE,
					   credentials_get_x509(credentials));
	if (r < 0)
		return certificate_error(e, "secure a connection", r);
	gnutls_certificate_server_set_request(s, GNUTLS_CERT_REQUEST);
	gnutls_transport_set_ptr(s, c);
	gnutls_transport_set_pull_function(s, pull);
	gnutls_transport_set_pull_timeout_function(s, pull_timeout);
	gnutls_transport_set_push_function(s, push);
	*ret = take_ptr(c);
	return 0;
}

void channel_free(struct channel *c)
{
	if (!c)
		return;
	if (c->session)
		gnutls_deinit(c->session);
	credentials_unref(c->credentials);
	free(c);
}

static int fail(struct channel *c, int code, struct error *e)
{
	c->is_broken = true;
	if (c->in.len || code != GNUTLS_E_PREMATURE_TERMINATION)
		gnutls_alert_send_appropriate(c->session, code);
	return error_set(e, EPROTO, "no TLS: %s", gnutls_strerror(code));
}

static int greet(struct channel *c, struct error *e)
{
	int r;

	do
		r = gnutls_handshake(c->session);
	while (r < 0 && r != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(r));
	if (r == GNUTLS_E_AGAIN)
		return 0;
	if (r < 0)
		return fail(c, r, e);
	c->is_open = true;
	return 1;
}

int channel_push(struct channel *c, struct channel_bytes raw, uint8_t *out, size_t room,
		 struct error *e)
{
	size_t n = 0;
	ssize_t r = 1;

	if (c->is_broken)
		return error_set(e, EPROTO, "no TLS: it is over");
	c->in = raw;
	if (!c->is_open)
		r = greet(c, e);
	while (r > 0 && n < room) {
		r = gnutls_record_recv(c->session, out + n, room - n);
		if (r > 0)
			n += (size_t)r;
		else if (r < 0 && r != GNUTLS_E_AGAIN && gnutls_error_is_fatal((int)r))
			return fail(c, (int)r, e);
		else if (r < 0 && r != GNUTLS_E_AGAIN)
			r = 1; /* a warning */
	}
	if (c->is_open && c->in.len && r > 0)
		return fail(c, GNUTLS_E_RECORD_OVERFLOW, e);
	if (r < 0 && !c->is_open)
		return (int)r;
	c->in = (struct channel_bytes){ NULL, 0 };
	return (int)n;
}

bool channel_is_open(const struct channel *c)
{
	return c->is_open && !c->is_broken;
}

int channel_send(struct channel *c, const uint8_t *bytes, size_t len)
{
	ssize_t n;

	if (!channel_is_open(c))
		return -EPIPE;
	for (; len; bytes += n, len -= (size_t)n) {
		n = gnutls_record_send(c->session, bytes, len);
		if (n <= 0) {
			c->is_broken = true;
			return -EPIPE;
		}
	}
	return 0;
}

void channel_bye(struct channel *c)
{
	if (channel_is_open(c))
		gnutls_bye(c->session, GNUTLS_SHUT_WR);
}

/* --- who it is --- */

static int judge_chain(struct channel *c, struct error *e)
{
	gnutls_typed_vdata_st purpose = { GNUTLS_DT_KEY_PURPOSE_OID,
					  (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT, 0 };
	CLEANUP_DATUM gnutls_datum_t why = { NULL, 0 };
	unsigned int status = 0;
	int r = gnutls_certificate_verify_peers(c->session, &purpose, 1, &status);

	if (r < 0)
		return error_set(e, EKEYREJECTED, "its certificate cannot be judged: %s",
				 gnutls_strerror(r));
	if (!status)
		return 0;
	gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &why, 0);
	return error_set(e, EKEYREJECTED, "its certificate is not good: %s",
			 why.data ? (const char *)why.data : "it is of another authority");
}

int channel_get_serial(struct channel *c, uint8_t ret[AUTHORITY_SERIAL_LEN], struct error *e)
{
	CLEANUP_CRT gnutls_x509_crt_t crt = NULL;
	size_t len = AUTHORITY_SERIAL_LEN;
	const gnutls_datum_t *list;
	unsigned int n = 0;
	int r;

	list = gnutls_certificate_get_peers(c->session, &n);
	if (!list || !n)
		return 0;
	r = judge_chain(c, e);
	if (r < 0)
		return r;
	r = gnutls_x509_crt_init(&crt);
	if (r >= 0)
		r = gnutls_x509_crt_import(crt, &list[0], GNUTLS_X509_FMT_DER);
	if (r >= 0)
		r = gnutls_x509_crt_get_serial(crt, ret, &len);
	if (r < 0 || len != AUTHORITY_SERIAL_LEN)
		return error_set(e, EKEYREJECTED, "its certificate has no number of ours");
	return 1;
}
