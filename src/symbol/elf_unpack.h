/* SPDX-License-Identifier: MIT */
/*
 * elf_unpack: the bytes of a packed section.
 *
 * Distributions pack debug sections with zlib or zstd (SHF_COMPRESSED), and put a small packed ELF
 * file with the local symbols into stripped programs (.gnu_debugdata, xz; "MiniDebugInfo"). The size
 * that a file claims is a ceiling for what is unpacked, and has a ceiling itself.
 */
#ifndef KISEKI_SYMBOL_ELF_UNPACK_H
#define KISEKI_SYMBOL_ELF_UNPACK_H

#include "symbol/elf_file.h"

/* A section with a compression header in front. -EBADMSG, -EOPNOTSUPP: an unknown method, -ENOMEM,
 * -E2BIG. */
int elf_unpack(const struct elf_file *f, const uint8_t *packed, size_t len, uint8_t **ret,
	       size_t *ret_len);

/* An xz stream. */
int elf_unpack_xz(const uint8_t *packed, size_t len, uint8_t **ret, size_t *ret_len);

#endif
