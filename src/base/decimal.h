/* SPDX-License-Identifier: MIT */
/*
 * decimal: numbers as text, for the writers that print several per event.
 *
 * printf spends most of its time on its format string; an export of ten million events prints a
 * hundred million numbers. Each function writes at p without a terminating NUL and returns the
 * place behind what it wrote; the caller has the room (DECIMAL_MAX bytes are enough for any).
 */
#ifndef KISEKI_BASE_DECIMAL_H
#define KISEKI_BASE_DECIMAL_H

#include <stdint.h>

#define DECIMAL_MAX 32U

char *decimal_put_u64(char *p, uint64_t v);
char *decimal_put_i64(char *p, int64_t v);

/* v as thousandths: 1234567 is "1234.567". */
char *decimal_put_milli(char *p, uint64_t v);

#endif
