/* SPDX-License-Identifier: MIT */
/*
 * guest_program: see guest_program.h.
 *
 * It connects, tells, and when the host is gone tries again, as long as it runs: a host records now and then, and nobody
 * should have to start anything in its guests for it.
 */
#include "device/guest/guest_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "command/args.h"
#include "command/man.h"
#include "command/say.h"
#include "device/agent/powers.h"
#include "device/guest/guest_door.h"
#include "device/guest/guest_session.h"

#define UUID_FILE "/sys/class/dmi/id/product_uuid"
#define AGAIN_MS 1000

struct guest {
	const char *address;
	bool once, no_tables;
	bool told; /* why there are no page tables */
	struct guest_session_options o;
	char name[256];
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

/* 32 digits with or without dashes, then nothing but a line's end. */
static int parse_uuid(const char *text, uint8_t ret[GUEST_UUID_LEN])
{
	uint32_t n = 0;
	int digit;

	for (; *text && *text != '\n'; text++) {
		if (*text == '-')
			continue;
		digit = hex_digit(*text);
		if (digit < 0 || n == 2 * GUEST_UUID_LEN)
			return -EINVAL;
		ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | digit);
		n++;
	}
	return n == 2 * GUEST_UUID_LEN ? 0 : -EINVAL;
}

/* Without it the host cannot tell by TCP whose this is; by the other ways it can. */
static void read_uuid(uint8_t ret[GUEST_UUID_LEN])
{
	_cleanup_close_ int fd = open(UUID_FILE, O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = 0;
	if (parse_uuid(text, ret) < 0)
		memset(ret, 0, GUEST_UUID_LEN);
}

static int load_settings(struct guest *g, const struct args *a, struct error *e)
{
	const char *uuid = args_get(a, "uuid"), *name = args_get(a, "name");

	g->address = a->operands[0];
	g->once = args_has(a, "once");
	g->no_tables = args_has(a, "no-tables");
	g->o.stop = &stopped;
	if (name)
		snprintf(g->name, sizeof(g->name), "%s", name);
	else
		gethostname(g->name, sizeof(g->name) - 1);
	g->o.name = g->name;
	if (!uuid)
		read_uuid(g->o.uuid);
	else if (parse_uuid(uuid, g->o.uuid) < 0)
		return error_set(e, EINVAL, "cannot use --uuid %s: it is none", uuid);
	return 0;
}

/* Nothing is in the kernel while nobody listens. */
static int run_once(struct guest *g, struct error *e)
{
	CLEANUP(guest_tables) struct guest_tables *tables = NULL;
	_cleanup_close_ int fd = guest_door_open(g->address, e);
	struct error why = ERROR_INIT;

	if (fd < 0)
		return fd;
	if (!g->no_tables && guest_tables_new(&tables, &why) < 0) {
		if (!g->told)
			say_note("%s; processes are told without them", why.text);
		g->told = true;
	}
	g->o.fd = fd;
	g->o.tables = tables;
	return guest_session_run(&g->o, e);
}

/* A reason is said once, until there is another. */
static int run_all(struct guest *g, struct error *e)
{
	char said[sizeof(e->text)] = "";
	int r;

	while (!stopped) {
		r = run_once(g, e);
		if (r == 0 || r == -EINVAL || g->once)
			return r;
		if (strcmp(said, e->text) != 0)
			say_note("%s; it is tried again", e->text);
		snprintf(said, sizeof(said), "%s", e->text);
		poll(NULL, 0, AGAIN_MS);
	}
	return 0;
}

static int run_guest(const struct args *a)
{
	static struct guest g;
	struct sigaction action = { .sa_handler = stop };
	struct error e = ERROR_INIT;
	int r;

	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	if (args_has(a, "version")) {
		printf("kiseki-guest " KISEKI_VERSION "\n");
		return EXIT_OK;
	}
	if (!a->n_operands)
		error_set(&e, EINVAL, "cannot tell anything: no ADDRESS of the host is given");
	if (!a->n_operands || load_settings(&g, a, &e) < 0)
		return say_usage(&e);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!g.no_tables)
		guest_tables_prepare();
	r = powers_keep(g.no_tables ? POWERS_OF_GUEST : POWERS_OF_GUEST_TABLES, 0, &e);
	if (r == 0)
		r = run_all(&g, &e);
	if (r == -EINVAL)
		return say_usage(&e);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "no-tables", NULL, "load nothing into the kernel: processes without page tables",
	  NULL },
	{ 0, "once", NULL, "end with the first connection, or if there is none", NULL },
	{ 'n', "name", "NAME", "what it calls this machine (the host name)", NULL },
	{ 0, "uuid", "UUID", "of this machine (what its firmware says)", NULL },
	{ 0, "version", NULL, "print the version", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "In a guest with a vsock:", "kiseki-guest vsock:7412" },
	{ "In one with a serial port of that name:", "kiseki-guest /dev/virtio-ports/kiseki" },
	{ NULL, NULL },
};

const struct command command_guest = {
	.name = "kiseki-guest",
	.summary = "tell the host of this virtual machine which processes it has",
	.usage = "[OPTION...] ADDRESS",
	.description =
		"A host that samples its virtual machines (kiseki-agent vm --guests) sees "
		"addresses and page tables. This program, in a guest, tells whose they are: all "
		"processes and threads, each that begins, executes a program or ends, which files "
		"lie where in them, and what functions of the kernel are called that the host has "
		"seen. It traces nothing, and as long as nobody records it only tries to connect, "
		"once a second.\n\n"
		"ADDRESS is where the host listens: vsock:PORT; the path of a serial port of this "
		"machine, as /dev/virtio-ports/NAME; or tcp:HOST:PORT, where the host finds out "
		"by the machine's UUID which one it is.\n\n"
		"It needs root: to read all processes' maps and the kernel's symbols, to hear of "
		"processes, and to load its small programs into the kernel where that can be done.",
	.options = options,
	.examples = examples,
	.operands = "ADDRESS",
	.operands_max = 1,
	.run = run_guest,
};
