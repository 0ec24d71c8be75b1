/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * token: what a device is given to enroll with, as a text that people carry: "ks1-" and 52 letters
 * and digits.
 *
 * It is a secret, and the fingerprint of the authority that the device shall trust: the device is
 * sure of the collector before it says the secret. The letters are base 32 without those that look
 * like digits; large and small ones are the same.
 */
#ifndef KISEKI_WIRE_TOKEN_H
#define KISEKI_WIRE_TOKEN_H

#include "wire/types.h"

#define TOKEN_SECRET_LEN 16U
#define TOKEN_FINGERPRINT_LEN 16U
#define TOKEN_TEXT_LEN 56U /* without its NUL */

struct token {
	uint8_t secret[TOKEN_SECRET_LEN];
	uint8_t fingerprint[TOKEN_FINGERPRINT_LEN]; /* SHA-256 of the authority's public key, cut */
};

/* False: it is none. Spaces and ends of lines around it are passed over. */
bool token_parse(struct token *ret, const char *text, size_t len);

/* TOKEN_TEXT_LEN characters and a NUL. */
const char *token_format(const struct token *t, char out[TOKEN_TEXT_LEN + 1]);

#endif
