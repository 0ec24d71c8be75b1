/* SPDX-License-Identifier: MIT */
/*
 * sample_event: two records are the same if every field that their kind has is; and no field that it does not have makes a
 * difference. Other tests believe this comparison.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/sample_event.h"

static const uint64_t chain[] = { 10, 20, 30 }, other_chain[] = { 10, 20, 31 };

static struct sample_event whole(uint8_t kind)
{
	return (struct sample_event){
		.tick = 5,
		.kind = kind,
		.task = { 70, 69, 3, "editor" },
		.next = { 71, 68, SAMPLE_NO_VCPU, "shell" },
		.value = 1,
		.detail = 2,
		.mode = SAMPLE_GUEST_USER,
		.guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT |
			 SAMPLE_GUEST_TASK | SAMPLE_GUEST_REASON,
		.weight = 1000,
		.n_kernel = 1,
		.n_user = 2,
		.chain = chain,
		.guest_pc = 11,
		.guest_table = 12,
		.guest_context = 13,
		.guest_task = 14,
		.reason = 15,
		.reason_detail = 16,
	};
}

/* With field n of 22 another one; false: there is no such field. */
static bool change(struct sample_event *ev, uint32_t n)
{
	uint64_t *const wide[] = { &ev->value,	     &ev->detail,	 &ev->guest_pc,
				   &ev->guest_table, &ev->guest_context, &ev->guest_task,
				   &ev->reason,	     &ev->reason_detail, &ev->weight,
				   &ev->tick };
	int32_t *const narrow[] = { &ev->task.tid, &ev->task.pid, &ev->task.vcpu,
				    &ev->next.tid, &ev->next.pid, &ev->next.vcpu };

	if (n < 10)
		*wide[n] += 100;
	else if (n < 16)
		*narrow[n - 10] += 100;
	else if (n == 16)
		ev->task.comm[15] = 'x';
	else if (n == 17)
		ev->next.comm[0] = 'x';
	else if (n == 18)
		ev->mode = SAMPLE_GUEST_KERNEL;
	else if (n == 19)
		ev->n_kernel++, ev->n_user--;
	else if (n == 20)
		ev->n_user--;
	else if (n == 21)
		ev->chain = other_chain;
	else
		return false;
	return true;
}

/* Which fields of the 22 a kind has. */
static bool has(uint8_t kind, uint32_t n)
{
	const struct sample_shape *shape = &sample_shapes[kind];

	if (n < 2)
		return shape->has_value;
	if (n < 8 || n == 18)
		return shape->has_guest;
	if (n == 8 || n > 18)
		return kind == SAMPLE_TAKEN;
	return (n < 13 && n > 8) || n == 16 || shape->has_next;
}

static void test_each_field(void **state)
{
	struct sample_event a, b;
	uint32_t n;
	uint8_t kind;

	(void)state;
	for (kind = 0; kind < SAMPLE_KINDS; kind++) {
		for (n = 0;; n++) {
			a = b = whole(kind);
			if (!change(&b, n))
				break;
			assert_int_equal(sample_event_equal(&a, &b), !has(kind, n));
			assert_int_equal(sample_event_equal(&b, &a), !has(kind, n));
		}
		assert_true(sample_event_equal(&a, &b));
		b.kind = (uint8_t)(kind + 1);
		assert_false(sample_event_equal(&a, &b));
	}
	a.kind = b.kind = SAMPLE_KINDS; /* of what is no kind nobody can say it */
	assert_false(sample_event_equal(&a, &b));
}

/* A field of a guest that neither knows makes no difference; what is known to one only does. */
static void test_unknown(void **state)
{
	struct sample_event a = whole(SAMPLE_TAKEN), b = a;
	uint32_t n;

	(void)state;
	b.guest = SAMPLE_GUEST_PC;
	assert_false(sample_event_equal(&a, &b));
	a.guest = b.guest = 0;
	for (n = 2; n < 8; n++)
		change(&b, n);
	assert_true(sample_event_equal(&a, &b));
	a.n_kernel = a.n_user = b.n_kernel = b.n_user = 0;
	b.chain = NULL;
	assert_true(sample_event_equal(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_field),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests_name("sample_event", tests, NULL, NULL);
}
