/* SPDX-License-Identifier: MIT */
/* boot_proc: any bytes as each text of /proc, the kernel's log and command line; the first byte says which. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/boot/boot_settings.h"
#include "device/boot/facts.h"
#include "device/boot/kernel_message.h"
#include "device/boot/machine_stat.h"
#include "device/boot/target.h"
#include "device/boot/task_stat.h"

static void take_cpu(void *context, const struct machine_cpu *cpu)
{
	*(uint64_t *)context += cpu->times[CPU_TIMES - 1];
}

static void read_machine(const char *text, size_t len)
{
	uint64_t sum = 0;
	const struct machine_cpus each = { take_cpu, &sum };
	struct machine_stat m;
	struct memory_stat memory;
	struct pressure_stat p;
	struct disk_stat d;
	size_t at = 0;

	machine_stat_parse(&m, &each, text, len);
	memory_stat_parse(&memory, text, len);
	pressure_stat_parse(&p, text, len);
	while (disk_stat_next(&d, text, len, &at))
		assert(strlen(d.name) < DISK_NAME_LEN);
}

static void read_task(const char *text, size_t len)
{
	struct task_times times;
	struct task_stat t;

	if (task_stat_parse(&t, text, len))
		assert(t.comm_len <= TASK_COMM_LEN);
	task_times_parse(&times, text, len);
}

static void read_log(const char *text, size_t len)
{
	struct kernel_message m;
	const char *phase;
	size_t at = 0, n;

	if (kernel_message_parse(&m, text, len) && kernel_message_is_phase(&m, &phase, &n))
		assert(phase >= text && phase + n <= text + len);
	while (kernel_message_next(&m, text, len, &at))
		assert(m.text >= text && m.text + m.len <= text + len);
}

static void read_rest(const char *text, size_t len)
{
	static struct boot_settings s;
	struct error e = ERROR_INIT;
	const char *value;

	boot_settings_init(&s);
	boot_settings_parse_kernel(&s, text, len, &e);
	boot_settings_finish(&s);
	assert(s.interval_ns);
	target_has_listener(text, len, 22);
	if (facts_find(text, len, "PRETTY_NAME", &value))
		assert(value >= text && value < text + len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const readers[])(const char *, size_t) = { read_machine, read_task, read_log,
								 read_rest };
	char *copy;

	if (!size)
		return 0;
	/* Of its own, so that a read beyond the end is found. */
	copy = malloc(size - 1 ? size - 1 : 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	readers[data[0] % 4](copy, size - 1);
	free(copy);
	return 0;
}
