/* SPDX-License-Identifier: MIT */
/* logins and throttle: who is logged in and for how long, and who must wait; with times that are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collector/logins.h"
#include "collector/throttle.h"

static const struct logins_limits limits = { .idle_ms = 100, .length_ms = 250 };
static struct error e;

static struct people_user user_of(const char *name)
{
	struct people_user u = { .role = ROLE_VIEW };

	snprintf(u.name, sizeof(u.name), "%s", name);
	memset(u.stamp, name[0], sizeof(u.stamp));
	return u;
}

static void end_in_time(void **state)
{
	struct people_user ann = user_of("ann");
	char id[LOGIN_ID_LEN + 1], other[LOGIN_ID_LEN + 1];
	CLEANUP(logins) struct logins *l = NULL;
	struct login one;

	(void)state;
	assert_int_equal(logins_new(&l, &limits, &e), 0);
	assert_int_equal(logins_add(l, &ann, 1000, id, &e), 0);
	assert_int_equal(logins_add(l, &ann, 1000, other, &e), 0);
	assert_string_not_equal(id, other);
	assert_true(logins_use(l, id, 1099, &one));
	assert_string_equal(one.user, "ann");
	assert_memory_equal(one.stamp, ann.stamp, sizeof(one.stamp));
	assert_int_equal(strlen(one.proof), LOGIN_PROOF_LEN);
	assert_int_equal(logins_count_user(l, "ann", 1099), 2);
	/* To look is not to use. */
	assert_true(logins_get(l, one.hash, 1198, &one));
	assert_false(logins_get(l, one.hash, 1199, &one));
	assert_false(logins_use(l, other, 1100, &one));
	assert_true(logins_use(l, id, 1198, &one));
	assert_true(logins_use(l, id, 1249, &one));
	assert_false(logins_use(l, id, 1250, &one)); /* too old, though it was used */
	assert_int_equal(logins_count_user(l, "ann", 1250), 0);
}

static void end_by_hand(void **state)
{
	struct people_user ann = user_of("ann"), bob = user_of("bob");
	char id[LOGIN_ID_LEN + 1], kept[LOGIN_ID_LEN + 1];
	CLEANUP(logins) struct logins *l = NULL;
	struct login one;

	(void)state;
	assert_int_equal(logins_new(&l, &limits, &e), 0);
	assert_int_equal(logins_add(l, &ann, 0, id, &e), 0);
	assert_int_equal(logins_add(l, &bob, 0, kept, &e), 0);
	assert_true(logins_use(l, id, 0, &one));
	logins_remove(l, one.hash);
	logins_remove(l, one.hash);
	assert_false(logins_use(l, id, 0, &one));
	assert_true(logins_use(l, kept, 0, &one));
	assert_int_equal(logins_remove_user(l, "ann"), 0);
	assert_int_equal(logins_remove_user(l, "bob"), 1);
	assert_false(logins_use(l, kept, 0, &one));
	assert_false(logins_use(l, "", 0, &one));
}

static void are_bounded(void **state)
{
	char first[LOGIN_ID_LEN + 1], id[LOGIN_ID_LEN + 1], name[16];
	struct people_user u = user_of("ann");
	CLEANUP(logins) struct logins *l = NULL;
	struct login one;
	uint64_t i;

	(void)state;
	assert_int_equal(logins_new(&l, &limits, &e), 0);
	assert_int_equal(logins_add(l, &u, 1, first, &e), 0);
	for (i = 0; i < LOGINS_USER_MAX; i++)
		assert_int_equal(logins_add(l, &u, 2 + i, id, &e), 0);
	assert_int_equal(logins_count_user(l, "ann", 20), LOGINS_USER_MAX);
	assert_false(logins_use(l, first, 20, &one));
	/* All places taken: the one that rests longest goes, and nobody is refused. */
	for (i = 0; i < LOGINS_MAX; i++) {
		snprintf(name, sizeof(name), "u%u", (unsigned int)i);
		u = user_of(name);
		assert_int_equal(logins_add(l, &u, 30, id, &e), 0);
		assert_true(logins_use(l, id, 30, &one));
	}
	assert_int_equal(logins_count_user(l, "ann", 30), 0);
	assert_int_equal(logins_count_user(l, "u0", 30), 1);
}

static void throttles(void **state)
{
	CLEANUP(throttle) struct throttle *t = NULL;
	uint64_t now = 1000000;
	unsigned int i;

	(void)state;
	assert_int_equal(throttle_new(&t, 30, &e), 0);
	for (i = 0; i < THROTTLE_FREE; i++)
		assert_int_equal(throttle_try(t, "ann", now), 0);
	assert_int_equal(throttle_try(t, "ann", now), 1);
	assert_int_equal(throttle_try(t, "bob", now), 0);
	assert_int_equal(throttle_try(t, "ann", now + 999), 1);
	now += 1000;
	assert_int_equal(throttle_try(t, "ann", now), 0);
	assert_int_equal(throttle_try(t, "ann", now), 2);
	for (i = 0; i < 10; i++) {
		now += 30000;
		assert_int_equal(throttle_try(t, "ann", now), 0);
	}
	assert_int_equal(throttle_try(t, "ann", now), 30); /* the ceiling */
	throttle_clear(t, "ann");
	for (i = 0; i < THROTTLE_FREE; i++)
		assert_int_equal(throttle_try(t, "ann", now), 0);
	assert_int_equal(throttle_try(t, "ann", now), 1);
	assert_int_equal(throttle_try(t, "ann", now + THROTTLE_FORGET_MS + 1), 0);
	assert_int_equal(throttle_try(t, "ann", now + THROTTLE_FORGET_MS + 1), 0);
}

/* A flood of other keys does not grow it, and who tries all the time is not pushed out by those who do not. */
static void throttle_is_bounded(void **state)
{
	CLEANUP(throttle) struct throttle *t = NULL;
	unsigned int i, waits = 0;
	char key[32];

	(void)state;
	assert_int_equal(throttle_new(&t, 900, &e), 0);
	for (i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "a%u", i);
		assert_int_equal(throttle_try(t, key, 1000 + i), 0);
		waits += throttle_try(t, "ann", 1000 + i) != 0;
	}
	assert_true(waits > 19900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_in_time),	       cmocka_unit_test(end_by_hand),
		cmocka_unit_test(are_bounded),	       cmocka_unit_test(throttles),
		cmocka_unit_test(throttle_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
