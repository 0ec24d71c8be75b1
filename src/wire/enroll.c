/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* enroll: see enroll.h. */
#include "wire/enroll.h"

/* A length and that many bytes. */
static void put_counted(struct byte_writer *w, const void *data, size_t len)
{
	uint8_t head[VARINT_MAX];
	size_t head_len = (size_t)(varint_put(head, len) - head);

	if (w->full || head_len + len > (size_t)(w->end - w->at)) {
		w->full = true;
		return;
	}
	memcpy(w->at, head, head_len);
	if (len)
		memcpy(w->at + head_len, data, len);
	w->at += head_len + len;
}

static void put_number(struct byte_writer *w, uint64_t v)
{
	if (w->full || (size_t)(w->end - w->at) < VARINT_MAX)
		w->full = true;
	else
		w->at = varint_put(w->at, v);
}

static void get_counted(struct byte_reader *r, uint32_t least, uint32_t most,
			struct enroll_bytes *ret)
{
	uint64_t len = reader_varint(r);

	if (len < least || len > most)
		r->bad = true;
	ret->at = r->bad ? NULL : reader_bytes(r, len);
	ret->len = ret->at ? (uint32_t)len : 0;
}

void enroll_encode(struct byte_writer *w, const struct message_enroll *m)
{
	put_number(w, m->version);
	put_counted(w, m->secret, m->has_secret ? TOKEN_SECRET_LEN : 0);
	put_counted(w, m->device.bytes, sizeof(m->device.bytes));
	put_counted(w, m->request.at, m->request.len);
}

enum wire_status enroll_decode(struct message_enroll *ret, const uint8_t *in, size_t len)
{
	struct enroll_bytes secret, device;
	struct byte_reader r;
	uint64_t version;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	version = reader_varint(&r);
	ret->version = version < UINT32_MAX ? (uint32_t)version : UINT32_MAX;
	get_counted(&r, 0, TOKEN_SECRET_LEN, &secret);
	get_counted(&r, sizeof(ret->device.bytes), sizeof(ret->device.bytes), &device);
	get_counted(&r, 1, ENROLL_REQUEST_MAX, &ret->request);
	if (r.bad || (secret.len && secret.len != TOKEN_SECRET_LEN))
		return WIRE_CORRUPT;
	ret->has_secret = secret.len;
	if (secret.len)
		memcpy(ret->secret, secret.at, secret.len);
	memcpy(ret->device.bytes, device.at, device.len);
	return WIRE_OK;
}

void certificate_encode(struct byte_writer *w, const struct message_certificate *m)
{
	uint32_t i;

	put_counted(w, m->certificate.at, m->certificate.len);
	put_number(w, m->n_authorities);
	for (i = 0; i < m->n_authorities; i++)
		put_counted(w, m->authorities[i].at, m->authorities[i].len);
}

enum wire_status certificate_decode(struct message_certificate *ret, const uint8_t *in, size_t len)
{
	struct byte_reader r;
	uint64_t n;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	reader_init(&r, in, len);
	get_counted(&r, 1, ENROLL_CERTIFICATE_MAX, &ret->certificate);
	n = reader_varint(&r);
	if (r.bad || !n || n > ENROLL_AUTHORITIES_MAX)
		return WIRE_CORRUPT;
	ret->n_authorities = (uint32_t)n;
	for (i = 0; i < ret->n_authorities; i++)
		get_counted(&r, 1, ENROLL_CERTIFICATE_MAX, &ret->authorities[i]);
	return r.bad ? WIRE_CORRUPT : WIRE_OK;
}
