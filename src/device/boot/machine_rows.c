/* SPDX-License-Identifier: MIT */
/* machine_rows: see machine_rows.h. */
#include "device/boot/machine_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/clock.h"

#define TEXT_LEAST (16U << 10)
#define TEXT_MOST (1U << 20) /* of /proc/stat, which has a number for each interrupt */
#define CPUS_LEAST 16U
#define SECTOR 512U

struct disk {
	uint32_t major, minor;
	bool was_said;
	char name[DISK_NAME_LEN];
	uint64_t number[BOOT_DISK_WEIGHTED + 1];
};

struct machine_rows {
	struct record_sink *sink;
	uint64_t tick_ns;
	uint64_t now; /* tick of this pass */
	int stat, disks, memory, pressure[BOOT_RESOURCES];
	struct machine_stat last;
	uint32_t n_cpus, n_disks;
	uint64_t (*cpus)[CPU_TIMES]; /* as they were said */
	struct disk disk[MACHINE_DISKS_MAX];
	struct memory_stat kib;
	struct pressure_stat waits[BOOT_RESOURCES];
	bool is_fresh; /* nothing was said yet */
	bool turn; /* of memory and pressure, which change slowly, are long, and have every second one */
	size_t room;
	char *text;
};

static const char *const resources[BOOT_RESOURCES] = { "pressure/cpu", "pressure/io",
						       "pressure/memory", "pressure/irq" };

static int open_file(int proc, const char *name)
{
	return openat(proc, name, O_RDONLY | O_CLOEXEC);
}

static ssize_t read_file(struct machine_rows *m, int fd)
{
	return fd < 0 ? -1 : pread(fd, m->text, m->room, 0);
}

/* How large /proc/stat is decides how much memory is taken; it grows little after that. */
static int make_room(struct machine_rows *m, struct error *e)
{
	ssize_t n;

	for (m->room = TEXT_LEAST;; m->room *= 2) {
		free(m->text);
		m->text = malloc(m->room);
		if (!m->text)
			return error_set(e, ENOMEM, "cannot look at the machine: out of memory");
		n = read_file(m, m->stat);
		if (n < (ssize_t)(m->room - m->room / 4) || m->room >= TEXT_MOST)
			break;
	}
	if (n <= 0 || !machine_stat_parse(&m->last, NULL, m->text, (size_t)n))
		return error_set(e, n < 0 ? errno : EBADMSG, "cannot read /proc/stat");
	m->n_cpus = 2 * m->last.cpus > CPUS_LEAST ? 2 * m->last.cpus : CPUS_LEAST;
	m->cpus = calloc(m->n_cpus, sizeof(*m->cpus));
	return m->cpus ? 0 : error_set(e, ENOMEM, "cannot look at the machine: out of memory");
}

int machine_rows_new(struct machine_rows **ret, struct record_sink *sink, int proc, struct error *e)
{
	CLEANUP(machine_rows) struct machine_rows *m = calloc(1, sizeof(*m));
	long hertz = sysconf(_SC_CLK_TCK);
	uint32_t i;
	int r;

	if (!m)
		return error_set(e, ENOMEM, "cannot look at the machine: out of memory");
	m->sink = sink;
	m->tick_ns = CLOCK_NS_PER_S / (uint64_t)(hertz > 0 ? hertz : 100);
	m->is_fresh = true;
	m->stat = open_file(proc, "stat");
	m->disks = open_file(proc, "diskstats");
	m->memory = open_file(proc, "meminfo");
	for (i = 0; i < BOOT_RESOURCES; i++)
		m->pressure[i] = open_file(proc, resources[i]);
	r = make_room(m, e);
	if (r < 0)
		return r;
	*ret = take_ptr(m);
	return 0;
}

void machine_rows_free(struct machine_rows *m)
{
	uint32_t i;

	if (!m)
		return;
	cleanup_closep(&m->stat);
	cleanup_closep(&m->disks);
	cleanup_closep(&m->memory);
	for (i = 0; i < BOOT_RESOURCES; i++)
		cleanup_closep(&m->pressure[i]);
	free(m->cpus);
	free(m->text);
	free(m);
}

uint64_t machine_rows_tick_ns(const struct machine_rows *m)
{
	return m->tick_ns;
}

void machine_rows_say_missing(struct machine_rows *m, uint64_t tick)
{
	if (m->disks < 0)
		record_sink_mark(m->sink, tick, BOOT_MARK_MISSING,
				 "no disks: the kernel has no /proc/diskstats");
	if (m->pressure[BOOT_RESOURCE_CPU] < 0)
		record_sink_mark(m->sink, tick, BOOT_MARK_MISSING,
				 "no pressure: the kernel lacks CONFIG_PSI, or psi=1 on its "
				 "command line");
}

void machine_rows_forget(struct machine_rows *m)
{
	uint32_t i;

	m->is_fresh = true;
	for (i = 0; i < m->n_disks; i++)
		m->disk[i].was_said = false;
}

static void put(struct machine_rows *m, enum boot_kind kind, uint32_t key, const uint64_t *numbers)
{
	struct boot_event ev = { .tick = m->now, .kind = (uint8_t)kind, .key = key, .text = "" };

	memcpy(ev.number, numbers, boot_shapes[kind].numbers * sizeof(*numbers));
	record_sink_put(m->sink, &ev);
}

static void take_cpu(void *context, const struct machine_cpu *cpu)
{
	struct machine_rows *m = context;
	uint64_t ns[CPU_TIMES];
	uint32_t i;

	if (cpu->number >= m->n_cpus ||
	    (!m->is_fresh && !memcmp(m->cpus[cpu->number], cpu->times, sizeof(cpu->times))))
		return;
	memcpy(m->cpus[cpu->number], cpu->times, sizeof(cpu->times));
	for (i = 0; i < CPU_TIMES; i++)
		ns[i] = cpu->times[i] * m->tick_ns;
	put(m, BOOT_CPU, cpu->number, ns);
}

const struct machine_stat *machine_rows_pass(struct machine_rows *m, uint64_t tick)
{
	const struct machine_cpus each = { take_cpu, m };
	ssize_t n = read_file(m, m->stat);

	m->now = tick;
	if (n <= 0 || !machine_stat_parse(&m->last, &each, m->text, (size_t)n))
		return NULL;
	return &m->last;
}

static struct disk *find_disk(struct machine_rows *m, const struct disk_stat *s)
{
	struct disk *d;
	uint32_t i;

	for (i = 0; i < m->n_disks; i++)
		if (m->disk[i].major == s->major && m->disk[i].minor == s->minor &&
		    !strcmp(m->disk[i].name, s->name))
			return &m->disk[i];
	/* What was never used (sixteen RAM disks, eight loops) is not worth a row. */
	if (m->n_disks == MACHINE_DISKS_MAX || (!s->reads && !s->writes && !s->in_flight))
		return NULL;
	d = &m->disk[m->n_disks++];
	d->major = s->major;
	d->minor = s->minor;
	memcpy(d->name, s->name, sizeof(d->name));
	return d;
}

static void say_disk(struct machine_rows *m, struct disk *d, const struct disk_stat *s)
{
	struct boot_event name = { .tick = m->now, .kind = BOOT_DISK_NAME, .text = d->name };
	const uint64_t numbers[] = { s->reads,
				     s->read_sectors * SECTOR,
				     s->writes,
				     s->written_sectors * SECTOR,
				     s->busy_ms * CLOCK_NS_PER_MS,
				     s->in_flight,
				     s->weighted_ms * CLOCK_NS_PER_MS };

	name.key = (uint32_t)(d - m->disk);
	name.text_len = (uint32_t)strlen(d->name);
	if (!d->was_said)
		record_sink_put(m->sink, &name);
	else if (!memcmp(d->number, numbers, sizeof(numbers)))
		return;
	d->was_said = true;
	memcpy(d->number, numbers, sizeof(numbers));
	put(m, BOOT_DISK, name.key, numbers);
}

static void look_at_disks(struct machine_rows *m)
{
	ssize_t n = read_file(m, m->disks);
	struct disk_stat s;
	struct disk *d;
	size_t at = 0;

	while (n > 0 && disk_stat_next(&s, m->text, (size_t)n, &at)) {
		d = find_disk(m, &s);
		if (d)
			say_disk(m, d, &s);
	}
}

static void look_at_memory(struct machine_rows *m)
{
	ssize_t n = read_file(m, m->memory);
	struct memory_stat now;

	if (n <= 0 || !memory_stat_parse(&now, m->text, (size_t)n) ||
	    (!m->is_fresh && !memcmp(&now, &m->kib, sizeof(now))))
		return;
	m->kib = now;
	put(m, BOOT_MEMORY, 0, now.kib);
}

static void look_at_pressure(struct machine_rows *m, uint32_t resource)
{
	ssize_t n = read_file(m, m->pressure[resource]);
	struct pressure_stat now;
	uint64_t ns[2];

	if (n <= 0 || !pressure_stat_parse(&now, m->text, (size_t)n) ||
	    (!m->is_fresh && !memcmp(&now, &m->waits[resource], sizeof(now))))
		return;
	m->waits[resource] = now;
	ns[BOOT_PRESSURE_SOME] = now.some_ns;
	ns[BOOT_PRESSURE_FULL] = now.full_ns;
	put(m, BOOT_PRESSURE, resource, ns);
}

void machine_rows_look(struct machine_rows *m, uint64_t tick)
{
	uint32_t i;

	m->now = tick;
	look_at_disks(m);
	m->turn = !m->turn;
	if (!m->turn && !m->is_fresh)
		return;
	look_at_memory(m);
	for (i = 0; i < BOOT_RESOURCES; i++)
		look_at_pressure(m, i);
	m->is_fresh = false;
}
