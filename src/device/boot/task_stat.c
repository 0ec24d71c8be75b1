/* SPDX-License-Identifier: MIT */
/* task_stat: see task_stat.h. */
#include "device/boot/task_stat.h"

#include <string.h>

#include "device/boot/words.h"

#define KERNEL_THREAD 0x00200000U /* PF_KTHREAD among the flags */

/* The bytes between the first opening and the last closing parenthesis. A comm of a user has at most 15,
 * a kernel worker's may be longer in this file, and is cut. */
static bool take_comm(struct task_stat *t, struct words *w)
{
	const char *open = memchr(w->at, '(', (size_t)(w->end - w->at));
	const char *close = open ? memrchr(open, ')', (size_t)(w->end - open)) : NULL;
	size_t len;

	if (!close)
		return false;
	len = (size_t)(close - open - 1);
	len = len < TASK_COMM_LEN ? len : TASK_COMM_LEN;
	memcpy(t->comm, open + 1, len);
	t->comm_len = (uint8_t)strnlen(t->comm, len);
	w->at = close + 1;
	return true;
}

static void pass(struct words *w, unsigned int n)
{
	while (n--)
		words_number(w);
}

bool task_stat_parse(struct task_stat *ret, const char *text, size_t len)
{
	struct task_stat t;
	struct words w;
	const char *state;
	size_t n;
	uint64_t flags;

	memset(&t, 0, sizeof(t));
	words_init(&w, text, len);
	t.pid = (uint32_t)words_number(&w);
	if (w.bad || !take_comm(&t, &w) || !words_next(&w, &state, &n) || n != 1)
		return false;
	t.state = *state;
	t.parent = (uint32_t)words_number(&w);
	pass(&w, 4); /* group, session, terminal, its group */
	flags = words_number(&w);
	t.is_kernel = flags & KERNEL_THREAD;
	pass(&w, 2);
	t.faults = words_number(&w);
	pass(&w, 1);
	t.user = words_number(&w);
	t.system = words_number(&w);
	pass(&w, 4); /* those of children, priority, nice */
	t.threads = (uint32_t)words_number(&w);
	pass(&w, 1);
	t.start = words_number(&w);
	if (w.bad)
		return false;
	*ret = t;
	return true;
}

bool task_times_parse(struct task_times *ret, const char *text, size_t len)
{
	struct task_times t;
	struct words w;

	words_init(&w, text, len);
	t.ran_ns = words_number(&w);
	t.waited_ns = words_number(&w);
	t.runs = words_number(&w);
	if (w.bad)
		return false;
	*ret = t;
	return true;
}
