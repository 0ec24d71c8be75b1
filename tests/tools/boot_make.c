/* SPDX-License-Identifier: MIT */
/*
 * boot_make: boot charts for tests.
 *
 *	boot_make SCRIPT FILE.ksk [BYTES]	makes the file that a script describes (boot_script.h), in
 *						blocks of so many bytes
 *	boot_make --random SEED RECORDS FILE.ksk	records that no recorder makes, in many small segments
 *	boot_make --dump FILE.ksk		prints its records, a line each
 *
 *	tick kind key number... [text in hexadecimal, - if it is empty]
 *	loss cause count from to
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/boot_random.h"
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

/* Records of no rule, some of them lost, as a source. */
struct noise {
	struct boot_source source;
	uint64_t seed, n, records;
	struct boot_random random;
};

static int noise_next(struct boot_source *s, struct boot_item *ret, struct error *e)
{
	struct noise *n = (struct noise *)s;

	(void)e;
	memset(ret, 0, sizeof(*ret));
	if (n->n == n->records)
		return 0;
	if (!boot_random_below(&n->random, 200)) {
		ret->type = ITEM_LOSS;
		ret->loss.cause = (uint8_t)boot_random_below(&n->random, LOSS_CAUSES);
		ret->loss.count = boot_random_below(&n->random, 3) ? 7 : LOSS_UNKNOWN;
		return 1;
	}
	n->n++;
	boot_random_next(&n->random, &ret->event);
	return 1;
}

static int noise_rewind(struct boot_source *s, struct error *e)
{
	struct noise *n = (struct noise *)s;

	(void)e;
	n->n = 0;
	boot_random_init(&n->random, n->seed, BOOT_RANDOM_HOSTILE);
	return 0;
}

static void noise_free(struct boot_source *s)
{
	info_done(&s->info);
	free(s);
}

static const struct boot_source_ops noise_ops = {
	.next = noise_next,
	.rewind = noise_rewind,
	.free = noise_free,
};

static int make_random(const char *seed, const char *records, const char *path)
{
	struct boot_packing packing = { .block_bytes = 2000, .segment_bytes = 12000 };
	struct noise *n = calloc(1, sizeof(*n));
	struct error e = ERROR_INIT;
	int r;

	if (!n || info_init(&n->source.info) < 0) {
		free(n);
		return 1;
	}
	n->source.ops = &noise_ops;
	n->seed = strtoull(seed, NULL, 10);
	n->records = strtoull(records, NULL, 10);
	noise_rewind(&n->source, &e);
	r = boot_pack_file(path, &n->source, &packing, &e);
	boot_source_free(&n->source);
	return r < 0 ? fail(&e) : 0;
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
	if (argc == 5 && !strcmp(argv[1], "--random"))
		return make_random(argv[2], argv[3], argv[4]);
	if (argc == 3 || argc == 4)
		return make(argv[1], argv[2], argc == 4 ? strtoul(argv[3], NULL, 10) : 0);
	fprintf(stderr, "usage: boot_make SCRIPT FILE.ksk [BYTES] | --random SEED RECORDS FILE.ksk "
			"| --dump FILE.ksk\n");
	return 2;
}
