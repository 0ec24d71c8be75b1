/* SPDX-License-Identifier: MIT */
/* starve: lets one allocation of this program fail; see starve.c. */
#ifndef KISEKI_TESTS_FUZZ_STARVE_H
#define KISEKI_TESTS_FUZZ_STARVE_H

#include <stdbool.h>
#include <stdint.h>

/* The n-th allocation from here on fails, the first is 0; those behind it do not. */
void starve_begin(uint32_t n);

/* None fails any more. False: there were not so many. */
bool starve_end(void);

#endif
