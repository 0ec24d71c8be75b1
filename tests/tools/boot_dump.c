/* SPDX-License-Identifier: MIT */
/*
 * boot_dump: the records of a boot chart as the device made them, one JSON array each:
 *
 *	[kind, nanoseconds, key, [numbers], text]
 *
 *	boot_dump FILE.ksk
 *
 * First comes an object about the trace; losses are objects in their place. For tests that compare what was
 * recorded on a board with what happened there, without the model in between.
 */
#include <stdio.h>
#include <string.h>

#include "trace/boot_ksk.h"

static void put_text(const char *text, uint32_t len)
{
	putchar('"');
	for (uint32_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_event(const struct trace_clock *clock, const struct boot_event *event)
{
	const struct boot_shape *shape = &boot_shapes[event->kind];

	printf("[%u, %llu, %u, [", event->kind, (unsigned long long)clock_ns(clock, event->tick),
	       event->key);
	for (uint8_t i = 0; i < shape->numbers; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)event->number[i]);
	printf("], ");
	put_text(event->text, shape->has_text ? event->text_len : 0);
	printf("]\n");
}

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	struct boot_source *s = NULL;
	struct boot_item item;
	int got = argc == 2 ? boot_ksk_open(argv[1], &s, &e) : -1;

	if (got < 0) {
		fprintf(stderr, "boot_dump: %s\n", argc == 2 ? e.text : "boot_dump FILE.ksk");
		return 1;
	}
	printf("{\"device\": ");
	put_text(s->info.device, (uint32_t)strlen(s->info.device));
	printf(", \"kernel\": ");
	put_text(s->info.kernel, (uint32_t)strlen(s->info.kernel));
	printf(", \"cut\": %s}\n", s->is_cut ? "true" : "false");
	while ((got = s->ops->next(s, &item, &e)) > 0) {
		if (item.type == ITEM_EVENT)
			put_event(&s->info.clock, &item.event);
		else if (item.type == ITEM_LOSS)
			printf("{\"lost\": %llu, \"cause\": %u}\n",
			       (unsigned long long)item.loss.count, item.loss.cause);
	}
	boot_source_free(s);
	if (got < 0)
		fprintf(stderr, "boot_dump: %s\n", e.text);
	return got < 0;
}
