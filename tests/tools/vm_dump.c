/* SPDX-License-Identifier: MIT */
/*
 * vm_dump: records virtual machines with kiseki_vm.ko, and prints what was recorded.
 *
 *	vm_dump record FILE WORD...	start with these settings, put all that comes into FILE; ends after SIGTERM
 *	vm_dump order WORD...		write these words to the device, and say what it thinks of it
 *	vm_dump text FILE		a line for each record (sample_text.h), and "loss CPU 0 N" where N are missing
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/vm/vm_reader.h"
#include "tools/sample_text.h"

#define DEVICE "/dev/kiseki_vm"
#define BUFFER (4U << 20)
#define LATENCY_MS 100
#define FILE_MOST (512L << 20)
#define CPUS_MOST 64U

static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

static int fail(const char *what)
{
	fprintf(stderr, "vm_dump: cannot %s: %s\n", what, strerror(errno));
	return 1;
}

static int order(int fd, char **words)
{
	char line[4096] = "";
	size_t at = 0;

	for (; *words && at < sizeof(line); words++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s", at ? " " : "", *words);
	return write(fd, line, strlen(line)) < 0 ? -errno : 0;
}

static int record(const char *path, char **words)
{
	static uint8_t buffer[BUFFER];
	struct sigaction action = { .sa_handler = end };
	int fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	bool stopped = false;
	ssize_t n;

	sigaction(SIGTERM, &action, NULL);
	if (fd < 0 || out < 0)
		return fail("open " DEVICE);
	errno = -order(fd, words);
	if (errno)
		return fail("start");
	for (;;) {
		if (is_over && !stopped) {
			stopped = true;
			if (write(fd, "stop\n", 5) < 0)
				return fail("stop");
		}
		n = read(fd, buffer, sizeof(buffer));
		if (!n)
			return 0;
		if (n > 0 && write(out, buffer, (size_t)n) != n)
			return fail("write");
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return fail("read");
		if (!stopped)
			poll(&p, 1, LATENCY_MS);
	}
}

static int text(const char *path)
{
	static struct vm_reader_exit exits[CPUS_MOST];
	FILE *f = fopen(path, "rbe");
	long len = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
	uint8_t *data = len >= 0 && len < FILE_MOST ? malloc((size_t)len + 1) : NULL;
	enum wire_status status = WIRE_CORRUPT;
	struct sample_event e;
	struct vm_reader r;
	uint32_t lost;

	if (data) {
		rewind(f);
		vm_reader_init(&r, exits, CPUS_MOST);
		vm_reader_feed(&r, data, fread(data, 1, (size_t)len, f));
		while ((status = vm_reader_next(&r, &e, &lost)) == WIRE_OK) {
			if (lost)
				printf("loss %u 0 %u\n", r.cpu, lost);
			sample_text_put(stdout, r.cpu, &e);
		}
	}
	free(data);
	if (f)
		fclose(f);
	if (status == WIRE_MORE)
		return 0;
	fprintf(stderr, "vm_dump: cannot read %s\n", path);
	return 1;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc > 3 && !strcmp(argv[1], "record"))
		return record(argv[2], argv + 3);
	if (argc == 3 && !strcmp(argv[1], "text"))
		return text(argv[2]);
	if (argc < 3 || strcmp(argv[1], "order"))
		return 2;
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fail("open " DEVICE);
	errno = -order(fd, argv + 2);
	return errno ? fail("order") : 0;
}
