/* SPDX-License-Identifier: MIT */
/* vm_report: from a mark on, a part of the time is told as it is when all is read, to the letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/vm_json.h"
#include "tools/sample_random.h"

#define ITEMS 6000U
#define CHAIN_MOST 4U
#define MARK_EVERY 100U
#define DOCUMENTS 6U
#define VCPUS_MOST 64U

/* A source whose items stay, so that one can begin anywhere. */
struct fake {
	struct sample_source source;
	struct sample_item items[ITEMS];
	uint64_t chains[ITEMS][CHAIN_MOST];
	struct sample_event place; /* of the last sample in a guest */
	size_t at;
};

static int fake_next(struct sample_source *s, struct sample_item *ret, struct error *e)
{
	struct fake *f = (struct fake *)s;

	(void)e;
	if (f->at == ITEMS)
		return 0;
	*ret = f->items[f->at++];
	return 1;
}

static const struct sample_source_ops ops = { .next = fake_next };

/* Some exits tell where the guest was; some records are lost, and some gaps reach over many others. */
static void fill(struct fake *f, struct sample_random *random)
{
	size_t i;

	memset(&f->place, 0, sizeof(f->place));
	for (i = 0; i < ITEMS; i++) {
		struct sample_item *item = &f->items[i];
		struct sample_event *ev = &item->event;
		uint32_t most;

		*item = (struct sample_item){ .type = ITEM_EVENT };
		sample_random_next(random, ev);
		most = (uint32_t)ev->n_kernel + ev->n_user;
		if (most > CHAIN_MOST) {
			ev->n_kernel = ev->n_kernel > CHAIN_MOST ? CHAIN_MOST : ev->n_kernel;
			ev->n_user = (uint16_t)(CHAIN_MOST - ev->n_kernel);
			most = CHAIN_MOST;
		}
		if (most)
			memcpy(f->chains[i], ev->chain, most * sizeof(uint64_t));
		ev->chain = f->chains[i];
		if (ev->kind == SAMPLE_TAKEN && ev->guest)
			f->place = *ev;
		if (ev->kind == SAMPLE_EXIT && f->place.guest &&
		    sample_random_below(random, 3) == 0) {
			ev->guest = f->place.guest;
			ev->mode = f->place.mode;
			ev->guest_pc = f->place.guest_pc;
			ev->guest_table = f->place.guest_table;
			ev->guest_context = f->place.guest_context;
			ev->guest_task = f->place.guest_task;
		}
		if (sample_random_below(random, 400) == 0) {
			item->type = ITEM_LOSS;
			item->loss = (struct trace_loss){
				.from_tick = ev->tick,
				.to_tick = ev->tick + sample_random_below(random, 2) * 20000000,
				.count = 1
			};
		}
	}
}

struct window {
	uint64_t from_ns, to_ns;
};

/* All that can be asked. */
struct answer {
	char *documents[DOCUMENTS];
	struct vm_losses losses;
	struct vm_sums sums[VCPUS_MOST];
};

static void write_documents(const struct vm_json *j, char *ret[DOCUMENTS])
{
	const struct vm_tree_options options = { .report = j->report,
						 .names = j->names,
						 .host = j->host,
						 .source = j->source,
						 .shape = { .vcpus = true, .threads = true } };
	CLEANUP_VM_TREE struct vm_tree t;
	json_t *documents[DOCUMENTS] = { vm_machines_json(j), vm_steal_json(j) };
	size_t i;

	assert_int_equal(vm_tree_init(&t, &options), 0);
	assert_int_equal(vm_tree_fill(&t), 0);
	for (i = 0; i < VM_LEVELS; i++)
		documents[2 + i] = vm_correct_json(j, (enum vm_level)i);
	documents[DOCUMENTS - 1] = vm_tree_json(&t, NULL);
	for (i = 0; i < DOCUMENTS; i++) {
		ret[i] = json_dumps(documents[i], JSON_COMPACT);
		assert_non_null(ret[i]);
		json_decref(documents[i]);
	}
}

/* With names of its own, as each request has them. */
static void ask(struct fake *f, const struct window *w, struct marks *marks, bool resume,
		struct answer *ret)
{
	struct vm_report_options o = { .source = &f->source,
				       .from_ns = w->from_ns,
				       .to_ns = w->to_ns,
				       .with_cells = true,
				       .marks = marks };
	struct vm_names_options names = { .source = &f->source };
	CLEANUP(profile_names) struct profile_names *host = NULL;
	CLEANUP(vm_names) struct vm_names *guests = NULL;
	CLEANUP(vm_report) struct vm_report *report = NULL;
	struct error e = ERROR_INIT;
	const struct vm_sums *sums;
	struct vm_json json;
	uint32_t i;

	assert_int_equal(profile_names_new(&host, &f->source, NULL, &e), 0);
	assert_int_equal(vm_names_new(&guests, &names, &e), 0);
	o.names = guests;
	o.host = host;
	f->at = 0;
	if (resume)
		o.resume = marks_get(marks, w->from_ns, &o.resume_tick);
	/* It may begin somewhat before the mark. */
	while (o.resume && sample_item_tick(&f->items[f->at + 30]) < o.resume_tick)
		f->at++;
	assert_int_equal(vm_report_new(&report, &o, &e), 0);
	json = (struct vm_json){ report, guests, host, &f->source, 0 };
	memset(ret, 0, sizeof(*ret));
	write_documents(&json, ret->documents);
	ret->losses = *vm_report_losses(report);
	assert_true(vm_time_count(vm_report_time(report)) <= VCPUS_MOST);
	for (i = 0; (sums = vm_account_get(vm_report_account(report), i)); i++)
		ret->sums[i] = *sums;
}

static void check_window(struct fake *f, const struct window *w, struct marks *marks)
{
	struct answer wanted, got;
	size_t i;

	ask(f, w, NULL, false, &wanted);
	ask(f, w, marks, true, &got);
	for (i = 0; i < DOCUMENTS; i++) {
		assert_string_equal(got.documents[i], wanted.documents[i]);
		free(got.documents[i]);
		free(wanted.documents[i]);
	}
	assert_memory_equal(&got.losses, &wanted.losses, sizeof(got.losses));
	assert_memory_equal(got.sums, wanted.sums, sizeof(got.sums));
}

static void test_marks(void **state)
{
	struct sample_random *random = malloc(sizeof(*random));
	struct fake *f = calloc(1, sizeof(*f));
	struct marks *marks;
	uint64_t seed, first, length;
	int i;

	(void)state;
	assert_true(random && f);
	f->source.ops = &ops;
	f->source.sampling.exits = SAMPLE_EXITS_ARM64;
	assert_int_equal(info_init(&f->source.info), 0);
	assert_int_equal(sample_spaces_new(&f->source.spaces), 0);
	sample_spaces_settle(f->source.spaces);
	for (seed = 1; seed <= 4; seed++) {
		sample_random_init(random, seed, SAMPLE_RANDOM_VM);
		fill(f, random);
		first = sample_item_tick(&f->items[0]);
		length = sample_item_tick(&f->items[ITEMS - 1]) - first;
		assert_int_equal(vm_report_marks_new(&marks, MARK_EVERY), 0);
		/* The first leaves marks, in whatever window of its own. */
		check_window(f, &(struct window){ first + length / 3, first + length / 2 }, marks);
		assert_in_range(marks_count(marks), 10, ITEMS / MARK_EVERY);
		check_window(f, &(struct window){ 0, 0 }, marks);
		for (i = 0; i < 40; i++) {
			struct window w = { first + sample_random_below(random, (uint32_t)length),
					    0 };

			w.to_ns = w.from_ns + 1 + sample_random_below(random, (uint32_t)length / 4);
			check_window(f, &w, marks);
		}
		check_window(f, &(struct window){ first + length + 10, first + length + 20 },
			     marks);
		marks_unref(marks);
	}
	sample_spaces_free(f->source.spaces);
	info_done(&f->source.info);
	free(f);
	free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
