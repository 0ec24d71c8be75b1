/* SPDX-License-Identifier: MIT */
/*
 * memfile: a FILE whose text is kept in memory. open_memstream() of the C library can lose a part of the text where memory ends, and
 * nobody is told; here fclose() fails if anything is missing.
 */
#ifndef KISEKI_BASE_MEMFILE_H
#define KISEKI_BASE_MEMFILE_H

#include <stddef.h>
#include <stdio.h>

/* NULL if there is no memory for it. The text, which the caller frees in any case, is whole and terminated if fclose() returns 0. */
FILE *memfile_open(char **ret, size_t *ret_len);

#endif
