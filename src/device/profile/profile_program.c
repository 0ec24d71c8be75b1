/* SPDX-License-Identifier: MIT */
/*
 * profile_program: see profile_program.h.
 *
 * The events are opened before the file is made, so that who has no rights loses nothing that was there. Signals that
 * end programs end the recording, and the file is completed, or the collector gets the rest; another one ends the
 * waiting for that. The exit status is the command's.
 */
#include "device/profile/profile_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "command/args.h"
#include "command/man.h"
#include "command/say.h"
#include "device/agent/powers.h"
#include "device/agent/program.h"
#include "device/profile/process_maps.h"
#include "device/profile/profile_child.h"
#include "device/profile/profile_out.h"
#include "device/profile/profile_recorder.h"
#include "device/profile/profile_settings.h"

#define TURN_MS 100
#define PLACE_MAX 4608U
#define LOOK_NS CLOCK_NS_PER_S /* between two looks whether the processes are still there */

struct profile {
	struct profile_settings settings;
	struct profile_child child;
	struct profile_out out;
	struct perf_events *events;
	struct profile_recorder *recorder;
	uint64_t start_ns, look_ns;
	char device[256];
};

static bool are_gone(struct profile *p, uint64_t now)
{
	struct process_stat s;
	uint32_t i;

	if (!p->settings.n_pids || now < p->look_ns)
		return false;
	p->look_ns = now + LOOK_NS;
	for (i = 0; i < p->settings.n_pids; i++)
		if (process_stat_get(p->settings.pids[i], &s) && !strchr("ZX", s.state))
			return false;
	return true;
}

static void run_turns(struct profile *p)
{
	const struct profile_settings *s = &p->settings;
	uint64_t now;

	while (!p->child.is_over && !profile_out_is_over(&p->out)) {
		const struct pollfd others[] = { { .fd = p->child.signals, .events = POLLIN },
						 profile_out_get_poll(&p->out) };

		if (perf_rings_wait(perf_events_get_rings(p->events), others,
				    profile_recorder_wait_ms(p->recorder, TURN_MS)))
			profile_child_take(&p->child);
		profile_recorder_turn(p->recorder);
		profile_out_turn(&p->out);
		now = clock_mono_ns();
		if ((s->time_ns && now - p->start_ns >= s->time_ns) || are_gone(p, now))
			p->child.is_over = true;
	}
}

static int set_pace(void *context, const struct message_config *c, struct error *e)
{
	struct profile *p = context;

	(void)e;
	profile_recorder_set_pace(p->recorder, c);
	return 0;
}

static int record(struct profile *p, struct error *e)
{
	struct profile_recorder_options o = { .settings = &p->settings,
					      .events = p->events,
					      .out = &p->out.out,
					      .told = profile_out_get_told(&p->out),
					      .device = p->device,
					      .command = p->child.pid,
					      .is_live = p->out.link };
	int r = profile_recorder_new(&p->recorder, &o, e);

	if (r == 0)
		r = profile_recorder_start(p->recorder, e);
	if (r == 0)
		r = profile_child_go(&p->child, e);
	if (r < 0)
		return r;
	p->start_ns = clock_mono_ns();
	run_turns(p);
	profile_out_begin_end(&p->out);
	profile_recorder_stop(p->recorder, !p->child.is_told);
	return profile_out_finish(&p->out, &p->child, e);
}

static void say_counts(const struct profile *p)
{
	struct profile_counts c;
	uint64_t bytes;
	char place[PLACE_MAX];

	profile_recorder_get_counts(p->recorder, &c);
	bytes = profile_out_bytes(&p->out);
	say_note("%" PRIu64 " samples, %" PRIu64 "%s lost, %" PRIu64 " bytes, %" PRIu64 ".%" PRIu64
		 " for each, %s",
		 c.samples, c.lost, c.has_unknown ? " and more" : "", bytes,
		 c.samples ? bytes / c.samples : 0, c.samples ? bytes * 10 / c.samples % 10 : 0,
		 profile_out_format_place(&p->out, place, sizeof(place)));
	if (c.undescribed)
		say_note("%" PRIu64 " blocks of the description had no room", c.undescribed);
	if (c.throttled)
		say_note("the kernel let no samples be taken %" PRIu64
			 " times: kernel.perf_event_max_sample_rate and "
			 "perf_cpu_time_max_percent limit it",
			 c.throttled);
}

static int run_all(struct profile *p, struct error *e)
{
	int r = profile_child_start(&p->child, p->settings.command, e);

	if (r == 0)
		r = perf_events_open(&p->events, &p->settings, p->child.pid, e);
	if (r < 0)
		return r;
	if (perf_events_get_note(p->events)[0])
		say_note("%s", perf_events_get_note(p->events));
	snprintf(p->device, sizeof(p->device), "%s", p->settings.name);
	if (!p->device[0])
		gethostname(p->device, sizeof(p->device) - 1);
	if (p->settings.all)
		p->settings.out.link.pace =
			(struct profile_link_pace){ p, set_pace, PACE_OF_PROFILE };
	r = profile_out_open(&p->out, &p->settings.out, e);
	if (r == 0)
		r = powers_keep(POWERS_OF_PROFILE, p->settings.out.path != NULL, e);
	if (r == 0)
		r = record(p, e);
	if (p->recorder)
		say_counts(p);
	return r;
}

static int run_profile(const struct args *a)
{
	static struct profile p;
	struct error e = ERROR_INIT;
	int r;

	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	if (profile_settings_load(&p.settings, a, &e) < 0)
		return say_usage(&e);
	p.child = (struct profile_child)PROFILE_CHILD_INIT;
	p.out = (struct profile_out)PROFILE_OUT_INIT;
	r = run_all(&p, &e);
	profile_recorder_free(p.recorder);
	perf_events_free(p.events);
	profile_out_close(&p.out);
	profile_child_done(&p.child);
	return r < 0 ? say_failure(&e) : p.child.status;
}

static const struct cli_example examples[] = {
	{ "Where does a program spend its time?", "kiseki-agent profile -- make" },
	{ "The whole machine, for ten seconds:", "kiseki-agent profile -t 10s" },
	{ "The same, live at a collector:",
	  "kiseki-agent profile -t 10s --collector 10.0.0.1:7077" },
	{ "Without end, for at most half a percent of a CPU:",
	  "kiseki-agent profile --collector 10.0.0.1:7077 --budget 0.5" },
	{ NULL, NULL },
};

const struct command command_agent_profile = {
	.name = "profile",
	.summary = "sample where the CPUs are, with call chains",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
		"Lets the kernel's perf events sample a command and all that it starts, some "
		"processes (--pid), or all CPUs, and writes one file that kiseki profile reads, or "
		"sends it to a collector while it is recorded, or both. It ends with the command "
		"or the processes, after --time, or on SIGINT or SIGTERM. The file is complete "
		"then; one that was cut by SIGKILL or a power cut can be read, too.\n\n"
		"With --collector it ends when the collector has everything, when there was no way "
		"to it for half a minute, or on a second signal. Until then what it lacks is kept "
		"in memory, of --spool; what has no room there is counted as lost. The device is "
		"that of the agent of the same --name.\n\n"
		"Of all CPUs it can go on without end: with --budget it samples less often while "
		"it costs more than that part of a CPU, and as often as was asked for when it can "
		"again; with --duty it samples for a part of each period only. Both are told in "
		"the recording.\n\n"
		"Processes of one's own can be sampled without root where "
		"kernel.perf_event_paranoid "
		"is 2 or less; with 2, without the kernel's part. All CPUs need root, CAP_PERFMON, "
		"or 0.\n\n"
		"Cycles of the CPU end a period where the machine has a counter for them, else its "
		"clock. Of all CPUs by the clock, the period is changed at random ten times a "
		"second, "
		"by up to a half, so that it does not keep step with what the machine does "
		"regularly. "
		"Call chains follow frame pointers: programs have complete ones if they are built "
		"with -fno-omit-frame-pointer.",
	.options = profile_options,
	.examples = examples,
	.parent = &command_agent,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run_profile,
};
