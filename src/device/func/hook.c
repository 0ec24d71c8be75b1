/* SPDX-License-Identifier: MIT */
/*
 * hook: see hook.h. This is what every call and every return of the traced program runs, so the
 * common case is short and straight: nothing is called, and what is asked is true nearly always.
 *
 *	the gate is open, and on
 *	the thread has a slot, no hook of it is under way, its chunk has room
 *	what happens was guessed, so that it is one byte (wire/func_hook_encode.h)
 *	no function is new
 *
 * Everything else is in hook_slow() and hook_new(). A hook leaves errno alone: the short way touches
 * nothing, the long ones keep it.
 */
#include "device/func/hook.h"

#include <kiseki/func.h>
#include <signal.h>

#include "device/func/slot.h"
#include "device/func/sys.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define PUBLIC __attribute__((visibility("default")))

static __thread struct slot *hook_self __attribute__((tls_model("initial-exec"))) = &slot_unborn;

/* Where the stack was before the hook was called. */
#define CALLER_SP() ((uintptr_t)__builtin_dwarf_cfa())

static bool is_on(const uint8_t *base)
{
	return word_get(base + FUNC_BUFFER_AT_ON) != 0;
}

/* A hook is under way: was it interrupted by this one, or was it left by a jump out of a signal
 * handler? The stack grows down, so who interrupts is below, unless he has a stack of his own. */
static bool is_nested(const struct slot *t, uintptr_t sp)
{
	stack_t own;
	uintptr_t start;

	if (sp < t->sp)
		return true;
	if (sigaltstack(NULL, &own) < 0 || !(own.ss_flags & SS_ONSTACK))
		return false;
	start = (uintptr_t)own.ss_sp;
	return t->sp < start || t->sp - start >= own.ss_size;
}

/* The hook under way will never end. If its event is not among the bytes, it is lost. What it was about
 * to change may be half changed, so all that was known is forgotten. */
static void recover(struct slot *t)
{
	uint64_t events = word_get64(&t->events);
	bool counted = (uint32_t)events - t->began_events == 1;
	bool committed = word_get(t->chunk + FUNC_CHUNK_AT_USED) != t->began_used;

	t->stale = 1;
	if (counted && !committed)
		word_put64(&t->events, events - 1);
	if (!counted || !committed)
		slot_lose(t); /* once: this may be left as well */
	t->sp = 0;
}

/* The thread's slot; NULL: it has none, and what happened was counted. */
static struct slot *find_slot(struct gate *g)
{
	struct slot *t = hook_self;

	if (t != &slot_unborn && t != &slot_orphan)
		return t;
	t = NULL;
	if (hook_self == &slot_unborn ||
	    __atomic_fetch_add(&g->orphans, 1, __ATOMIC_RELAXED) % 256 == 0) {
		if (gate_lock(g)) {
			t = slot_open(g, sys_tid());
			hook_self = t ? t : &slot_orphan;
			gate_unlock(g);
		}
	}
	if (!t)
		word_add64(g->header + FUNC_BUFFER_AT_LOST_THREADS, 1);
	return t;
}

/* With the thread's slot, and the hook under way. */
static void push(struct gate *g, struct slot *t, const struct func_event *ev, uintptr_t sp)
{
	uint32_t epoch = __atomic_load_n(&g->epoch, __ATOMIC_ACQUIRE);

	if (t->stale) {
		t->stale = 0;
		func_hook_init(&t->hook);
		if (gate_settings.choosy)
			choice_reset(t);
		slot_break(t);
	}
	if (t->epoch != epoch) {
		t->epoch = epoch;
		slot_break(t);
	}
	if (gate_settings.choosy && ev->kind != FUNC_OS)
		choice_push(g, t, ev, sp);
	else
		slot_push(g, t, ev);
}

/* A call, a return, or a look at what has changed. */
static void handle(struct gate *g, uint8_t kind, uintptr_t function, uintptr_t sp)
{
	struct func_event ev = { .kind = kind, .value = function };
	struct slot *t;

	if (!__atomic_load_n(&g->base, __ATOMIC_ACQUIRE)) {
		hook_self = &slot_unborn; /* the parent's, if this is a child */
		if (!gate_open(g))
			return;
	}
	if (!is_on(g->header))
		return;
	t = find_slot(g);
	if (!t)
		return;
	ev.tick = func_clock_tick(g->shift, g->kind);
	if (t->sp && is_nested(t, sp)) {
		word_add64(&t->lost, 1);
		return;
	}
	if (t->sp)
		recover(t);
	slot_begin(t);
	t->sp = sp;
	IN_ORDER();
	slot_begin(t); /* a handler may have come in between */
	push(g, t, &ev, sp);
	IN_ORDER();
	t->sp = 0;
}

static NOINLINE void hook_slow(uint8_t kind, uintptr_t function, uintptr_t sp)
{
	int saved = errno;

	handle(&gate_pages.gate, kind, function, sp);
	errno = saved;
}

/* A function was written as new that may be of an object which the maps do not have; then these have to
 * be told first. Its bytes do not count yet, but the codec has changed: so another segment starts,
 * without it. */
static NOINLINE void hook_new(struct slot *t, uint8_t kind, uintptr_t function, uint64_t tick,
			      uint8_t *out)
{
	struct func_event ev = { .tick = tick, .value = function, .kind = kind };
	int saved = errno;

	if (slot_knows(&gate_pages.gate, t, function)) {
		slot_commit(t->chunk, out);
	} else {
		word_put64(&t->events, word_get64(&t->events) - 1);
		if (kind == FUNC_ENTER)
			func_hook_pass_exit(&t->hook, function);
		slot_break(t);
		slot_push(&gate_pages.gate, t, &ev);
	}
	IN_ORDER();
	t->sp = 0;
	errno = saved;
}

/* The hook is under way, and the chunk has room. */
static ALWAYS_INLINE void put(struct slot *t, uint8_t kind, uintptr_t function, uint64_t tick)
{
	uint64_t last_new = t->hook.model.last_new;
	uint8_t *chunk = t->chunk, *out = chunk + FUNC_CHUNK_HEAD + t->began_used;

	word_put64(&t->events, word_get64(&t->events) + 1);
	if (kind == FUNC_ENTER)
		out = func_hook_enter(&t->hook, out, function, tick);
	else
		out = func_hook_exit(&t->hook, out, function, tick);
	if (UNLIKELY(t->hook.model.last_new != last_new)) {
		hook_new(t, kind, function, tick, out);
		return;
	}
	slot_commit(chunk, out);
	IN_ORDER();
	t->sp = 0;
}

/* Not what was guessed, or much later. */
static NOINLINE void hook_rare(struct slot *t, uint8_t kind, uintptr_t function, uint64_t tick)
{
	put(t, kind, function, tick);
}

/* Whether the codec will take its short way, which calls nothing. A hint: where it knows that, the
 * compiler leaves the long way out of the hook, and with it the registers that a call needs saved.
 * What is recorded does not depend on it. */
static ALWAYS_INLINE bool is_guessed(struct slot *t, uint8_t kind, uintptr_t function,
				     uint64_t tick)
{
	struct func_hook_model *m = &t->hook.model;
	uint32_t slot = *func_hook_guess(m) & ~FUNC_HOOK_SURE;

	if (tick - m->tick >= HOOK_GUESS_TICKS)
		return false;
	if (kind == FUNC_ENTER)
		return slot != FUNC_HOOK_EXIT && m->function[slot] == function;
	return slot == FUNC_HOOK_EXIT && func_stack_is_top(&m->stack, function);
}

static ALWAYS_INLINE void hook(uint8_t kind, uintptr_t function, uintptr_t sp)
{
	struct gate *g = &gate_pages.gate;
	const uint8_t *base = __atomic_load_n(&g->base, __ATOMIC_RELAXED);
	struct slot *t = hook_self;
	uint64_t tick;
	uint32_t used;

	if (UNLIKELY(!base)) {
		hook_slow(kind, function, sp);
		return;
	}
	if (UNLIKELY(!is_on(base))) {
		t->stale = 1;
		t->limit = 0;
		return;
	}
	tick = func_clock_tick(g->shift, g->kind);
	if (UNLIKELY(t->epoch != __atomic_load_n(&g->epoch, __ATOMIC_RELAXED) || t->sp)) {
		hook_slow(kind, function, sp);
		return;
	}
	t->began_used = word_get(t->chunk + FUNC_CHUNK_AT_USED);
	t->began_events = (uint32_t)word_get64(&t->events);
	IN_ORDER();
	t->sp = sp;
	IN_ORDER();
	/* Only now nobody else writes. A signal handler may have, since it was looked at. */
	used = word_get(t->chunk + FUNC_CHUNK_AT_USED);
	if (UNLIKELY(used >= t->limit || used != t->began_used)) {
		t->sp = 0;
		hook_slow(kind, function, sp);
		return;
	}
	if (LIKELY(is_guessed(t, kind, function, tick)))
		put(t, kind, function, tick);
	else
		hook_rare(t, kind, function, tick);
}

PUBLIC void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)call_site;
	hook(FUNC_ENTER, (uintptr_t)function, CALLER_SP());
}

PUBLIC void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	hook(FUNC_EXIT, (uintptr_t)function, CALLER_SP());
}

struct slot *hook_slot(void)
{
	return hook_self;
}

/* Something was unmapped: the stream says so before anything else is called. */
void hook_look(void)
{
	struct gate *g = &gate_pages.gate;
	int saved = errno;

	if (g->base && g->base != gate_idle && gate_lock(g)) {
		if (g->maps)
			gate_map(g);
		gate_unlock(g);
	}
	errno = saved;
}

PUBLIC int kiseki_func_get(void)
{
	const uint8_t *base = __atomic_load_n(&gate_pages.gate.base, __ATOMIC_ACQUIRE);

	return base && is_on(base);
}

PUBLIC int kiseki_func_set(int on)
{
	struct gate *g = &gate_pages.gate;
	int saved = errno;

	if (!g->base) {
		hook_self = &slot_unborn;
		gate_open(g);
	}
	errno = saved;
	if (!g->base || g->base == gate_idle)
		return -1;
	word_put(g->base + FUNC_BUFFER_AT_ON, on != 0);
	return 0;
}

/* The process ends in order, unless this is a child of vfork that goes the wrong way. */
__attribute__((destructor)) static void end(void)
{
	struct gate *g = &gate_pages.gate;
	int saved = errno;

	if (g->base && g->base != gate_idle && g->pid == (uint32_t)getpid()) {
		gate_sync(g, true);
		word_put(g->base + FUNC_BUFFER_AT_ENDED, 1);
	}
	errno = saved;
}
