/* SPDX-License-Identifier: MIT */
/* siphash: see siphash.h. */
#include "base/siphash.h"

#include <string.h>

struct state {
	uint64_t v[4];
};

static uint64_t read_le64(const uint8_t *p)
{
	uint64_t v = 0;
	unsigned int i;

	for (i = 8; i; i--)
		v = v << 8 | p[i - 1];
	return v;
}

static void write_le64(uint8_t *p, uint64_t v)
{
	unsigned int i;

	for (i = 0; i < 8; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

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

/* `tweak` tells the two lengths of result apart. */
static void start(struct state *s, const uint8_t key[16], uint64_t tweak)
{
	const uint64_t k0 = read_le64(key), k1 = read_le64(key + 8);

	s->v[0] = k0 ^ 0x736f6d6570736575U;
	s->v[1] = k1 ^ 0x646f72616e646f6dU ^ tweak;
	s->v[2] = k0 ^ 0x6c7967656e657261U;
	s->v[3] = k1 ^ 0x7465646279746573U;
}

static void mix_all(struct state *s, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint8_t last[8] = { 0 };
	size_t left;

	for (left = len; left >= 8; left -= 8, p += 8)
		mix(s, read_le64(p));
	if (left)
		memcpy(last, p, left);
	last[7] = (uint8_t)len;
	mix(s, read_le64(last));
}

void siphash128(uint8_t ret[16], const uint8_t key[16], const void *data, size_t len)
{
	struct state s;

	start(&s, key, 0xee);
	mix_all(&s, data, len);
	s.v[2] ^= 0xee;
	write_le64(ret, finish(&s));
	s.v[1] ^= 0xdd;
	write_le64(ret + 8, finish(&s));
}

uint64_t siphash64(const uint8_t key[16], const void *data, size_t len)
{
	struct state s;

	start(&s, key, 0);
	mix_all(&s, data, len);
	s.v[2] ^= 0xff;
	return finish(&s);
}
