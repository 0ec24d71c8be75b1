/* SPDX-License-Identifier: MIT */
/*
 * fork: see fork.h.
 *
 * What is known of the mapping lies outside of the gate, which the kernel wipes before the child's handler
 * runs. A slot of a hook under way is copied before the fork, because the child cannot read it: half of
 * what such a hook knows is in registers, and the rest has to agree with them.
 */
#include "device/func/fork.h"

#include <pthread.h>
#include <sys/mman.h>

#include "device/func/hook.h"
#include "device/func/slot.h"

#define GENERATIONS 2U

struct place {
	uint8_t *base;
	size_t bytes;
	uint32_t slot_bytes, chunk_bytes;
};

static struct place here, left[GENERATIONS];
static __thread uint8_t *copy __attribute__((tls_model("initial-exec")));

static void *map(void *at, size_t bytes)
{
	void *p = mmap(at, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool is_here(const struct slot *t)
{
	return here.base && (uintptr_t)t - (uintptr_t)here.base < here.bytes;
}

static void before(void)
{
	const struct slot *t = hook_slot();

	if (!is_here(t) || !t->sp)
		return;
	copy = map(NULL, here.slot_bytes);
	if (copy)
		memcpy(copy, t, here.slot_bytes);
}

static void drop_copy(void)
{
	if (copy)
		munmap(copy, here.slot_bytes);
	copy = NULL;
}

/* The slot of a hook that was interrupted. One that had only begun finds nothing that it could use. */
static void fill(struct slot *t)
{
	if (copy) {
		memcpy(t, copy, here.slot_bytes);
		return;
	}
	t->epoch = UINT32_MAX;
	t->chunk = here.base + here.bytes - here.chunk_bytes;
	t->stale = 1;
}

/* Kernels before 4.14 and emulators of programs do not wipe the gate; then it is done here, at least for the
 * children that the C library makes. It cannot wait for a hook: it may allocate. */
static void in_child(void)
{
	struct slot *t = hook_slot();
	int saved = errno;

	memset(&gate_pages.gate, 0, sizeof(gate_pages.gate));
	gate_pages.gate.header = gate_idle;
	if (here.base) {
		if (left[GENERATIONS - 1].base)
			munmap(left[GENERATIONS - 1].base, left[GENERATIONS - 1].bytes);
		memmove(left + 1, left, sizeof(left) - sizeof(left[0]));
		left[0] = here;
		if (!map(here.base, here.bytes))
			left[0].base = NULL;
		else if (is_here(t))
			fill(t);
		drop_copy();
	}
	here.base = NULL;
	errno = saved;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before, drop_copy, in_child);
}

void fork_watch(const struct gate *g)
{
	here.bytes = (size_t)g->bytes;
	here.slot_bytes = g->slot_bytes;
	here.chunk_bytes = g->chunk_bytes;
	here.base = g->header;
}
