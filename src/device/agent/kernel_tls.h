/* SPDX-License-Identifier: MIT */
/*
 * kernel_tls: TLS 1.3 on a socket by the kernel (kTLS), with the keys of a handshake that is done. What
 * is written to the socket afterwards, by a program or by the driver, goes out encrypted.
 *
 * The kernel needs CONFIG_TLS, in Debian the module `tls`; ChaCha20-Poly1305 came with 5.11.
 */
#ifndef KISEKI_DEVICE_AGENT_KERNEL_TLS_H
#define KISEKI_DEVICE_AGENT_KERNEL_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define KERNEL_TLS_IV_LEN 12U
#define KERNEL_TLS_KEY_MAX 32U
#define KERNEL_TLS_SEQUENCE_LEN 8U

enum kernel_tls_cipher {
	KERNEL_TLS_AES_128_GCM,
	KERNEL_TLS_CHACHA20_POLY1305,
};

/* Of one direction. */
struct kernel_tls_key {
	enum kernel_tls_cipher cipher;
	bool is_sending;
	uint8_t iv[KERNEL_TLS_IV_LEN];
	uint8_t key[KERNEL_TLS_KEY_MAX]; /* AES: the first 16 */
	uint8_t sequence[KERNEL_TLS_SEQUENCE_LEN];
};

/* Lets the kernel load its part of TLS, which takes rights that its use does not. */
void kernel_tls_load(void);

/* Of a connected socket, before the handshake or after it; it changes nothing yet. -ENOENT: this kernel
 * has no TLS, or its module is not loaded. */
int kernel_tls_open(int fd, struct error *e);

/* From the next byte of that direction on. -EOPNOTSUPP: not this cipher. */
int kernel_tls_set(int fd, const struct kernel_tls_key *k, struct error *e);

#endif
