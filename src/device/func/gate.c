/* SPDX-License-Identifier: MIT */
/*
 * gate: see gate.h. Opening it is the one moment when the hooks do a lot: settings, file, maps. A
 * process that cannot be traced gets a header that is off, so that its hooks have nothing to ask.
 */
#include "device/func/gate.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "device/func/file.h"
#include "device/func/fork.h"
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

#define GONE_ROUNDS 1000U /* after which who holds the lock is looked for */

/* Of the program, not of a process: kept over fork. */
static bool is_set_up;
static bool is_refused;

extern char **environ;

/* Whether a task ended and nobody has waited for it yet. */
static bool is_zombie(uint32_t tid)
{
	char text[256] = "/proc/", digits[11], *p = digits + sizeof(digits);
	ssize_t n;
	int fd;

	*--p = '\0';
	do
		*--p = (char)('0' + tid % 10);
	while (tid /= 10);
	memcpy(text + strlen(text), p, strlen(p) + 1);
	memcpy(text + strlen(text), "/stat", sizeof("/stat"));
	fd = sys_open(text, O_RDONLY, 0);
	if (fd < 0)
		return false;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	text[n < 0 ? 0 : n] = '\0';
	p = strrchr(text, ')'); /* behind a name, which may have any bytes */
	return p && p[1] && (p[2] == 'Z' || p[2] == 'X');
}

/* With signals held: takes it from `from`, or says in *from who has it. */
static bool take_lock(struct gate *g, uint32_t *from, uint32_t me)
{
	struct sys_signals signals;

	sys_hold_signals(&signals);
	if (__atomic_compare_exchange_n(&g->lock, from, me, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		g->signals = signals;
		return true;
	}
	sys_release_signals(&signals);
	return false;
}

static bool is_gone(uint32_t tid)
{
	return sys_task_is_gone(tid) || is_zombie(tid);
}

bool gate_lock(struct gate *g)
{
	uint32_t me = sys_tid(), from = 0, holder, rounds;

	for (rounds = 1; !take_lock(g, &from, me); rounds++) {
		if (from == me)
			return false;
		sys_sleep_us(LOCK_PAUSE_US);
		/* A child of vfork has the gate of its parent, and may have been killed. */
		holder = from;
		from = rounds % GONE_ROUNDS == 0 && is_gone(holder) ? holder : 0;
	}
	return true;
}

void gate_unlock(struct gate *g)
{
	struct sys_signals signals = g->signals;

	__atomic_store_n(&g->lock, 0, __ATOMIC_RELEASE);
	sys_release_signals(&signals);
}

static void refuse(const char *verb, const char *what, int number)
{
	say_failure(verb, what, say_reason(number));
	is_refused = true;
}

/* A program that has more rights than who started it makes no files where that user says. Kernels before
 * 4.14 cannot hide memory from children (EINVAL); those that can and do not would let a child believe
 * that it has its parent's mapping. */
static void set_up(void)
{
	const char *wrong = settings_parse(&gate_settings, environ);

	is_set_up = true;
	func_clock_init(&gate_clock);
	if (wrong)
		refuse("use", wrong, 0);
	else if (!gate_settings.agent[0] && getauxval(AT_SECURE))
		refuse("record into", gate_settings.folder, EPERM);
	else if (madvise(&gate_pages, sizeof(gate_pages), MADV_WIPEONFORK) < 0 && errno != EINVAL)
		refuse("hide memory from", "children", errno);
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
		g->header = base;
		if (base != gate_idle) {
			fork_watch(g);
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
	int fd = file_open_maps(g);
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
