/* SPDX-License-Identifier: MIT */
/*
 * format: see format.h.
 *
 * The text is read line by line; a line that is not understood is passed over, because kernels and
 * vendors add lines, but a field line with numbers that cannot be is damage. Of the print fmt's C
 * expressions only what says how a task state is printed is evaluated, in format_get_states(): the
 * masks there are constant expressions like ((((0x0 | 0x1 | 0x40) + 1) << 1) - 1).
 */
#include "ftrace/format.h"

#include <errno.h>
#include <string.h>

#define EXPR_DEPTH_MAX 24 /* nested parentheses; kernels use five */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_';
}

static struct format_text trimmed(const char *at, size_t len)
{
	while (len && is_space(*at)) {
		at++;
		len--;
	}
	while (len && is_space(at[len - 1]))
		len--;
	return (struct format_text){ at, len };
}

/* If the text starts with the word, what follows it. */
static bool after(struct format_text t, const char *word, struct format_text *ret)
{
	size_t n = strlen(word);

	if (t.len < n || memcmp(t.at, word, n))
		return false;
	*ret = trimmed(t.at + n, t.len - n);
	return true;
}

static bool parse_number(struct format_text t, uint32_t max, uint32_t *ret)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < t.len && t.at[i] >= '0' && t.at[i] <= '9'; i++) {
		v = v * 10 + (uint64_t)(t.at[i] - '0');
		if (v > max)
			return false;
	}
	*ret = (uint32_t)v;
	return i > 0 && i == t.len;
}

/* The part up to the next ';', which is consumed. */
static struct format_text next_part(struct format_text *t)
{
	const char *end = t->len ? memchr(t->at, ';', t->len) : NULL;
	size_t len = end ? (size_t)(end - t->at) : t->len;
	struct format_text part = trimmed(t->at, len);
	size_t used = end ? len + 1 : len;

	*t = (struct format_text){ t->at + used, t->len - used };
	return part;
}

/* "__data_loc char[] filename", "char prev_comm[16]", "unsigned char common_flags". */
static void parse_declaration(struct format_field *f, struct format_text d)
{
	struct format_text rest;
	size_t end = d.len, start;

	f->form = FORMAT_INT;
	if (after(d, "__data_loc", &rest))
		f->form = FORMAT_DATA_LOC;
	else if (after(d, "__rel_loc", &rest))
		f->form = FORMAT_REL_LOC;
	if (end && d.at[end - 1] == ']') {
		while (end && d.at[end - 1] != '[')
			end--;
		end -= end > 0;
		if (f->form == FORMAT_INT)
			f->form = FORMAT_ARRAY;
	}
	for (start = end; start && is_word(d.at[start - 1]); start--)
		;
	f->name = (struct format_text){ d.at + start, end - start };
}

static int parse_field(struct format *f, struct format_text line, struct error *e)
{
	struct format_field field = { .form = FORMAT_INT };
	bool has_offset = false, has_size = false;
	struct format_text part, value;
	uint32_t number;

	parse_declaration(&field, next_part(&line));
	while (line.len) {
		part = next_part(&line);
		if (after(part, "offset:", &value)) {
			has_offset = parse_number(value, FORMAT_RECORD_MAX, &number);
			field.offset = has_offset ? (uint16_t)number : 0;
		} else if (after(part, "size:", &value)) {
			has_size = parse_number(value, FORMAT_RECORD_MAX, &number);
			field.size = has_size ? (uint16_t)number : 0;
		} else if (after(part, "signed:", &value)) {
			field.is_signed = value.len && *value.at == '1';
		}
	}
	if (!has_offset || !has_size || !field.name.len ||
	    (uint32_t)field.offset + field.size > FORMAT_RECORD_MAX)
		return error_set(e, EBADMSG, "event format: field %u has no name, offset or size",
				 f->n_fields);
	if (f->n_fields < FORMAT_FIELDS_MAX)
		f->fields[f->n_fields++] = field;
	return 0;
}

static int parse_line(struct format *f, struct format_text line, struct error *e)
{
	struct format_text rest;

	if (after(line, "field:", &rest) || after(line, "field special:", &rest))
		return parse_field(f, rest, e);
	if (after(line, "name:", &rest)) {
		f->name = rest;
	} else if (after(line, "ID:", &rest)) {
		if (!parse_number(rest, UINT16_MAX, &f->id))
			return error_set(e, EBADMSG, "event format: the ID is not a number");
	}
	return 0;
}

int format_parse(struct format *ret, const char *text, size_t len, struct error *e)
{
	const char *end = text + len, *eol;
	struct format_text line, rest;
	int r;

	memset(ret, 0, sizeof(*ret));
	for (; text < end; text = eol + (eol < end)) {
		eol = memchr(text, '\n', (size_t)(end - text));
		if (!eol)
			eol = end;
		line = trimmed(text, (size_t)(eol - text));
		/* The print fmt comes last and may contain line breaks. */
		if (after(line, "print fmt:", &rest)) {
			ret->print = trimmed(rest.at, (size_t)(end - rest.at));
			break;
		}
		r = parse_line(ret, line, e);
		if (r < 0)
			return r;
	}
	if (!ret->n_fields)
		return error_set(e, EBADMSG, "event format: no fields in %zu bytes", len);
	return 0;
}

static bool text_is(struct format_text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.at, s, t.len);
}

const struct format_field *format_get_field(const struct format *f, const char *name)
{
	uint32_t i;

	for (i = 0; i < f->n_fields; i++)
		if (text_is(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}

bool format_is_named(const struct format *f, const char *name)
{
	return text_is(f->name, name);
}

bool format_prints(const struct format *f, const char *text)
{
	const char *open = f->print.len ? memchr(f->print.at, '"', f->print.len) : NULL;
	const char *close;

	if (!open)
		return false;
	open++;
	close = memchr(open, '"', (size_t)(f->print.at + f->print.len - open));
	return close && memmem(open, (size_t)(close - open), text, strlen(text));
}

/* A cursor over the print fmt's expressions. */
struct expr {
	const char *at, *end;
	int depth;
	bool failed;
};

static void skip_space(struct expr *x)
{
	while (x->at < x->end && (is_space(*x->at) || *x->at == '\n'))
		x->at++;
}

static bool take(struct expr *x, const char *token)
{
	size_t n = strlen(token);

	skip_space(x);
	if ((size_t)(x->end - x->at) < n || memcmp(x->at, token, n))
		return false;
	x->at += n;
	return true;
}

/* Moves behind the next occurrence. */
static bool find(struct expr *x, const char *token)
{
	const char *at = memmem(x->at, (size_t)(x->end - x->at), token, strlen(token));

	if (!at)
		return false;
	x->at = at + strlen(token);
	return true;
}

static uint64_t number(struct expr *x)
{
	unsigned int base = take(x, "0x") ? 16 : 10, digit;
	const char *start;
	uint64_t v = 0;

	skip_space(x);
	for (start = x->at; x->at < x->end; x->at++) {
		char c = *x->at;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if (base == 16 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned int)((c | 0x20) - 'a') + 10;
		else
			break;
		v = v * base + digit;
	}
	x->failed |= start == x->at;
	while (x->at < x->end && (*x->at == 'U' || *x->at == 'L' || *x->at == 'u' || *x->at == 'l'))
		x->at++;
	return v;
}

static uint64_t expr_or(struct expr *x);

static uint64_t expr_unit(struct expr *x)
{
	uint64_t v;

	if (!take(x, "("))
		return number(x);
	if (++x->depth > EXPR_DEPTH_MAX) {
		x->failed = true;
		return 0;
	}
	v = expr_or(x);
	x->depth--;
	x->failed |= !take(x, ")");
	return v;
}

static uint64_t expr_sum(struct expr *x)
{
	uint64_t v = expr_unit(x);

	while (!x->failed) {
		if (take(x, "+"))
			v += expr_unit(x);
		else if (take(x, "-"))
			v -= expr_unit(x);
		else
			break;
	}
	return v;
}

static uint64_t expr_shift(struct expr *x)
{
	uint64_t v = expr_sum(x), by;

	while (!x->failed && take(x, "<<")) {
		by = expr_sum(x);
		v = by < 64 ? v << by : 0;
	}
	return v;
}

static uint64_t expr_or(struct expr *x)
{
	uint64_t v = expr_shift(x);

	while (!x->failed && take(x, "|"))
		v |= expr_shift(x);
	return v;
}

/* "REC->prev_state & CONSTANT", or without the mask. */
static uint64_t state_mask(struct expr *x)
{
	if (!take(x, "&"))
		return UINT64_MAX;
	return expr_or(x);
}

/* { 0x01, "S" }, … up to the closing parenthesis of __print_flags(). */
static void state_letters(struct expr *x, char letters[64])
{
	uint64_t bit;

	while ((take(x, ",") || true) && take(x, "{")) {
		bit = expr_or(x);
		if (x->failed || !take(x, ",") || !take(x, "\"") || x->at >= x->end)
			return;
		if (bit && !(bit & (bit - 1)))
			letters[__builtin_ctzll(bit)] = *x->at;
		if (!find(x, "}"))
			return;
	}
}

int format_get_states(const struct format *f, struct format_states *ret)
{
	struct format_states s = { .mask = 0 };
	struct expr x = { .at = f->print.at };

	/* Without a print line there is no pointer to add to, either. */
	if (!f->print.len)
		return -ENOENT;
	x.end = x.at + f->print.len;
	if (!find(&x, "__print_flags(") || !take(&x, "REC->prev_state"))
		return -ENOENT;
	s.mask = state_mask(&x);
	if (x.failed || !take(&x, ",") || !take(&x, "\"|\""))
		return -ENOENT;
	state_letters(&x, s.letters);
	/* Older kernels than 3.3 have no '+'. */
	if (!x.failed && find(&x, "REC->prev_state") && take(&x, "&")) {
		s.preempt = expr_or(&x);
		if (x.failed || !take(&x, "?") || !take(&x, "\"+\""))
			s.preempt = 0;
	}
	*ret = s;
	return 0;
}
