/* SPDX-License-Identifier: MIT */
/*
 * fact_build_samples: what is made of samples, in one pass: decoding costs as much as what is done with the records.
 *
 * One of the two may fail and the other go on. Machines need to know what was before the minute, and the profile leaves out what is
 * not in it, so the longer time is read for both.
 */
#include <errno.h>

#include "facts/fact_profile.h"
#include "facts/fact_vm.h"
#include "trace/sample_ksk.h"

struct reading {
	const struct fact_build *build;
	struct sample_source *source;
	struct fact_window window;
	struct fact_part *vm_part, *profile_part; /* NULL: not asked for */
	struct fact_vm *vm;			  /* NULL: not asked for, or it failed */
	struct fact_profile *profile;
};

/* What fails for one fails for both. */
static void fail(const struct reading *r, int result, const struct error *e)
{
	struct fact_part *parts[] = { r->vm_part, r->profile_part };
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!parts[i] || parts[i]->result < 0)
			continue;
		parts[i]->result = result;
		*parts[i]->error = *e;
	}
}

static void end_vm(struct reading *r, int result)
{
	r->vm_part->result = result;
	fact_vm_free(r->vm);
	r->vm = NULL;
}

static void end_profile(struct reading *r, int result)
{
	r->profile_part->result = result;
	fact_profile_free(r->profile);
	r->profile = NULL;
}

static void begin(struct reading *r)
{
	struct fact_part *p = r->vm_part;

	if (p)
		p->result = fact_vm_new(&r->vm, r->build, r->source, &r->window, p->error);
	p = r->profile_part;
	if (p)
		p->result =
			fact_profile_new(&r->profile, r->build, r->source, &r->window, p->error);
}

static void put(struct reading *r, const struct sample_item *item)
{
	int failed = r->vm ? fact_vm_put(r->vm, item) : 0;

	if (failed < 0)
		end_vm(r, failed);
	failed = r->profile ? fact_profile_put(r->profile, item) : 0;
	if (failed < 0)
		end_profile(r, failed);
}

static int read_all(struct reading *r, struct error *e)
{
	const struct fact_build *b = r->build;
	struct sample_item item;
	int rc = 1;

	while ((r->vm || r->profile) && (rc = r->source->ops->next(r->source, &item, e)) > 0) {
		put(r, &item);
		rc = b->step ? b->step(b->step_data) : 0;
		if (rc < 0)
			return error_set(e, -rc, "cannot work out a minute of run %u", b->run);
	}
	return rc < 0 ? rc : 0;
}

static void give(struct reading *r)
{
	if (r->vm)
		end_vm(r, fact_vm_give(r->vm, r->vm_part->set));
	if (r->profile)
		end_profile(r, fact_profile_give(r->profile, r->profile_part->set));
}

void fact_build_samples(const struct fact_build *b, struct fact_part *vm, struct fact_part *profile)
{
	struct reading r = { .build = b, .vm_part = vm, .profile_part = profile };
	struct error e = ERROR_INIT;
	int rc;

	if (!fact_build_window(b, vm ? &vm->set->key : &profile->set->key, &r.window))
		return;
	if (vm)
		vm->result = 0;
	if (profile)
		profile->result = 0;
	rc = sample_ksk_open_told(&(const struct run_part){ b->store, b->run, r.window.range,
							    b->told },
				  &r.source, &e);
	if (rc < 0) {
		fail(&r, rc, &e);
		return;
	}
	if (profile && r.source->sampling.method == SAMPLE_CYCLES)
		profile->set->key.kind = FACT_CYCLES;
	begin(&r);
	if (b->offer)
		b->offer(b->offer_data, r.source);
	rc = read_all(&r, &e);
	if (b->withdraw)
		b->withdraw(b->offer_data, r.source);
	if (rc < 0)
		fail(&r, rc, &e);
	else
		give(&r);
	fact_vm_free(r.vm);
	fact_profile_free(r.profile);
	sample_source_free(r.source);
}
