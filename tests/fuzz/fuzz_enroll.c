/* SPDX-License-Identifier: MIT */
/*
 * enroll: any bytes as ENROLL, as CERTIFICATE and as a token; the first byte says which. What decodes,
 * encodes, and then stays the same.
 */
#include <assert.h>

#include "wire/enroll.h"

static void try_enroll(const uint8_t *data, size_t size)
{
	uint8_t first[ENROLL_ROOM], second[ENROLL_ROOM];
	struct byte_writer w, again;
	struct message_enroll m;

	if (enroll_decode(&m, data, size) != WIRE_OK)
		return;
	writer_init(&w, first, sizeof(first));
	enroll_encode(&w, &m);
	assert(!w.full && writer_len(&w) <= size);
	assert(enroll_decode(&m, first, writer_len(&w)) == WIRE_OK);
	writer_init(&again, second, sizeof(second));
	enroll_encode(&again, &m);
	assert(writer_len(&again) == writer_len(&w) && !memcmp(first, second, writer_len(&w)));
}

static void try_certificate(const uint8_t *data, size_t size)
{
	uint8_t first[ENROLL_ROOM];
	struct message_certificate m;
	struct byte_writer w;

	if (certificate_decode(&m, data, size) != WIRE_OK)
		return;
	writer_init(&w, first, sizeof(first));
	certificate_encode(&w, &m);
	assert(!w.full && writer_len(&w) <= size);
	assert(certificate_decode(&m, first, writer_len(&w)) == WIRE_OK);
}

static void try_token(const uint8_t *data, size_t size)
{
	char text[TOKEN_TEXT_LEN + 1];
	struct token t, again;

	if (!token_parse(&t, (const char *)data, size))
		return;
	assert(token_parse(&again, token_format(&t, text), TOKEN_TEXT_LEN));
	assert(!memcmp(&t, &again, sizeof(t)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == 0)
		try_enroll(data + 1, size - 1);
	else if (data[0] == 1)
		try_certificate(data + 1, size - 1);
	else
		try_token(data + 1, size - 1);
	return 0;
}
