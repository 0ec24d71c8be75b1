/* SPDX-License-Identifier: MIT */
/* vm_clock: see vm_clock.h. */
#include "device/vm/vm_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/profile/perf_abi.h"

#define ALL_TASKS (-1)
#define CHANGE_PERIODS 8ULL /* of the mean, at least, from one random period to the next */
#define NO_GROUP (-1)

static uint64_t next_period(struct vm_clock *c)
{
	uint64_t reach = (uint64_t)c->period_ns * c->jitter / 100;

	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->period_ns - reach + c->random % (2 * reach + 1);
}

/* A CPU that is off has none. */
static int open_one(struct vm_clock *c, uint32_t cpu, int program, struct error *e)
{
	struct perf_attr a = { .type = PERF_TYPE_SW,
			       .size = sizeof(a),
			       .config = PERF_SW_CPU_CLOCK,
			       .period = next_period(c),
			       .flags = perf_attr_flag(PERF_FLAG_DISABLED) };
	long fd =
		syscall(SYS_perf_event_open, &a, ALL_TASKS, (int)cpu, NO_GROUP, PERF_OPEN_CLOEXEC);

	if (fd < 0 && errno == ENODEV)
		return 0;
	if (fd < 0)
		return error_set(e, errno, "cannot sample CPU %u: %s", cpu, strerror(errno));
	c->fds[cpu] = (int)fd;
	if (ioctl((int)fd, PERF_IOC_PROGRAM, program) < 0 || ioctl((int)fd, PERF_IOC_ENABLE, 0) < 0)
		return error_set(e, errno, "cannot sample CPU %u by BPF: %s", cpu, strerror(errno));
	return 0;
}

int vm_clock_open(struct vm_clock *c, const struct vm_settings *s, int program, struct error *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t i;
	int r = 0;

	memset(c, 0, sizeof(*c));
	c->period_ns = s->period_ns;
	c->jitter = s->jitter;
	if (getrandom(&c->random, sizeof(c->random), GRND_NONBLOCK) < 0 || !c->random)
		c->random = clock_mono_ns() | 1;
	c->fds = calloc((size_t)cpus, sizeof(*c->fds));
	if (!c->fds)
		return error_set(e, ENOMEM, "cannot sample: out of memory");
	c->n = (uint32_t)cpus;
	for (i = 0; i < c->n; i++)
		c->fds[i] = -EBADF;
	for (i = 0; !r && i < c->n; i++)
		r = open_one(c, i, program, e);
	if (r < 0)
		vm_clock_close(c);
	return r;
}

void vm_clock_close(struct vm_clock *c)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		if (c->fds[i] >= 0)
			close(c->fds[i]);
	free(c->fds);
	memset(c, 0, sizeof(*c));
}

void vm_clock_change(struct vm_clock *c)
{
	uint64_t period, now = clock_mono_ns();
	uint32_t i;

	/* It starts the timer anew: at long periods no sample would come between two changes. */
	if (c->changed_ns && (!c->jitter || now - c->changed_ns < CHANGE_PERIODS * c->period_ns))
		return;
	c->changed_ns = now;
	for (i = 0; i < c->n; i++) {
		period = next_period(c);
		if (c->fds[i] >= 0)
			ioctl(c->fds[i], PERF_IOC_PERIOD, &period);
	}
}
