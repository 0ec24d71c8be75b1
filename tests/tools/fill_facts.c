/* SPDX-License-Identifier: MIT */
/*
 * fill_facts: puts one minute of facts into the folder of a store, for tests of everything that asks about facts.
 *
 *	fill_facts DIR DEVICE-ID START_S KIND <LINES
 *
 * A line is a stack and its samples, each of a millisecond: "sh@process;main@sh;malloc@libc.so 3". KIND is profile or vm; of sched a line is a task, its
 * CPU time in ms, and how long it waited in ns: "sh 12 1000".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_request.h"

#define LINE_MAX 4096

static void fail(const char *what)
{
	fprintf(stderr, "fill_facts: %s\n", what);
	exit(1);
}

static void put_stack(struct fact_set *s, char *line)
{
	char *end = strrchr(line, ' '), *frame, *object;
	uint64_t values[FACT_VALUES];
	uint32_t node = 0, key;

	if (!end)
		fail("a line has no samples");
	*end = '\0';
	values[0] = strtoull(end + 1, NULL, 10);
	values[1] = values[0] * 1000000;
	while ((frame = strsep(&line, ";"))) {
		object = strchr(frame, '@');
		if (object)
			*object++ = '\0';
		if (functions_find_label(&s->functions, frame, object ? object : "", &key) < 0 ||
		    profile_tree_find(s->tree, node, key, &node) < 0)
			fail("out of memory");
	}
	profile_tree_add(s->tree, node, values);
}

static void put_task(struct fact_set *s, const char *line)
{
	uint64_t ms, wait_ns;
	struct fact_task *t;
	char name[64];

	if (sscanf(line, "%63s %" SCNu64 " %" SCNu64, name, &ms, &wait_ns) != 3)
		fail("a line is no task");
	if (fact_set_find_task(s, name, &t) < 0 || histogram_add(&t->waits, wait_ns) < 0)
		fail("out of memory");
	t->cpu_ns += ms * 1000000;
	t->switches++;
}

int main(int argc, char **argv)
{
	struct fact_key key = { .length_s = FACT_MINUTE_S };
	struct fact_object like = { .name = "libc.so",
				    .build_id_len = 2,
				    .build_id = { 0xab, 0xcd } };
	CLEANUP(facts) struct facts *f = NULL;
	CLEANUP_FACT_SET struct fact_set s = { .tree = NULL };
	struct fact_object *o;
	struct error e = ERROR_INIT;
	char line[LINE_MAX];

	if (argc != 5 || fact_request_find_id(NULL, argv[2], &key.device, &e) < 0)
		fail("DIR DEVICE-ID START_S KIND");
	key.run = key.device;
	key.start_s = strtoull(argv[3], NULL, 10);
	while (strcmp(argv[4], fact_kind_words[key.kind]) != 0)
		if (++key.kind == FACT_KINDS)
			fail("no such kind");
	if (fact_set_init(&s, &key) < 0 || fact_set_find_object(&s, &like, &o) < 0)
		fail("out of memory");
	for (; fgets(line, sizeof(line), stdin); s.version++) {
		line[strcspn(line, "\n")] = '\0';
		if (key.kind == FACT_SCHED)
			put_task(&s, line);
		else
			put_stack(&s, line);
	}
	o->samples = s.events = s.version;
	s.covered_ns = FACT_MINUTE_S * 1000000000ULL;
	if (facts_open(&f, argv[1], &e) < 0 || facts_put(f, &s, &e) < 0)
		fail(e.text);
	return 0;
}
