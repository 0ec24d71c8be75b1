/* SPDX-License-Identifier: MIT */
/*
 * gate: see gate.h. Opening it is the one moment when the hooks do a lot: settings, file, maps. A
 * process that cannot be traced gets a header that is off, so that its hooks have nothing to ask.
 */
#include "device/func/gate.h"

#include <pthread.h>
#include <sys/mman.h>

#include "device/func/file.h"
#include "device/func/say.h"
#include "device/func/sys.h"
#include "device/func/word.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#define LOCK_PAUSE_US 20U
#define SYNC_NS 100000000U
#define SYNC_TRIES 4U
#define FUTILE_MAX 16U
#define FUTILE_NS 100000000U

union gate_pages gate_pages __attribute__((aligned(GATE_BYTES)));
uint8_t gate_idle[FUNC_BUFFER_HEADER] __attribute__((aligned(8)));
struct settings gate_settings;
struct func_clock gate_clock;

/* Of the program, not of a process: kept over fork. */
static bool is_set_up;
static bool is_refused;

extern char **environ;

bool gate_lock(struct gate *g)
{
	uint32_t me = sys_tid(), free;
	struct sys_signals signals;

	for (;;) {
		free = 0;
		sys_hold_signals(&signals);
		if (__atomic_compare_exchange_n(&g->lock, &free, me, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			g->signals = signals;
			return true;
		}
		sys_release_signals(&signals);
		if (free == me)
			return false;
		sys_sleep_us(LOCK_PAUSE_US);
	}
}

void gate_unlock(struct gate *g)
{
	struct sys_signals signals = g->signals;

	__atomic_store_n(&g->lock, 0, __ATOMIC_RELEASE);
	sys_release_signals(&signals);
}

/* Where the kernel does not wipe pages, as those before 4.14 and emulators of programs: at least the
 * children that the C library makes. This cannot wait for a hook: it may allocate. */
static void wipe(void)
{
	memset(&gate_pages.gate, 0, sizeof(gate_pages.gate));
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, wipe);
}

static void set_up(void)
{
	const char *wrong = settings_parse(&gate_settings, environ);

	is_set_up = true;
	func_clock_init(&gate_clock);
	if (wrong) {
		say_failure("use", wrong, say_reason(0));
		is_refused = true;
	}
	madvise(&gate_pages, sizeof(gate_pages), MADV_WIPEONFORK);
}

/* Without them it is recorded all the same, and addresses have no names. */
static void open_maps(struct gate *g)
{
	void *at = mmap(NULL, sizeof(struct maps), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return;
	madvise(at, sizeof(struct maps), MADV_DONTFORK);
	g->maps = (struct maps *)at;
	gate_map(g);
}

static uint8_t *open_all(struct gate *g)
{
	const struct settings *s = &gate_settings;
	struct file_failure failure;
	uint8_t *base;

	if (!is_set_up)
		set_up();
	if (is_refused)
		return gate_idle;
	g->pid = (uint32_t)getpid();
	g->epoch = 1;
	g->shift = gate_clock.shift;
	g->kind = gate_clock.kind;
	g->policy = (uint32_t)s->policy;
	g->left = (uint32_t)s->limit;
	g->running = !(s->rules.bits & RULE_START);
	g->min_ticks = s->min_ns / 1000 * (gate_clock.hz / 1000) / 1000 +
		       s->min_ns % 1000 * (gate_clock.hz / 1000) / 1000000;
	base = file_open(g, &failure);
	if (base)
		return base;
	say_failure(failure.verb, g->path,
		    failure.text[0] ? failure.text : say_reason(failure.number));
	return gate_idle;
}

bool gate_open(struct gate *g)
{
	uint8_t *base;

	if (!gate_lock(g)) {
		g->early++;
		return false;
	}
	if (!g->base) {
		base = open_all(g);
		if (base != gate_idle) {
			g->header = base;
			open_maps(g);
			file_close_maps(g);
			g->generation = 1; /* also if there is none */
			gate_sync(g, true);
			word_add64(base + FUNC_BUFFER_AT_LOST_THREADS, g->early);
			__atomic_thread_fence(__ATOMIC_RELEASE);
			memcpy(base, FUNC_BUFFER_MAGIC, 8);
		}
		__atomic_store_n(&g->base, base, __ATOMIC_RELEASE);
	}
	gate_unlock(g);
	return true;
}

/* A pair that nothing came in between of, as far as a few tries find one. */
static void get_pair(const struct gate *g, uint64_t *ret_tick, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX, before, after, ns;
	uint32_t i;

	for (i = 0; i < SYNC_TRIES; i++) {
		before = func_clock_tick(g->shift, g->kind);
		ns = func_clock_ns(CLOCK_MONOTONIC);
		after = func_clock_tick(g->shift, g->kind);
		if (after - before >= best)
			continue;
		best = after - before;
		*ret_tick = before + best / 2;
		*ret_ns = ns;
	}
}

void gate_sync(struct gate *g, bool now)
{
	uint64_t tick = 0, ns = func_clock_ns(CLOCK_MONOTONIC);
	uint32_t n, unlocked = 0;
	uint8_t *p;

	if (!now && ns - g->synced_ns < SYNC_NS)
		return;
	if (!__atomic_compare_exchange_n(&g->sync_lock, &unlocked, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	get_pair(g, &tick, &ns);
	g->synced_ns = ns;
	n = word_get(g->header + FUNC_BUFFER_AT_SYNC_NEXT);
	p = g->header + FUNC_BUFFER_AT_SYNC + (size_t)(n % FUNC_BUFFER_SYNCS) * 16;
	word_put64(p, tick);
	word_put64(p + 8, ns);
	word_put(g->header + FUNC_BUFFER_AT_SYNC_NEXT, n + 1);
	__atomic_store_n(&g->sync_lock, 0, __ATOMIC_RELEASE);
}

static bool write_maps(struct gate *g, uint32_t generation)
{
	int fd = file_open_maps(g, generation);
	bool ok = fd >= 0 && maps_write(g->maps, fd, generation);

	if (fd >= 0)
		sys_close(fd);
	return ok;
}

void gate_map(struct gate *g)
{
	uint64_t now = func_clock_ns(CLOCK_MONOTONIC);
	enum maps_change change;
	uint32_t generation = g->generation + 1;

	if (g->futile >= FUTILE_MAX && now - g->mapped_ns < FUTILE_NS)
		return;
	g->mapped_ns = now;
	change = maps_parse(g->maps);
	if (change == MAPS_SAME || (change == MAPS_UNKNOWN && g->blind)) {
		g->futile++;
		return;
	}
	g->blind = change == MAPS_UNKNOWN;
	if (!g->blind && write_maps(g, generation))
		word_put(g->header + FUNC_BUFFER_AT_MAPS, generation);
	else if (change == MAPS_MORE)
		return; /* what has a name keeps it */
	__atomic_store_n(&g->generation, generation, __ATOMIC_RELEASE);
	if (change != MAPS_MORE)
		__atomic_store_n(&g->epoch, g->epoch + 1, __ATOMIC_RELEASE);
}
