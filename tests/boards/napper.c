/* SPDX-License-Identifier: MIT */
/*
 * napper: sleeps 5 ms, as often as it is told. A shell's script would do, but what its process and
 * those of its sleeps are called differs between versions of kernel and busybox.
 */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	while (n-- > 0)
		usleep(5000);
	return 0;
}
