/* SPDX-License-Identifier: MIT */
/* item_json: see item_json.h. */
#include "convert/item_json.h"

#include <string.h>

#include "base/decimal.h"
#include "convert/escape.h"

static char *put_field(char *p, const struct field *f)
{
	uint32_t len = field_name_length(f->id);

	*p++ = '"';
	memcpy(p, field_name(f->id), len);
	p += len;
	*p++ = '"';
	*p++ = ':';
	if (f->type == FIELD_UNSIGNED)
		return decimal_put_u64(p, f->number);
	if (f->type == FIELD_SIGNED)
		return decimal_put_i64(p, (int64_t)f->number);
	*p++ = '"';
	p = escape_put(p, f->text, f->len, ESCAPE_JSON);
	*p++ = '"';
	return p;
}

char *item_put_json_from(char *p, const struct trace_item *item, const struct trace_info *info,
			 enum field_id first)
{
	struct field_list list;
	char comma = '{';
	uint32_t i;

	fields_of(&list, item, info);
	for (i = 0; i < list.n; i++) {
		if (list.field[i].id < first)
			continue;
		*p++ = comma;
		comma = ',';
		p = put_field(p, &list.field[i]);
	}
	if (comma == '{')
		*p++ = '{';
	*p++ = '}';
	return p;
}

char *item_put_json(char *p, const struct trace_item *item, const struct trace_info *info)
{
	return item_put_json_from(p, item, info, FIELD_KIND);
}
