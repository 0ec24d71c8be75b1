/* SPDX-License-Identifier: MIT */
/* sample_cost: see sample_cost.h. */
#include "device/profile/sample_cost.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define PERIOD_NS 20000U
#define ROUND_NS 1000000U
#define ROUNDS 9
#define RING_PAGES 17U

/* How long so many steps take. */
static uint64_t time_steps(uint32_t steps)
{
	uint64_t start = clock_mono_ns();
	volatile uint32_t word = 1;
	uint32_t i;

	for (i = 0; i < steps; i++)
		word = word * 69069 + 1;
	return clock_mono_ns() - start;
}

static uint32_t find_steps(void)
{
	uint32_t steps = 1024;

	while (steps < 1U << 28 && time_steps(steps) < ROUND_NS)
		steps *= 2;
	return steps;
}

static uint64_t compare(int fd, uint32_t steps)
{
	uint64_t plain = UINT64_MAX, sampled = UINT64_MAX, took;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		took = time_steps(steps);
		plain = took < plain ? took : plain;
		ioctl(fd, PERF_IOC_ENABLE, 0);
		took = time_steps(steps);
		ioctl(fd, PERF_IOC_DISABLE, 0);
		sampled = took < sampled ? took : sampled;
	}
	return sampled > plain ? (sampled - plain) / (sampled / PERIOD_NS + 1) : 0;
}

uint64_t sample_cost_measure(const struct perf_attr *attr)
{
	size_t len = RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	struct perf_attr a = *attr;
	_cleanup_close_ int fd = -1;
	uint64_t cost;
	void *ring;

	a.type = PERF_TYPE_SW;
	a.config = PERF_SW_CPU_CLOCK;
	a.period = PERIOD_NS;
	a.flags &= ~(perf_attr_flag(PERF_FLAG_FREQ) | perf_attr_flag(PERF_FLAG_INHERIT));
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_OPEN_CLOEXEC);
	if (fd < 0)
		return 0;
	ring = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return 0;
	cost = compare(fd, find_steps());
	munmap(ring, len);
	return cost;
}
