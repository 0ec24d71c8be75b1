/* SPDX-License-Identifier: MIT */
/* description_check: gives each item alone to the later readers, which finds the faulty one. */
#include "trace/description_check.h"

#include <errno.h>
#include <string.h>

#include "trace/run_description.h"
#include "wire/meta.h"

static const char *word_item(uint32_t type)
{
	static const char *const words[] = {
		[META_CPUS] = "number of CPUs",
		[META_CLOCK] = "clock",
		[META_DIALECT] = "dialect",
		[META_TASKS] = "tasks",
		[META_ORDER] = "order of events",
		[META_SKIPPED] = "skipped events",
		[META_AGENT] = "agent",
		[META_SAMPLING] = "sampling",
		[META_MAPPED] = "mapped files",
		[META_LIFE] = "lives of processes",
		[META_KERNEL_NAMES] = "functions of the kernel",
		[META_GUEST] = "guest",
		[META_PACE] = "pace",
	};

	return type < sizeof(words) / sizeof(words[0]) && words[type] ? words[type] : "other";
}

int description_check(const uint8_t *payload, size_t len, struct error *e)
{
	CLEANUP(run_description) struct run_description *d = NULL;
	enum wire_status status = WIRE_MORE;
	struct meta_reader items;
	const uint8_t *at = payload;
	int r = run_description_new(&d);

	meta_reader_init(&items, payload, len);
	while (r == 0 && (status = meta_reader_next(&items)) == WIRE_OK) {
		r = run_description_decode(d, at, (size_t)(items.bytes.at - at));
		if (r == 0)
			at = items.bytes.at;
	}
	if (r == -ENOMEM)
		return error_set(e, ENOMEM, "cannot read the description of a run: out of memory");
	if (r < 0)
		return error_set(e, EPROTO,
				 "item %u (%s) at offset %zu of the description is not understood",
				 items.type, word_item(items.type), (size_t)(at - payload));
	if (status == WIRE_CORRUPT)
		return error_set(e, EPROTO,
				 "the item at offset %zu of the description is cut short",
				 (size_t)(at - payload));
	return 0;
}

int description_explain(const uint8_t *payload, size_t len, int code, struct error *e)
{
	if (code != -EBADMSG)
		error_set(e, code, "%s", strerror(-code));
	else if (description_check(payload, len, e) == 0)
		error_set(e, code, "not understood"); /* together with blocks before it */
	return code;
}
