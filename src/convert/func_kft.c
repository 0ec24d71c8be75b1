/* SPDX-License-Identifier: MIT */
/*
 * func_kft: the calls as the Kernel Function Trace of CELF lists them, for kd and scripts like it.
 *
 *	 Entry      Delta      PID            Function                    Called At
 *	--------   --------   -----   -------------------------   --------------------------
 *	      14       8687       0                  setup_arch   start_kernel+0x0
 *
 * Such scripts look for the line of dashes and split what follows at blanks; they split the place of
 * the call at its '+'. So names have neither: a blank is written as '_', a '+' as '@'. The place of a call is
 * not recorded, only the caller: its offset is always 0. A function that nobody called has "-". PID is
 * the thread, because KFT knows no other. A call without a return has "no exit".
 *
 * Entry and Delta are whole microseconds. A call's Delta is the difference of its two moments, each cut to
 * a microsecond: so no call ends before one that it made began.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/call_list.h"
#include "base/decimal.h"
#include "convert/func_export.h"

#define NAME_WIDTH 27U
#define PART_ROOM 256U /* what is written of a row before its name */

/* The number, with blanks before it. */
static char *put_padded(char *p, uint64_t number, size_t width)
{
	char digits[DECIMAL_MAX];
	size_t n = (size_t)(decimal_put_u64(digits, number) - digits);

	for (; width > n; width--)
		*p++ = ' ';
	memcpy(p, digits, n);
	return p + n;
}

/* The name as one word. */
static void put_word(struct outfile *out, const char *name)
{
	char part[256];
	size_t n = 0;

	for (; *name; name++) {
		part[n++] = (uint8_t)*name <= ' ' ? '_' : *name == '+' ? '@' : *name;
		if (n < sizeof(part))
			continue;
		outfile_write(out, part, n);
		n = 0;
	}
	outfile_write(out, part, n);
}

static void put_row(const struct call_walk *w, struct outfile *out, const struct call_row *row,
		    uint64_t base_ns)
{
	const char *name = call_names_get(w->names, row->function)->name;
	uint64_t from = (row->begin_ns - base_ns) / 1000;
	uint64_t to = (row->begin_ns - base_ns + row->total_ns) / 1000;

	char *start = outfile_reserve(out, PART_ROOM), *p;
	size_t blanks;

	p = put_padded(start, from, 8);
	if (row->end == CALL_OPEN || row->end == CALL_CUT)
		p = stpcpy(p, "    no exit");
	else
		p = put_padded(stpcpy(p, "   "), to - from, 8);
	p = put_padded(stpcpy(p, " "), (uint64_t)w->source->threads[row->thread].tid, 7);
	*p++ = ' ';
	blanks = NAME_WIDTH - strnlen(name, NAME_WIDTH);
	memset(p, ' ', blanks);
	p += blanks;
	outfile_advance(out, (size_t)(p - start));
	put_word(out, name);
	outfile_write(out, "   ", 3);
	if (row->caller == UINT32_MAX) {
		outfile_write(out, "-\n", 2);
		return;
	}
	put_word(out, call_names_get(w->names, row->caller)->name);
	outfile_write(out, "+0x0\n", 5);
}

int func_kft_write(const struct call_walk *w, struct outfile *out, struct error *e)
{
	CLEANUP(call_list) struct call_list *l = NULL;
	const struct call_list_options all = { 0 };
	const struct call_totals *t;
	struct call_row row;
	int r = call_list_new(&l, w, &all, e);

	if (r < 0)
		return r;
	t = call_list_totals(l);
	outfile_printf(out,
		       "\nFunction trace of %s, written by kiseki\n\nNumber of entries = %" PRIu64
		       "\nNumber of lost events = %" PRIu64 "\n\n",
		       w->source->origin ? w->source->origin : "a program", t->counts.calls,
		       t->lost);
	outfile_printf(out, " Entry      Delta      PID            Function               "
			    "     Called At\n"
			    "--------   --------   -----   -------------------------   "
			    "--------------------------\n");
	while ((r = call_list_next(l, &row, e)) > 0)
		put_row(w, out, &row, t->from_ns);
	return r < 0 ? r : outfile_check(out, e);
}
