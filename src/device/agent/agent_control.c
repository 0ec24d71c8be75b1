/* SPDX-License-Identifier: MIT */
/*
 * agent_control: what the collector wants of the agent, and what it is told about it; see
 * agent_state.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "device/agent/agent_state.h"
#include "device/agent/source.h"
#include "wire/block.h"

/* --- starting and stopping --- */

int agent_start(struct agent *a, struct error *e)
{
	struct error why = ERROR_INIT;
	int r = tracing_start(&a->tracing, &a->config, &why);

	a->wanted = true;
	a->status_ms = a->tick_ms = a->now_ms;
	if (r >= 0) {
		a->failure.text[0] = 0;
		agent_log(a, "records by %s", a->tracing.source->ops->name);
		return 0;
	}
	if (strcmp(a->failure.text, why.text))
		agent_log(a, "%s", why.text);
	a->failure = why;
	a->origins = 0; /* what could be used once may not be so any more */
	a->retry_ms = a->now_ms + RETRY_MS;
	return error_set(e, r, "%s", why.text);
}

int agent_stop(struct agent *a, struct error *e)
{
	struct error why = ERROR_INIT;
	int r;

	a->status_ms = a->now_ms;
	if (!agent_is_tracing(a))
		return 0;
	r = tracing_stop(&a->tracing, &why);
	agent_log(a, "%s", r < 0 ? why.text : "has stopped recording");
	return r < 0 ? error_set(e, r, "%s", why.text) : 0;
}

void agent_take_up(struct agent *a)
{
	struct message_config config = a->config;
	struct error e = ERROR_INIT;
	int r = tracing_resume(&a->tracing, &config, &e);

	a->tick_ms = a->now_ms;
	if (r >= 0) {
		config.func = a->config.func; /* the feed has kept its own */
		a->config = config;
		a->wanted = true;
		agent_log(a, "goes on recording by %s", a->tracing.source->ops->name);
		return;
	}
	if (r != -ENOENT) {
		agent_log(a, "%s", e.text);
		/* Somebody wanted it to trace in this boot. */
		if (r != -ESTALE) {
			config.func = a->config.func;
			a->config = config;
			a->wanted = true;
		}
	}
	if (a->wanted)
		agent_start(a, NULL);
}

/* --- instructions --- */

/* The bytes of a configuration; a resolution that is left to the machine is the one it has. */
static size_t flatten(const struct agent *a, struct message_config c,
		      uint8_t out[MEMORY_CONFIG_MAX])
{
	struct byte_writer w;

	if (!c.resolution_ns)
		c.resolution_ns = a->tracing.config.resolution_ns;
	c.func = FUNC_MODE_OFF; /* no part of what a run of events is */
	writer_init(&w, out, MEMORY_CONFIG_MAX);
	config_encode(&w, &c);
	return writer_len(&w);
}

/* Compared by their bytes on the wire: the structs have room that no field uses. */
static bool is_same(const struct agent *a, const struct message_config *c)
{
	uint8_t old[MEMORY_CONFIG_MAX], new[MEMORY_CONFIG_MAX];
	size_t len = flatten(a, a->config, old);

	return flatten(a, *c, new) == len && !memcmp(old, new, len);
}

/* The kernel's memory is the device's, and rings are the most of it that a collector can ask for. */
static int check_ring(const struct agent *a, const struct message_config *c, struct error *e)
{
	if (!(c->given & 1U << CONFIG_RING) || c->ring_kib <= a->ring_most_kib)
		return 0;
	return error_set(e, ENOMEM,
			 "cannot record with a ring of %uK: this device gives at most %uK for each "
			 "CPU (--ring-most)",
			 c->ring_kib, a->ring_most_kib);
}

int agent_instruct(void *context, const struct message_instruction *m, struct error *e)
{
	struct agent *a = context;
	struct message_config config = a->config;
	bool changed;
	int r;

	if (a->is_ending)
		return error_set(e, ECANCELED, "cannot do it: the agent ends");
	if (m->verb == INSTRUCTION_STOP) {
		a->wanted = false;
		return agent_stop(a, e);
	}
	if (m->verb != INSTRUCTION_START && m->verb != INSTRUCTION_CONFIGURE)
		return error_set(e, EOPNOTSUPP, "cannot do it: instruction %u is not known here",
				 m->verb);
	config_apply(&config, &m->config);
	if (config.codec == CODEC_BSF)
		return error_set(e, EOPNOTSUPP, "cannot do it: only the driver can record bsf");
	r = check_ring(a, &m->config, e);
	if (r >= 0)
		r = agent_set_func(a, &m->config, e);
	if (r < 0)
		return r;
	changed = !is_same(a, &config);
	a->config = config;
	if (agent_is_tracing(a) && !changed)
		return 0;
	if (m->verb == INSTRUCTION_CONFIGURE && !a->wanted)
		return 0;
	if (agent_is_tracing(a)) {
		r = agent_stop(a, e);
		if (r < 0)
			return r;
	}
	return agent_start(a, e);
}

void agent_clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = clock_mono_ns();
	*ret_realtime_ns = clock_real_ns();
}

/* --- STATUS --- */

static uint64_t own_cpu_us(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) < 0)
		return 0;
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The second number of statm, in pages. */
static uint64_t own_rss_kib(const struct agent *a)
{
	char text[128];
	ssize_t n = a->statm < 0 ? -1 : pread(a->statm, text, sizeof(text) - 1, 0);
	const char *blank;

	if (n <= 0)
		return 0;
	text[n] = 0;
	blank = strchr(text, ' ');
	return blank ? strtoull(blank, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) / 1024 : 0;
}

static uint64_t fixed_kib(const struct agent *a)
{
	uint64_t bytes = memory_get_len(a->memory) + recorder_get_fixed_bytes(a->recorder) +
			 uplink_memory(a->uplink);

	if (a->feed)
		bytes += func_feed_get_fixed_bytes(a->feed);
	if (agent_is_tracing(a))
		bytes += a->tracing.source->fixed_bytes;
	return bytes / 1024;
}

void agent_tell_status(struct agent *a)
{
	struct message_status m = { .state = (uint8_t)agent_state(a),
				    .spool_used = spool_used(a->spool),
				    .spool_size = spool_size(a->spool),
				    .cpu_us = own_cpu_us(),
				    .rss_kib = own_rss_kib(a),
				    .fixed_kib = fixed_kib(a),
				    .wakeups = a->wakeups };

	recorder_get_status(a->recorder, &m);
	if (a->feed)
		func_feed_get_status(a->feed, &m);
	if (agent_is_tracing(a)) {
		m.origin = a->tracing.origin;
		m.passed_over = a->tracing.source->passed_over;
	}
	if (m.state == DEVICE_FAILED) {
		m.text.at = a->failure.text;
		m.text.len = (uint32_t)strlen(a->failure.text);
	}
	uplink_status(a->uplink, &m);
}
