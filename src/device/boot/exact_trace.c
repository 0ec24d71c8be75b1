/* SPDX-License-Identifier: MIT */
/* exact_trace: see exact_trace.h. */
#include "device/boot/exact_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "device/agent/recorder.h"
#include "device/agent/tracing.h"
#include "wire/block.h"

#define TICK_MS 100U
#define SOON_MS 10U

struct exact_trace {
	struct tracing tracing;
	struct recorder *recorder;
	struct message_config config;
	uint64_t begun_ms, next_ms;
	bool is_over;
};

int exact_trace_new(struct exact_trace **ret, const struct exact_trace_options *o, struct error *e)
{
	static const uint8_t origins[] = { ORIGIN_AUTO, ORIGIN_AUTO, ORIGIN_TRACEFS, ORIGIN_BPF };
	struct recorder_options r = { .spool = o->spool, .device = o->device, .cpus = o->cpus };
	CLEANUP(exact_trace) struct exact_trace *x = calloc(1, sizeof(*x));
	int failed;

	if (!x)
		return error_set(e, ENOMEM, "cannot trace the scheduler: out of memory");
	failed = recorder_new(&x->recorder, &r, e);
	if (failed < 0)
		return failed;
	x->begun_ms = clock_mono_ms();
	x->tracing = (struct tracing){ .memory = o->memory,
				       .spool = o->spool,
				       .recorder = x->recorder,
				       .cpus = o->cpus,
				       .instance = "kiseki-boot" };
	x->config = (struct message_config){
		.given = CONFIG_ALL,
		.origin = origins[o->settings->exact],
		.policy = POLICY_OLDEST,
		.codec = CODEC_SCHED,
		.events = (1U << SCHED_KINDS) - 1,
		.block_bytes = 16U << 10,
		.flush_ms = 500,
		.ring_kib = 512,
		.resolution_ns = 1,
	};
	*ret = take_ptr(x);
	return 0;
}

void exact_trace_free(struct exact_trace *x)
{
	if (!x)
		return;
	if (x->tracing.source)
		tracing_stop(&x->tracing, NULL);
	recorder_free(x->recorder);
	free(x);
}

bool exact_trace_is_on(const struct exact_trace *x)
{
	return x->tracing.source;
}

uint64_t exact_trace_next(const struct exact_trace *x)
{
	return x->is_over ? UINT64_MAX : x->next_ms;
}

int exact_trace_fd(const struct exact_trace *x)
{
	return tracing_wake_fd(&x->tracing);
}

static int begin(struct exact_trace *x, uint64_t now_ms, struct error *e)
{
	int r = tracing_start(&x->tracing, &x->config, e);

	x->next_ms = now_ms + TICK_MS;
	if (r >= 0)
		return 0;
	if (now_ms - x->begun_ms < EXACT_TRACE_PATIENCE_MS)
		return -EAGAIN;
	x->is_over = true;
	return r;
}

int exact_trace_turn(struct exact_trace *x, uint64_t now_ms, struct error *e)
{
	int r;

	if (x->is_over)
		return 0;
	if (!x->tracing.source)
		return now_ms < x->next_ms ? -EAGAIN : begin(x, now_ms, e);
	r = tracing_drain(&x->tracing, now_ms, e);
	x->next_ms = now_ms + (r > 0 ? SOON_MS : TICK_MS);
	if (r >= 0)
		return 0;
	x->is_over = true;
	tracing_stop(&x->tracing, NULL);
	return r;
}

int exact_trace_stop(struct exact_trace *x, struct error *e)
{
	x->is_over = true;
	return x->tracing.source ? tracing_stop(&x->tracing, e) : 0;
}

/* The kernel keeps it from its own modules. */
static void format_boot(char *to, size_t room, int proc)
{
	_cleanup_close_ int fd = openat(proc, "sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	to[0] = 0;
	if (n <= 0)
		return;
	text[n] = 0;
	snprintf(to, room, "boot=%.*s ", (int)strcspn(text, "\n"), text);
}

int exact_trace_load(const struct boot_settings *s, int proc, struct error *e)
{
	_cleanup_close_ int fd = open(s->driver, O_RDONLY | O_CLOEXEC);
	char boot[80], args[BOOT_PATH_MAX + sizeof(boot)];

	format_boot(boot, sizeof(boot), proc);
	snprintf(args, sizeof(args), "%s%s", boot,
		 s->driver_args); /* what was given counts: it is the later one */
	if (fd < 0 || (syscall(SYS_finit_module, fd, args, 0) && errno != EEXIST))
		return error_set(e, errno, "cannot load %s: %s", s->driver, strerror(errno));
	return 0;
}
