/* SPDX-License-Identifier: MIT */
/* func_maps: what of the maps is passed on, when generations come, go, are cut, or are nonsense. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/feed/func_maps.h"

/* What was put, as text. */
struct taken {
	char text[65536];
	size_t len;
	int fail_after; /* rows; -1: never */
};

static int put(void *context, const struct func_meta_mapping *m)
{
	struct taken *t = context;
	int n;

	if (t->fail_after == 0)
		return -ENOSPC;
	t->fail_after--;
	n = snprintf(t->text + t->len, sizeof(t->text) - t->len, "%llx-%llx %llx %u:%d %u %.*s\n",
		     (unsigned long long)m->from, (unsigned long long)m->to,
		     (unsigned long long)m->offset, m->since,
		     m->until == UINT32_MAX ? -1 : (int)m->until, m->build_id_len, (int)m->path.len,
		     m->path.text);
	t->len += (size_t)n;
	assert_true(t->len < sizeof(t->text));
	return 0;
}

static struct taken taken;
static const struct func_maps_sink sink = { &taken, put };

static void clear(void)
{
	memset(&taken, 0, sizeof(taken));
	taken.fail_after = -1;
}

static void add(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void turn(struct func_maps *m, int fd, const char *wanted)
{
	clear();
	assert_int_equal(func_maps_turn(m, fd, &sink), 0);
	assert_string_equal(taken.text, wanted);
}

#define EDITOR "1000-2000 r-xp 00000000 fe:00 131    /usr/bin/editor\n"
#define PLUG "8000-9000 r-xp 00001000 fe:00 132    /lib/a plug.so\n"
#define OTHER "8000-9000 r-xp 00002000 fe:00 133    /lib/other\\012.so (deleted)\n"

static void passes_changes_on(void **state)
{
	int fd = memfd_create("maps", 0);
	struct func_maps m;

	(void)state;
	func_maps_init(&m);
	turn(&m, fd, "");
	add(fd, "# kiseki maps 1\n# generation 1\n# build-id 8d7f1c0e\n" EDITOR);
	turn(&m, fd, ""); /* it has no end yet */
	add(fd, "# end 1\n");
	turn(&m, fd, "1000-2000 0 1:-1 4 /usr/bin/editor\n");
	turn(&m, fd, "");
	add(fd, "# generation 2\n# build-id 8d7f1c0e\n" EDITOR PLUG "# end 2\n");
	turn(&m, fd, "8000-9000 1000 2:-1 0 /lib/a plug.so\n");
	add(fd, "# generation 3\n# build-id 8d7f1c0e\n" EDITOR OTHER "# end 3\n");
	turn(&m, fd,
	     "8000-9000 2000 3:-1 0 /lib/other\n.so (deleted)\n8000-9000 1000 2:3 0 /lib/a "
	     "plug.so\n");
	/* One is missing: all that was there may have gone and come again. */
	add(fd, "# generation 5\n# build-id 8d7f1c0e\n" EDITOR "# end 5\n");
	turn(&m, fd,
	     "1000-2000 0 5:-1 4 /usr/bin/editor\n1000-2000 0 1:4 4 /usr/bin/editor\n"
	     "8000-9000 2000 3:4 0 /lib/other\n.so (deleted)\n");
	/* An id that changes is another file. */
	add(fd, "# generation 6\n# build-id 8d7f1c0f\n" EDITOR "# end 6\n");
	turn(&m, fd, "1000-2000 0 6:-1 4 /usr/bin/editor\n1000-2000 0 5:6 4 /usr/bin/editor\n");
	close(fd);
}

static void begins_again_after_a_failure(void **state)
{
	int fd = memfd_create("maps", 0);
	struct func_maps m;

	(void)state;
	func_maps_init(&m);
	add(fd, "# kiseki maps 1\n# generation 1\n" EDITOR PLUG "# end 1\n");
	clear();
	taken.fail_after = 1;
	assert_int_equal(func_maps_turn(&m, fd, &sink), -ENOSPC);
	turn(&m, fd, "1000-2000 0 1:-1 0 /usr/bin/editor\n8000-9000 1000 1:-1 0 /lib/a plug.so\n");
	close(fd);
}

/* More mappings than are known at a time: those beyond are ended and begun with each generation. */
static void takes_more_than_it_knows(void **state)
{
	int fd = memfd_create("maps", 0);
	uint32_t i, begun = 0, ended = 0;
	struct func_maps m;
	char line[80];
	const char *p;

	(void)state;
	func_maps_init(&m);
	for (i = 1; i <= 2; i++) {
		uint32_t k;

		snprintf(line, sizeof(line), "# generation %u\n", i);
		add(fd, line);
		for (k = 0; k < FUNC_MAPS_KNOWN + 10; k++) {
			snprintf(line, sizeof(line), "%x000-%x800 r-xp 0 0:0 1 /lib/%u\n", k + 1,
				 k + 1, k);
			add(fd, line);
		}
		snprintf(line, sizeof(line), "# end %u\n", i);
		add(fd, line);
		clear();
		assert_int_equal(func_maps_turn(&m, fd, &sink), 0);
	}
	for (p = taken.text; (p = strstr(p, " 2:-1 ")); p++)
		begun++;
	for (p = taken.text; (p = strstr(p, " 1:2 ")); p++)
		ended++;
	assert_int_equal(begun, 10);
	assert_int_equal(ended, 10);
	close(fd);
}

static void passes_over_nonsense(void **state)
{
	static const char *const lines[] = {
		"",
		"x",
		"1000",
		"1000-2000",
		"2000-1000 r-xp 0 0:0 1 /x",
		"1000-2000 r--p 0 0:0 1 /x",
		"1000-2000 r-xp 0 0:0 1 [vdso]",
		"1000-2000 r-xp 0 0:0 1",
		"1000-2000 r-xp 0 0:0 x /x",
		"1000-20000000000000000 r-xp 0 0:0 1 /x",
		"1000-2000 r-xp 0 00 1 /x",
		"# build-id 8d7",
		"# build-id zz",
		"# end 9",
		"# generation x",
		"1000-2000 r-xp 0 0:0 1 a/x",
	};
	struct func_meta_mapping row;
	struct func_maps m;
	char line[64], *wide;
	int fd;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "%s", lines[i]);
		assert_false(func_maps_parse_line(line, strlen(line), &row));
		fd = memfd_create("maps", 0);
		func_maps_init(&m);
		add(fd, "# generation 1\n");
		add(fd, lines[i]);
		add(fd, "\n" EDITOR "# end 1\n");
		clear();
		func_maps_turn(&m, fd, &sink);
		assert_true(!taken.len ||
			    !strcmp(taken.text, "1000-2000 0 1:-1 0 /usr/bin/editor\n"));
		close(fd);
	}
	/* A line without end is no reason to read for ever, or to forget what was there before it. */
	fd = memfd_create("maps", 0);
	wide = malloc(100001);
	assert_non_null(wide);
	memset(wide, 'a', 100000);
	wide[100000] = 0;
	func_maps_init(&m);
	add(fd, "# generation 1\n" EDITOR "# end 1\n");
	add(fd, wide);
	turn(&m, fd, "1000-2000 0 1:-1 0 /usr/bin/editor\n");
	turn(&m, fd, "");
	free(wide);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_changes_on),
		cmocka_unit_test(begins_again_after_a_failure),
		cmocka_unit_test(takes_more_than_it_knows),
		cmocka_unit_test(passes_over_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
