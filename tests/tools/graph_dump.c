/* SPDX-License-Identifier: MIT */
/*
 * graph_dump: the calls of a recording of the kernel's functions, one line each in the order they ended:
 * thread, depth, nanoseconds, function. For tests that compare with what other tools print of it.
 *
 *	graph_dump FILE
 */
#include <stdio.h>

#include "convert/source_graph_dat.h"
#include "tools/func_calls.h"

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	struct func_source *s;
	struct func_calls *c;
	size_t i;

	if (argc != 2 || source_graph_dat_open(argv[1], &s, &e) < 0) {
		fprintf(stderr, "graph_dump: %s\n", argc == 2 ? e.text : "graph_dump FILE");
		return 1;
	}
	c = func_calls_read(s);
	if (!c)
		return 1;
	for (i = 0; i < c->n; i++)
		printf("%d %u %llu %s\n", s->threads[c->calls[i].thread].tid, c->calls[i].depth,
		       (unsigned long long)c->calls[i].ns, s->processes[0].names[c->calls[i].func]);
	printf("# enters %llu exits %llu os %llu losses %llu alone %llu wrong %llu back %llu open "
	       "%llu\n",
	       (unsigned long long)c->enters, (unsigned long long)c->exits,
	       (unsigned long long)c->os, (unsigned long long)c->losses,
	       (unsigned long long)c->alone, (unsigned long long)c->wrong,
	       (unsigned long long)c->back, (unsigned long long)c->open);
	free(c);
	func_source_free(s);
	return 0;
}
