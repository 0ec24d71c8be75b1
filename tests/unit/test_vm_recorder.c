/* SPDX-License-Identifier: MIT */
/* vm_recorder: what a collector says of its pace, with a source that tells what was asked of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/vm/vm_record.h"
#include "device/vm/vm_recorder.h"
#include "wire/sample_event.h"

#define MS 1000000U

static struct {
	uint32_t starts, stops, changes, period_ns, reads;
	bool runs;
} asked;

static int start(struct vm_source *s, const struct vm_settings *settings, struct error *e)
{
	(void)s;
	(void)e;
	assert_false(asked.runs);
	asked.runs = true;
	asked.starts++;
	asked.period_ns = settings->period_ns;
	return 0;
}

static int stop(struct vm_source *s, struct error *e)
{
	(void)s;
	(void)e;
	assert_true(asked.runs);
	asked.runs = false;
	asked.stops++;
	return 0;
}

static ssize_t nothing(struct vm_source *s, uint8_t *to, size_t room)
{
	(void)s;
	(void)to;
	(void)room;
	return 0;
}

/* Records that took a tenth of a second each, as the head of their chunk says. */
static ssize_t costly(struct vm_source *s, uint8_t *to, size_t room)
{
	struct vm_record record = { .tick = 1000 + ++asked.reads,
				    .size = sizeof(record),
				    .kind = SAMPLE_ENTRY,
				    .task = { 7, 5, 1, "CPU 1/KVM" } };
	struct vm_chunk head = { .magic = VM_RECORD_MAGIC,
				 .version = VM_RECORD_VERSION,
				 .exits = SAMPLE_EXITS_ARM64,
				 .length = sizeof(record),
				 .used_ns = 100ULL * MS * asked.reads };

	(void)s;
	assert_true(room >= sizeof(head) + sizeof(record));
	if (!asked.runs)
		return 0;
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), &record, sizeof(record));
	return sizeof(head) + sizeof(record);
}

static void set_period(struct vm_source *s, uint32_t period_ns)
{
	(void)s;
	asked.changes++;
	asked.period_ns = period_ns;
}

static int take(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	(void)o;
	(void)b;
	(void)payload;
	(void)must;
	return 0;
}

/* As the module: its period stays while it records. The other can change it. */
static const struct vm_source_ops fixed = {
	.name = "fixed", .start = start, .stop = stop, .read = nothing
};
static const struct vm_source_ops supple = {
	.name = "supple", .start = start, .stop = stop, .read = nothing, .set_period = set_period
};
static const struct vm_source_ops dear = {
	.name = "dear", .start = start, .stop = stop, .read = costly, .set_period = set_period
};

struct rig {
	struct vm_settings settings;
	struct vm_source source;
	struct block_out out;
	struct vm_recorder *recorder;
};

static void rig_open(struct rig *r, const struct vm_source_ops *ops, uint32_t cycles)
{
	struct error e = ERROR_INIT;
	struct vm_recorder_options o = {
		.settings = &r->settings, .source = &r->source, .out = &r->out, .name = "host"
	};

	memset(r, 0, sizeof(*r));
	memset(&asked, 0, sizeof(asked));
	r->source.ops = ops;
	r->out.put = take;
	vm_settings_init(&r->settings);
	r->settings.cycles = cycles;
	assert_int_equal(vm_recorder_new(&r->recorder, &o, &e), 0);
	assert_int_equal(vm_recorder_start(r->recorder, &e), 0);
	assert_int_equal(asked.period_ns, MS);
}

static int tell(struct rig *r, uint32_t parts, const struct config_pace *p)
{
	struct message_config c = { .given = parts << CONFIG_PACE_FIELD(PACE_OF_VM, 0) };
	struct error e = ERROR_INIT;
	int told;

	c.paces[PACE_OF_VM] = *p;
	told = vm_recorder_set_pace(r->recorder, &c, &e);
	assert_int_equal(vm_recorder_turn(r->recorder, &e), 0);
	return told;
}

static void rig_close(struct rig *r)
{
	struct error e = ERROR_INIT;

	assert_int_equal(vm_recorder_stop(r->recorder, true, &e), 0);
	assert_false(asked.runs);
	vm_recorder_free(r->recorder);
}

#define RATE (1U << PACE_RATE)
#define MODE (1U << PACE_MODE)
#define BUDGET (1U << PACE_BUDGET)

static void one_that_cannot_change_starts_anew(void **state)
{
	struct config_pace p = { .rate_hz = 500, .is_on = 0 };
	struct rig r;

	(void)state;
	rig_open(&r, &fixed, 0);
	assert_int_equal(tell(&r, RATE, &p), 0);
	assert_int_equal(asked.starts, 2);
	assert_int_equal(asked.stops, 1);
	assert_int_equal(asked.period_ns, 2 * MS);
	assert_int_equal(tell(&r, MODE, &p), 0);
	assert_false(asked.runs);
	assert_true(vm_recorder_is_paused(r.recorder));
	p.rate_hz = 100; /* in a pause: for later */
	assert_int_equal(tell(&r, RATE, &p), 0);
	assert_false(asked.runs);
	p.is_on = 1;
	assert_int_equal(tell(&r, MODE, &p), 0);
	assert_true(asked.runs);
	assert_int_equal(asked.period_ns, 10 * MS);
	p.rate_hz = 100000; /* not below what the kernel's side takes */
	assert_int_equal(tell(&r, RATE, &p), 0);
	assert_int_equal(asked.period_ns, VM_PERIOD_LEAST_NS);
	rig_close(&r);
}

static void one_that_can_goes_on(void **state)
{
	struct config_pace p = { .rate_hz = 250 };
	struct rig r;

	(void)state;
	rig_open(&r, &supple, 0);
	assert_int_equal(tell(&r, RATE, &p), 0);
	assert_int_equal(asked.starts, 1);
	assert_int_equal(asked.stops, 0);
	assert_int_equal(asked.period_ns, 4 * MS);
	rig_close(&r);
}

static void cycles_are_no_rate(void **state)
{
	struct config_pace p = { .rate_hz = 250, .budget_ppm = 5000 };
	struct rig r;

	(void)state;
	rig_open(&r, &fixed, 1000000);
	assert_int_equal(tell(&r, RATE, &p), -EOPNOTSUPP);
	assert_int_equal(tell(&r, BUDGET, &p), -EOPNOTSUPP);
	assert_int_equal(asked.starts, 1);
	assert_int_equal(tell(&r, MODE, &p), 0);
	assert_false(asked.runs);
	rig_close(&r);
}

/* This process does next to nothing: without what the source says nothing would change. */
static void what_the_kernel_takes_is_in_the_budget(void **state)
{
	struct config_pace p = { .budget_ppm = 10000 };
	struct error e = ERROR_INIT;
	struct vm_counts counts;
	struct rig r;
	int i;

	(void)state;
	rig_open(&r, &dear, 0);
	assert_int_equal(tell(&r, BUDGET, &p), 0);
	assert_int_equal(asked.period_ns, MS);
	for (i = 0; asked.period_ns == MS && i < 600; i++) {
		usleep(10000);
		assert_int_equal(vm_recorder_turn(r.recorder, &e), 0);
	}
	assert_true(asked.period_ns > MS);
	vm_recorder_get_counts(r.recorder, &counts);
	assert_int_equal(counts.used_ns, 100ULL * MS * asked.reads);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_cannot_change_starts_anew),
		cmocka_unit_test(one_that_can_goes_on),
		cmocka_unit_test(cycles_are_no_rate),
		cmocka_unit_test(what_the_kernel_takes_is_in_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
