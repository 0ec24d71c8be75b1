/* SPDX-License-Identifier: MIT */
/* boot_moment: see boot_moment.h. */
#include "analysis/boot_moment.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/when.h"

static bool find_process(const char *pattern, const struct boot *b, struct boot_moment *ret)
{
	const struct boot_process *p;
	bool is_found = false;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		for (k = 0; k < p->n_names; k++) {
			if (fnmatch(pattern, p->names[k].comm, 0) != 0 ||
			    (is_found && p->names[k].from_ns >= ret->ns))
				continue;
			is_found = true;
			ret->ns = p->names[k].from_ns;
			ret->process = (uint32_t)i;
			ret->text = p->names[k].comm;
		}
	}
	return is_found;
}

static bool find_mark(const char *text, const struct boot *b, struct boot_moment *ret)
{
	size_t i;

	for (i = 0; i < b->n_marks; i++) {
		if (b->marks[i].type == BOOT_MARK_FACT || !strstr(b->marks[i].text, text))
			continue;
		ret->ns = b->marks[i].ns;
		ret->process = b->marks[i].process;
		ret->text = b->marks[i].text;
		return true;
	}
	return false;
}

int boot_moment_parse(const char *text, const struct boot *b, struct boot_moment *ret,
		      struct error *e)
{
	struct boot_moment m = { .process = BOOT_NONE };
	bool is_relative = *text == '+';
	uint64_t ns;

	if (is_relative || isdigit((unsigned char)*text)) {
		if (when_parse_length(text + is_relative, &ns, e) >= 0) {
			m.ns = is_relative ? b->from_ns + ns : ns;
			*ret = m;
			return 0;
		}
	}
	if (find_process(text, b, &m) || find_mark(text, b, &m)) {
		*ret = m;
		return 0;
	}
	return error_set(e, ENOENT,
			 "no process and no mark of the chart is called %s, and it is no time as "
			 "12.5 or +300ms",
			 text);
}

struct boot_moment boot_moment_get_target(const struct boot *b)
{
	struct boot_moment m = { .ns = b->to_ns, .process = BOOT_NONE };
	size_t i;

	if (!b->target_ns)
		return m;
	m.ns = b->target_ns;
	m.text = b->target;
	for (i = 0; i < b->n_marks; i++)
		if (b->marks[i].type == BOOT_MARK_TARGET && b->marks[i].ns == b->target_ns)
			m.process = b->marks[i].process;
	return m;
}
