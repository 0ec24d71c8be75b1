/* SPDX-License-Identifier: MIT */
/* child_process: what a reader in another process says is checked; its end is one error. With calls and boot charts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/boot_child.h"
#include "convert/func_child.h"
#include "convert/source_child.h"
#include "sample.h"
#include "sandbox/sandbox.h"
#include "tools/emulator.h"

#define FILE_LEN 4096U

/* --- calls: the source that the child has --- */

static struct func_item items[8];
static size_t n_items, n_names;

struct fake {
	struct func_source base;
	size_t next;
};

static int fake_next(struct func_source *base, struct func_item *ret, struct error *e)
{
	struct fake *f = (struct fake *)base;

	(void)e;
	if (f->next == n_items)
		return 0;
	*ret = items[f->next++];
	return 1;
}

static void fake_progress(const struct func_source *base, uint64_t *done, uint64_t *total)
{
	*done = ((const struct fake *)base)->next;
	*total = n_items;
}

static const struct func_source_ops fake_ops = { .next = fake_next, .progress = fake_progress };

static int open_fake(struct import_bytes in, struct func_source **ret, struct error *e)
{
	static struct fake f;
	struct func_process kernel;
	const struct func_thread thread = { .tid = 7, .comm = "seven" };
	char name[32];
	size_t i;

	if (in.len != FILE_LEN)
		return error_set(e, EBADMSG, "it has another length");
	func_process_init(&kernel, "kernel", "");
	for (i = 0; i < n_names; i++) {
		snprintf(name, sizeof(name), "name_%zu", i);
		func_process_add_name(&kernel, name, strlen(name));
	}
	f.base.ops = &fake_ops;
	clock_init(&f.base.clock);
	func_source_add_process(&f.base, &kernel, NULL);
	func_source_add_thread(&f.base, &thread, NULL);
	func_source_set_origin(&f.base, "a fake");
	*ret = &f.base;
	return 0;
}

static int open_and_die(struct import_bytes in, struct func_source **ret, struct error *e)
{
	(void)in;
	(void)ret;
	(void)e;
	abort();
}

static int open_and_fail(struct import_bytes in, struct func_source **ret, struct error *e)
{
	(void)in;
	(void)ret;
	return error_set(e, ENODATA, "it holds no calls");
}

static int open_and_look(struct import_bytes in, struct func_source **ret, struct error *e)
{
	(void)in;
	(void)ret;
	(void)e;
	return open("/etc/passwd", O_RDONLY) < 0 ? -EACCES : -EEXIST;
}

static struct import_bytes make_bytes(void)
{
	void *map = mmap(NULL, FILE_LEN, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	return (struct import_bytes){ map, FILE_LEN };
}

static void put_call(uint64_t tick, uint8_t kind, uint64_t value)
{
	items[n_items++] =
		(struct func_item){ .event = { .tick = tick, .value = value, .kind = kind } };
}

static void reset(void)
{
	n_items = 0;
	n_names = 3;
	memset(items, 0, sizeof(items));
}

static void test_calls(void **state)
{
	struct func_source *s = NULL;
	struct func_item item;
	struct error e = ERROR_INIT;
	char **names;
	uint64_t done, total;

	(void)state;
	reset();
	put_call(10, FUNC_ENTER, 2);
	put_call(20, FUNC_EXIT, 2);
	items[n_items++] = (struct func_item){ .type = FUNC_ITEM_LOSS, .loss = { .count = 5 } };
	assert_int_equal(func_child_open(&s, open_fake, make_bytes(), &e), 0);
	assert_string_equal(s->origin, "a fake");
	assert_int_equal(s->n_threads, 1);
	assert_string_equal(s->threads[0].comm, "seven");
	assert_true(s->processes[0].kernel);
	assert_int_equal(s->processes[0].n_names, 3);
	names = s->processes[0].names;
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(s->ops->rewind(s, &e), 0);
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		assert_int_equal(item.event.tick, 10);
		assert_int_equal(item.event.value, 2);
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		assert_int_equal(item.event.kind, FUNC_EXIT);
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		assert_int_equal(item.type, FUNC_ITEM_LOSS);
		assert_int_equal(item.loss.count, 5);
		assert_int_equal(s->ops->next(s, &item, &e), 0);
		assert_int_equal(s->ops->next(s, &item, &e), 0);
	}
	/* Whoever has names of it goes on with them. */
	assert_ptr_equal(names, s->processes[0].names);
	assert_string_equal(names[2], "name_2");
	s->ops->progress(s, &done, &total);
	assert_true(done <= total);
	/* Another file than before. */
	n_names = 4;
	assert_int_equal(s->ops->rewind(s, &e), -EBADMSG);
	assert_string_equal(e.text, "it was changed while it was read");
	func_source_free(s);
}

/* Numbers that lead nowhere are the reader's fault, and nobody follows them. */
static void expect_disorder(void)
{
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_item item;

	assert_int_equal(func_child_open(&s, open_fake, make_bytes(), &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), -EBADMSG);
	assert_string_equal(e.text, "its reader is out of order");
	assert_int_equal(s->ops->next(s, &item, &e), -EBADMSG);
	func_source_free(s);
}

static void test_disorder(void **state)
{
	(void)state;
	reset();
	put_call(10, FUNC_ENTER, 3); /* of three names */
	expect_disorder();
	reset();
	put_call(10, 3, 0); /* no such kind */
	expect_disorder();
	reset();
	put_call(10, FUNC_ENTER, 0);
	items[0].thread = 1;
	expect_disorder();
	reset();
	items[n_items++] = (struct func_item){ .type = FUNC_ITEM_LOSS, .thread = 9 };
	expect_disorder();
}

static void expect_refused(func_child_fn open, int code, const char *text)
{
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;

	assert_int_equal(func_child_open(&s, open, make_bytes(), &e), code);
	assert_null(s);
	assert_string_equal(e.text, text);
}

static void test_ends(void **state)
{
	(void)state;
	expect_refused(open_and_fail, -ENODATA, "it holds no calls");
}

static void test_deaths(void **state)
{
	(void)state;
	if (SANDBOX_SANITIZED || emulator_is_there())
		skip(); /* neither has a filter */
	expect_refused(open_and_die, -EBADMSG, "its reader crashed (Aborted)");
	expect_refused(open_and_look, -EBADMSG,
		       "its reader tried to do more than read, and was ended");
}

/* --- boot charts --- */

static struct boot_item boot_items[4];
static size_t n_boot_items, next_boot_item;

static int boot_next(struct boot_source *s, struct boot_item *ret, struct error *e)
{
	(void)s;
	(void)e;
	if (next_boot_item == n_boot_items)
		return 0;
	*ret = boot_items[next_boot_item++];
	return 1;
}

static const struct boot_source_ops boot_ops = { .next = boot_next };

static int open_boot(const struct boot_child_job *job, struct boot_source **ret, struct error *e)
{
	static struct boot_source s;
	char byte;

	/* From the start, also the second time. */
	if (read(job->fd, &byte, 1) != 1 || byte != 'a')
		return error_set(e, EBADMSG, "cannot read %s: it does not begin", job->path);
	info_init(&s.info);
	info_set(&s.info.device, "board", 5);
	s.info.cpus = 2;
	s.is_cut = true;
	s.ops = &boot_ops;
	*ret = &s;
	return 0;
}

static int open_abc(void)
{
	int fd = memfd_create("abc", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_boot(void **state)
{
	struct boot_child_job job = { .open = open_boot, .path = "file", .fd = open_abc() };
	struct boot_source *s = NULL;
	struct boot_item item;
	struct error e = ERROR_INIT;

	(void)state;
	boot_items[0] = (struct boot_item){
		.event = { .tick = 5, .kind = BOOT_NAME, .key = 1, .text = "init", .text_len = 4 }
	};
	boot_items[1] = (struct boot_item){ .event = { .tick = 6, .kind = BOOT_PASS } };
	n_boot_items = 2;
	assert_int_equal(boot_child_open(&s, &job, &e), 0);
	assert_true(s->is_cut);
	assert_int_equal(s->info.cpus, 2);
	assert_string_equal(s->info.device, "board");
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(s->ops->rewind(s, &e), 0);
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		assert_int_equal(item.event.text_len, 4);
		assert_memory_equal(item.event.text, "init", 4);
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		assert_int_equal(item.event.tick, 6);
		assert_int_equal(s->ops->next(s, &item, &e), 0);
		assert_int_equal(s->ops->next(s, &item, &e), 0);
	}
	boot_source_free(s);

	job.fd = open_abc();
	boot_items[0].event.kind = BOOT_KINDS;
	assert_int_equal(boot_child_open(&s, &job, &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), -EBADMSG);
	assert_string_equal(e.text, "its reader is out of order");
	boot_source_free(s);
}

/* --- events --- */

static int open_events(const struct source_child_job *job, struct trace_source **ret,
		       struct error *e)
{
	(void)job;
	(void)e;
	*ret = array_source_new(sample_items, SAMPLE_N);
	return 0;
}

/* What was read from a pipe is gone; what was read from bytes can be read again. */
static void test_pipe(void **state)
{
	struct source_child_job job = { .child = { .memory_bytes = 256U << 20 },
					.open = open_events };
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item item;
	int ends[2], again;
	size_t n;

	(void)state;
	for (again = 0; again < 2; again++) {
		assert_int_equal(pipe(ends), 0);
		job.child.fd = again ? -1 : ends[0];
		if (source_child_open(&s, &job, &e) < 0)
			fail_msg("%s", e.text);
		for (n = 0; s->ops->next(s, &item, &e) > 0; n++)
			assert_int_equal(item.type, sample_items[n].type);
		assert_int_equal(n, SAMPLE_N);
		assert_int_equal(s->ops->next(s, &item, &e), 0);
		assert_int_equal(s->ops->rewind(s, &e), again ? 0 : -ESPIPE);
		assert_int_equal(s->ops->next(s, &item, &e), again);
		source_free(s);
		if (again)
			close(ends[0]);
		close(ends[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls), cmocka_unit_test(test_disorder),
		cmocka_unit_test(test_ends),  cmocka_unit_test(test_deaths),
		cmocka_unit_test(test_boot),  cmocka_unit_test(test_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
