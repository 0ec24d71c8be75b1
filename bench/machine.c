/* SPDX-License-Identifier: MIT */
/* machine: see machine.h. */
#include "machine.h"

#include <lz4.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* What lscpu calls the model; /proc/cpuinfo has no such name on arm64. */
static void find_model(char *model, size_t room)
{
	FILE *f = popen("LC_ALL=C lscpu 2>/dev/null", "r");
	char line[256], *value;

	snprintf(model, room, "unknown processor");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Model name:", 11))
			continue;
		value = line + 11 + strspn(line + 11, " \t");
		value[strcspn(value, "\n")] = 0;
		snprintf(model, room, "%s", value);
		break;
	}
	if (f)
		pclose(f);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* File names without their folders: where they lie is of no interest to a reader. */
static void describe_command(struct bench_result *b, int argc, char **argv)
{
	size_t used = 0;
	int i;

	for (i = 0; i < argc && used < sizeof(b->command); i++)
		used += (size_t)snprintf(b->command + used, sizeof(b->command) - used, "%s%s",
					 i ? " " : "", last_part(argv[i]));
}

void machine_describe(struct bench_result *b, int argc, char **argv)
{
	time_t now = time(NULL);
	struct tm date;
	struct utsname u;
	char model[128];

	uname(&u);
	find_model(model, sizeof(model));
	gmtime_r(&now, &date);
	strftime(b->date, sizeof(b->date), "%Y-%m-%d %H:%M UTC", &date);
	snprintf(b->machine, sizeof(b->machine), "%s, %ld cores, %s", model,
		 sysconf(_SC_NPROCESSORS_ONLN), u.machine);
	snprintf(b->kernel, sizeof(b->kernel), "%s %s", u.sysname, u.release);
	snprintf(b->libraries, sizeof(b->libraries),
		 "zlib %s, lz4 %s, zstd %s, liblzma %s; compiled by %s", zlibVersion(),
		 LZ4_versionString(), ZSTD_versionString(), lzma_version_string(),
#ifdef __clang__
		 "clang " __clang_version__);
#else
		 "gcc " __VERSION__);
#endif
	describe_command(b, argc, argv);
}
