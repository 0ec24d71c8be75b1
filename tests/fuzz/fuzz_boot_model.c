/* SPDX-License-Identifier: MIT */
/*
 * boot: any records as a boot, its report and its comparison with itself. A record is nine bytes: kind, key, how far the
 * time goes on, then six that its numbers and its text are made of.
 */
#include <assert.h>
#include <string.h>

#include "analysis/boot_diff.h"
#include "analysis/boot_path.h"
#include "analysis/boot_report_json.h"
#include "tools/boot_story.h"

#define RECORD 9U
#define RECORDS_MAX 200U
#define MS BOOT_STORY_MS

static void put(struct boot_story *s, const uint8_t *d, uint64_t *now)
{
	static const char letters[] = "RSDZTIX?";
	struct boot_event e = { .kind = d[0] % (BOOT_KINDS + 2), .key = d[1] % 16 };
	unsigned int i;

	*now += d[2] * MS / 4;
	e.tick = *now - (d[3] & 1 ? d[4] * MS / 8 : 0);
	for (i = 0; i < BOOT_NUMBERS_MAX; i++)
		e.number[i] = (uint64_t)d[3 + i % 6] << (d[3 + (i + 1) % 6] % 40);
	if (e.kind == BOOT_TASK)
		e.number[BOOT_TASK_STATE] = (uint64_t)letters[d[5] % 8];
	if (e.kind == BOOT_START || e.kind == BOOT_MARK)
		e.number[e.kind == BOOT_START ? BOOT_START_TICK : BOOT_MARK_TICK] = e.tick;
	if (e.kind == BOOT_START)
		e.number[BOOT_START_GROUP] = d[6] % 4 ? e.key : d[7] % 16;
	e.text = (const char *)d + 3;
	e.text_len = d[8] % 6;
	if (d[0] == 255)
		boot_story_loss(s, &(struct trace_loss){ .from_tick = e.tick,
							 .to_tick = e.tick + d[4] * MS,
							 .count = d[5],
							 .cause = d[6] % LOSS_CAUSES });
	else
		boot_story_put(s, &e);
}

static void check(const struct boot *b)
{
	const struct boot_process *p;
	uint64_t at;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		assert(p->n_names && p->n_spans && (p->parent == BOOT_NONE || p->parent < i));
		for (k = 0, at = p->from_ns; k < p->n_spans; at = p->spans[k++].to_ns)
			assert(p->spans[k].from_ns == at && p->spans[k].to_ns > at &&
			       p->spans[k].share <= 1000);
		assert(at == p->to_ns && at <= b->to_ns && p->from_ns >= b->from_ns);
	}
}

static void look(const struct boot *b)
{
	const struct boot_report_options o = { .min_ns = MS, .kernel = true };
	const struct boot_diff_json_options all = { .kernel = true };
	CLEANUP(boot_report) struct boot_report *r = NULL;
	CLEANUP(boot_path) struct boot_path *path = NULL;
	CLEANUP(boot_diff) struct boot_diff *d = NULL;

	assert(boot_report_new(&r, b, NULL, &o) >= 0);
	if (boot_path_new(&path, b, BOOT_NONE, r->to.ns) < 0)
		path = NULL;
	json_decref(boot_report_json(r, path, 0));
	assert(boot_diff_new(&d, b, b) >= 0 && !d->n_new && !d->n_gone);
	json_decref(boot_diff_json(d, &all));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct boot_story *s = boot_story_new();
	struct boot_source *source;
	struct boot *b = NULL;
	uint64_t now = 100 * MS;
	size_t i;

	for (i = 0; i < size / RECORD && i < RECORDS_MAX; i++)
		put(s, data + i * RECORD, &now);
	boot_story_open(s, &source);
	assert(boot_new(&b, source, NULL) >= 0);
	check(b);
	look(b);
	boot_free(b);
	boot_source_free(source);
	boot_story_free(s);
	return 0;
}
