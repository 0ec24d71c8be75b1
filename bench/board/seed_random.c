/* SPDX-License-Identifier: MIT */
/*
 * seed_random: gives the kernel's generator of random numbers a start, from standard input, which counts as
 * random. A board whose clock counts instructions has no noise to make one of, and whoever makes a
 * key there would wait for ever.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SEED_LEN 64

int main(void)
{
	struct {
		struct rand_pool_info info;
		unsigned char bytes[SEED_LEN];
	} seed = { .info = { .entropy_count = 8 * SEED_LEN, .buf_size = SEED_LEN } };
	int fd = open("/dev/random", O_WRONLY);

	if (fd < 0 || read(STDIN_FILENO, seed.bytes, SEED_LEN) != SEED_LEN ||
	    ioctl(fd, RNDADDENTROPY, &seed) < 0) {
		perror("seed_random");
		return 1;
	}
	return 0;
}
