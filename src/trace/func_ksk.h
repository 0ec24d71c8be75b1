/* SPDX-License-Identifier: MIT */
/*
 * func_ksk: the function streams of a .ksk file, or of a run in a store, as a function source.
 *
 * A thread has two streams, its calls and what the machine did to it (wire.md, section 3.2): both
 * are items of the one thread. A stream that the metadata do not name is a thread of a process
 * without a name, so that nothing is hidden by a torn description.
 *
 * func_ksk_open_joined() also makes OS records out of the scheduler streams of the same file
 * (func_sched.h), if it has any and their clock has anything in common with that of the calls.
 */
#ifndef KISEKI_TRACE_FUNC_KSK_H
#define KISEKI_TRACE_FUNC_KSK_H

#include "store/ksk_file.h"
#include "store/store_reader.h"
#include "trace/func_cursor.h"
#include "trace/func_source.h"

/* -ENODATA: it has no function streams. */
int func_ksk_open(const char *path, struct func_source **ret, struct error *e);
int func_ksk_open_joined(const char *path, struct func_source **ret, struct error *e);
int func_ksk_open_memory(const uint8_t *data, size_t len, struct func_source **ret,
			 struct error *e);
int func_ksk_open_run(struct store *s, uint32_t run, struct func_source **ret, struct error *e);
/* Without what is long before that tick: each stream begins somewhere at or before it. */
int func_ksk_open_from(struct store *s, uint32_t run, uint64_t from_tick, struct func_source **ret,
		       struct error *e);

/* Whether there are function streams. */
bool func_ksk_has_calls(struct block_reader *r);

/* Of a source opened here, what a thread's calls (os: false) and OS records (true) took; NULL: it
 * has no such stream. */
const struct func_totals *func_ksk_totals(const struct func_source *s, uint32_t thread, bool os);

/* The number of its threads' first stream. */
uint32_t func_ksk_stream(const struct func_source *s, uint32_t thread);

/* The ticks of its first and its last event, as the headers of its blocks tell. 1, 0: it has none, or < 0. */
int func_ksk_span(const struct func_source *s, uint64_t *ret_from, uint64_t *ret_to);

/* The tick of a thread's last event likewise; 0: it has none. Returns 0 or < 0. */
int func_ksk_last_tick(const struct func_source *s, uint32_t thread, uint64_t *ret);

/* Of a source opened from a file: that file, with its damage. */
struct ksk_file *func_ksk_file(const struct func_source *s);

#endif
