/* SPDX-License-Identifier: MIT */
/*
 * store: damage in the log file that was being written, of what was acknowledged. Whatever it is, it
 * costs the blocks that it hit, and each of them is told: by a count that is right, or by one that is
 * not known. The truth is what this file put, not what a store says of it.
 */
#include <fcntl.h>
#include <time.h>

#include "store/log.h"
#include "stored.h"

#define RUNS 3U /* the last of them goes on */
#define STREAMS 3U
#define BLOCKS 40U /* of each run */
#define TRIALS 200U
#define RECORDS_MAX 1000U

struct file {
	uint8_t *bytes;
	size_t len;
};

struct record {
	size_t at, len;
	uint32_t run;
	uint8_t kind;
	uint32_t events;
};

static char dir[64];
static char said[4096];
static struct file log_file, mark_file;
static struct record records[RECORDS_MAX];
static size_t n_records;
static uint64_t seed;

static void hear(void *context, const char *line)
{
	(void)context;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static struct store *open_it(void)
{
	const struct store_options o = { .say = hear };

	said[0] = 0;
	return stored_open(dir, &o);
}

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

static uint32_t events_of(uint32_t block)
{
	return 1 + block % 7;
}

/* How many events the blocks of a stream have, up to this one. Blocks go to the streams by turns. */
static uint64_t events_before(uint32_t stream, uint32_t block)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = stream; i < block; i += STREAMS)
		sum += events_of(i);
	return sum;
}

static uint64_t events_of_run(uint32_t blocks)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < blocks; i++)
		sum += events_of(i);
	return sum;
}

static void put_block(struct store *s, uint32_t run, uint32_t i)
{
	struct block b = { .stream = 1 + i % STREAMS,
			   .flags = BLOCK_KEY,
			   .sequence = i / STREAMS,
			   .before = events_before(i % STREAMS, i),
			   .events = events_of(i),
			   .first_tick = i * 100,
			   .ticks = 50 };

	assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
}

static void put_end(struct store *s, uint32_t run)
{
	struct message_end m = { .n_rows = STREAMS };
	struct error e = ERROR_INIT;
	struct byte_writer w;
	uint8_t bytes[256];
	uint32_t i;

	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	for (i = 0; i < STREAMS; i++) {
		const struct message_stream_end row = { 1 + i, (BLOCKS - i + STREAMS - 1) / STREAMS,
							events_before(i, BLOCKS) };

		end_put(&w, &row);
	}
	assert_int_equal(end_decode(&m, bytes, writer_len(&w)), WIRE_OK);
	assert_int_equal(store_end(s, run, &m, &e), STORE_TAKEN);
}

static void name_of(char out[128], const char *ending)
{
	snprintf(out, 128, "%s/log/00000001.%s", dir, ending);
}

static void load(const char *ending, struct file *ret)
{
	char path[128];
	struct stat st;
	int fd;

	name_of(path, ending);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	ret->len = (size_t)st.st_size;
	ret->bytes = malloc(ret->len + 1);
	assert_int_equal(read(fd, ret->bytes, ret->len), (ssize_t)ret->len);
	close(fd);
}

static void save(const char *ending, const uint8_t *bytes, size_t len)
{
	char path[128];
	int fd;

	name_of(path, ending);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

static void fresh_folder(void)
{
	char path[128];

	stored_remove(dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void list_records(void)
{
	struct log_record r;
	size_t at;

	for (at = LOG_HEAD_LEN; at < log_file.len; at += r.len) {
		assert_int_equal(log_record_decode(log_file.bytes + at, log_file.len - at, &r),
				 WIRE_OK);
		assert_true(n_records < RECORDS_MAX);
		records[n_records++] = (struct record){ at, r.len, r.run, r.kind,
							r.kind == LOG_BLOCK ? r.block.events : 0 };
	}
}

static int make_store(void **state)
{
	struct store_device d = { .id = stored_id(1), .name = "board", .cpus = 2 };
	struct error e = ERROR_INIT;
	struct store *s;
	uint32_t run, i;

	(void)state;
	seed = (uint64_t)time(NULL);
	printf("seed %llu\n", (unsigned long long)seed);
	stored_folder(dir);
	s = open_it();
	assert_int_equal(store_device(s, &d, &e), 0);
	for (run = 1; run <= RUNS; run++) {
		assert_int_equal(stored_run(s, 1, 10 + run, 20), run);
		for (i = 0; i < BLOCKS; i++) {
			put_block(s, run, i);
			stored_commit(s);
		}
		if (run < RUNS)
			put_end(s, run);
		stored_commit(s);
	}
	store_free(s);
	load("klog", &log_file);
	load("kmark", &mark_file);
	list_records();
	return 0;
}

static int remove_store(void **state)
{
	(void)state;
	stored_remove(dir);
	free(log_file.bytes);
	free(mark_file.bytes);
	return 0;
}

/* What a piece of the file has of a run. */
struct hit {
	uint32_t blocks, others, all;
	uint64_t events;
};

static struct hit find_hit(uint32_t run, size_t from, size_t to)
{
	struct hit h = { 0 };
	size_t i;

	for (i = 0; i < n_records; i++) {
		const struct record *r = &records[i];

		if (r->at >= to || r->at + r->len <= from)
			continue;
		h.all++;
		if (r->run != run)
			continue;
		h.blocks += r->kind == LOG_BLOCK;
		h.others += r->kind == LOG_END;
		h.events += r->events;
	}
	return h;
}

static void check_run(struct store *s, uint32_t run, const struct hit *h)
{
	struct stored_ledger l;
	struct store_run facts = stored_facts(s, run, &l);
	uint64_t lost = l.lost[LOSS_DAMAGE] + l.lost[LOSS_SPOOL], all = events_of_run(BLOCKS);

	assert_int_equal(facts.blocks, BLOCKS - h->blocks);
	assert_int_equal(facts.events, all - h->events);
	assert_int_equal(l.lost[LOSS_SPOOL], 0); /* it is the store's damage, and called so */
	if (facts.lost_unknown)
		assert_true(facts.events + lost <= all);
	else
		assert_int_equal(facts.events + lost, all);
	assert_int_equal(facts.ended, run < RUNS && !h->others);
	if (h->others)
		assert_true(facts.lost_unknown);
	if (facts.ended)
		assert_false(facts.lost_unknown);
	assert_int_equal(facts.damaged, facts.lost_unknown || lost);
	if (h->blocks || h->others)
		assert_true(facts.damaged);
}

/* The device of the last run goes on: then all is known of that. */
static void go_on(struct store *s)
{
	uint64_t all = events_of_run(BLOCKS + STREAMS);
	struct stored_ledger l;
	struct store_run facts;
	uint32_t i;

	assert_int_equal(stored_run(s, 1, 10 + RUNS, 20), RUNS);
	for (i = BLOCKS; i < BLOCKS + STREAMS; i++)
		put_block(s, RUNS, i);
	stored_commit(s);
	facts = stored_facts(s, RUNS, &l);
	assert_int_equal(facts.events + l.lost[LOSS_DAMAGE], all);
	assert_false(facts.lost_unknown);
}

static void try_one(const uint8_t *bytes, size_t len, size_t from, size_t to)
{
	struct store_damages d[2];
	struct hit hits[RUNS + 1];
	struct store *s;
	uint32_t run, pass;

	fresh_folder();
	if (len)
		save("klog", bytes, len);
	save("kmark", mark_file.bytes, mark_file.len);
	for (run = 1; run <= RUNS; run++)
		hits[run] = find_hit(run, from, to);
	for (pass = 0; pass < 2; pass++) { /* it is told for good */
		s = open_it();
		for (run = 1; run <= RUNS; run++)
			check_run(s, run, &hits[run]);
		store_get_damage(s, &d[pass]);
		assert_int_equal(d[pass].places + d[pass].files > 0,
				 !pass && (hits[1].all || from < LOG_HEAD_LEN));
		assert_int_equal(d[0].runs, d[pass].runs);
		assert_int_equal(d[0].events, d[pass].events);
		if (!pass && hits[1].all)
			assert_non_null(strstr(said, len ? "log file 1 is damaged at "
							 : "log file 1 is gone"));
		if (pass)
			go_on(s);
		store_free(s);
	}
}

static uint8_t *copy_log(void)
{
	uint8_t *bytes = malloc(log_file.len + 100);

	assert_non_null(bytes);
	memcpy(bytes, log_file.bytes, log_file.len);
	return bytes;
}

static void test_flips(void **state)
{
	uint8_t *bytes;
	uint32_t i;
	size_t at;

	(void)state;
	for (i = 0; i < TRIALS; i++) {
		bytes = copy_log();
		at = random_below((uint32_t)log_file.len);
		bytes[at] ^= (uint8_t)(1U << random_below(8));
		try_one(bytes, log_file.len, at, at + 1);
		free(bytes);
	}
}

/* Zeros, as of a page that never came to the disk. */
static void test_zeros(void **state)
{
	size_t from, len;
	uint8_t *bytes;
	uint32_t i;

	(void)state;
	for (i = 0; i < TRIALS / 4; i++) {
		bytes = copy_log();
		from = LOG_HEAD_LEN + random_below((uint32_t)(log_file.len - LOG_HEAD_LEN));
		len = 1 + random_below(900);
		len = len < log_file.len - from ? len : log_file.len - from;
		memset(bytes + from, 0, len);
		while (len && bytes[from] == log_file.bytes[from]) { /* zeros before */
			from++;
			len--;
		}
		while (len && bytes[from + len - 1] == log_file.bytes[from + len - 1])
			len--;
		if (len)
			try_one(bytes, log_file.len, from, from + len);
		free(bytes);
	}
}

static void test_cuts(void **state)
{
	size_t len;
	uint32_t i;

	(void)state;
	for (i = 0; i < TRIALS / 4; i++) {
		len = LOG_HEAD_LEN + random_below((uint32_t)(log_file.len - LOG_HEAD_LEN));
		try_one(log_file.bytes, len, len, log_file.len);
	}
}

static void test_gone(void **state)
{
	(void)state;
	try_one(log_file.bytes, 0, 0, log_file.len);
}

/* Noise in place of the file: the collector starts, and says so. */
static void test_noise(void **state)
{
	uint8_t *bytes = malloc(log_file.len);
	size_t i;

	(void)state;
	for (i = 0; i < log_file.len; i++)
		bytes[i] = (uint8_t)(1 + random_below(255));
	try_one(bytes, log_file.len, 0, log_file.len);
	free(bytes);
}

/* A write that was broken off is no damage, and is cut off behind what was durable. */
static void test_unfinished(void **state)
{
	uint8_t *bytes = copy_log();
	struct store_damages d;
	struct store *s;
	uint32_t run, i;

	(void)state;
	memcpy(bytes + log_file.len, log_file.bytes + records[n_records - 1].at, 30);
	for (i = 1; i <= 30; i += 29) {
		fresh_folder();
		save("klog", bytes, log_file.len + i);
		save("kmark", mark_file.bytes, mark_file.len);
		s = open_it();
		assert_string_equal(said, "");
		store_get_damage(s, &d);
		assert_int_equal(d.places + d.files + d.runs, 0);
		for (run = 1; run <= RUNS; run++)
			check_run(s, run, &(const struct hit){ 0 });
		go_on(s);
		store_free(s);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flips), cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_cuts),  cmocka_unit_test(test_gone),
		cmocka_unit_test(test_noise), cmocka_unit_test(test_unfinished),
	};

	return cmocka_run_group_tests(tests, make_store, remove_store);
}
