/* SPDX-License-Identifier: MIT */
/* machine_stat: see machine_stat.h. */
#include "device/boot/machine_stat.h"

#include <string.h>

#include "device/boot/words.h"
#include "wire/boot_event.h"

#define CPU_NUMBER_MOST 65535U

/* Old kernels have fewer columns; the file's order is that of enum boot_cpu_number. */
static void take_times(uint64_t times[CPU_TIMES], struct words *w)
{
	uint32_t i;

	for (i = 0; i < CPU_TIMES; i++) {
		uint64_t v = words_number(w);

		times[i] = w->bad ? 0 : v;
	}
	w->bad = false;
}

static void take_cpu(struct machine_stat *m, const struct machine_cpus *each, struct words *w,
		     struct words number)
{
	struct machine_cpu cpu;
	uint64_t n = words_number(&number);

	if (number.bad || n > CPU_NUMBER_MOST)
		return;
	cpu.number = (uint32_t)n;
	take_times(cpu.times, w);
	m->cpus++;
	if (each)
		each->take(each->context, &cpu);
}

static void take_stat_line(struct machine_stat *m, const struct machine_cpus *each, struct words *w,
			   bool *has_all)
{
	const char *key;
	size_t len;
	struct words number;

	if (!words_next(w, &key, &len))
		return;
	if (words_is(key, len, "cpu")) {
		take_times(m->times, w);
		*has_all = true;
	} else if (len > 3 && !memcmp(key, "cpu", 3)) {
		words_init(&number, key + 3, len - 3);
		take_cpu(m, each, w, number);
	} else if (words_is(key, len, "ctxt")) {
		m->switches = words_number(w);
	} else if (words_is(key, len, "processes")) {
		m->forks = words_number(w);
	} else if (words_is(key, len, "procs_running")) {
		m->running = words_number(w);
	} else if (words_is(key, len, "procs_blocked")) {
		m->blocked = words_number(w);
	}
	w->bad = false;
}

bool machine_stat_parse(struct machine_stat *ret, const struct machine_cpus *each, const char *text,
			size_t len)
{
	struct machine_stat m;
	struct words w;
	bool has_all = false;

	memset(&m, 0, sizeof(m));
	words_init(&w, text, len);
	if (len)
		do
			take_stat_line(&m, each, &w, &has_all);
		while (words_next_line(&w));
	if (!has_all)
		return false;
	*ret = m;
	return true;
}

static bool take_disk(struct disk_stat *d, struct words *w)
{
	uint64_t counts[DISK_COUNTS];
	const char *name;
	size_t len;
	uint32_t i;

	memset(d, 0, sizeof(*d));
	d->major = (uint32_t)words_number(w);
	d->minor = (uint32_t)words_number(w);
	if (w->bad || !words_next(w, &name, &len) || len >= sizeof(d->name))
		return false;
	memcpy(d->name, name, len);
	for (i = 0; i < DISK_COUNTS; i++)
		counts[i] = words_number(w);
	if (w->bad)
		return false;
	d->reads = counts[0];
	d->read_sectors = counts[2];
	d->writes = counts[4];
	d->written_sectors = counts[6];
	d->in_flight = counts[8];
	d->busy_ms = counts[9];
	d->weighted_ms = counts[10];
	return true;
}

bool disk_stat_next(struct disk_stat *ret, const char *text, size_t len, size_t *at)
{
	struct words w;
	bool is_good = false;

	while (!is_good && *at < len) {
		words_init(&w, text + *at, len - *at);
		is_good = take_disk(ret, &w);
		words_next_line(&w);
		*at = (size_t)(w.at - text);
	}
	return is_good;
}

bool memory_stat_parse(struct memory_stat *ret, const char *text, size_t len)
{
#define KEY(text, at)                                                                              \
	{                                                                                          \
		text, sizeof(text) - 1, at                                                         \
	}
	static const struct {
		const char *text;
		uint32_t len, at;
	} keys[] = {
		KEY("MemTotal:", BOOT_MEMORY_TOTAL),
		KEY("MemFree:", BOOT_MEMORY_FREE),
		KEY("MemAvailable:", BOOT_MEMORY_AVAILABLE),
		KEY("Buffers:", BOOT_MEMORY_BUFFERS),
		KEY("Cached:", BOOT_MEMORY_CACHED),
		KEY("SReclaimable:", BOOT_MEMORY_CACHED),
		KEY("Shmem:", BOOT_MEMORY_SHARED),
		KEY("Dirty:", BOOT_MEMORY_DIRTY),
		KEY("SwapTotal:", BOOT_MEMORY_SWAP_TOTAL),
		KEY("SwapFree:", BOOT_MEMORY_SWAP_FREE),
	};
#undef KEY
	struct memory_stat m;
	struct words w;
	const char *key;
	size_t n, i;

	memset(&m, 0, sizeof(m));
	words_init(&w, text, len);
	do {
		if (!words_next(&w, &key, &n))
			continue;
		for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			if (n == keys[i].len && !memcmp(key, keys[i].text, n))
				m.kib[keys[i].at] += words_number(&w);
		w.bad = false;
	} while (words_next_line(&w));
	if (!m.kib[BOOT_MEMORY_TOTAL])
		return false;
	*ret = m;
	return true;
}

/* "total=123" is the last word of a line, in microseconds. */
static uint64_t take_total(struct words *w)
{
	static const char key[] = "total=";
	const size_t key_len = sizeof(key) - 1;
	struct words number;
	const char *word;
	uint64_t us = 0;
	size_t len;

	while (words_next(w, &word, &len)) {
		if (len <= key_len || memcmp(word, key, key_len))
			continue;
		words_init(&number, word + key_len, len - key_len);
		us = words_number(&number);
	}
	return us * 1000;
}

bool pressure_stat_parse(struct pressure_stat *ret, const char *text, size_t len)
{
	struct pressure_stat p = { 0, 0 };
	bool any = false;
	struct words w;
	const char *key;
	size_t n;

	words_init(&w, text, len);
	do {
		if (!words_next(&w, &key, &n))
			continue;
		if (words_is(key, n, "some"))
			p.some_ns = take_total(&w);
		else if (words_is(key, n, "full"))
			p.full_ns = take_total(&w);
		else
			continue;
		any = true;
	} while (words_next_line(&w));
	if (any)
		*ret = p;
	return any;
}
