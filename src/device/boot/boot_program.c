/* SPDX-License-Identifier: MIT */
/* boot_program: see boot_program.h. The options are the keys of the settings (boot_settings.h). */
#include "device/boot/boot_program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/args.h"
#include "command/man.h"
#include "command/say.h"
#include "device/agent/powers.h"
#include "device/boot/background.h"
#include "device/boot/boot_recorder.h"
#include "device/boot/boot_settings.h"
#include "device/boot/boot_stop.h"
#include "device/boot/exact_trace.h"

#define KERNEL_LINE 4096U

static const struct cli_option options[] = {
	{ 'i', "interval", "TIME", "look so often (20ms)", NULL },
	{ 'u', "until", "WHAT", "stop at unit:NAME, process:NAME, file:PATH, port:N", NULL },
	{ 0, "linger", "TIME", "and so much later (0)", NULL },
	{ 0, "idle", "TIME", "stop when the machine was idle for so long (5s)", NULL },
	{ 't', "time", "TIME", "stop after so long (120s), or no", NULL },
	{ 'o', "out", "FILE", "write this file (" BOOT_SETTINGS_OUT ")", NULL },
	{ 0, "keep-old", NULL, "keep the one before as FILE.old", NULL },
	{ 'c', "collector", "HOST:PORT", "send it to this collector", NULL },
	{ 'n', "name", "NAME", "what it calls this device (the host name)", NULL },
	{ 0, "state-dir", "DIR", "where the identity is kept (/var/lib/kiseki-agent)", NULL },
	{ 0, "init", "FILE", "as pid 1: the init to become", NULL },
	{ 0, "exact", "SOURCE", "trace the scheduler, too: auto, tracefs, bpf",
	  "no auto tracefs bpf" },
	{ 0, "driver", "FILE", "load this module first", NULL },
	{ 0, "driver-args", "TEXT", "with these parameters", NULL },
	{ 0, "threads", NULL, "record threads, not only processes", NULL },
	{ 0, "events", "yes|no", "ask the kernel for starts and ends (yes)", "yes no" },
	{ 0, "accounts", "yes|no", "ask it what each process used (yes)", "yes no" },
	{ 0, "delays", "yes|no", "and how long it waited; counted meanwhile (yes)", "yes no" },
	{ 0, "kmsg", "WHICH", "kernel messages: auto, all, new, off", "auto all new off" },
	{ 0, "kmsg-level", "N", "up to this level (6)", NULL },
	{ 0, "spool", "SIZE", "memory for blocks (384K; with --exact 4M)", NULL },
	{ 0, "buffer", "SIZE", "the kernel's memory for what it tells (1M)", NULL },
	{ 0, "processes", "N", "that are looked at, at most (1024)", NULL },
	{ 0, "files", "N", "of them kept open, at most (384)", NULL },
	{ 0, "realtime", "yes|no", "run before ordinary processes (yes)", "yes no" },
	{ 0, "nice", "N", "if it cannot: its priority, -20 to 19 (-10)", NULL },
	{ 0, "config", "FILE", "settings, as lines of key = value (" BOOT_SETTINGS_FILE ")", NULL },
	{ 'd', "daemon", NULL, "record in the background, return when it is ready", NULL },
	{ 0, "stop", NULL, "end the recording of another one, and wait for it", NULL },
	{ 0, "ready-fd", "N", "write a line to this descriptor when it is ready", NULL },
	{ 0, "version", NULL, "print the version", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "On the kernel's command line, to record the boot until somebody can log in:",
	  "init=/usr/bin/kiseki-boot kiseki_boot.until=process:login" },
	{ "On a running machine, for ten seconds:",
	  "kiseki-boot --time 10s --idle no --out boot.ksk" },
	{ NULL, NULL },
};

static char **process_argv;

void boot_program_set_argv(char **argv)
{
	process_argv = argv;
}

static void print_line(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "kiseki-boot: %s\n", line);
}

static int tell_ready(const struct args *a, struct error *e)
{
	uint64_t fd = 0;
	int r;

	if (!args_has(a, "ready-fd"))
		return 0;
	r = args_get_count(a, "ready-fd", &fd, e);
	if (r < 0)
		return r;
	if (fd > 1U << 20 || write((int)fd, "ready\n", 6) != 6)
		return error_set(e, EBADF, "cannot write to descriptor %s",
				 args_get(a, "ready-fd"));
	close((int)fd);
	return 0;
}

static int record(const struct args *a, const struct boot_settings *s, struct error *e)
{
	CLEANUP(boot_recorder) struct boot_recorder *r = NULL;
	struct boot_recorder_options o = { .settings = s, .log = print_line };
	int res = place_open(&o.place, e);

	if (res < 0)
		return res;
	if (s->driver[0])
		res = exact_trace_load(s, o.place.proc, e);
	if (res >= 0)
		res = powers_keep(POWERS_OF_BOOT, 1, e);
	if (res >= 0)
		res = boot_recorder_new(&r, &o, e);
	if (res >= 0)
		res = boot_recorder_start(r, e);
	if (res >= 0)
		res = tell_ready(a, e);
	return res < 0 ? res : boot_recorder_run(r, e);
}

static int start_daemon(struct boot_settings *s)
{
	struct background b = { .s = s, .argv = process_argv };
	struct error e = ERROR_INIT;
	char unused[BOOT_PATH_MAX];

	if (background_start(&b, unused) == 0)
		return EXIT_OK;
	error_set(&e, ETIMEDOUT, "cannot record in the background: the kernel's log says why");
	return say_failure(&e);
}

/* Who names a file of settings wants those, not the ones of the machine's boot. */
static void read_kernel_line(const struct args *a, char line[KERNEL_LINE])
{
	_cleanup_close_ int fd = -1;
	ssize_t n = 0;

	if (!args_has(a, "config"))
		fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, line, KERNEL_LINE - 1);
	line[n > 0 ? n : 0] = 0;
}

static int run_recorder(const struct args *a)
{
	static struct boot_settings settings;
	struct error e = ERROR_INIT;
	char kernel[KERNEL_LINE];

	if (args_has(a, "version")) {
		puts("kiseki-boot " KISEKI_VERSION);
		return EXIT_OK;
	}
	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	if (args_has(a, "stop"))
		return boot_stop_ask(&e) < 0 ? say_failure(&e) : EXIT_OK;
	boot_settings_init(&settings);
	read_kernel_line(a, kernel);
	if (boot_settings_load(&settings, a, kernel, &e) < 0)
		return say_usage(&e);
	boot_settings_finish(&settings);
	if (args_has(a, "daemon"))
		return start_daemon(&settings);
	return record(a, &settings, &e) < 0 ? say_failure(&e) : EXIT_OK;
}

const struct command command_boot_recorder = {
	.name = "kiseki-boot",
	.summary = "record how this machine starts, for a boot chart",
	.usage = "[OPTION...]",
	.description =
		"Looks at the processes of the machine and at its CPUs, disks and memory, fifty "
		"times "
		"a second, and has the kernel tell of every process that starts and ends, so that "
		"none "
		"is missed. It needs root. The record goes into one file, to a collector, or both; "
		"kiseki boot makes charts and reports of it.\n\n"
		"As pid 1 (init=/usr/bin/kiseki-boot or rdinit= on the kernel's command line) it "
		"starts the recorder and becomes the init that the machine would have had "
		"(--init, else /init in an initramfs, else /sbin/init, /etc/init, /bin/init, "
		"/bin/sh), which gets all arguments. Whatever goes wrong, init starts.\n\n"
		"Settings come from " BOOT_SETTINGS_FILE ", from the kernel's command line, as "
		"kiseki_boot.KEY=VALUE, and from the options, whose names the keys are; the later "
		"ones count. With --config only that file and the options do.\n\n"
		"It stops by itself: when what --until names is there, and --linger has passed; "
		"without --until when the machine was idle for --idle; at the latest after --time. "
		"SIGTERM and --stop end it, too. The file can be read at any moment, also after a "
		"cut of the power. With a collector, it ends when that has everything.\n\n"
		"With --exact the scheduler is traced by the same program, into the same file or "
		"to "
		"the same collector: then states are exact.",
	.options = options,
	.examples = examples,
	.run = run_recorder,
};
