/* SPDX-License-Identifier: MIT */
/* boot_join: see boot_join.h. */
#include "cli/boot_join.h"

#include <errno.h>

#include "analysis/boot_exact.h"
#include "command/say.h"
#include "convert/input.h"

/* Whether there is anything in it; it is at its start again. */
static int has_items(struct trace_source *sched, struct error *e)
{
	struct trace_item item;
	int n = sched->ops->next(sched, &item, e), r;

	if (n <= 0)
		return n;
	r = sched->ops->rewind(sched, e);
	return r < 0 ? r : 1;
}

int boot_join_run(struct boot *b, struct trace_source *sched, uint32_t run, struct error *e)
{
	int r = has_items(sched, e);

	if (r <= 0)
		return r;
	r = boot_make_exact(b, sched, e);
	if (r == -ENODATA) /* it is of another time */
		return 0;
	if (r == -EXDEV) {
		say_note("run %u, the scheduler's of the same time, is left out: its clock has "
			 "nothing in common with that of the boot",
			 run);
		return 0;
	}
	if (r >= 0)
		say_note("exact by run %u, the scheduler's of the same time; --sampled leaves it "
			 "out",
			 run);
	return r;
}

int boot_join_file(struct boot *b, const char *path, struct error *e)
{
	CLEANUP(input) struct input *input = NULL;
	struct trace_source *sched;
	int r = input_open(&input, path, e);

	if (r < 0)
		return r;
	sched = input_take_source(input);
	r = has_items(sched, e);
	if (r > 0)
		r = boot_make_exact(b, sched, e);
	source_free(sched);
	return r;
}
