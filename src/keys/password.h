/* SPDX-License-Identifier: MIT */
/*
 * password: what is kept of a password, and whether one is it. The hash is yescrypt of libcrypt, as in the system's own
 * list of users: slow, and in need of memory, so that trying many is dear. It says itself how it was made.
 */
#ifndef KISEKI_KEYS_PASSWORD_H
#define KISEKI_KEYS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PASSWORD_LEAST 8U
#define PASSWORD_MOST 511U /* bytes; what libcrypt takes */
#define PASSWORD_HASH_MAX 384U

/* -EINVAL: too short or too long. */
int password_hash(const char *password, char ret[PASSWORD_HASH_MAX], struct error *e);

/* Takes as long whether it is right or not. */
bool password_check(const char *password, const char *hash);

#endif
