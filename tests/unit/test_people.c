/* SPDX-License-Identifier: MIT */
/* people: users and tokens in a real file, by two who have it open at once; and passwords. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "keys/people.h"
#include "tools/damage_row.h"

static char folder[64];
static struct people *here, *there; /* the collector, and a program */
static struct error e;

static int begin(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kiseki-people.XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(people_open(&here, folder, &e), 0);
	assert_int_equal(people_open(&there, folder, &e), 0);
	return 0;
}

static int finish(void **state)
{
	char path[96];

	(void)state;
	people_close(here);
	people_close(there);
	snprintf(path, sizeof(path), "%s/people.db", folder);
	unlink(path);
	return rmdir(folder);
}

static struct people_user user_of(const char *name, enum people_role role)
{
	struct people_user u = { .role = role, .made_s = 7, .changed_s = 8 };

	snprintf(u.name, sizeof(u.name), "%s", name);
	snprintf(u.hash, sizeof(u.hash), "$y$of %s", name);
	return u;
}

static void keeps_users(void **state)
{
	struct people_user ann = user_of("ann", ROLE_CONTROL), u = { .role = ROLE_ADMIN }, *list;
	uint8_t stamp[PEOPLE_STAMP_LEN];
	struct stat st;
	char path[96];
	size_t n;

	(void)state;
	assert_int_equal(people_get_user(here, "ann", &u, &e), -ENOENT);
	assert_int_equal(u.role, ROLE_ADMIN); /* untouched */
	assert_int_equal(people_add_user(there, &ann, &e), 0);
	assert_int_equal(people_add_user(there, &ann, &e), -EEXIST);
	assert_int_equal(people_get_user(here, "ann", &u, &e), 0);
	assert_string_equal(u.hash, "$y$of ann");
	assert_int_equal(u.role, ROLE_CONTROL);
	assert_int_equal(u.made_s, 7);
	memcpy(stamp, u.stamp, sizeof(stamp));

	strcpy(ann.hash, "$y$another");
	ann.changed_s = 9;
	assert_int_equal(people_change_user(there, &ann, &e), 0);
	assert_int_equal(people_get_user(here, "ann", &u, &e), 0);
	assert_string_equal(u.hash, "$y$another");
	assert_int_equal(u.changed_s, 9);
	assert_int_equal(u.role, ROLE_CONTROL);
	assert_memory_not_equal(u.stamp, stamp, sizeof(stamp));

	u = user_of("aaron", ROLE_VIEW);
	assert_int_equal(people_add_user(there, &u, &e), 0);
	assert_int_equal(people_dup_users(here, &list, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].name, "aaron");
	free(list);
	assert_int_equal(people_remove_user(there, "ann", &e), 0);
	assert_int_equal(people_remove_user(there, "ann", &e), -ENOENT);
	assert_int_equal(people_change_user(there, &ann, &e), -ENOENT);
	assert_int_equal(people_get_user(here, "ann", &u, &e), -ENOENT);
	u = user_of("", ROLE_VIEW);
	assert_int_equal(people_add_user(here, &u, &e), -EINVAL);
	u = user_of("a b", ROLE_VIEW);
	assert_int_equal(people_add_user(here, &u, &e), -EINVAL);

	snprintf(path, sizeof(path), "%s/people.db", folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void keeps_tokens(void **state)
{
	struct people_token t = { .name = "nightly", .role = ROLE_VIEW, .made_s = 1, .until_s = 5 };
	struct people_token found, *list;
	char text[PEOPLE_TOKEN_LEN + 1], other[PEOPLE_TOKEN_LEN + 1];
	size_t n;

	(void)state;
	assert_int_equal(people_add_token(there, &t, text, &e), 0);
	assert_int_equal(strlen(text), PEOPLE_TOKEN_LEN);
	assert_memory_equal(text, PEOPLE_TOKEN_PREFIX, 4);
	assert_int_equal(people_add_token(there, &t, other, &e), -EEXIST);
	strcpy(t.name, "weekly");
	assert_int_equal(people_add_token(there, &t, other, &e), 0);
	assert_string_not_equal(text, other);
	assert_int_equal(people_find_token(here, text, &found, &e), 0);
	assert_string_equal(found.name, "nightly");
	assert_int_equal(found.role, ROLE_VIEW);
	assert_int_equal(found.until_s, 5);
	assert_int_equal(people_get_token(here, found.hash, &found, &e), 0);
	assert_int_equal(people_dup_tokens(here, &list, &n, &e), 0);
	assert_int_equal(n, 2);
	free(list);
	text[10] ^= 1;
	assert_int_equal(people_find_token(here, text, &found, &e), -ENOENT);
	text[10] ^= 1;
	assert_int_equal(people_remove_token(there, "nightly", &e), 0);
	assert_int_equal(people_find_token(here, text, &found, &e), -ENOENT);
	assert_int_equal(people_remove_token(there, "nightly", &e), -ENOENT);
}

/* A disk makes admins of those who may look. */
static void believes_no_damage(void **state)
{
	struct people_user zoe = user_of("zoe", ROLE_VIEW), bob = user_of("bob", ROLE_VIEW), u,
			   *users;
	struct people_token t = { .name = "nightly", .role = ROLE_VIEW, .made_s = 1, .until_s = 5 };
	struct people_token *tokens;
	char text[PEOPLE_TOKEN_LEN + 1], path[96];
	size_t n;

	(void)state;
	assert_int_equal(people_add_user(here, &zoe, &e), 0);
	assert_int_equal(people_add_user(here, &bob, &e), 0);
	assert_int_equal(people_add_token(here, &t, text, &e), 0);
	snprintf(path, sizeof(path), "%s/people.db", folder);
	damage_row(path, "user", "role = 3 WHERE name = 'zoe'");
	damage_row(path, "token", "role = 3");
	people_close(there);
	assert_int_equal(people_open(&there, folder, &e), 0);
	assert_int_equal(people_get_user(here, "zoe", &u, &e), -EBADMSG);
	assert_null(strstr(e.text, "zoe")); /* a stranger may have asked */
	assert_int_equal(people_get_user(here, "bob", &u, &e), 0);
	assert_int_equal(people_find_token(here, text, &t, &e), -EBADMSG);
	assert_int_equal(people_dup_users(here, &users, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_true(!users[0].is_damaged && users[1].is_damaged && users[1].role == ROLE_NOBODY);
	free(users);
	assert_int_equal(people_dup_tokens(here, &tokens, &n, &e), 0);
	assert_true(n == 1 && tokens[0].is_damaged && tokens[0].role == ROLE_NOBODY);
	free(tokens);
	assert_int_equal(people_drop_damaged(there, &e), 2);
	assert_int_equal(people_drop_damaged(there, &e), 0);
	assert_int_equal(people_get_user(here, "zoe", &u, &e), -ENOENT);
	assert_int_equal(people_add_user(here, &zoe, &e), 0);
	assert_int_equal(people_get_user(there, "zoe", &u, &e), 0);
}

static void names_roles(void **state)
{
	(void)state;
	assert_int_equal(people_role_parse("view"), ROLE_VIEW);
	assert_int_equal(people_role_parse("control"), ROLE_CONTROL);
	assert_int_equal(people_role_parse("admin"), ROLE_ADMIN);
	assert_int_equal(people_role_parse("nobody"), ROLE_NOBODY);
	assert_int_equal(people_role_parse("root"), ROLE_NOBODY);
	assert_string_equal(people_role_name((enum people_role)9), "nobody");
}

static void checks_passwords(void **state)
{
	char hash[PASSWORD_HASH_MAX], again[PASSWORD_HASH_MAX], longest[PASSWORD_MOST + 2];

	(void)state;
	assert_int_equal(password_hash("seven77", hash, &e), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[PASSWORD_MOST + 1] = 0;
	assert_int_equal(password_hash(longest, hash, &e), -EINVAL);
	assert_false(password_check(longest, "$y$j9T$x$y"));
	assert_int_equal(password_hash("correct horse", hash, &e), 0);
	assert_memory_equal(hash, "$y$", 3);
	assert_int_equal(password_hash("correct horse", again, &e), 0);
	assert_string_not_equal(hash, again);
	assert_true(password_check("correct horse", hash));
	assert_false(password_check("correct horsf", hash));
	assert_false(password_check("", hash));
	assert_false(password_check("correct horse", ""));
	assert_false(password_check("correct horse", "*0"));
	assert_false(password_check("correct horse", "$y$"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_users, begin, finish),
		cmocka_unit_test_setup_teardown(keeps_tokens, begin, finish),
		cmocka_unit_test_setup_teardown(believes_no_damage, begin, finish),
		cmocka_unit_test(names_roles),
		cmocka_unit_test(checks_passwords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
