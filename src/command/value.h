/* SPDX-License-Identifier: MIT */
/*
 * value: single values as people write them, on a command line or in a file of settings.
 *
 * Each returns 0 or -EINVAL and leaves the result alone in that case; the caller says what would
 * have been right.
 */
#ifndef KISEKI_COMMAND_VALUE_H
#define KISEKI_COMMAND_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not empty and not too long. */
int value_text(char *ret, size_t room, const char *text);

/* Digits and nothing else. */
int value_number(uint64_t *ret, const char *text, uint64_t most);

/* A size in bytes: 64K, 4M, 1G, 2T, of 1024 each; a number without a letter counts pieces of `plain`
 * bytes. */
int value_size(uint64_t *ret, const char *text, uint32_t plain);

int value_bool(bool *ret, const char *text); /* yes, no */

#endif
