/* SPDX-License-Identifier: MIT */
/*
 * siphash: SipHash-2-4 with 128 bits of result, after the paper of Aumasson and Bernstein.
 *
 * A keyed function: who sees the result learns nothing about the key. The identity of a device is
 * made with it (identity.h), with the machine's own as the key, which is to stay on the machine.
 */
#ifndef KISEKI_DEVICE_AGENT_SIPHASH_H
#define KISEKI_DEVICE_AGENT_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

void siphash128(uint8_t ret[16], const uint8_t key[16], const void *data, size_t len);

#endif
