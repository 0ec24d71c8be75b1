/* SPDX-License-Identifier: MIT */
/* background: see background.h. The pipe between the two has lines: the path of init, then "ready". */
#include "device/boot/background.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "device/agent/powers.h"
#include "device/boot/boot_recorder.h"
#include "device/boot/exact_trace.h"

#define NAME "kiseki-boot"
#define READY "ready\n"
#define TEXT 4096U

void background_log(void *context, const char *line)
{
	_cleanup_close_ int fd = place_open_log(O_WRONLY | O_NONBLOCK);
	char text[640];
	int n = snprintf(text, sizeof(text), "<5>" NAME ": %.600s\n", line);

	(void)context;
	if (fd >= 0 && write(fd, text, (size_t)n) < 0)
		return; /* there is nobody else to tell */
}

/* --- in the new process --- */

/* An init in an initramfs kills what it finds before it goes to the root, but for those whose name starts so. The
 * words of the command line and of the environment lie in one piece, and what runs over from the first into the
 * second the kernel shows, too. */
static void set_name(char **argv)
{
	const char *name = place_is_first_root() ? "@" NAME : NAME;
	char *end = argv[0];
	size_t i, words;

	prctl(PR_SET_NAME, NAME);
	for (i = 0; argv[i] == end; i++)
		end += strlen(end) + 1;
	words = (size_t)(end - argv[0]);
	for (i = 0; environ[i] == end; i++)
		end += strlen(end) + 1;
	if (!words || (size_t)(end - argv[0]) <= strlen(name))
		return;
	memset(argv[0], 0, words);
	strcpy(argv[0], name);
}

static void leave_terminal(void)
{
	int null = place_open_null(), i;

	setsid();
	umask(022);
	for (i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
}

static void read_settings(struct boot_settings *s, const struct place *p)
{
	struct error e = ERROR_INIT;
	char text[TEXT];
	_cleanup_close_ int conf = open(BOOT_SETTINGS_FILE, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int kernel = openat(p->proc, "cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = conf < 0 ? 0 : read(conf, text, sizeof(text));

	if (n > 0 && boot_settings_parse(s, text, (size_t)n, BOOT_SETTINGS_FILE, &e) < 0)
		background_log(NULL, e.text);
	e.text[0] = 0;
	n = kernel < 0 ? 0 : read(kernel, text, sizeof(text));
	if (n > 0 && boot_settings_parse_kernel(s, text, (size_t)n, &e) < 0)
		background_log(NULL, e.text);
}

static void tell(int fd, const char *line)
{
	if (write(fd, line, strlen(line)) < 0)
		return; /* whoever started us did not wait so long */
}

static int record(const struct background *b, int fd, struct error *e)
{
	CLEANUP(boot_recorder) struct boot_recorder *r = NULL;
	static struct boot_settings settings;
	struct boot_recorder_options o = { .settings = b->s ? b->s : &settings,
					   .is_early = b->is_init || place_is_first_root(),
					   .is_first = b->is_init,
					   .has_socket = true,
					   .title = b->argv[0],
					   .log = background_log };
	char line[BOOT_PATH_MAX + 1];
	int res = place_open(&o.place, e);

	if (res < 0)
		return res;
	if (!b->s) {
		boot_settings_init(&settings);
		read_settings(&settings, &o.place);
		boot_settings_finish(&settings);
	}
	snprintf(line, sizeof(line), "%.255s\n", o.settings->init);
	tell(fd, line);
	if (o.settings->driver[0] && exact_trace_load(o.settings, o.place.proc, e) < 0)
		background_log(NULL, e->text);
	if (b->is_init && o.settings->exact != BOOT_EXACT_OFF)
		place_hide(&o.place);
	res = powers_keep(POWERS_OF_BOOT, 1, e);
	if (!res)
		res = boot_recorder_new(&r, &o, e);
	if (!res)
		res = boot_recorder_start(r, e);
	if (res < 0)
		return res;
	tell(fd, READY);
	close(fd);
	return boot_recorder_run(r, e);
}

static _Noreturn void run_child(const struct background *b, int fd)
{
	struct error e = ERROR_INIT;
	int high =
		fcntl(fd, F_DUPFD_CLOEXEC, 3); /* where there is no console, it is one of 0, 1, 2 */

	if (high >= 0) {
		close(fd);
		fd = high;
	}
	leave_terminal();
	set_name(b->argv);
	if (chdir("/") || record(b, fd, &e) < 0) {
		background_log(NULL, e.text);
		_exit(1);
	}
	_exit(0);
}

/* --- in the one that starts it --- */

/* Reads lines until it is ready, silent or gone; true if it is ready. */
static bool wait_for(int fd, char init[BOOT_PATH_MAX])
{
	uint64_t until = clock_mono_ms() + BACKGROUND_WAIT_MS, now;
	char text[BOOT_PATH_MAX + sizeof(READY) + 1], *end;
	size_t have = 0;
	ssize_t n = 1;

	while (n > 0 && have + 1 < sizeof(text) && (now = clock_mono_ms()) < until) {
		struct pollfd p = { fd, POLLIN, 0 };

		if (poll(&p, 1, (int)(until - now)) <= 0)
			continue;
		n = read(fd, text + have, sizeof(text) - 1 - have);
		have += n > 0 ? (size_t)n : 0;
		text[have] = 0;
		end = strchr(text, '\n');
		if (!end)
			continue;
		snprintf(init, BOOT_PATH_MAX, "%.*s", (int)(end - text), text);
		if (!strcmp(end + 1, READY))
			return true;
	}
	return false;
}

int background_start(const struct background *b, char ret_init[BOOT_PATH_MAX])
{
	int pipe_fds[2];
	bool is_ready;
	pid_t child;

	ret_init[0] = 0;
	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child == 0) {
		close(pipe_fds[0]);
		run_child(b, pipe_fds[1]);
	}
	close(pipe_fds[1]);
	is_ready = child > 0 && wait_for(pipe_fds[0], ret_init);
	close(pipe_fds[0]);
	if (child > 0 && !is_ready)
		waitpid(child, NULL, WNOHANG); /* if it has ended, init shall not find it */
	return is_ready ? 0 : child < 0 ? -EAGAIN : -ETIMEDOUT;
}
