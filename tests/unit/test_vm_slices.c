/* SPDX-License-Identifier: MIT */
/*
 * vm_slices: what is drawn is what happened: rows touch, and their classes are those of the account of the same window, whatever is
 * merged.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "analysis/vm_account.h"
#include "analysis/vm_slices.h"
#include "tools/sample_text.h"

#define ITEMS_MAX 6000U
#define TEXT_MAX 4096U

/* A source of items that a test has written down. */
struct fake {
	struct sample_source source;
	struct sample_item items[ITEMS_MAX];
	size_t n, at;
};

static int fake_next(struct sample_source *s, struct sample_item *ret, struct error *e)
{
	struct fake *f = (struct fake *)s;

	(void)e;
	if (f->at == f->n)
		return 0;
	*ret = f->items[f->at++];
	return 1;
}

static const struct sample_source_ops ops = { .next = fake_next };

struct rig {
	struct fake fake;
	struct vm_names *names;
};

static void set_up(struct rig *r)
{
	struct vm_names_options o = { .source = &r->fake.source };

	memset(r, 0, sizeof(*r));
	r->fake.source.ops = &ops;
	r->fake.source.sampling.exits = SAMPLE_EXITS_ARM64;
	r->fake.source.sampling.has = SAMPLE_HAS_GUESTS;
	assert_int_equal(info_init(&r->fake.source.info), 0);
	assert_int_equal(sample_spaces_new(&r->fake.source.spaces), 0);
	sample_spaces_settle(r->fake.source.spaces);
	assert_int_equal(vm_names_new(&r->names, &o, NULL), 0);
}

static void tear_down(struct rig *r)
{
	vm_names_free(r->names);
	sample_spaces_free(r->fake.source.spaces);
	info_done(&r->fake.source.info);
}

static void add(struct rig *r, const char *text)
{
	struct sample_item *item = &r->fake.items[r->fake.n++];
	uint64_t chain[SAMPLE_CHAIN_MAX];
	char line[256];

	assert_true(r->fake.n <= ITEMS_MAX);
	snprintf(line, sizeof(line), "%s", text);
	item->type = ITEM_EVENT;
	assert_true(sample_text_parse(line, &item->cpu, &item->event, chain));
	item->event.chain = NULL;
	item->event.n_kernel = item->event.n_user = 0;
}

static void add_loss(struct rig *r, uint32_t cpu, uint64_t tick)
{
	struct sample_item *item = &r->fake.items[r->fake.n++];

	item->type = ITEM_LOSS;
	item->cpu = cpu;
	item->loss.from_tick = item->loss.to_tick = tick;
	item->loss.count = 3;
}

static void fill(struct rig *r)
{
	static const char *const lines[] = {
		"1 1000 entry 401/400/0/a",
		"1 1100 sample 401/400/0/a guest-user 100 pc=0x401000 context=101",
		"1 1200 exit 401/400/0/a 0",
		"1 1210 entry 401/400/0/a",
		"1 1300 exit 401/400/0/a 0",
		"1 1310 switch 401/400/0/a 501/500/0/b 0",
		"1 1312 entry 501/500/0/b",
		"1 1400 sample 501/500/0/b guest-user 100 pc=0x402000 context=7",
		"1 1500 sample 501/500/0/b guest-user 100 pc=0x402000 context=8",
		"1 1608 exit 501/500/0/b 0",
		"1 1610 switch 501/500/0/b 401/400/0/a 0",
		"1 1612 entry 401/400/0/a",
		"1 1900 exit 401/400/0/a 0x101 0x07e00000",
		"1 1902 switch 401/400/0/a 0/0/-/swapper 1",
		"0 1990 wake 9/9/-/sh 401/400/0/a 1",
		"1 1995 switch 0/0/-/swapper 401/400/0/a 0",
		"1 2000 entry 401/400/0/a",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add(r, lines[i]);
}

static struct vm_slices *make(struct rig *r, uint64_t from_ns, uint64_t to_ns, uint64_t width)
{
	struct vm_slices_options o = { .source = &r->fake.source,
				       .names = r->names,
				       .from_ns = from_ns,
				       .to_ns = to_ns,
				       .width = width,
				       .limit = VM_SLICES_ROWS_MAX };
	struct vm_slices *s = NULL;
	struct error e = ERROR_INIT;

	r->fake.at = 0;
	assert_int_equal(vm_slices_new(&s, &o, &e), 0);
	return s;
}

/* Rows in order of time: "guest 200 vmm-kernel 10 {guest 90 vmm-kernel 10} …". */
static const char *describe(const struct vm_lane *l, const char *const *words, char text[TEXT_MAX])
{
	uint64_t at = l->from_ns;
	size_t i = 0, k = 0, len = 0;
	uint32_t c;

	text[0] = 0;
	while (i < l->n_spans || k < l->n_piles) {
		const char *blank = len ? " " : "";

		if (i < l->n_spans && l->spans[i].from_ns == at) {
			len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s%s %" PRIu64, blank,
						words[l->spans[i].kind], l->spans[i].to_ns - at);
			at = l->spans[i++].to_ns;
			continue;
		}
		assert_true(k < l->n_piles && l->piles[k].from_ns == at);
		len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s{", blank);
		for (c = 0; c < VM_LANE_KINDS; c++)
			if (l->piles[k].ns[c])
				len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s%s %" PRIu64,
							text[len - 1] == '{' ? "" : " ", words[c],
							l->piles[k].ns[c]);
		len += (size_t)snprintf(text + len, TEXT_MAX - len, "}");
		at = l->piles[k++].to_ns;
	}
	assert_int_equal(at, l->to_ns);
	return text;
}

static void check_vcpu(const struct vm_slices *s, uint32_t vcpu, const char *wanted)
{
	char text[TEXT_MAX];

	assert_string_equal(describe(vm_slices_vcpu(s, vcpu), vm_class_words, text), wanted);
}

static void check_cpu(const struct vm_slices *s, uint32_t cpu, const char *wanted)
{
	char text[TEXT_MAX];

	assert_string_equal(describe(vm_slices_cpu(s, cpu), vm_owner_words, text), wanted);
}

static void test_all(void **state)
{
	struct rig *r = *state;
	struct vm_slices *s;
	const struct vm_lane *l;

	fill(r);
	s = make(r, 1000, 2001, 100000);
	assert_int_equal(vm_slices_min_ns(s), 1);
	check_vcpu(
		s, 0,
		"guest 200 vmm-kernel 10 guest 90 vmm-kernel 10 steal 300 vmm-kernel 2 guest 288 "
		"vmm-kernel 2 halt 88 waiting 5 vmm-kernel 5");
	/* A sample's place is that of the time before it; what follows the last one is the same. */
	check_vcpu(s, 1, "vmm-user 2 guest 88 guest 208 vmm-kernel 2 steal 292 steal 93 steal 5");
	l = vm_slices_vcpu(s, 1);
	assert_int_equal(l->spans[1].what, 1);
	assert_int_equal(l->spans[2].what, 2);
	assert_int_equal(vm_slices_legend(s)->places.n, 3);
	check_cpu(s, 0, "unknown 990 other 10");
	check_cpu(s, 1, "vcpu 310 vcpu 300 vcpu 292 idle 93 vcpu 5");
	vm_slices_free(s);
}

static void test_merged(void **state)
{
	struct rig *r = *state;
	struct vm_slices *s;

	fill(r);
	s = make(r, 1000, 2000, 5);
	assert_int_equal(vm_slices_min_ns(s), 200);
	check_vcpu(s, 0,
		   "guest 200 {guest 90 vmm-kernel 20} steal 300 vmm-kernel 2 guest 288 "
		   "{vmm-kernel 7 waiting 5 halt 88}");
	check_cpu(s, 1, "vcpu 310 vcpu 300 vcpu 292 {idle 93 vcpu 5}");
	vm_slices_free(s);

	/* All of it is less than a pixel. */
	s = make(r, 0, 1000000, 10);
	check_vcpu(s, 0, "{guest 578 vmm-kernel 29 steal 300 waiting 5 halt 88}");
	vm_slices_free(s);
}

static void test_window(void **state)
{
	struct rig *r = *state;
	struct vm_slices *s;

	fill(r);
	s = make(r, 1250, 1650, 1000);
	check_vcpu(s, 0, "guest 50 vmm-kernel 10 steal 300 vmm-kernel 2 guest 38");
	check_vcpu(s, 1, "vmm-user 2 guest 88 guest 208 vmm-kernel 2 steal 40");
	check_cpu(s, 1, "vcpu 60 vcpu 300 vcpu 40");
	assert_null(vm_slices_cpu(s, 7));
	vm_slices_free(s);

	/* Nothing of the second is known yet, and nothing of either behind the end. */
	s = make(r, 1000, 1200, 1000);
	check_vcpu(s, 0, "guest 200");
	assert_null(vm_slices_vcpu(s, 1));
	vm_slices_free(s);
	s = make(r, 5000, 6000, 1000);
	assert_null(vm_slices_vcpu(s, 0));
	assert_null(vm_slices_cpu(s, 1));
	vm_slices_free(s);
	s = make(r, 0, 500, 1000);
	assert_null(vm_slices_vcpu(s, 0));
	assert_null(vm_slices_cpu(s, 1));
	vm_slices_free(s);
}

static void test_loss(void **state)
{
	struct rig *r = *state;
	struct vm_slices *s;

	add(r, "1 1000 entry 401/400/0/a");
	add_loss(r, 1, 1100);
	add(r, "1 1300 exit 401/400/0/a 0");
	add(r, "1 1400 entry 401/400/0/a");
	s = make(r, 1000, 1400, 1000);
	check_vcpu(s, 0, "guest 100 unknown 200 vmm-kernel 100");
	check_cpu(s, 1, "vcpu 100 unknown 200 vcpu 100");
	vm_slices_free(s);
}

/* That a halt was polled for is told behind the window. */
static void test_poll(void **state)
{
	struct rig *r = *state;
	struct vm_slices *s;

	add(r, "1 1000 entry 401/400/0/a");
	add(r, "1 1100 exit 401/400/0/a 0x101 0x07e00000");
	add(r, "1 1600 poll 401/400/0/a 450 0");
	add(r, "1 1610 entry 401/400/0/a");
	add(r, "1 1700 exit 401/400/0/a 0");
	s = make(r, 1000, 1300, 1000);
	check_vcpu(s, 0, "guest 100 vmm-kernel 50 halt-polling 150");
	vm_slices_free(s);
}

static void test_refused(void **state)
{
	struct rig *r = *state;
	struct vm_slices_options o = { .source = &r->fake.source,
				       .names = r->names,
				       .to_ns = 10000,
				       .width = 10000,
				       .limit = 10 };
	struct vm_slices *s = NULL;
	struct error e = ERROR_INIT;

	add(r, "0 1 switch 9/9/-/sh 10/10/-/sh 0");
	assert_int_equal(vm_slices_new(&s, &o, &e), -ENODATA);
	fill(r);
	r->fake.at = 0;
	assert_int_equal(vm_slices_new(&s, &o, &e), -E2BIG);
	assert_string_equal(e.text, "there are more than 10 spans: a smaller width merges more");
	assert_null(s);
}

/* --- anything that may happen --- */

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

static struct sample_task draw_task(void)
{
	int32_t n = (int32_t)draw(5);
	struct sample_task t = { .tid = n < 3 ? 100 * (n + 1) + 1 : n == 3 ? 0 : 7, .vcpu = -1 };

	t.pid = n < 3 ? t.tid - 1 : t.tid;
	if (n < 3)
		t.vcpu = 0;
	t.comm[0] = (char)('a' + n);
	return t;
}

static void fill_randomly(struct rig *r)
{
	uint64_t tick = 1000;

	for (r->fake.n = 0; r->fake.n < ITEMS_MAX; r->fake.n++) {
		struct sample_item *item = &r->fake.items[r->fake.n];
		struct sample_event *ev = &item->event;

		memset(item, 0, sizeof(*item));
		tick += draw(10) ? draw(20) : draw(2000);
		item->cpu = draw(3);
		item->type = draw(200) ? ITEM_EVENT : ITEM_LOSS;
		item->loss.from_tick = item->loss.to_tick = tick;
		ev->tick = tick;
		ev->kind = (uint8_t)draw(SAMPLE_KINDS);
		ev->task = draw_task();
		ev->next = draw_task();
		ev->value = ev->kind == SAMPLE_POLL   ? draw(500)
			    : ev->kind == SAMPLE_EXIT ? 255 + draw(3)
						      : draw(3);
		if (ev->kind == SAMPLE_SWITCH && !draw(300))
			ev->value = 0x80; /* it is dead */
		if (ev->kind == SAMPLE_TAKEN && draw(2)) {
			ev->guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_CONTEXT;
			ev->guest_pc = 0x1000ULL * draw(3);
			ev->guest_context = draw(3);
		}
	}
}

static int put_account(void *data, const struct vm_segment *g)
{
	return vm_account_put(data, g);
}

static struct vm_account *account_of(struct rig *r, uint64_t from_ns, uint64_t to_ns)
{
	static const struct vm_time_listener listener = { put_account, NULL };
	struct trace_clock *clock = &r->fake.source.info.clock;
	struct vm_account_options o = { clock, SAMPLE_EXITS_ARM64, from_ns, to_ns };
	struct vm_time_options time = { clock, SAMPLE_EXITS_ARM64, &listener, NULL };
	struct vm_account *a = NULL;
	struct vm_time *t = NULL;
	uint64_t last = 0;
	size_t i;

	assert_int_equal(vm_account_new(&a, &o), 0);
	time.data = a;
	assert_int_equal(vm_time_new(&t, &time), 0);
	for (i = 0; i < r->fake.n; i++) {
		assert_int_equal(vm_time_put(t, &r->fake.items[i]), 0);
		if (r->fake.items[i].type == ITEM_EVENT)
			last = r->fake.items[i].event.tick;
	}
	assert_int_equal(vm_time_end(t, last), 0);
	vm_time_free(t);
	return a;
}

static void sum_lane(const struct vm_lane *l, uint64_t sums[VM_LANE_KINDS])
{
	size_t i;
	int c;

	memset(sums, 0, VM_LANE_KINDS * sizeof(*sums));
	for (i = 0; l && i < l->n_spans; i++)
		sums[l->spans[i].kind] += l->spans[i].to_ns - l->spans[i].from_ns;
	for (i = 0; l && i < l->n_piles; i++)
		for (c = 0; c < (int)VM_LANE_KINDS; c++)
			sums[c] += l->piles[i].ns[c];
}

/* They touch, in whichever of the two lists they are, and those that are merged are their sums. */
static void check_lane(const struct vm_lane *l, uint64_t width)
{
	uint64_t at = l ? l->from_ns : 0, sum;
	size_t i = 0, k = 0;
	int c;

	while (l && (i < l->n_spans || k < l->n_piles)) {
		if (i < l->n_spans && l->spans[i].from_ns == at) {
			at = l->spans[i++].to_ns;
			continue;
		}
		assert_true(k < l->n_piles && l->piles[k].from_ns == at);
		for (c = 0, sum = 0; c < (int)VM_LANE_KINDS; c++)
			sum += l->piles[k].ns[c];
		at = l->piles[k++].to_ns;
		assert_int_equal(sum, at - l->piles[k - 1].from_ns);
	}
	assert_true(!l || at == l->to_ns);
	assert_true(!l || l->n_spans + l->n_piles <= 2 * width + 1);
}

static void check_window(struct rig *r, uint64_t from_ns, uint64_t to_ns, uint64_t width)
{
	struct vm_account *a = account_of(r, from_ns, to_ns);
	struct vm_slices *s = make(r, from_ns, to_ns, width);
	const struct vm_sums *wanted, none = { { 0 }, 0, { 0 } };
	uint64_t sums[VM_LANE_KINDS], last = 0;
	uint32_t i;

	for (i = 0; i < vm_time_count(vm_slices_time(s)); i++) {
		wanted = vm_account_get(a, i);
		check_lane(vm_slices_vcpu(s, i), width);
		sum_lane(vm_slices_vcpu(s, i), sums);
		assert_memory_equal(sums, wanted ? wanted->ns : none.ns, sizeof(sums));
	}
	for (i = 0; i < r->fake.n; i++)
		last = r->fake.items[i].event.tick;
	for (i = 0; i < 3; i++) {
		const struct vm_lane *l = vm_slices_cpu(s, i);

		check_lane(l, width);
		if (!l)
			continue;
		assert_int_equal(l->from_ns, from_ns > 1100 ? from_ns : l->from_ns);
		assert_int_equal(l->to_ns, to_ns < last ? to_ns : last);
	}
	vm_slices_free(s);
	vm_account_free(a);
}

static void test_random(void **state)
{
	struct rig *r = *state;
	uint64_t from, end;
	int round, i;

	for (round = 0; round < 20; round++) {
		seed = (uint64_t)round;
		fill_randomly(r);
		end = r->fake.items[ITEMS_MAX - 1].event.tick;
		check_window(r, 0, end + 1, 1 + draw(3000));
		for (i = 0; i < 5; i++) {
			from = draw((uint32_t)end);
			check_window(r, from, from + 1 + draw(i % 2 ? 1000 : 100000),
				     1 + draw(500));
		}
	}
}

/* --- marks --- */

static char *text_of(struct vm_slices *s)
{
	const struct vm_slices_about about = { 1, true };
	char *text = NULL;
	size_t len;

	assert_int_equal(vm_slices_format(s, &about, &text, &len), 0);
	vm_slices_free(s);
	return text;
}

/* From a mark on, it says what it says from the start on; the source may begin somewhat before the mark. */
static void check_marked(struct rig *r, struct marks *marks, uint64_t from_ns, uint64_t to_ns)
{
	char *wanted = text_of(make(r, from_ns, to_ns, 300)), *got;
	struct vm_slices_options o = { .source = &r->fake.source,
				       .names = r->names,
				       .from_ns = from_ns,
				       .to_ns = to_ns,
				       .width = 300,
				       .limit = VM_SLICES_ROWS_MAX,
				       .marks = marks };
	struct vm_slices *s = NULL;
	struct error e = ERROR_INIT;
	size_t at = 0;

	o.resume = marks_get(marks, from_ns, &o.resume_tick);
	while (o.resume && r->fake.items[at].event.tick < o.resume_tick)
		at++;
	r->fake.at = at > 50 ? at - draw(50) : 0;
	assert_int_equal(vm_slices_new(&s, &o, &e), 0);
	got = text_of(s);
	assert_string_equal(got, wanted);
	free(got);
	free(wanted);
}

static void test_marks(void **state)
{
	struct rig *r = *state;
	struct marks *marks;
	uint64_t end, from, to;
	int round, i;

	for (round = 0; round < 5; round++) {
		seed = (uint64_t)round + 1000;
		fill_randomly(r);
		end = r->fake.items[ITEMS_MAX - 1].event.tick;
		assert_int_equal(vm_slices_marks_new(&marks, 100), 0);
		check_marked(r, marks, 0, end / 2);
		check_marked(r, marks, 0, end + 1);
		assert_true(marks_count(marks) > 40 && marks_count(marks) < 60);
		for (i = 0; i < 20; i++) {
			from = draw((uint32_t)end);
			to = from + 1 + draw(50000);
			check_marked(r, marks, from, to);
		}
		check_marked(r, marks, end + 10, end + 20);
		marks_unref(marks);
	}
}

/* --- the document --- */

static void check_rows(const json_t *lane, size_t n_span, size_t n_merged)
{
	json_int_t length = json_integer_value(json_object_get(lane, "to_ns")) -
			    json_integer_value(json_object_get(lane, "from_ns"));
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(lane, "spans"), i, row)
	{
		assert_int_equal(json_array_size(row), n_span);
		length -= json_integer_value(json_array_get(row, 1));
	}
	json_array_foreach(json_object_get(lane, "merged"), i, row)
	{
		assert_int_equal(json_array_size(row), n_merged);
		length -= json_integer_value(json_array_get(row, 1));
	}
	assert_int_equal(length, 0);
}

static void test_document(void **state)
{
	struct rig *r = *state;
	const struct vm_slices_about about = { 7, true };
	struct vm_slices *s;
	json_t *d, *row;
	char *text;
	size_t len, i;

	fill(r);
	s = make(r, 1000, 2000, 5);
	assert_int_equal(vm_slices_format(s, &about, &text, &len), 0);
	assert_int_equal(strlen(text), len);
	assert_int_equal(text[len - 1], '\n');
	d = json_loads(text, 0, NULL);
	assert_non_null(d);
	assert_int_equal(json_integer_value(json_object_get(d, "run")), 7);
	json_array_foreach(json_object_get(d, "vcpus"), i, row)
	{
		check_rows(row, 5, 2 + VM_CLASSES);
	}
	assert_int_equal(i, 2);
	json_array_foreach(json_object_get(d, "cpus"), i, row)
	{
		check_rows(row, 3, 2 + VM_OWNERS);
	}
	/* What only merged ones have is in no table. */
	assert_int_equal(json_array_size(json_object_get(d, "tasks")), 3);
	assert_int_equal(json_array_size(json_object_get(d, "places")), 2);
	json_decref(d);
	free(text);
	vm_slices_free(s);
}

static int set_up_rig(void **state)
{
	static struct rig rig;

	set_up(&rig);
	*state = &rig;
	return 0;
}

static int tear_down_rig(void **state)
{
	tear_down(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_merged, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_window, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_loss, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_poll, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_refused, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_random, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_marks, set_up_rig, tear_down_rig),
		cmocka_unit_test_setup_teardown(test_document, set_up_rig, tear_down_rig),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
