/* SPDX-License-Identifier: MIT */
/*
 * replay: runs a fuzz target over the files of its corpus, in every test run and with any compiler.
 * Built with -Dfuzz=true the same targets are linked with libFuzzer instead of this file.
 * No argument or an unreadable file is a failure: a replay of nothing proves nothing.
 *
 * With --starve each input is replayed again with each of its allocations failing in turn, up to STARVE_MOST of them: whatever a target
 * asserts has to hold then, too.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "starve.h"

#define STARVE_MOST 64U
#define STARVE_INPUT_MAX 32768 /* bytes: what is longer takes long, too */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void starve(const uint8_t *data, size_t size)
{
	uint32_t n;

	for (n = 0; n < STARVE_MOST; n++) {
		starve_begin(n);
		LLVMFuzzerTestOneInput(data, size);
		if (!starve_end())
			break;
	}
}

static int replay_file(const char *path, bool is_starved)
{
	struct stat st;
	uint8_t *data;
	FILE *f = fopen(path, "rb");

	if (!f || fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	data = malloc((size_t)st.st_size + 1);
	if (!data || fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	if (is_starved && st.st_size <= STARVE_INPUT_MAX)
		starve(data, (size_t)st.st_size);
	free(data);
	return 1;
}

int main(int argc, char **argv)
{
	struct dirent *d;
	char path[4096];
	int files = 0;
	DIR *dir;

	if (argc < 2 || argc > 3 || !(dir = opendir(argv[1]))) {
		fprintf(stderr, "usage: %s CORPUS-FOLDER [--starve]\n", argv[0]);
		return 2;
	}
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", argv[1], d->d_name);
			files += replay_file(path, argc == 3);
		}
	closedir(dir);
	printf("%d inputs replayed\n", files);
	return files ? 0 : 1;
}
