/* SPDX-License-Identifier: MIT */
/*
 * demangle: C++ names as they were written.
 *
 * The work is done by the demangler of the compiler's own runtime library, libsupc++: it knows every
 * production of the ABI that its compiler emits, which an own one would have to follow for ever, and
 * linked statically it is one object file that needs nothing but the C library. (libiberty has the
 * same code under another licence, and is a part of binutils that is not meant to be linked against.)
 *
 * Names come out of files that we do not trust. A name of two hundred bytes can stand for one of
 * gigabytes, each substitution doubling the one before; so the piecewise interface is used, and what
 * grows beyond a ceiling is left as it is in the file.
 */
#ifndef KISEKI_SYMBOL_DEMANGLE_H
#define KISEKI_SYMBOL_DEMANGLE_H

#include <stddef.h>

#define DEMANGLE_IN_MAX 4096U
#define DEMANGLE_OUT_MAX 16384U

/* The name as written, to be freed; NULL: it is no mangled name, cannot be read, is too long, or there
 * is no memory. */
char *demangle_dup(const char *name);

/* The same, also of an entry of a linkage table: "_ZN1A1bEv@plt" is "A::b()@plt". */
char *demangle_dup_entry(const char *name);

#endif
