/* SPDX-License-Identifier: MIT */
/* func_answer: any bytes as what an agent answers to a program that asks for a record. */
#include <assert.h>

#include "device/func/door.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct door_answer a = { .text = "" };
	int rc = door_parse(data, size, &a);
	size_t i;

	assert(rc <= 0 && (rc == 0 || !a.bytes));
	assert(size == FUNC_DOOR_ANSWER || rc < 0);
	for (i = 0; i < sizeof(a.text) && a.text[i]; i++)
		assert(a.text[i] >= ' ' && a.text[i] < 0x7f);
	assert(i < sizeof(a.text));
	return 0;
}
