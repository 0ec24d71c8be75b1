/* SPDX-License-Identifier: MIT */
/*
 * elf_identity: which object a file is: its build-id, and which debug file belongs to it.
 *
 * A build-id is a note with a digest of what was linked; a stripped file and its debug file have the
 * same. Files without one, or made before it was usual, name their debug file in .gnu_debuglink, with
 * a CRC of its bytes.
 */
#ifndef KISEKI_SYMBOL_ELF_IDENTITY_H
#define KISEKI_SYMBOL_ELF_IDENTITY_H

#include "symbol/elf_file.h"

#define ELF_BUILD_ID_MAX 64U

struct elf_build_id {
	uint8_t bytes[ELF_BUILD_ID_MAX];
	size_t len; /* 0: it has none */
};

struct elf_debug_link {
	char name[256]; /* a file's name without folders; "": none */
	uint32_t crc;
};

/* Damage is the same as none: an id that cannot be read cannot be compared. */
void elf_identity_get_build_id(const struct elf_file *f, struct elf_build_id *ret);
void elf_identity_get_link(const struct elf_file *f, struct elf_debug_link *ret);

/* The CRC that a debug link has, of the whole file. */
int elf_identity_get_crc(const struct elf_file *f, uint32_t *ret);

#endif
