/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * enroll: how a device asks for its certificate and gets it (docs/format/protocol.md, 2.8).
 *
 * The bytes of requests and certificates are DER and not looked at here. All are borrowed from the
 * frame.
 */
#ifndef KISEKI_WIRE_ENROLL_H
#define KISEKI_WIRE_ENROLL_H

#include "wire/message.h"
#include "wire/token.h"

#define ENROLL_VERSION 1
#define ENROLL_REQUEST_MAX 1024U
#define ENROLL_CERTIFICATE_MAX 2048U
#define ENROLL_AUTHORITIES_MAX 2U

/* Enough for the body of either message. */
#define ENROLL_ROOM (4U * VARINT_MAX + 3U * ENROLL_CERTIFICATE_MAX)

struct enroll_bytes {
	const uint8_t *at;
	uint32_t len;
};

struct message_enroll {
	uint32_t version;
	bool has_secret; /* of a token; else the certificate of the connection is renewed */
	uint8_t secret[TOKEN_SECRET_LEN];
	struct message_id device;
	struct enroll_bytes request; /* PKCS #10 */
};

struct message_certificate {
	struct enroll_bytes certificate; /* X.509 */
	uint32_t n_authorities;		 /* at least 1: whom to trust from now on */
	struct enroll_bytes authorities[ENROLL_AUTHORITIES_MAX];
};

void enroll_encode(struct byte_writer *w, const struct message_enroll *m);
enum wire_status enroll_decode(struct message_enroll *ret, const uint8_t *in, size_t len);

void certificate_encode(struct byte_writer *w, const struct message_certificate *m);
enum wire_status certificate_decode(struct message_certificate *ret, const uint8_t *in, size_t len);

#endif
