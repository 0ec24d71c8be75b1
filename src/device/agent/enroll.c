/* SPDX-License-Identifier: MIT */
/*
 * enroll: see enroll.h. One frame there and one back, on a connection of its own. The certificate's
 * file is written last and holds the key, too: whenever this dies, what is there belongs together.
 */
#include "device/agent/enroll.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/key_file.h"
#include "device/agent/dial.h"
#include "device/agent/identity.h"
#include "device/agent/tls.h"
#include "wire/enroll.h"
#include "wire/frame.h"

#define FRAME_ROOM (FRAME_HEAD_MAX + ENROLL_ROOM)
#define FILE_ROOM 16384U

struct enrolling {
	const struct enroll_options *o;
	struct identity identity;
	struct dial *dial;
	struct tls *tls;
	struct tls_request *request;
	uint64_t until_ms;
	uint8_t in[FRAME_ROOM];
	size_t in_len;
};

static void done(struct enrolling *n)
{
	tls_free(n->tls);
	dial_free(n->dial);
	tls_request_free(n->request);
}

static int wait_for(const struct enrolling *n, short events, struct error *e)
{
	struct pollfd p = { .fd = dial_fd(n->dial), .events = events };
	uint64_t now_ms = clock_mono_ms();

	if (now_ms >= n->until_ms)
		return error_set(e, ETIMEDOUT, "cannot enroll: the collector does not answer");
	if (poll(&p, 1, (int)(n->until_ms - now_ms)) < 0 && errno != EINTR)
		return error_set(e, errno, "cannot enroll: %s", strerror(errno));
	return 0;
}

static int make_tls(struct enrolling *n, struct error *e)
{
	const struct enroll_options *o = n->o;

	return o->token ? tls_new_stranger(&n->tls, o->token->fingerprint, e)
			: tls_new(&n->tls, o->state_dir, e);
}

static int connect_to(struct enrolling *n, struct error *e)
{
	int r = dial_new(&n->dial, n->o->collector, e);

	if (r == 0)
		r = make_tls(n, e);
	while (r == 0 && (r = dial_open(n->dial, clock_mono_ms(), e)) == 0)
		r = wait_for(n, dial_events(n->dial), e);
	r = r > 0 ? 0 : r;
	while (r == 0 && (r = tls_open(n->tls, dial_fd(n->dial), e)) == 0)
		r = wait_for(n, tls_events(n->tls), e);
	return r > 0 ? 0 : r;
}

/* --- what is said --- */

static int send_all(struct enrolling *n, const uint8_t *bytes, size_t len, struct error *e)
{
	ssize_t sent;
	int r;

	while (len) {
		sent = tls_send(n->tls, bytes, len);
		if (sent < 0 && sent != -EAGAIN)
			return error_set(e, ECONNRESET, "cannot enroll: the connection was lost");
		r = sent < 0 ? wait_for(n, POLLOUT, e) : 0;
		if (r < 0)
			return r;
		bytes += sent < 0 ? 0 : sent;
		len -= sent < 0 ? 0 : (size_t)sent;
	}
	return 0;
}

static int ask(struct enrolling *n, struct error *e)
{
	const struct token *t = n->o->token;
	struct message_enroll m = { .version = ENROLL_VERSION, .device = n->identity.device };
	uint8_t body[ENROLL_ROOM], head[FRAME_HEAD_MAX];
	struct byte_writer w;
	size_t len;
	int r;

	m.has_secret = t;
	if (t)
		memcpy(m.secret, t->secret, sizeof(m.secret));
	m.request.at = tls_request_get(n->request, &len);
	m.request.len = (uint32_t)len;
	writer_init(&w, body, sizeof(body));
	enroll_encode(&w, &m);
	len = frame_encode_head(head, FRAME_ENROLL, (uint32_t)writer_len(&w));
	r = send_all(n, head, len, e);
	return r < 0 ? r : send_all(n, body, writer_len(&w), e);
}

static int take_bye(const struct frame *f, struct error *e)
{
	struct message_bye m;

	if (f->type != FRAME_BYE || bye_decode(&m, f->body, f->body_len) != WIRE_OK)
		return error_set(e, EPROTO, "cannot enroll: the collector does not answer so");
	return error_set(e, EKEYREJECTED, "cannot enroll: the collector said BYE %u: %.*s", m.code,
			 (int)m.text.len, m.text.len ? m.text.at : "");
}

/* The frame stays in n->in. */
static int hear(struct enrolling *n, struct message_certificate *ret, struct error *e)
{
	enum wire_status status = WIRE_MORE;
	struct frame f;
	ssize_t got;
	int r = 0;

	while (r == 0 && status == WIRE_MORE && n->in_len < sizeof(n->in)) {
		got = tls_recv(n->tls, n->in + n->in_len, sizeof(n->in) - n->in_len);
		if (got == -EAGAIN)
			r = wait_for(n, POLLIN, e);
		else if (got <= 0)
			r = error_set(e, ECONNRESET, "cannot enroll: the connection was lost");
		else
			n->in_len += (size_t)got;
		status = frame_decode(n->in, n->in_len, &f);
	}
	if (r < 0)
		return r;
	if (status != WIRE_OK || f.type != FRAME_CERTIFICATE ||
	    certificate_decode(ret, f.body, f.body_len) != WIRE_OK)
		return status == WIRE_OK ? take_bye(&f, e)
					 : error_set(e, EPROTO,
						     "cannot enroll: what the collector says is "
						     "no frame");
	return 0;
}

/* --- what is kept --- */

static int make_folder(const char *state_dir, const char *folder, struct error *e)
{
	if (mkdir(state_dir, 0755) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", state_dir, strerror(errno));
	return key_folder_make(folder, e);
}

static int keep(const struct enrolling *n, const struct message_certificate *m, struct error *e)
{
	char folder[TLS_FOLDER_MAX], text[FILE_ROOM];
	size_t at = 0, len;
	uint32_t i;
	int r = make_folder(n->o->state_dir, tls_folder(n->o->state_dir, folder), e);

	if (r < 0)
		return r;
	for (i = 0; i < m->n_authorities; i++, at += len) {
		len = sizeof(text) - at;
		if (tls_certificate_format(m->authorities[i].at, m->authorities[i].len, text + at,
					   &len) < 0)
			return error_set(e, EPROTO, "cannot enroll: an authority is none");
	}
	r = key_file_write(folder, TLS_TRUST_FILE, text, at, e);
	if (r < 0)
		return r;
	len = sizeof(text);
	if (tls_request_format(n->request, m->certificate.at, m->certificate.len, text, &len) < 0)
		return error_set(e, EPROTO, "cannot enroll: the certificate is none");
	r = key_file_write(folder, TLS_DEVICE_FILE, text, len, e);
	explicit_bzero(text, sizeof(text));
	return r;
}

int enroll_run(const struct enroll_options *o, struct error *e)
{
	struct enrolling n = { .o = o, .until_ms = clock_mono_ms() + ENROLL_WAIT_MS };
	struct message_certificate m;
	int r = identity_init(&n.identity, o->name, o->state_dir, e);

	if (r == 0)
		r = tls_request_new(&n.request, e);
	if (r == 0)
		r = connect_to(&n, e);
	if (r == 0)
		r = ask(&n, e);
	if (r == 0)
		r = hear(&n, &m, e);
	if (r == 0)
		r = keep(&n, &m, e);
	done(&n);
	return r;
}
