/* SPDX-License-Identifier: MIT */
/*
 * siphash: SipHash-2-4 with 64 and with 128 bits of result, after the paper of Aumasson and Bernstein.
 *
 * A keyed function: who sees the result learns nothing about the key. The identity of a device is made with the long
 * one (device/agent/identity.h), with the machine's own as the key, which is to stay on the machine; the numbers of
 * functions in facts with the short one (facts/fact_name.h) and a key that everybody knows, so they are the same everywhere.
 */
#ifndef KISEKI_BASE_SIPHASH_H
#define KISEKI_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

void siphash128(uint8_t ret[16], const uint8_t key[16], const void *data, size_t len);
uint64_t siphash64(const uint8_t key[16], const void *data, size_t len);

#endif
