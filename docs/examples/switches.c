/* SPDX-License-Identifier: MIT */
/*
 * switches: how often each task got a CPU, and what is missing, of a .ksk file.
 *
 *	cc switches.c -o switches $(pkg-config --cflags --libs kiseki)
 *	./switches busy.ksk
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiseki/trace.h>

#define TASKS_MAX 4096

struct row {
	int32_t pid;
	char comm[KS_COMM_LEN + 1];
	unsigned long count;
};

static struct row rows[TASKS_MAX];
static size_t n_rows;

static void count(const struct ks_task *t)
{
	size_t i;

	for (i = 0; i < n_rows && rows[i].pid != t->pid; i++)
		continue;
	if (i == TASKS_MAX)
		return;
	if (i == n_rows)
		n_rows++;
	rows[i].pid = t->pid;
	rows[i].count++;
	memcpy(rows[i].comm, t->comm, KS_COMM_LEN);
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = (const struct row *)a, *y = (const struct row *)b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1)
				    : (x->pid > y->pid) - (x->pid < y->pid);
}

int main(int argc, char **argv)
{
	unsigned long events = 0, losses = 0;
	struct ks_error e = { "" };
	struct ks_trace *t;
	struct ks_item item;
	size_t i;
	int r;

	if (argc != 2) {
		fputs("usage: switches FILE.ksk\n", stderr);
		return 2;
	}
	if (ks_trace_open(&t, argv[1], &e) < 0) {
		fprintf(stderr, "switches: %s\n", e.text);
		return 1;
	}
	while ((r = ks_trace_next(t, &item, &e)) > 0) {
		events += item.type == KS_ITEM_EVENT;
		losses += item.type == KS_ITEM_LOSS;
		if (item.type == KS_ITEM_EVENT && item.event.kind == KS_SWITCH)
			count(&item.event.other);
	}
	if (r < 0)
		fprintf(stderr, "switches: %s\n", e.text);
	qsort(rows, n_rows, sizeof(rows[0]), by_count);
	printf("%s: %lu events, %lu losses\n", ks_trace_get_description(t)->device, events, losses);
	for (i = 0; i < n_rows; i++)
		printf("%8lu  %s-%d\n", rows[i].count, rows[i].comm, rows[i].pid);
	ks_trace_close(t);
	return r < 0;
}
