/* SPDX-License-Identifier: MIT */
/*
 * vm_guests_record: a host that listens to its guests' programs, without virtual machines.
 *
 *	vm_guests_record FILE.ksk ADDRESS[,...] PROC [OBJECTS]
 *
 * All of `kiseki-agent vm` but the module: samples come as lines on standard input (sample_text.h), whose tick is
 * now if it is 0. PROC stands for /proc: a folder PID/ in it with `cmdline`, and fd/N as a link to anon_inode:kvm-vm, is a
 * VMM. OBJECTS is a folder for files of guests. "ready" is printed when it listens, "ok" after each line. At the end of the input the file is completed. Arm64.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/agent/run_meta.h"
#include "device/profile/profile_file.h"
#include "device/vm/vm_guests.h"
#include "tools/sample_text.h"
#include "wire/sample_lane.h"

#define CPUS 4U
#define TURN_MS 50

struct host {
	struct profile_file file;
	struct profile_meta meta;
	struct sample_lane lane[CPUS];
	struct vm_guests *guests;
	bool is_over;
	uint32_t len;
	char line[8192];
};

static void say(const char *text)
{
	fprintf(stderr, "%s\n", text);
}

static void describe(struct host *h)
{
	struct sample_sampling sampling = { .period = 1000000,
					    .jitter = 50,
					    .collector = SAMPLE_BY_MODULE,
					    .method = SAMPLE_TIMER,
					    .exits = SAMPLE_EXITS_ARM64,
					    .has = SAMPLE_HAS_GUESTS | SAMPLE_HAS_CHAINS |
						   SAMPLE_HAS_WHOLE | SAMPLE_HAS_SWITCHES |
						   SAMPLE_HAS_EXITS };
	struct run_meta run = { .device = "host" };
	uint8_t *p = profile_meta_begin(&h->meta);

	p = run_meta_put_machine(&run, p, "vm", CPUS);
	p = run_meta_put_clock(p, 0);
	profile_meta_end(&h->meta, sample_meta_put_sampling(p, &sampling));
}

static void take_line(struct host *h)
{
	uint64_t chain[SAMPLE_CHAIN_MAX];
	struct sample_event ev;
	uint32_t cpu;

	if (!sample_text_parse(h->line, &cpu, &ev, chain) || cpu >= CPUS) {
		printf("wrong\n");
		return;
	}
	if (!ev.tick)
		ev.tick = clock_mono_ns();
	vm_guests_see(h->guests, &ev);
	sample_lane_put(&h->lane[cpu], &ev, clock_mono_ms());
	printf("ok\n");
}

static void take_input(struct host *h)
{
	ssize_t n = read(STDIN_FILENO, h->line + h->len, sizeof(h->line) - 1 - h->len);
	char *end;

	h->is_over = n <= 0;
	h->len += n > 0 ? (uint32_t)n : 0;
	h->line[h->len] = 0;
	while ((end = strchr(h->line, '\n'))) {
		*end++ = 0;
		take_line(h);
		h->len -= (uint32_t)(end - h->line);
		memmove(h->line, end, h->len + 1);
	}
	fflush(stdout);
}

static int run(struct host *h, struct error *e)
{
	uint32_t i;

	describe(h);
	printf("ready\n");
	fflush(stdout);
	while (!h->is_over) {
		struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				      { .fd = vm_guests_fd(h->guests), .events = POLLIN } };

		if (poll(p, 2, TURN_MS) > 0 && p[0].revents)
			take_input(h);
		vm_guests_turn(h->guests, &h->meta);
	}
	vm_guests_finish(h->guests, &h->meta);
	for (i = 0; i < CPUS; i++)
		sample_lane_stop(&h->lane[i], 0);
	profile_meta_flush(&h->meta);
	return profile_file_finish(&h->file, e);
}

int main(int argc, char **argv)
{
	struct vm_guests_options o = { .say = say };
	struct error e = ERROR_INIT;
	static struct host h;
	uint32_t i;
	int r;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: vm_guests_record FILE.ksk ADDRESS[,...] PROC [OBJECTS]\n");
		return 2;
	}
	o.addresses = argv[2];
	o.proc = argv[3];
	o.objects = argv[4];
	r = profile_file_open(&h.file, argv[1], &e);
	if (r == 0)
		r = vm_guests_new(&h.guests, &o, &e);
	profile_meta_init(&h.meta, &h.file.out);
	for (i = 0; i < CPUS; i++)
		sample_lane_init(&h.lane[i], &h.file.out, i);
	if (r == 0)
		r = run(&h, &e);
	if (r < 0)
		say(e.text);
	vm_guests_free(h.guests);
	profile_file_close(&h.file);
	return r < 0;
}
