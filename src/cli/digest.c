/* SPDX-License-Identifier: MIT */
/* digest: see digest.h. */
#include "cli/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/jsonout.h"
#include "command/say.h"
#include "trace/word.h"
#include "wire/block.h"

const char *digest_codec(const struct trace_summary *s)
{
	if (!s->n_streams)
		return "none";
	return s->codec == CODEC_BSF ? "bsf" : s->codec == CODEC_SCHED ? "sched" : "unknown";
}

int digest_read(struct reading *r, struct trace_summary *s, struct tasks *tasks, struct error *e)
{
	struct trace_item item;
	int rc = 0, more = 1;

	while (rc >= 0 && (more = reading_next(r, &item, e)) > 0) {
		rc = summary_add_item(s, &r->source->info.clock, &item, e);
		if (rc >= 0 && tasks && (rc = tasks_add(tasks, &item)) < 0)
			error_set(e, rc, "cannot list the tasks: %s", strerror(-rc));
	}
	progress_done(&r->progress);
	if (rc < 0 || more < 0)
		return rc < 0 ? rc : more;
	return input_add_summary(r->input, r->source, s, e);
}

int digest_read_calls(const struct reading *r, struct func_digest *calls, struct error *e)
{
	int rc;

	if (input_get_format(r->input) != RECOGNISED_KSK)
		return 0;
	rc = func_digest_open_ksk(calls, input_get_path(r->input), e);
	return rc < 0 ? rc : 0;
}

int digest_read_boot(const struct reading *r, struct boot_digest *boot, struct error *e)
{
	int rc;

	if (input_get_format(r->input) != RECOGNISED_KSK)
		return 0;
	rc = boot_digest_open_ksk(boot, input_get_path(r->input), e);
	return rc < 0 ? rc : 0;
}

int digest_read_profile(const struct reading *r, struct profile_digest *profile, struct error *e)
{
	int rc;

	if (input_get_format(r->input) != RECOGNISED_KSK)
		return 0;
	rc = profile_digest_open_ksk(profile, input_get_path(r->input), e);
	return rc < 0 ? rc : 0;
}

void digest_print_ledger(const struct trace_summary *s)
{
	uint64_t losses, lost, uncounted;
	bool any = false;
	int i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		summary_lost(s, (enum loss_cause)i, &losses, &lost, &uncounted);
		if (!losses)
			continue;
		any = true;
		printf("%slost      %s: %" PRIu64 " events%s in %" PRIu64 " gap%s%s\n",
		       say_style(stdout, STYLE_BAD), word_cause((uint32_t)i), lost,
		       uncounted ? " and an unknown number more" : "", losses,
		       losses == 1 ? "" : "s", say_style(stdout, STYLE_PLAIN));
	}
	if (!any)
		puts("lost      nothing");
}

json_t *digest_ledger_json(const struct trace_summary *s)
{
	json_t *object = json_object();
	uint64_t losses, lost, uncounted;
	int i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		summary_lost(s, (enum loss_cause)i, &losses, &lost, &uncounted);
		json_object_set_new(object, word_cause((uint32_t)i),
				    json_pack("{so so so}", "losses", jsonout_count(losses), "lost",
					      jsonout_count(lost), "uncounted",
					      jsonout_count(uncounted)));
	}
	return object;
}

json_t *digest_kinds_json(const struct trace_summary *s)
{
	json_t *object = json_object();
	int i;

	for (i = 0; i < SCHED_KINDS; i++)
		json_object_set_new(object, word_kind((uint32_t)i), jsonout_count(s->kinds[i]));
	return object;
}
