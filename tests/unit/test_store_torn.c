/* SPDX-License-Identifier: MIT */
/*
 * store: a disk that does not give what is mapped of it, and a machine without descriptors. Here files are cut off behind the
 * store's back, which the kernel tells in the same way; those that are mapped only as long as they are read, right after that.
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "base/mapping.h"
#include "store/log.h"
#include "stored.h"
#include "tools/emulator.h"

#define BLOCKS 900U
#define FILE_BYTES 2000U

int __real_mapping_open(struct mapping **ret, int fd, uint64_t most);
int __wrap_mapping_open(struct mapping **ret, int fd, uint64_t most);

static char dir[64];
static char said[512];
static const char *to_cut; /* the ending of the file that is cut as soon as it is mapped */

static void cut(int fd)
{
	char link[64], path[256];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = 0;
	if ((size_t)n < strlen(to_cut) || strcmp(path + n - strlen(to_cut), to_cut))
		return;
	assert_int_equal(truncate(path, 0), 0);
	to_cut = NULL;
}

int __wrap_mapping_open(struct mapping **ret, int fd, uint64_t most)
{
	int r = __real_mapping_open(ret, fd, most);

	if (r == 0 && to_cut)
		cut(fd);
	return r;
}

static void hear(void *context, const char *line)
{
	(void)context;
	snprintf(said, sizeof(said), "%s", line);
}

static struct store *open_it(void)
{
	const struct store_options o = { .file_bytes = FILE_BYTES, .say = hear };

	said[0] = 0;
	mapping_guard(); /* cmocka has a handler of its own */
	return stored_open(dir, &o);
}

/* A run in several log files, all but the last of them full and in the catalog. */
static int make_store(void **state)
{
	struct error e = ERROR_INIT;
	struct store *s;
	uint32_t run, i;

	(void)state;
	stored_folder(dir);
	s = open_it();
	run = stored_run(s, 1, 10, 20);
	for (i = 0; i < 2; i++)
		assert_int_equal(stored_put_bare(s, run,
						 (struct block){ .flags = BLOCK_KEY,
								 .sequence = i }),
				 STORE_TAKEN);
	for (i = 0; i < BLOCKS; i++) {
		struct block b = { .stream = 1,
				   .flags = BLOCK_KEY,
				   .sequence = i,
				   .before = i * 10,
				   .events = 10,
				   .first_tick = i * 100,
				   .ticks = 90 };

		assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
		stored_commit(s);
	}
	assert_int_equal(store_settle(s, &e), 0);
	store_free(s);
	return 0;
}

static int remove_store(void **state)
{
	(void)state;
	stored_remove(dir);
	return 0;
}

static void name_of(char out[128], unsigned int number, const char *ending)
{
	snprintf(out, 128, "%s/log/%08u.%s", dir, number, ending);
}

static unsigned int count_logs(void)
{
	char path[128];
	unsigned int n = 0;

	do
		name_of(path, ++n, "klog");
	while (access(path, F_OK) == 0);
	return n - 1;
}

/* How many blocks it has, or an error. */
static int count(struct store *s)
{
	struct block_reader *r;
	struct error e = ERROR_INIT;
	uint64_t place = 0, at;
	struct block b;
	int n = 0, got;

	assert_int_equal(store_reader_open(&r, s, 1, NULL, &e), 0);
	while ((got = r->ops->next(r, 1, &place, &b, &at)) == 1)
		n++;
	r->ops->free(r);
	return got < 0 ? got : n;
}

static size_t read_log(uint8_t bytes[2 * FILE_BYTES], unsigned int number)
{
	char path[128];
	size_t len;
	FILE *f;

	name_of(path, number, "klog");
	f = fopen(path, "rb");
	assert_non_null(f);
	len = fread(bytes, 1, 2 * FILE_BYTES, f);
	assert_int_equal(fclose(f), 0);
	assert_in_range(len, 100, 2 * FILE_BYTES - 1);
	return len;
}

static void write_log(const uint8_t *bytes, size_t len, unsigned int number)
{
	char path[128];
	FILE *f;

	name_of(path, number, "klog");
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static struct block_reader *start(struct store *s, uint64_t *place)
{
	struct error e = ERROR_INIT;
	struct block_reader *r;
	struct block b;
	uint64_t at;

	*place = 0;
	assert_int_equal(store_reader_open(&r, s, 1, NULL, &e), 0);
	assert_int_equal(r->ops->next(r, 1, place, &b, &at), 1);
	return r;
}

/* Who reads it gets another, which is made from the log. */
static void test_index(void **state)
{
	struct store *s = open_it();
	uint64_t place, at;
	struct block_reader *r = start(s, &place);
	char path[128];
	struct block b;
	int n = 1;

	(void)state;
	assert_in_range(count_logs(), 3, 100);
	name_of(path, 1, "kidx");
	assert_int_equal(truncate(path, 0), 0);
	while (r->ops->next(r, 1, &place, &b, &at) == 1)
		n++;
	assert_int_equal(n, BLOCKS);
	r->ops->free(r);
	assert_int_equal(count(s), BLOCKS);
	store_free(s);
}

/* Also while somebody else has the torn one. */
static void test_shared_index(void **state)
{
	struct store *s = open_it();
	uint64_t place[2], at;
	struct block_reader *r[2] = { start(s, &place[0]), start(s, &place[1]) };
	char path[128];
	struct block b;

	(void)state;
	name_of(path, 1, "kidx");
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(r[0]->ops->next(r[0], 1, &place[0], &b, &at), 1);
	assert_int_equal(count(s), BLOCKS);
	r[0]->ops->free(r[0]);
	assert_int_equal(r[1]->ops->next(r[1], 1, &place[1], &b, &at), 1);
	r[1]->ops->free(r[1]);
	assert_int_equal(count(s), BLOCKS);
	store_free(s);
}

/* With `room` descriptors left: all blocks or an error, and never fewer. */
static void test_no_descriptors(void **state)
{
	struct store *s = open_it();
	struct rlimit all, few;
	int fd = dup(0), room, n, refused = 0;

	(void)state;
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	for (room = 0; room < 12; room++) {
		few.rlim_cur = (rlim_t)(fd + room);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		n = count(s);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_true(n == BLOCKS || n == -EMFILE);
		refused += n < 0;
	}
	assert_in_range(refused, 2, 11);
	assert_int_equal(count(s), BLOCKS);
	store_free(s);
}

static void test_index_while_it_is_opened(void **state)
{
	struct store *s = open_it();

	(void)state;
	to_cut = "00000002.kidx";
	assert_int_equal(count(s), BLOCKS);
	assert_null(to_cut);
	assert_string_equal(said, "");
	store_free(s);
}

/* Of a full file the rest is shown, and nothing is kept of what the disk did not say. */
static void test_full_log(void **state)
{
	uint8_t bytes[2 * FILE_BYTES];
	char path[128];
	struct store *s;
	size_t len;
	int n;

	(void)state;
	len = read_log(bytes, 2);
	name_of(path, 2, "kidx");
	assert_int_equal(unlink(path), 0);
	s = open_it();
	to_cut = "00000002.klog";
	n = count(s);
	assert_null(to_cut);
	assert_in_range(n, 1, BLOCKS - 1);
	assert_string_equal(said,
			    "cannot read log/00000002.klog: the disk does not give all of it; "
			    "what lacks counts as lost");
	store_free(s);
	assert_int_equal(access(path, F_OK), -1);
	write_log(bytes, len, 2);
	s = open_it();
	assert_int_equal(count(s), BLOCKS);
	store_free(s);
}

/* Where the description's first block is in a log file, behind its head. */
static uint8_t *find_description(uint8_t *bytes, size_t len)
{
	size_t at = LOG_HEAD_LEN;
	struct log_record r;

	while (at < len && log_record_decode(bytes + at, len - at, &r) == WIRE_OK) {
		if (log_kind_is_block(r.kind) && r.block.stream == STREAM_META)
			return bytes + at + r.len - 1;
		at += r.len;
	}
	fail_msg("no description");
	return NULL;
}

/* Names are in no ledger: it is said that they lack, once. */
static void test_description(void **state)
{
	uint8_t bytes[2 * FILE_BYTES];
	struct block_reader *r;
	struct error e = ERROR_INIT;
	struct store *s;
	uint64_t place, at;
	struct block b;
	size_t len;
	int i, n;

	(void)state;
	len = read_log(bytes, 1);
	*find_description(bytes, len) ^= 1;
	write_log(bytes, len, 1);
	s = open_it();
	for (i = 0; i < 2; i++) {
		assert_int_equal(store_reader_open(&r, s, 1, NULL, &e), 0);
		for (place = n = 0; r->ops->next(r, STREAM_META, &place, &b, &at) == 1; n++)
			;
		r->ops->free(r);
		assert_int_equal(n, 1);
		assert_int_equal(!strncmp(said, "log file 1 is damaged at ", 25), i == 0);
		said[0] = 0;
	}
	assert_int_equal(count(s), BLOCKS);
	store_free(s);
}

/* The last one is not cut off where the disk has a bad moment. */
static void test_last_log(void **state)
{
	const struct store_options o = { .file_bytes = FILE_BYTES };
	uint8_t bytes[2 * FILE_BYTES];
	struct error e = ERROR_INIT;
	unsigned int last = count_logs();
	char name[32], wanted[128], path[128];
	struct store *s;
	size_t len;

	(void)state;
	mapping_guard();
	len = read_log(bytes, last);
	snprintf(name, sizeof(name), "%08u.klog", last);
	to_cut = name;
	assert_int_equal(store_open(&s, dir, &o, &e), -EIO);
	assert_null(to_cut);
	snprintf(wanted, sizeof(wanted), "cannot read log/%s: the disk does not give all of it",
		 name);
	assert_non_null(strstr(e.text, wanted));
	write_log(bytes, len, last);
	s = open_it();
	assert_int_equal(count(s), BLOCKS);
	store_free(s);
	name_of(path, last, "rest");
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_index, make_store, remove_store),
		cmocka_unit_test_setup_teardown(test_shared_index, make_store, remove_store),
		cmocka_unit_test_setup_teardown(test_no_descriptors, make_store, remove_store),
		cmocka_unit_test_setup_teardown(test_index_while_it_is_opened, make_store,
						remove_store),
		cmocka_unit_test_setup_teardown(test_full_log, make_store, remove_store),
		cmocka_unit_test_setup_teardown(test_description, make_store, remove_store),
		cmocka_unit_test_setup_teardown(test_last_log, make_store, remove_store),
	};

	if (emulator_is_qemu()) {
		puts("skipped: the program is emulated, and what it touches in vain it touches "
		     "forever");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
