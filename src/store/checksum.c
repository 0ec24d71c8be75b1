/* SPDX-License-Identifier: MIT */
/*
 * checksum: see checksum.h. Compilers disagree on how one function may use an instruction that the
 * rest of the program may not; assemblers do not, so the instruction is written as such. A machine
 * that is neither arm64 nor x86-64, or has no such instruction, takes the table.
 */
#include "store/checksum.h"

#include <string.h>

#include "wire/crc32c.h"
#include "wire/varint.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>

static bool has_instruction(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

static inline uint32_t step8(uint32_t crc, uint64_t v)
{
	__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(v));
	return crc;
}

static inline uint32_t step1(uint32_t crc, uint8_t v)
{
	__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)v));
	return crc;
}
#elif defined(__x86_64__)
static bool has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}

static inline uint32_t step8(uint32_t crc, uint64_t v)
{
	uint64_t wide = crc;

	__asm__("crc32q %1, %0" : "+r"(wide) : "r"(v));
	return (uint32_t)wide;
}

static inline uint32_t step1(uint32_t crc, uint8_t v)
{
	__asm__("crc32b %1, %0" : "+r"(crc) : "q"(v));
	return crc;
}
#else
static bool has_instruction(void)
{
	return false;
}

static inline uint32_t step8(uint32_t crc, uint64_t v)
{
	(void)v;
	return crc;
}

static inline uint32_t step1(uint32_t crc, uint8_t v)
{
	(void)v;
	return crc;
}
#endif

uint32_t checksum_crc32c(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t v;

	if (!has_instruction())
		return crc32c_add(crc, data, len);
	crc = ~crc;
	for (; len >= sizeof(v); len -= sizeof(v), p += sizeof(v)) {
		memcpy(&v, p, sizeof(v));
		crc = step8(crc, v);
	}
	while (len--)
		crc = step1(crc, *p++);
	return ~crc;
}

enum wire_status checksum_decode_block(const uint8_t *in, size_t len, struct block *ret)
{
	enum wire_status status = block_peek(in, len, ret);
	uint32_t crc;

	if (status != WIRE_OK)
		return status;
	crc = checksum_crc32c(0, in, 4);
	crc = checksum_crc32c(crc, in + 8, ret->len - 8);
	return crc == get_le32(in + 4) ? WIRE_OK : WIRE_CORRUPT;
}
