/* SPDX-License-Identifier: MIT */
/*
 * gate: what a process knows about its own recording, in memory that a child does not inherit.
 *
 * The kernel hands these pages to a child as zeros (MADV_WIPEONFORK), whatever made the child: fork,
 * clone, a system call without the C library. So every hook of a child finds `base` missing and
 * prepares anew, and nothing in here has to be mended: locks that another thread held, counts, the
 * file. A child of vfork shares its parent's memory and with it the gate, on purpose.
 *
 * The first fields are what each hook reads; they share a cache line that hardly ever changes.
 */
#ifndef KISEKI_DEVICE_FUNC_GATE_H
#define KISEKI_DEVICE_FUNC_GATE_H

#include "device/func/clock.h"
#include "device/func/maps.h"
#include "device/func/settings.h"
#include "device/func/sys.h"
#include "wire/func_buffer.h"

#define GATE_PATH_MAX (SETTINGS_FOLDER_MAX + 64U)

/* The largest page that this processor may have. */
#if defined(__x86_64__) || defined(__i386__)
#define GATE_BYTES 4096U
#else
#define GATE_BYTES 65536U
#endif

struct gate {
	uint8_t *base;	/* the header; NULL: not prepared; `gate_idle`: not to be traced */
	uint32_t epoch; /* from 1; raised when mapped code went away */
	uint32_t shift;
	uint32_t kind; /* enum func_buffer_clock */

	uint8_t *header;       /* as base, from a little earlier on */
	uint32_t lock;	       /* tid of who holds it */
	uint32_t sync_lock;    /* of the pairs in the header; nobody waits for it */
	uint32_t cursor;       /* chunk that is tried first */
	uint32_t early;	       /* calls lost while it was being prepared */
	uint32_t left;	       /* events that may still be recorded */
	uint32_t running;      /* between a start trigger and a stop trigger */
	uint32_t orphans;      /* calls of threads without a slot, to look again now and then */
	bool blind;	       /* the maps cannot be read */
	bool no_populate;      /* the kernel cannot be asked for pages */
	uint32_t page;	       /* bytes of a page of this kernel */
	uint32_t slots_ready;  /* slots that have their pages: those before this one */
	uint32_t chunks_ready; /* chunks likewise */
	uint32_t full_ms;      /* when the file system last had no page, and 1; 0: it had */
	bool keyed;	       /* each chunk starts a segment */
	uint32_t pid;
	uint32_t n_slots, slot_bytes, n_chunks, chunk_bytes;
	uint32_t policy;
	uint32_t generation; /* of the maps */
	uint64_t bytes;
	uint32_t futile;    /* times that the maps were read in vain */
	uint64_t mapped_ns; /* when they were read */
	uint64_t synced_ns;
	uint64_t min_ticks;
	uint8_t *slots, *chunks;
	struct maps *maps;
	uint32_t maps_given;	    /* while it is opened: the agent's descriptor for them, and 1 */
	uint64_t silent_ns;	    /* when the agent did not answer; 0: it did */
	struct sys_signals signals; /* of who holds the lock, as they were */
	uint64_t maps_device, maps_inode; /* the maps file that was made; 0: none was */
	char path[GATE_PATH_MAX];
};

union gate_pages {
	struct gate gate;
	uint8_t bytes[GATE_BYTES];
};
_Static_assert(sizeof(struct gate) <= 4096, "a gate is a page");

#define GATE_HIDDEN __attribute__((visibility("hidden"))) /* no table stands between */

extern union gate_pages gate_pages GATE_HIDDEN;
extern uint8_t gate_idle[FUNC_BUFFER_HEADER] GATE_HIDDEN; /* a header that is off */

/* Read once for a program, kept over fork. */
extern struct settings gate_settings GATE_HIDDEN;
extern struct func_clock gate_clock GATE_HIDDEN;

static inline uint32_t gate_generation(const struct gate *g)
{
	return __atomic_load_n(&g->generation, __ATOMIC_ACQUIRE);
}

/* Waits for the lock; false: this thread holds it already, below a signal handler. Who holds it gets no
 * signals: if a handler jumped away, all others would wait for ever. */
bool gate_lock(struct gate *g);
void gate_unlock(struct gate *g);

/* Opens the file if there is none yet, and says once on standard error if that failed. False: this
 * thread is at it already. */
bool gate_open(struct gate *g);

/* Another pair of counter and clock, unless the last one is recent. */
void gate_sync(struct gate *g, bool now);

/* The maps have changed, or may have: writes them if so. With the lock held. */
void gate_map(struct gate *g);

#endif
