/* SPDX-License-Identifier: MIT */
/*
 * hex: bytes as hexadecimal digits: ids are written so, and bytes that are no characters.
 */
#ifndef KISEKI_BASE_HEX_H
#define KISEKI_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* What a digit is worth, -1 if it is none. */
static inline int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 2 n small digits and a NUL; returns out. */
static inline const char *hex_format(const uint8_t *bytes, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = 0;
	return out;
}

#endif
