/* SPDX-License-Identifier: MIT */
/*
 * value: the values of settings, from the words that people write.
 *
 * Each returns 0 or -EINVAL and leaves the result alone in that case; the caller says what would
 * have been right.
 */
#ifndef KISEKI_DEVICE_AGENT_VALUE_H
#define KISEKI_DEVICE_AGENT_VALUE_H

#include "wire/message.h"

/* Not empty and not too long. */
int value_text(char *ret, size_t room, const char *text);

int value_number(uint64_t *ret, const char *text, uint64_t most);

/* Bytes: 65536, 64K, 4M, 1G. */
int value_size(uint64_t *ret, const char *text);

/* Milliseconds: 100, 100ms, 2s. */
int value_ms(uint64_t *ret, const char *text);

int value_bool(bool *ret, const char *text); /* yes, no */

/* The place in a list that ends with NULL. */
int value_word(uint8_t *ret, const char *const words[], const char *text);

/* Lists, with commas or blanks between their parts. Empty: no filter; for events not allowed. */
int value_events(uint32_t *ret, const char *text);
int value_pids(struct message_config *ret, const char *text);
int value_comms(struct message_config *ret, const char *text);
int value_cgroups(struct message_config *ret, const char *text);

#endif
