/* SPDX-License-Identifier: MIT */
/*
 * tls: the device's side of TLS 1.3 over a connected socket, without ever waiting
 * (docs/design/keys.md).
 *
 * A device that has enrolled shows its certificate and takes a collector whose certificate is for
 * servers and signed by an authority it knows. One that has not looks for the authority of its token
 * in what the collector shows.
 */
#ifndef KISEKI_DEVICE_AGENT_TLS_H
#define KISEKI_DEVICE_AGENT_TLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/token.h"

/* In the folder `keys` of the state folder: the device's key with its certificate, and whom it
 * trusts. */
#define TLS_DEVICE_FILE "device.pem"
#define TLS_TRUST_FILE "ca.pem"
#define TLS_FOLDER_MAX 264U

struct tls;

const char *tls_folder(const char *state_dir, char out[TLS_FOLDER_MAX]);

/* Has it enrolled? */
bool tls_has_keys(const char *state_dir);

int tls_new(struct tls **ret, const char *state_dir, struct error *e);
int tls_new_stranger(struct tls **ret, const uint8_t fingerprint[TOKEN_FINGERPRINT_LEN],
		     struct error *e);
void tls_free(struct tls *t);
DEFINE_CLEANUP(tls, tls_free)

/* Starts on the socket, or goes on: 1: it is secure; 0: come again when tls_events() are there;
 * negative: it failed. */
int tls_open(struct tls *t, int fd, struct error *e);
short tls_events(const struct tls *t); /* of poll() */

/* As recv() and send(), but -errno; -EAGAIN: not now. What was to be sent then is to be sent next. */
ssize_t tls_recv(struct tls *t, void *out, size_t room);
ssize_t tls_send(struct tls *t, const void *bytes, size_t len);
bool tls_has_unread(const struct tls *t); /* the socket does not show it */

/* The kernel speaks TLS on the socket from now on, and this one no more. -EOPNOTSUPP: it cannot with the
 * cipher that was agreed on; with AES alone it might, which is to be said before tls_open(). */
int tls_give(struct tls *t, int fd, struct error *e);
void tls_set_aes_only(struct tls *t);

/* From when on the next certificate should be had, in seconds since 1970. */
uint64_t tls_get_renewal(const struct tls *t);
/* When it begins to hold. */
uint64_t tls_get_start(const struct tls *t);

/* --- a new key --- */

struct tls_request;

/* Makes a key and a request for its certificate. */
int tls_request_new(struct tls_request **ret, struct error *e);
void tls_request_free(struct tls_request *r);
DEFINE_CLEANUP(tls_request, tls_request_free)
const uint8_t *tls_request_get(const struct tls_request *r, size_t *ret_len); /* in DER */

/* Key and certificate as the text of TLS_DEVICE_FILE; *len has its room, and then its length. */
int tls_request_format(const struct tls_request *r, const uint8_t *der, size_t der_len, char *out,
		       size_t *len);
/* A certificate as text; 0, or -EINVAL. */
int tls_certificate_format(const uint8_t *der, size_t der_len, char *out, size_t *len);

#endif
