/* SPDX-License-Identifier: MIT */
/*
 * vm_program: see vm_program.h.
 *
 * The source is opened before the file is made, so that who has none, or no rights, loses nothing that was there.
 * Signals that end programs end the recording, and the file is completed, or the collector gets the rest; another one
 * ends the waiting for that.
 */
#include "device/vm/vm_program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/when.h"
#include "command/args.h"
#include "command/man.h"
#include "command/say.h"
#include "command/value.h"
#include "command/vm_options.h"
#include "device/agent/powers.h"
#include "device/agent/program.h"
#include "device/profile/profile_child.h"
#include "device/profile/profile_out.h"
#include "device/vm/vm_guests.h"
#include "device/vm/vm_recorder.h"

#define TURN_MS 100
#define PLACE_MAX 4608U

struct vm {
	struct vm_settings settings;
	struct profile_child signals; /* without a child */
	struct pace_options pace;
	struct profile_out_options to;
	struct profile_out out;
	struct vm_recorder *recorder;
	struct vm_guests_options guest_options;
	struct vm_guests *guests; /* NULL: nobody listens to them */
	struct vm_source *source;
	const char *source_name; /* NULL: the best that there is */
	uint64_t time_ns;	 /* 0: until a signal comes */
	char name[256];
};

static int get_period(struct vm_settings *s, const char *text, struct error *e)
{
	uint64_t ns = s->period_ns;
	int r = text ? when_parse_length(text, &ns, e) : 0;

	if (r < 0)
		return r;
	if (ns < VM_PERIOD_LEAST_NS || ns > VM_PERIOD_MOST_NS)
		return error_set(e, EINVAL, "cannot use --period %s: 50us to 1s is possible", text);
	s->period_ns = (uint32_t)ns;
	return 0;
}

static int get_cycles(struct vm_settings *s, const char *text, struct error *e)
{
	uint64_t n = 0;

	if (text && (value_number(&n, text, VM_CYCLES_MOST) < 0 || n < VM_CYCLES_LEAST))
		return error_set(e, EINVAL, "cannot use --cycles %s: %u to %u is possible", text,
				 VM_CYCLES_LEAST, VM_CYCLES_MOST);
	s->cycles = (uint32_t)n;
	return 0;
}

static int get_jitter(struct vm_settings *s, const char *text, struct error *e)
{
	uint64_t percent = s->jitter;

	if (text && value_number(&percent, text, VM_JITTER_MOST) < 0)
		return error_set(e, EINVAL, "cannot use --jitter %s: 0 to %u percent is possible",
				 text, VM_JITTER_MOST);
	s->jitter = (uint32_t)percent;
	return 0;
}

/* The module wants a power of two. */
static int get_buffer(struct vm_settings *s, const char *text, struct error *e)
{
	uint64_t wanted = (uint64_t)s->buffer_kib << 10;
	uint32_t got = VM_BUFFER_LEAST_KIB;

	if (text && (value_size(&wanted, text, 1024) < 0 || wanted < VM_BUFFER_LEAST_KIB << 10 ||
		     wanted > (uint64_t)VM_BUFFER_MOST_KIB << 10))
		return error_set(e, EINVAL, "cannot use --buffer %s: 16K to 64M is possible", text);
	while (((uint64_t)got << 10) < wanted)
		got *= 2;
	s->buffer_kib = got;
	return 0;
}

static void say_guest(const char *text)
{
	say_note("%s", text);
}

static int load_settings(struct vm *v, const struct args *a, struct error *e)
{
	const char *time = args_get(a, "time"), *name = args_get(a, "name");
	int r;

	vm_settings_init(&v->settings);
	v->settings.exits = !args_has(a, "no-exits");
	v->guest_options = (struct vm_guests_options){ .addresses = args_get(a, "guests"),
						       .objects = args_get(a, "guest-objects"),
						       .say = say_guest };
	v->source_name = args_get(a, "source");
	if (v->source_name && strcmp(v->source_name, "module") && strcmp(v->source_name, "bpf"))
		return error_set(e, EINVAL, "cannot use --source %s: module or bpf is possible",
				 v->source_name);
	if (name)
		snprintf(v->name, sizeof(v->name), "%s", name);
	else
		gethostname(v->name, sizeof(v->name) - 1);
	r = profile_out_load(&v->to, a, VM_OUTPUT, e);
	if (r == 0)
		r = get_period(&v->settings, args_get(a, "period"), e);
	if (r == 0)
		r = get_cycles(&v->settings, args_get(a, "cycles"), e);
	if (r == 0)
		r = get_jitter(&v->settings, args_get(a, "jitter"), e);
	if (r == 0)
		r = get_buffer(&v->settings, args_get(a, "buffer"), e);
	if (r == 0)
		r = pace_options_load(&v->pace, a, e);
	if (r == 0 && v->pace.budget_ppm && v->settings.cycles)
		return error_set(e, EINVAL, "cannot use --budget and --cycles at once");
	if (r == 0 && time)
		r = when_parse_length(time, &v->time_ns, e);
	return r;
}

#ifndef HAVE_BPF
int vm_bpf_open(struct vm_source **ret, const struct vm_settings *settings, struct error *e)
{
	(void)ret;
	(void)settings;
	return error_set(e, EOPNOTSUPP, "cannot record by BPF: this program was built without it");
}
#endif

/* Unless one is asked for: the module, which knows more; BPF where that is not loaded. */
static int open_source(struct vm *v, struct error *e)
{
	bool is_bpf = v->source_name && !strcmp(v->source_name, "bpf");
	struct error why = ERROR_INIT;
	int r;

	if (is_bpf && v->settings.cycles)
		return error_set(
			e, EOPNOTSUPP,
			"cannot sample by --cycles with BPF: that takes the module kiseki_vm");
	if (is_bpf)
		return vm_bpf_open(&v->source, &v->settings, e);
	if (v->source_name || v->settings.cycles || !access(VM_DEVICE, F_OK))
		return vm_device_open(&v->source, e);
	r = vm_bpf_open(&v->source, &v->settings, &why);
	return r < 0 ? error_set(e, -r, "the module kiseki_vm is not loaded on this machine; %s",
				 why.text)
		     : 0;
}

static int run_turns(struct vm *v, struct error *e)
{
	uint64_t start = clock_mono_ns();
	int r = 0;

	while (r == 0 && !v->signals.is_over && !profile_out_is_over(&v->out)) {
		bool is_paused = vm_recorder_is_paused(v->recorder);
		struct pollfd p[] = { { .fd = is_paused ? -1 : v->source->fd, .events = POLLIN },
				      { .fd = v->signals.signals, .events = POLLIN },
				      profile_out_get_poll(&v->out),
				      { .fd = v->guests ? vm_guests_fd(v->guests) : -1,
					.events = POLLIN } };

		if (poll(p, 4, vm_recorder_wait_ms(v->recorder, TURN_MS)) > 0 && p[1].revents)
			profile_child_take(&v->signals);
		r = vm_recorder_turn(v->recorder, e);
		profile_out_turn(&v->out);
		if (v->time_ns && clock_mono_ns() - start >= v->time_ns)
			break;
	}
	return r;
}

/* What could be written is a whole file, and what could be sent a run that has ended, also where the rest could not. */
static int record(struct vm *v, struct error *e)
{
	struct vm_recorder_options o = { .settings = &v->settings,
					 .source = v->source,
					 .out = &v->out.out,
					 .told = profile_out_get_told(&v->out),
					 .name = v->name,
					 .pace = v->pace,
					 .is_live = v->out.link != NULL,
					 .guests = v->guests };
	struct error later = ERROR_INIT;
	int r = vm_recorder_new(&v->recorder, &o, e), stopped, finished;

	if (r == 0)
		r = vm_recorder_start(v->recorder, e);
	if (r < 0)
		return r;
	r = run_turns(v, e);
	profile_out_begin_end(&v->out);
	stopped = vm_recorder_stop(v->recorder, r == 0 && !v->signals.is_told, r < 0 ? &later : e);
	if (r == 0)
		r = stopped;
	finished = profile_out_finish(&v->out, &v->signals, r < 0 ? &later : e);
	return r < 0 ? r : finished;
}

static void say_counts(const struct vm *v)
{
	struct vm_counts c;
	char place[PLACE_MAX];

	vm_recorder_get_counts(v->recorder, &c);
	say_note("%" PRIu64 " samples, %" PRIu64 " of them in guests, %" PRIu64 " events, %" PRIu64
		 " lost, %" PRIu64 " bytes, %s",
		 c.samples, c.guests, c.events, c.lost, profile_out_bytes(&v->out),
		 profile_out_format_place(&v->out, place, sizeof(place)));
	say_note("the records took %.3f s inside the kernel", (double)c.used_ns / 1e9);
	if (c.undescribed)
		say_note("%" PRIu64 " blocks of the description had no room", c.undescribed);
}

static int set_pace(void *context, const struct message_config *c, struct error *e)
{
	struct vm *v = context;

	return vm_recorder_set_pace(v->recorder, c, e);
}

static int run_all(struct vm *v, struct error *e)
{
	int r = open_source(v, e);

	if (r == 0)
		r = profile_child_start(&v->signals, NULL, e);
	if (r == 0 && v->guest_options.addresses)
		r = vm_guests_new(&v->guests, &v->guest_options, e);
	v->to.link.pace = (struct profile_link_pace){ v, set_pace, PACE_OF_VM };
	if (r == 0)
		r = profile_out_open(&v->out, &v->to, e);
	if (r == 0)
		r = powers_keep(POWERS_OF_VM, v->to.path != NULL, e);
	if (r == 0)
		r = record(v, e);
	if (v->recorder)
		say_counts(v);
	return r;
}

static int run_vm(const struct args *a)
{
	static struct vm v;
	struct error e = ERROR_INIT;
	int r;

	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	if (load_settings(&v, a, &e) < 0)
		return say_usage(&e);
	v.signals = (struct profile_child)PROFILE_CHILD_INIT;
	v.out = (struct profile_out)PROFILE_OUT_INIT;
	r = run_all(&v, &e);
	vm_recorder_free(v.recorder);
	vm_guests_free(v.guests);
	vm_source_free(v.source);
	profile_out_close(&v.out);
	profile_child_done(&v.signals);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	VM_OPTIONS,
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "This host and its virtual machines, for ten seconds:", "kiseki-agent vm -t 10s" },
	{ "Live at a collector, until Ctrl-C:", "kiseki-agent vm --collector 10.0.0.1:7077" },
	{ "With what programs in the guests tell of themselves:",
	  "kiseki-agent vm --guests vsock:7412" },
	{ NULL, NULL },
};

const struct command command_agent_vm = {
	.name = "vm",
	.summary = "sample the virtual machines of this host, from outside",
	.usage = "[OPTION...]",
	.description =
		"Lets the module kiseki_vm, or BPF, sample all CPUs of a host that runs virtual "
		"machines "
		"with KVM, and record each moment at which a guest was entered, left, halted, "
		"woken or kept waiting, and writes one file, or sends it to a collector while it "
		"is recorded, or both. Nothing has to be done in the guests; those that run "
		"kiseki-guest tell which processes they have, with --guests. It ends after --time, "
		"or on SIGINT or SIGTERM; the file is complete then. One that was cut by SIGKILL "
		"or a power cut can be read, too.\n\n"
		"With --collector it ends when the collector has everything, when there was no way "
		"to it for half a minute, or on a second signal. Until then what it lacks is kept "
		"in memory, of --spool; what has no room there is counted as lost. The device is "
		"that of the agent of the same --name.\n\n"
		"It needs root or CAP_PERFMON, and the module loaded. Without the module, programs "
		"of BPF do the same on arm64 and AMD's x86, as far as they can see: not the "
		"processes of arm64 guests.\n\n"
		"The time between two samples varies at random: with a fixed one, samples meet a "
		"guest's own ticks again and again, and its shares are wrong.",
	.options = options,
	.examples = examples,
	.parent = &command_agent,
	.run = run_vm,
};
