/* SPDX-License-Identifier: MIT */
/* json_value: see json_value.h. */
#include "analysis/json_value.h"

#include <string.h>

#include "base/cleanup.h"
#include "trace/comm.h"

json_t *json_value_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *json_value_comm(const char comm[16])
{
	char buffer[COMM_TEXT_LEN];

	return json_string(comm_format(comm, buffer));
}

json_t *json_value_text(const char *text)
{
	json_t *s = json_string(text);
	_cleanup_free_ char *copy = NULL;
	char *p;

	if (s)
		return s;
	copy = strdup(text);
	for (p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return copy ? json_string(copy) : NULL;
}
