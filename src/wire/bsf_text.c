/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_text: see bsf_text.h.
 *
 * The longest line is that of an entry: a name of 16 bytes, all escaped (64), the other texts (22),
 * five numbers (11 + 11 + 11 + 3 + 3), codes and separators: below BSF_LINE_MAX by far, so the
 * functions here need no bound on every byte.
 */
#include "wire/bsf_text.h"

static const char state_letters[BSF_STATE_MAX + 1] = { 'R', 'S', 'D', 'T', 't', 'Z', 'X', 'I' };
static const char *const type_marks[BSF_TYPE_MAX + 1] = { "==>", "+", "+w", "+n" };

static char *put_text(char *p, const char *s)
{
	while (*s)
		*p++ = *s++;
	return p;
}

/* At least `width` digits of a number of at most ten; a larger one, which no valid record has, is
 * shown as the largest. By subtraction, because a 32-bit kernel cannot divide 64 bits. */
static char *put_number(char *p, uint64_t v, unsigned width)
{
	static const uint32_t powers[] = { 1000000000, 100000000, 10000000, 1000000, 100000,
					   10000,      1000,	  100,	    10,	     1 };
	unsigned i, digit, left = 10;
	bool begun = false;

	if (v > BSF_SECS_MAX)
		v = BSF_SECS_MAX;
	for (i = 0; i < 10; i++, left--) {
		for (digit = 0; v >= powers[i]; digit++)
			v -= powers[i];
		begun = begun || digit || left <= width; /* width is 1 at least */
		if (begun)
			*p++ = (char)('0' + digit);
	}
	return p;
}

static char *put_pid(char *p, int32_t pid)
{
	if (pid >= 0)
		return put_number(p, (uint32_t)pid, 1);
	*p++ = '-';
	return put_number(p, 0U - (uint32_t)pid, 1);
}

static char *put_comm(char *p, const char comm[BSF_COMM_LEN])
{
	size_t i;

	for (i = 0; i < BSF_COMM_LEN && comm[i]; i++)
		*p++ = comm[i];
	return p;
}

/* One word that is never `_`: what is no printable ASCII, the space and the backslash become \xHH,
 * a name that is a lone underscore, too, and the empty name is \e. */
static char *put_escaped_comm(char *p, const char comm[BSF_COMM_LEN])
{
	static const char hex[] = "0123456789abcdef";
	bool lone = comm[0] == '_' && !comm[1];
	uint8_t c;
	size_t i;

	if (!comm[0])
		return put_text(p, "\\e");
	for (i = 0; i < BSF_COMM_LEN && comm[i]; i++) {
		c = (uint8_t)comm[i];
		if (c > ' ' && c < 0x7f && c != '\\' && !lone) {
			*p++ = (char)c;
			continue;
		}
		p = put_text(p, "\\x");
		*p++ = hex[c >> 4];
		*p++ = hex[c & 15];
	}
	return p;
}

/* "42:120:S" */
static char *put_task(char *p, int32_t pid, uint8_t prio, uint8_t state)
{
	p = put_pid(p, pid);
	*p++ = ':';
	p = put_number(p, prio, 1);
	*p++ = ':';
	*p++ = state_letters[state & BSF_STATE_MAX];
	return p;
}

size_t bsf_format(const struct bsf_record *r, char line[BSF_LINE_MAX])
{
	char *p = put_comm(line, r->comm);

	*p++ = '-';
	p = put_pid(p, r->entry_pid);
	p = put_text(p, " [");
	p = put_number(p, r->cpu, 3);
	p = put_text(p, "] ");
	p = put_number(p, r->secs, 1);
	*p++ = '.';
	p = put_number(p, r->usec_rem, 6);
	p = put_text(p, ": ");
	p = put_task(p, r->prev_pid, r->prev_prio, r->prev_state);
	*p++ = ' ';
	p = put_text(p, type_marks[r->entry_type & BSF_TYPE_MAX]);
	p = put_text(p, " [");
	p = put_number(p, r->next_cpu, 3);
	p = put_text(p, "] ");
	p = put_task(p, r->next_pid, r->next_prio, r->next_state);
	*p = 0;
	return (size_t)(p - line);
}

static char *put_mark_or_number(char *p, bool missing, uint64_t v)
{
	*p++ = ' ';
	return missing ? put_text(p, "_") : put_number(p, v, 1);
}

size_t bsf_format_entry(const struct bsf_entry *entry, char line[BSF_LINE_MAX])
{
	const struct bsf_record *r = &entry->rec;
	uint8_t missing = entry->missing;
	char *p = line;

	p = missing & BSF_TEXT_COMM ? put_text(p, "_") : put_escaped_comm(p, r->comm);
	p = put_mark_or_number(p, missing & BSF_TEXT_CPU, r->cpu);
	p = put_mark_or_number(p, missing & BSF_TEXT_SECS, r->secs);
	p = put_mark_or_number(p, missing & BSF_TEXT_USEC, r->usec_rem);
	p = put_mark_or_number(p, missing & BSF_TEXT_NEXT_CPU, r->next_cpu);
	p = put_text(p, " | ");
	p = put_text(p, type_marks[r->entry_type & BSF_TYPE_MAX]);
	*p++ = ' ';
	*p++ = state_letters[r->prev_state & BSF_STATE_MAX];
	*p++ = ' ';
	*p++ = state_letters[r->next_state & BSF_STATE_MAX];
	p = put_text(p, " | ");
	p = put_pid(p, r->entry_pid);
	*p++ = ' ';
	p = put_pid(p, r->prev_pid);
	*p++ = ' ';
	p = put_pid(p, r->next_pid);
	*p++ = ' ';
	p = put_number(p, r->prev_prio, 1);
	*p++ = ' ';
	p = put_number(p, r->next_prio, 1);
	*p = 0;
	return (size_t)(p - line);
}
