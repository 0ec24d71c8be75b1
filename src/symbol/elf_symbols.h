/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols: the functions of an ELF file, out of .symtab, .dynsym and .gnu_debugdata.
 *
 * A symbol counts if it is defined, lies in executable code and is a function, an indirect one
 * (IFUNC; where the function that chooses has a name of its own, it has that) or a label without a type; marks for disassemblers ($a, $t, $d, $x) and local labels do
 * not. On ARM the lowest bit of a function's address says Thumb, and is taken off.
 *
 * A size of 0 is what assembler sources leave when they do not care. Such a symbol reaches to the next
 * one only where all functions are known to have a symbol; in a table without local functions (what
 * `strip` leaves) the next function may well have no name, so there it names its first byte alone.
 */
#ifndef KISEKI_SYMBOL_ELF_SYMBOLS_H
#define KISEKI_SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf_file.h"
#include "symbol/symtab.h"

/* Pushes the table of this type, SHT_SYMTAB or SHT_DYNSYM; `bias` is added to its addresses. Returns
 * 1: it has local functions, so it is complete; 0: it has not, or there is no such table; < 0. */
int elf_symbols_push(struct symtab *t, const struct elf_file *f, uint32_t type, uint64_t bias);

/* Those of the packed file in .gnu_debugdata; as above. */
int elf_symbols_push_packed(struct symtab *t, const struct elf_file *f, uint64_t bias);

/* Calls through the procedure linkage table: "name@plt", where the machine's code is known to us
 * (aarch64, arm, x86-64). The slot is read from the entry's instructions, never counted off. */
int elf_symbols_push_plt(struct symtab *t, const struct elf_file *f);

/* An address as instructions have it: without the bit that chooses an instruction set. */
uint64_t elf_symbols_code_address(const struct elf_file *f, uint64_t address);

#endif
