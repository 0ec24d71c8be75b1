/* SPDX-License-Identifier: MIT */
/*
 * Proof that tests/tools/leaks.c hides no leak: this program leaks one byte and has to fail. Only in
 * the builds with AddressSanitizer, where the failure is what the test expects.
 */
#include <stdlib.h>

static void *volatile leaked;

int main(void)
{
	leaked = malloc(1);
	leaked = NULL;
	return 0;
}
