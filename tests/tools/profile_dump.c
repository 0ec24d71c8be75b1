/* SPDX-License-Identifier: MIT */
/*
 * profile_dump: the records of a profile as lines, for tests:
 *
 *	sampling PERIOD JITTER METHOD HAS CUT
 *	sample CPU TICK MODE PID TID COMM WEIGHT KERNEL USER FRAME...
 *	switch CPU TICK VALUE PID TID COMM PID TID COMM
 *	loss CPU CAUSE COUNT
 *
 * A frame is a function of the kernel, a file and an offset in it, or an address. Blanks in names become underscores.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/sample_ksk.h"

static void print_comm(const char comm[SCHED_COMM_LEN])
{
	size_t i;

	putchar(' ');
	for (i = 0; i < SCHED_COMM_LEN && comm[i]; i++)
		putchar(comm[i] == ' ' ? '_' : comm[i]);
	if (!comm[0])
		putchar('-');
}

static void print_frame(const struct sample_source *s, const struct sample_event *ev, uint32_t i)
{
	uint64_t address = ev->chain[i], at = address - (i != 0 && i != ev->n_kernel);
	const struct sample_kernel_name *k = NULL;
	const struct sample_mapping *m = NULL;

	if (i < ev->n_kernel)
		k = sample_spaces_get_kernel(s->spaces, at);
	else
		m = sample_spaces_get(s->spaces, ev->task.pid, ev->tick, at);
	if (k)
		printf(" %s", k->name);
	else if (m)
		printf(" %s+0x%" PRIx64, m->path, at - m->from + m->offset);
	else
		printf(" 0x%" PRIx64, at);
}

static void print_event(const struct sample_source *s, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	uint32_t i;

	if (ev->kind == SAMPLE_SWITCH) {
		printf("switch %u %" PRIu64 " %" PRIu64 " %d %d", item->cpu, ev->tick, ev->value,
		       ev->task.pid, ev->task.tid);
		print_comm(ev->task.comm);
		printf(" %d %d", ev->next.pid, ev->next.tid);
		print_comm(ev->next.comm);
		putchar('\n');
		return;
	}
	printf("sample %u %" PRIu64 " %u %d %d", item->cpu, ev->tick, ev->mode, ev->task.pid,
	       ev->task.tid);
	print_comm(ev->task.comm);
	printf(" %" PRIu64 " %u %u", ev->weight, ev->n_kernel, ev->n_user);
	for (i = 0; i < (uint32_t)ev->n_kernel + ev->n_user; i++)
		print_frame(s, ev, i);
	putchar('\n');
}

int main(int argc, char **argv)
{
	CLEANUP(sample_source) struct sample_source *s = NULL;
	struct error e = ERROR_INIT;
	struct sample_item item;
	int r = argc == 2 ? sample_ksk_open(argv[1], &s, &e) : -1;

	if (r >= 0)
		printf("sampling %" PRIu64 " %u %u %u %d\n", s->sampling.period, s->sampling.jitter,
		       s->sampling.method, s->sampling.has, s->is_cut);
	while (r >= 0 && (r = s->ops->next(s, &item, &e)) > 0) {
		if (item.type == ITEM_LOSS)
			printf("loss %u %u %" PRIu64 "\n", item.cpu, item.loss.cause,
			       item.loss.count);
		else if (item.type == ITEM_EVENT)
			print_event(s, &item);
	}
	if (r < 0)
		fprintf(stderr, "profile_dump: %s\n", argc == 2 ? e.text : "give a file");
	return r < 0;
}
