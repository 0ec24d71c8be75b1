/* SPDX-License-Identifier: MIT */
/*
 * boot_make: boot charts for tests.
 *
 *	boot_make SCRIPT FILE.ksk [BYTES]	makes the file that a script describes (boot_script.h), in
 *						blocks of so many bytes
 *	boot_make --dump FILE.ksk		prints its records, a line each
 *
 *	tick kind key number... [text in hexadecimal, - if it is empty]
 *	loss cause count from to
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/boot_script.h"
#include "trace/boot_ksk.h"
#include "trace/boot_pack.h"

#define SCRIPT_MAX (1U << 20)

static int fail(const struct error *e)
{
	fprintf(stderr, "boot_make: %s\n", e->text);
	return 1;
}

static void print_event(const struct boot_event *ev)
{
	uint32_t i;

	printf("%llu %u %u", (unsigned long long)ev->tick, ev->kind, ev->key);
	for (i = 0; i < boot_shapes[ev->kind].numbers; i++)
		printf(" %llu", (unsigned long long)ev->number[i]);
	if (boot_shapes[ev->kind].has_text) {
		printf(ev->text_len ? " " : " -");
		for (i = 0; i < ev->text_len; i++)
			printf("%02x", (unsigned int)(unsigned char)ev->text[i]);
	}
	printf("\n");
}

static int dump(const char *path)
{
	struct error e = ERROR_INIT;
	CLEANUP(boot_source) struct boot_source *s = NULL;
	struct boot_item item;
	int r = boot_ksk_open(path, &s, &e);

	if (r < 0)
		return fail(&e);
	while ((r = s->ops->next(s, &item, &e)) == 1) {
		if (item.type == ITEM_EVENT)
			print_event(&item.event);
		else
			printf("loss %u %lld %llu %llu\n", item.loss.cause,
			       (long long)item.loss.count, (unsigned long long)item.loss.from_tick,
			       (unsigned long long)item.loss.to_tick);
	}
	if (r < 0)
		return fail(&e);
	if (s->is_cut)
		printf("cut\n");
	return 0;
}

static int make(const char *script, const char *path, unsigned long block_bytes)
{
	_cleanup_free_ char *text = calloc(1, SCRIPT_MAX);
	CLEANUP(boot_source) struct boot_source *s = NULL;
	struct boot_packing packing = { .block_bytes = (uint32_t)block_bytes };
	struct error e = ERROR_INIT;
	FILE *f = fopen(script, "r");

	if (!f || !text) {
		fprintf(stderr, "boot_make: cannot open %s\n", script);
		return 1;
	}
	text[fread(text, 1, SCRIPT_MAX - 1, f)] = 0;
	fclose(f);
	if (boot_script_new(&s, text, &e) < 0 || boot_pack_file(path, s, &packing, &e) < 0)
		return fail(&e);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--dump"))
		return dump(argv[2]);
	if (argc == 3 || argc == 4)
		return make(argv[1], argv[2], argc == 4 ? strtoul(argv[3], NULL, 10) : 0);
	fprintf(stderr, "usage: boot_make SCRIPT FILE.ksk [BYTES] | --dump FILE.ksk\n");
	return 2;
}
