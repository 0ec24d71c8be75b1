/* SPDX-License-Identifier: MIT */
/* siphash: see siphash.h. */
#include "device/agent/siphash.h"

#include <string.h>

#include "wire/varint.h"

struct state {
	uint64_t v[4];
};

static uint64_t turn(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(struct state *s, unsigned int n)
{
	uint64_t *v = s->v;

	for (; n; n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn(v[1], 13) ^ v[0];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] = turn(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turn(v[1], 17) ^ v[2];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] = turn(v[2], 32);
	}
}

static void mix(struct state *s, uint64_t word)
{
	s->v[3] ^= word;
	rounds(s, 2);
	s->v[0] ^= word;
}

static uint64_t finish(struct state *s)
{
	rounds(s, 4);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}

void siphash128(uint8_t ret[16], const uint8_t key[16], const void *data, size_t len)
{
	const uint64_t k0 = get_le64(key), k1 = get_le64(key + 8);
	struct state s = { { k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU ^ 0xee,
			     k0 ^ 0x6c7967656e657261U, k1 ^ 0x7465646279746573U } };
	const uint8_t *p = data;
	uint8_t last[8] = { 0 };
	size_t left;

	for (left = len; left >= 8; left -= 8, p += 8)
		mix(&s, get_le64(p));
	memcpy(last, p, left);
	last[7] = (uint8_t)len;
	mix(&s, get_le64(last));
	s.v[2] ^= 0xee;
	put_le64(ret, finish(&s));
	s.v[1] ^= 0xdd;
	put_le64(ret + 8, finish(&s));
}
