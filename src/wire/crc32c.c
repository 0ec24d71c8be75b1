/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * crc32c: see crc32c.h.
 *
 * slices[n][i] is the remainder of the byte i with n zero bytes behind it. A remainder is linear: that
 * of a byte is the sum of those of its bits. So eight numbers make a slice, and the compiler does
 * the sums.
 */
#include "wire/crc32c.h"

#include "wire/varint.h"

#define SLICES 8U
/* From here on eight bytes at a time: the 7 KiB of the other slices must be worth fetching. */
#define LONG 2048U

#define PICK(i, b, v) ((i) >> (b)&1 ? (v) : 0U)
#define SUM(i, a, b, c, d, e, f, g, h)                                                             \
	(PICK(i, 0, a) ^ PICK(i, 1, b) ^ PICK(i, 2, c) ^ PICK(i, 3, d) ^ PICK(i, 4, e) ^           \
	 PICK(i, 5, f) ^ PICK(i, 6, g) ^ PICK(i, 7, h))
#define ROW4(i, ...)                                                                               \
	SUM(i, __VA_ARGS__), SUM((i) + 1, __VA_ARGS__), SUM((i) + 2, __VA_ARGS__),                 \
		SUM((i) + 3, __VA_ARGS__)
#define ROW16(i, ...)                                                                              \
	ROW4(i, __VA_ARGS__), ROW4((i) + 4, __VA_ARGS__), ROW4((i) + 8, __VA_ARGS__),              \
		ROW4((i) + 12, __VA_ARGS__)
#define ROW64(i, ...)                                                                              \
	ROW16(i, __VA_ARGS__), ROW16((i) + 16, __VA_ARGS__), ROW16((i) + 32, __VA_ARGS__),         \
		ROW16((i) + 48, __VA_ARGS__)
#define SLICE(...)                                                                                 \
	{                                                                                          \
		ROW64(0U, __VA_ARGS__), ROW64(64U, __VA_ARGS__), ROW64(128U, __VA_ARGS__),         \
			ROW64(192U, __VA_ARGS__)                                                   \
	}

static const uint32_t slices[SLICES][256] = {
	SLICE(0xf26b8303U, 0xe13b70f7U, 0xc79a971fU, 0x8ad958cfU, 0x105ec76fU, 0x20bd8edeU,
	      0x417b1dbcU, 0x82f63b78U),
	SLICE(0x13a29877U, 0x274530eeU, 0x4e8a61dcU, 0x9d14c3b8U, 0x3fc5f181U, 0x7f8be302U,
	      0xff17c604U, 0xfbc3faf9U),
	SLICE(0xa541927eU, 0x4f6f520dU, 0x9edea41aU, 0x38513ec5U, 0x70a27d8aU, 0xe144fb14U,
	      0xc76580d9U, 0x8b277743U),
	SLICE(0xdd45aab8U, 0xbf672381U, 0x7b2231f3U, 0xf64463e6U, 0xe964b13dU, 0xd725148bU,
	      0xaba65fe7U, 0x52a0c93fU),
	SLICE(0x38116facU, 0x7022df58U, 0xe045beb0U, 0xc5670b91U, 0x8f2261d3U, 0x1ba8b557U,
	      0x37516aaeU, 0x6ea2d55cU),
	SLICE(0xef306b19U, 0xdb8ca0c3U, 0xb2f53777U, 0x6006181fU, 0xc00c303eU, 0x85f4168dU,
	      0x0e045bebU, 0x1c08b7d6U),
	SLICE(0x68032cc8U, 0xd0065990U, 0xa5e0c5d1U, 0x4e2dfd53U, 0x9c5bfaa6U, 0x3d5b83bdU,
	      0x7ab7077aU, 0xf56e0ef4U),
	SLICE(0x493c7d27U, 0x9278fa4eU, 0x211d826dU, 0x423b04daU, 0x847609b4U, 0x0d006599U,
	      0x1a00cb32U, 0x34019664U),
};

static uint32_t step8(uint32_t crc, const uint8_t *p)
{
	uint32_t a = get_le32(p) ^ crc, b = get_le32(p + 4);

	return slices[7][a & 0xff] ^ slices[6][a >> 8 & 0xff] ^ slices[5][a >> 16 & 0xff] ^
	       slices[4][a >> 24] ^ slices[3][b & 0xff] ^ slices[2][b >> 8 & 0xff] ^
	       slices[1][b >> 16 & 0xff] ^ slices[0][b >> 24];
}

uint32_t crc32c_add(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	if (len >= LONG)
		for (; len >= SLICES; len -= SLICES, p += SLICES)
			crc = step8(crc, p);
	while (len--)
		crc = crc >> 8 ^ slices[0][(crc ^ *p++) & 0xff];
	return ~crc;
}
