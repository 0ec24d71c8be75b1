/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* token: see token.h. */
#include "wire/token.h"

#define PREFIX "ks1-"
#define PREFIX_LEN 4U
#define BYTES (TOKEN_SECRET_LEN + TOKEN_FINGERPRINT_LEN)

static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";

_Static_assert(TOKEN_TEXT_LEN == PREFIX_LEN + (8 * BYTES + 4) / 5, "five bits to a letter");

static int value_of(char c)
{
	int i;

	if (c >= 'A' && c <= 'Z')
		c = (char)(c - 'A' + 'a');
	for (i = 0; i < 32; i++)
		if (letters[i] == c)
			return i;
	return -1;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

const char *token_format(const struct token *t, char out[TOKEN_TEXT_LEN + 1])
{
	uint8_t bytes[BYTES];
	uint32_t held = 0, bits = 0, i;
	char *p = out + PREFIX_LEN;

	memcpy(out, PREFIX, PREFIX_LEN);
	memcpy(bytes, t->secret, TOKEN_SECRET_LEN);
	memcpy(bytes + TOKEN_SECRET_LEN, t->fingerprint, TOKEN_FINGERPRINT_LEN);
	for (i = 0; i < BYTES; i++) {
		held = held << 8 | bytes[i];
		for (bits += 8; bits >= 5; bits -= 5)
			*p++ = letters[held >> (bits - 5) & 31];
	}
	*p++ = letters[held << (5 - bits) & 31]; /* 256 bits leave one */
	*p = 0;
	return out;
}

bool token_parse(struct token *ret, const char *text, size_t len)
{
	uint32_t held = 0, bits = 0, n = 0, i;
	uint8_t bytes[BYTES];

	while (len && is_space(*text)) {
		text++;
		len--;
	}
	while (len && is_space(text[len - 1]))
		len--;
	if (len != TOKEN_TEXT_LEN || memcmp(text, PREFIX, PREFIX_LEN) != 0)
		return false;
	for (i = PREFIX_LEN; i < TOKEN_TEXT_LEN; i++) {
		int v = value_of(text[i]);

		if (v < 0)
			return false;
		held = held << 5 | (uint32_t)v;
		bits += 5;
		if (bits >= 8) { /* 52 letters make BYTES of them */
			bits -= 8;
			bytes[n++] = (uint8_t)(held >> bits);
		}
	}
	if (held & ((1U << bits) - 1)) /* of one token there is one text */
		return false;
	memcpy(ret->secret, bytes, TOKEN_SECRET_LEN);
	memcpy(ret->fingerprint, bytes + TOKEN_SECRET_LEN, TOKEN_FINGERPRINT_LEN);
	return true;
}
