/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_option: the options of a trace.dat that matter to us.
 *
 * Options that shift or scale time are applied as `trace-cmd report` applies them: DATE
 * (microseconds) and OFFSET (nanoseconds) are added to every stamp, TSC2NSEC scales a raw counter.
 */
#include <errno.h>
#include <stdlib.h>

#include "convert/tracedat.h"

/* A number in text, "0x…" or decimal; the option need not be terminated. */
static int64_t text_number(const struct tracedat_cursor *c)
{
	char text[40];
	size_t n = c->len < sizeof(text) - 1 ? c->len : sizeof(text) - 1;

	memcpy(text, c->data, n);
	text[n] = 0;
	return strtoll(text, NULL, 0);
}

/* "Linux juno 3.18.0-rc7 aarch64": system, host, release and machine. A version between the last two
 * is passed over; of three words the host is the missing one. */
static int uname_option(const struct tracedat_cursor *c, struct trace_info *info)
{
	const char *text = (const char *)c->data;
	size_t len = strnlen(text, c->len), at, start = 0, n = 0;
	struct {
		const char *at;
		size_t len;
	} word[4] = { { text, 0 }, { text, 0 }, { text, 0 }, { text, 0 } };

	for (at = 0; at <= len; at++) {
		if (at < len && text[at] != ' ')
			continue;
		word[n < 3 ? n : 3].at = text + start;
		word[n < 3 ? n : 3].len = at - start;
		start = at + 1;
		n++;
	}
	if (n == 3) {
		word[3] = word[2];
		word[2] = word[1];
		word[1].len = 0;
	}
	if (info_set(&info->device, word[1].at, word[1].len) ||
	    info_set(&info->kernel, word[2].at, word[2].len) ||
	    info_set(&info->machine, word[3].at, word[3].len))
		return -ENOMEM;
	return 0;
}

/* Clocks have plain names; anything else would only travel into other files. */
void tracedat_set_clock(struct trace_info *info, const char *name, size_t len)
{
	size_t i;

	if (!len || len >= sizeof(info->clock.name))
		return;
	for (i = 0; i < len; i++)
		info->clock.name[i] = name[i] > ' ' && name[i] < 0x7f ? name[i] : '?';
	info->clock.name[len] = 0;
}

void tracedat_parse_clock(struct trace_info *info, const uint8_t *text, size_t len)
{
	const char *open = len ? memchr(text, '[', len) : NULL;
	const char *close =
		open ? memchr(open, ']', len - (size_t)(open - (const char *)text)) : NULL;

	if (close)
		tracedat_set_clock(info, open + 1, (size_t)(close - open - 1));
}

static int tsc_option(struct tracedat *t, struct tracedat_cursor *c, struct error *e)
{
	uint32_t mult = tracedat_get32(c), shift = tracedat_get32(c);

	if (c->failed || !mult)
		return 0;
	if (shift > 32)
		return error_set(e, EBADMSG, "trace.dat: a clock with a shift of %u bits", shift);
	t->tsc_mult = mult;
	t->tsc_shift = shift;
	return 0;
}

int tracedat_option(struct tracedat *t, unsigned int id, struct tracedat_cursor c,
		    struct trace_info *info, struct error *e)
{
	uint64_t number;

	switch (id) {
	case TRACEDAT_DATE:
		number = (uint64_t)text_number(&c) * 1000;
		t->stamp_add_ns = (int64_t)((uint64_t)t->stamp_add_ns + number);
		t->is_date = true;
		return 0;
	case TRACEDAT_OFFSET:
		number = (uint64_t)text_number(&c);
		t->stamp_add_ns = (int64_t)((uint64_t)t->stamp_add_ns + number);
		return 0;
	case TRACEDAT_TRACECLOCK:
		t->has_clock_option = true;
		tracedat_parse_clock(info, c.data, c.len);
		return 0;
	case TRACEDAT_UNAME:
		if (uname_option(&c, info) < 0)
			return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
		return 0;
	case TRACEDAT_CPUCOUNT:
		number = tracedat_get32(&c);
		if (c.failed || number > TRACE_CPUS_MAX)
			return error_set(e, EBADMSG, "trace.dat: a machine of %llu CPUs",
					 (unsigned long long)number);
		t->cpus = (uint32_t)number;
		return 0;
	case TRACEDAT_TSC2NSEC:
		return tsc_option(t, &c, e);
	case TRACEDAT_CPUSTAT:
		return tracedat_stat_option(t, &c, e);
	case TRACEDAT_BUFFER:
	case TRACEDAT_BUFFER_TEXT:
		return tracedat_buffer_option(t, id, &c, info, e);
	case TRACEDAT_HEADER_INFO:
	case TRACEDAT_FTRACE_FORMATS:
	case TRACEDAT_EVENT_FORMATS:
	case TRACEDAT_KALLSYMS:
	case TRACEDAT_CMDLINES:
		number = tracedat_get64(&c);
		t->section[id] = c.failed ? 0 : number;
		return 0;
	default:
		return 0;
	}
}
