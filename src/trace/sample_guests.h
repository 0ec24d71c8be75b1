/* SPDX-License-Identifier: MIT */
/*
 * sample_guests: what virtual machines say of themselves: whose a page table is and when, which file lay where in
 * whom, what the kernel's functions are called.
 *
 * A machine is known by its number, the pid of its VMM on the host. All ticks are the host's. A page table is used
 * again when its process has ended, so it belongs to whoever was last told to have it before the moment in question, unless
 * that one's end was told, too. What no row tells of is not known, never guessed: a guest may be silent, may lie about
 * itself, and can say nothing about others.
 */
#ifndef KISEKI_TRACE_SAMPLE_GUESTS_H
#define KISEKI_TRACE_SAMPLE_GUESTS_H

#include "base/cleanup.h"
#include "trace/sample_spaces.h"
#include "wire/guest_link.h"
#include "wire/sample_event.h"

#define SAMPLE_GUESTS_MAX 4096U
#define SAMPLE_LINKS_MAX (1U << 16)  /* of one guest */
#define SAMPLE_TABLES_MAX (1U << 22) /* rows of one guest */

struct sample_guests;

int sample_guests_new(struct sample_guests **ret);
void sample_guests_free(struct sample_guests *g);
DEFINE_CLEANUP(sample_guests, sample_guests_free)

/* Adds what a payload of metadata says of guests; all else is passed over. -EBADMSG for what no encoder wrote,
 * -ENOMEM, -E2BIG at a ceiling. */
int sample_guests_decode(struct sample_guests *g, const uint8_t *in, size_t len);

/* Everything was read. More may be added after it; then it is to be settled again. -ENOMEM. */
int sample_guests_settle(struct sample_guests *g);

/* As sample_spaces.h has them; what is forgotten is so of the processes of all guests, and of page tables. */
int sample_guests_forget(struct sample_guests *g, const struct sample_horizon *to);
bool sample_guests_is_torn(const struct sample_guests *g);
size_t sample_guests_rows(const struct sample_guests *g);
size_t sample_guests_bytes(const struct sample_guests *g);

/* Its processes, by their numbers in the guest; NULL: it said nothing. */
struct sample_spaces *sample_guests_spaces(const struct sample_guests *g, int32_t vm);

/* How it went with its program (wire/guest_link.h). */
struct sample_link {
	uint64_t tick, error_ns;
	uint8_t what; /* enum guest_link */
	char note[GUEST_LINK_NOTE_MAX + 1];
};

/* The machine of the guest with this number, from 0 on; -1: there are not so many. 0 are those of which nobody knows whose
 * they were. */
int32_t sample_guests_vm(const struct sample_guests *g, size_t number);

/* How many, in the order in which it was written. */
size_t sample_guests_links(const struct sample_guests *g, int32_t vm,
			   const struct sample_link **ret);

struct sample_owner {
	int32_t pid, tid;
	const char *comm; /* terminated, borrowed */
	struct sample_span
		span; /* ticks for which this is so of the same registers; also if it is not known */
};

/* Who ran in the guest of machine `vm` at a sample, by what the sample has and the guest told. Threads are told apart where a
 * register names them; else tid is pid. False: not known. */
bool sample_guests_find(const struct sample_guests *g, int32_t vm, enum sample_exits exits,
			const struct sample_event *ev, struct sample_owner *ret);

/* The base of a page table as a register has it, without what else is in there. */
uint64_t sample_guest_table(enum sample_exits exits, uint64_t value);

#endif
