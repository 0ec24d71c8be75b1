/* SPDX-License-Identifier: MIT */
/* syscall_name: see syscall_name.h. */
#include "sandbox/syscall_name.h"

#include <stddef.h>

const char *syscall_name_get(int number)
{
	const struct syscall_row *row;

	for (row = syscall_rows; row->number >= 0; row++)
		if (row->number == number)
			return row->name;
	return NULL;
}
