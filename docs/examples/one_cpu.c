/* SPDX-License-Identifier: MIT */
/*
 * one_cpu: the events of one CPU of a .ksk file, as a file of their own.
 *
 *	cc one_cpu.c -o one_cpu $(pkg-config --cflags --libs kiseki)
 *	./one_cpu busy.ksk 1 cpu1.ksk
 */
#include <stdio.h>
#include <stdlib.h>

#include <kiseki/writer.h>

static int copy(struct ks_trace *t, struct ks_writer *w, uint32_t cpu, struct ks_error *e)
{
	struct ks_item item;
	int r;

	while ((r = ks_trace_next(t, &item, e)) > 0) {
		if (item.cpu != cpu)
			continue;
		r = ks_writer_put(w, &item, e);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : ks_writer_commit(w, e);
}

int main(int argc, char **argv)
{
	struct ks_error e = { "" };
	struct ks_trace *t = NULL;
	struct ks_writer *w = NULL;
	int r;

	if (argc != 4) {
		fputs("usage: one_cpu FILE.ksk CPU OUT.ksk\n", stderr);
		return 2;
	}
	r = ks_trace_open(&t, argv[1], &e);
	if (r == 0)
		r = ks_writer_open_like(&w, argv[3], t, &e);
	if (r == 0)
		r = copy(t, w, (uint32_t)atoi(argv[2]), &e);
	if (r < 0)
		fprintf(stderr, "one_cpu: %s\n", e.text);
	ks_writer_close(w);
	ks_trace_close(t);
	return r < 0;
}
