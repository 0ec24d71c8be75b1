/* SPDX-License-Identifier: MIT */
/*
 * in_place: how a search changes an input whose parts have their places, and zeros between them. libFuzzer adds and
 * removes bytes anywhere: what lies behind is then at a wrong place, and three of four changes meet zeros that nobody
 * reads. Here most changes replace a few bytes of a part, from one that is not zero, and all others stay where they
 * are. A target includes this in its one source file; a replay changes nothing.
 */
#ifndef KISEKI_FUZZ_IN_PLACE_H
#define KISEKI_FUZZ_IN_PLACE_H

#ifdef FUZZ_SEARCH
#include <stddef.h>
#include <stdint.h>

#define IN_PLACE_WINDOW 48U /* bytes at most */
#define ANYWHERE_EVERY 8U   /* changes */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size_t at, len;

	if (size < IN_PLACE_WINDOW || seed % ANYWHERE_EVERY == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	len = 1 + seed / ANYWHERE_EVERY % IN_PLACE_WINDOW;
	at = seed / ANYWHERE_EVERY / IN_PLACE_WINDOW % (size - len + 1);
	while (at < size - len && !data[at])
		at++;
	LLVMFuzzerMutate(data + at, len, len);
	return size;
}
#endif

#endif
