/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/tracefs.h"
#include "tools/switch_witness.h"

#define EXIT_ROUNDS 5000

enum change { CHANGE_NONE, CHANGE_IN, CHANGE_OUT, CHANGE_EXIT };

void witness_open(struct switch_witness *w)
{
	struct error e = ERROR_INIT;

	witness_close(w);
	assert_int_equal(mkdir(w->folder, 0700), 0);
	if (tracefs_write(w->folder, "events/sched/sched_switch/enable", "1", &e) < 0)
		fail_msg("%s", e.text);
}

void witness_close(struct switch_witness *w)
{
	tracefs_write(w->folder, "events/enable", "0", NULL);
	rmdir(w->folder);
}

static FILE *open_lines(const struct switch_witness *w)
{
	char path[PATH_MAX + 8];
	FILE *f;

	snprintf(path, sizeof(path), "%s/trace", w->folder);
	f = fopen(path, "re");
	assert_non_null(f);
	return f;
}

/* The next line of a thread. */
static enum change next_change(FILE *f, int32_t tid)
{
	char in[32], out[32], line[512];

	snprintf(in, sizeof(in), " next_pid=%d ", tid);
	snprintf(out, sizeof(out), " prev_pid=%d ", tid);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, in))
			return CHANGE_IN;
		if (strstr(line, out))
			return strstr(line, " prev_state=X") ? CHANGE_EXIT : CHANGE_OUT;
	}
	return CHANGE_NONE;
}

static bool has_exited(const struct switch_witness *w, int32_t tid)
{
	FILE *f = open_lines(w);
	enum change c;

	do
		c = next_change(f, tid);
	while (c != CHANGE_NONE && c != CHANGE_EXIT);
	fclose(f);
	return c == CHANGE_EXIT;
}

void witness_await_exit(const struct switch_witness *w, int32_t tid)
{
	int i;

	for (i = 0; i < EXIT_ROUNDS && !has_exited(w, tid); i++)
		usleep(1000);
	if (i == EXIT_ROUNDS)
		fail_msg("thread %d was joined, and the kernel wrote no last switch of it", tid);
}

struct switches witness_count(const struct switch_witness *w, int32_t tid, bool slept)
{
	FILE *f = open_lines(w);
	struct switches n = { 0 };
	bool is_off = slept;
	enum change c;

	if (!slept)
		is_off = next_change(f, tid) != CHANGE_IN;
	while ((c = next_change(f, tid)) != CHANGE_NONE) {
		n.in += c == CHANGE_IN;
		n.unwritten += c != CHANGE_IN && is_off;
		is_off = c != CHANGE_IN;
	}
	fclose(f);
	return n;
}
