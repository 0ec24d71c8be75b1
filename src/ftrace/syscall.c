/* SPDX-License-Identifier: MIT */
/* syscall: see syscall.h. */
#include "ftrace/syscall.h"

#include <errno.h>
#include <string.h>

#include "ftrace/bytes.h"
#include "ftrace/format.h"

static const char *const names[SYSCALL_KINDS] = {
	[SYSCALL_ENTER] = "sys_enter",
	[SYSCALL_RETURN] = "sys_exit",
};

void syscall_map_init(struct syscall_map *m, bool big_endian)
{
	memset(m, 0, sizeof(*m));
	m->big_endian = big_endian;
}

const char *syscall_map_get_name(enum syscall_kind kind)
{
	return names[kind];
}

static bool resolve(const struct format *f, const char *name, struct syscall_ref *ret,
		    uint32_t *min_len)
{
	const struct format_field *field = format_get_field(f, name);

	if (!field || field->form != FORMAT_INT ||
	    (field->size != 2 && field->size != 4 && field->size != 8))
		return false;
	ret->offset = field->offset;
	ret->size = (uint8_t)field->size;
	if ((uint32_t)field->offset + field->size > *min_len)
		*min_len = (uint32_t)field->offset + field->size;
	return true;
}

int syscall_map_add(struct syscall_map *m, const char *text, size_t len, struct error *e)
{
	struct syscall_layout l = { .min_len = 0 };
	struct format f;
	int kind, r;

	/* What is wrong with an event that nobody asks for is nobody's business. */
	r = format_parse(&f, text, len, e);
	for (kind = 0; kind < SYSCALL_KINDS; kind++)
		if (f.name.len && format_is_named(&f, names[kind]))
			break;
	if (kind == SYSCALL_KINDS)
		return 0;
	if (r < 0)
		return r;
	if (!resolve(&f, "common_type", &l.type, &l.min_len) || l.type.size != 2 ||
	    !resolve(&f, "common_pid", &l.pid, &l.min_len) || l.pid.size != 4 ||
	    !resolve(&f, "id", &l.number, &l.min_len))
		return error_set(e, EBADMSG, "format of %s: a field is missing or unusable",
				 names[kind]);
	l.id = f.id + 1;
	m->layouts[kind] = l;
	return 1;
}

/* Integers of the kernel keep their sign. */
static int64_t load(const struct syscall_map *m, const uint8_t *record, struct syscall_ref f)
{
	const uint8_t *p = record + f.offset;

	if (f.size == 8)
		return (int64_t)bytes_get64(p, m->big_endian);
	if (f.size == 4)
		return (int32_t)bytes_get32(p, m->big_endian);
	return (int16_t)bytes_get16(p, m->big_endian);
}

static bool is_kind(const struct syscall_map *m, const struct syscall_layout *l,
		    const uint8_t *record, size_t len)
{
	return l->id && len >= (size_t)l->type.offset + 2 &&
	       bytes_get16(record + l->type.offset, m->big_endian) + 1U == l->id;
}

int syscall_map_decode(const struct syscall_map *m, const uint8_t *record, size_t len,
		       struct syscall_event *ret)
{
	const struct syscall_layout *l = m->layouts;
	int kind;

	for (kind = 0; kind < SYSCALL_KINDS; kind++)
		if (is_kind(m, &l[kind], record, len))
			break;
	if (kind == SYSCALL_KINDS)
		return 0;
	if (len < l[kind].min_len)
		return -EBADMSG;
	ret->kind = (enum syscall_kind)kind;
	ret->pid = (int32_t)load(m, record, l[kind].pid);
	ret->number = load(m, record, l[kind].number);
	return 1;
}
