/* SPDX-License-Identifier: MIT */
/*
 * leaks: lets a test that has given back all of its memory end without a search for leaks.
 *
 * LeakSanitizer asks at the end of a process whether it is wanted. On 64-bit ARM its search walks
 * all of the address space, three seconds of processor time for the smallest program, and there are
 * hundreds of tests. Where as many bytes are allocated as were before main() nothing can have leaked,
 * and the answer is that the search is not wanted. In all other cases it is made as ever: with one
 * byte more it is for the search to tell what has leaked from what is still in use.
 *
 * In the builds with AddressSanitizer every unit test and every replay of a corpus has this file;
 * tests/unit/test_leaks.c is the proof that a leak is still found.
 */
#include <sanitizer/lsan_interface.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* As in sanitizer/allocator_interface.h, which GCC does not bring; its library has the function. */
size_t __sanitizer_get_current_allocated_bytes(void);

static size_t leaks_before;
static char leaks_stdout[BUFSIZ];

__attribute__((constructor)) static void leaks_init(void)
{
	/* The C library allocates the buffer of standard output when it is first used, and keeps it. */
	setvbuf(stdout, leaks_stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
		sizeof(leaks_stdout));
	leaks_before = __sanitizer_get_current_allocated_bytes();
}

int __lsan_is_turned_off(void)
{
	return __sanitizer_get_current_allocated_bytes() == leaks_before;
}
