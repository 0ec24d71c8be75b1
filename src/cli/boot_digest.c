/* SPDX-License-Identifier: MIT */
/* boot_digest: see boot_digest.h. */
#include "cli/boot_digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/jsonout.h"
#include "cli/units.h"
#include "command/say.h"
#include "trace/word.h"

static const char *const kind_names[BOOT_KINDS] = {
	[BOOT_PASS] = "pass",	      [BOOT_START] = "start",	      [BOOT_NAME] = "name",
	[BOOT_EXEC] = "exec",	      [BOOT_TASK] = "task",	      [BOOT_WAIT] = "wait",
	[BOOT_EXIT] = "exit",	      [BOOT_ACCOUNT] = "account",     [BOOT_CPU] = "cpu",
	[BOOT_DISK] = "disk",	      [BOOT_DISK_NAME] = "disk_name", [BOOT_MEMORY] = "memory",
	[BOOT_PRESSURE] = "pressure", [BOOT_MARK] = "mark",
};

void boot_digest_done(struct boot_digest *d)
{
	boot_source_free(d->source);
	memset(d, 0, sizeof(*d));
}

int boot_digest_open_ksk(struct boot_digest *d, const char *path, struct error *e)
{
	struct boot_item item;
	int r = boot_ksk_open(path, &d->source, e);

	if (r == -ENODATA)
		return 1;
	if (r < 0)
		return r;
	while ((r = d->source->ops->next(d->source, &item, e)) == 1) {
		if (item.type == ITEM_EVENT)
			d->kinds[item.event.kind]++;
		else
			d->losses[item.loss.cause]++;
	}
	return r;
}

static void print_losses(const struct boot_digest *d)
{
	const struct loss_tally *lost = &boot_ksk_totals(d->source)->lost;
	bool any = false;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (!d->losses[i])
			continue;
		any = true;
		printf("%slost      %s: %" PRIu64 " records%s in %" PRIu64 " gap%s%s\n",
		       say_style(stdout, STYLE_BAD), word_cause(i), lost->lost[i],
		       lost->some[i] ? " and an unknown number more" : "", d->losses[i],
		       d->losses[i] == 1 ? "" : "s", say_style(stdout, STYLE_PLAIN));
	}
	if (!any)
		puts("lost      no records");
}

void boot_digest_print_info(const struct boot_digest *d)
{
	const struct boot_totals *t = boot_ksk_totals(d->source);
	const struct trace_clock *c = &d->source->info.clock;
	uint64_t first = clock_ns(c, t->first_tick), last = clock_ns(c, t->last_tick);
	char a[UNITS_LEN], b[UNITS_LEN], span[UNITS_LEN];
	uint32_t i;

	if (t->events)
		printf("boot      from %s to %s s (%s)%s\n", units_moment(first, a),
		       units_moment(last, b), units_duration(last - first, span),
		       d->source->is_cut ? ", its end is missing" : "");
	printf("records   %" PRIu64 "\n", t->events);
	for (i = 0; i < BOOT_KINDS; i++)
		if (d->kinds[i])
			printf("          %-10s %10" PRIu64 "\n", kind_names[i], d->kinds[i]);
	if (t->events)
		printf("          %.2f bits per record\n",
		       8 * (double)t->bytes / (double)t->events);
	print_losses(d);
}

void boot_digest_print_check(const struct boot_digest *d)
{
	const struct boot_totals *t = boot_ksk_totals(d->source);

	printf("%sboot    records  blocks segments       bytes%s\n%15" PRIu64 " %7" PRIu64
	       " %8" PRIu64 " %11" PRIu64 "\n\n",
	       say_style(stdout, STYLE_HEAD), say_style(stdout, STYLE_PLAIN), t->events, t->blocks,
	       t->segments, t->bytes);
	print_losses(d);
}

json_t *boot_digest_json(const struct boot_digest *d)
{
	const struct boot_totals *t = boot_ksk_totals(d->source);
	const struct trace_clock *c = &d->source->info.clock;
	json_t *kinds = json_object(), *ledger = json_object();
	uint32_t i;

	for (i = 0; i < BOOT_KINDS; i++)
		json_object_set_new(kinds, kind_names[i], jsonout_count(d->kinds[i]));
	for (i = 0; i < LOSS_CAUSES; i++)
		json_object_set_new(ledger, word_cause(i),
				    json_pack("{so so sb}", "losses", jsonout_count(d->losses[i]),
					      "lost", jsonout_count(t->lost.lost[i]), "more",
					      t->lost.some[i]));
	return json_pack("{so so so so so so so sb so}", "records", jsonout_count(t->events),
			 "from_ns",
			 t->events ? jsonout_count(clock_ns(c, t->first_tick)) : json_null(),
			 "to_ns",
			 t->events ? jsonout_count(clock_ns(c, t->last_tick)) : json_null(),
			 "blocks", jsonout_count(t->blocks), "segments", jsonout_count(t->segments),
			 "bytes", jsonout_count(t->bytes), "kinds", kinds, "cut", d->source->is_cut,
			 "ledger", ledger);
}
