/* SPDX-License-Identifier: MIT */
/* profile_settings: see profile_settings.h. */
#include "device/profile/profile_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/when.h"
#include "command/profile_options.h"
#include "command/value.h"

#define PERIOD_MOST (10 * CLOCK_NS_PER_S)
#define BUFFER_LEAST 4096U

const struct cli_option profile_options[] = {
	PROFILE_OPTIONS,
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static int get_event(struct profile_settings *s, const struct args *a, struct error *e)
{
	static const char *const words[] = { "auto", "cycles", "cpu-clock", NULL };
	size_t place = PROFILE_AUTO;
	int r = args_has(a, "event") ? args_get_word(a, "event", words, &place, e) : 0;

	s->event = (uint8_t)place;
	return r;
}

static int get_period(struct profile_settings *s, const struct args *a, struct error *e)
{
	const char *period = args_get(a, "period"), *rate = args_get(a, "rate");
	uint64_t hz = 0;

	s->period_ns = CLOCK_NS_PER_MS;
	if (period && rate)
		return error_set(e, EINVAL, "cannot use --period and --rate at once");
	if (rate && (value_number(&hz, rate, CLOCK_NS_PER_S) < 0 || !hz))
		return error_set(e, EINVAL, "cannot use --rate %s: it is no number of samples",
				 rate);
	if (rate)
		s->period_ns = CLOCK_NS_PER_S / hz;
	if (period) {
		int r = when_parse_length(period, &s->period_ns, e);

		if (r < 0)
			return r;
	}
	if (s->period_ns < PROFILE_PERIOD_LEAST || s->period_ns > PERIOD_MOST)
		return error_set(e, EINVAL, "cannot use --%s %s: 10us to 10s is possible",
				 rate ? "rate" : "period", rate ? rate : period);
	return 0;
}

static int get_pids(struct profile_settings *s, const char *list, struct error *e)
{
	const char *p = list;
	unsigned long pid;
	char *end;

	while (p && *p) {
		errno = 0;
		pid = strtoul(p, &end, 10);
		if (*p < '0' || *p > '9' || errno || !pid || pid > INT32_MAX ||
		    (*end && *end != ','))
			return error_set(e, EINVAL,
					 "cannot use --pid %s: it is no list of process numbers",
					 list);
		if (s->n_pids == PROFILE_PIDS_MAX)
			return error_set(e, E2BIG, "cannot use --pid: %u processes are the most",
					 PROFILE_PIDS_MAX);
		s->pids[s->n_pids++] = (int32_t)pid;
		p = *end ? end + 1 : end;
	}
	return list && !s->n_pids ? error_set(e, EINVAL, "cannot use --pid: the list is empty") : 0;
}

static int get_depth(struct profile_settings *s, const struct args *a, struct error *e)
{
	uint64_t depth = PROFILE_DEPTH_MAX;
	int r = args_has(a, "depth") ? args_get_count(a, "depth", &depth, e) : 0;

	if (r < 0)
		return r;
	if (!depth || depth > PROFILE_DEPTH_MAX)
		return error_set(e, EINVAL, "cannot use --depth %s: 1 to %u is possible",
				 args_get(a, "depth"), PROFILE_DEPTH_MAX);
	s->depth = args_has(a, "no-chain") ? 0 : (uint32_t)depth;
	return 0;
}

/* The kernel wants a power of two of pages. */
static int get_buffer(struct profile_settings *s, const char *text, struct error *e)
{
	uint64_t wanted = 512U << 10, got = BUFFER_LEAST;

	if (text && (value_size(&wanted, text, 1024) < 0 || wanted < BUFFER_LEAST ||
		     wanted > PROFILE_BUFFER_MOST))
		return error_set(e, EINVAL, "cannot use --buffer %s: 4K to 64M is possible", text);
	while (got < wanted)
		got *= 2;
	s->buffer = got;
	return 0;
}

static int check(const struct profile_settings *s, const struct args *a, struct error *e)
{
	if (args_has(a, "all") && s->n_pids)
		return error_set(e, EINVAL, "cannot use --all and --pid at once");
	if (s->command && s->n_pids)
		return error_set(e, EINVAL, "cannot use --pid and a command at once");
	if (!s->all && (s->pace.budget_ppm || s->pace.on_ns))
		return error_set(e, EINVAL,
				 "cannot use --budget or --duty but with --all: what processes "
				 "inherit cannot be changed");
	return 0;
}

int profile_settings_load(struct profile_settings *s, const struct args *a, struct error *e)
{
	const char *time = args_get(a, "time");
	int r;

	memset(s, 0, sizeof(*s));
	s->name = args_get(a, "name") ? args_get(a, "name") : "";
	s->switches = args_has(a, "switches");
	s->no_kernel = args_has(a, "user");
	s->command = a->n_operands ? a->operands : NULL;
	s->all = args_has(a, "all") || (!s->command && !args_has(a, "pid"));
	r = profile_out_load(&s->out, a, PROFILE_OUTPUT, e);
	if (r == 0)
		r = get_event(s, a, e);
	if (r == 0)
		r = get_period(s, a, e);
	if (r == 0)
		r = get_pids(s, args_get(a, "pid"), e);
	if (r == 0)
		r = get_depth(s, a, e);
	if (r == 0)
		r = get_buffer(s, args_get(a, "buffer"), e);
	if (r == 0)
		r = pace_options_load(&s->pace, a, e);
	if (r == 0 && time)
		r = when_parse_length(time, &s->time_ns, e);
	s->can_pause = s->pace.on_ns || (s->all && s->out.link.collector);
	return r < 0 ? r : check(s, a, e);
}
