/* SPDX-License-Identifier: MIT */
/*
 * store: whatever happens to the process, the disk or the bytes, what a commit promised is there,
 * nothing contradicts it, and indexes and catalog are as good as new.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "stored.h"

#define STREAMS 3U
#define KILLS 120U /* an order more in the long run: KISEKI_TEST_KILLS */

static char dir[64];

static int make_folder(void **state)
{
	(void)state;
	stored_folder(dir);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	stored_remove(dir);
	return 0;
}

static uint32_t kills(void)
{
	const char *text = getenv("KISEKI_TEST_KILLS");

	return text ? (uint32_t)atoi(text) : KILLS;
}

/* --- kill -9 --- */

/* Each block has as many events as its sequence says, so that sums can be checked. */
static uint32_t events_of(uint64_t sequence)
{
	return (uint32_t)(1 + sequence % 7);
}

static uint64_t events_before(uint64_t sequence)
{
	uint64_t sum = 0, i;

	for (i = 0; i < sequence % 7; i++)
		sum += 1 + i;
	return sequence / 7 * 28 + sum;
}

static void put_next(struct store *s, uint32_t run, uint32_t stream, uint64_t sequence)
{
	struct block b = { .stream = stream, .sequence = sequence, .events = events_of(sequence) };

	if (sequence % 5 == 0) {
		b.flags = BLOCK_KEY;
		b.before = events_before(sequence);
		b.first_tick = sequence * 100;
	}
	b.ticks = 50;
	if (stored_put_bare(s, run, b) != STORE_TAKEN)
		_exit(3);
}

/* Writes until it is killed; tells what each commit that returned made durable. */
static void write_forever(int fd, uint32_t seed)
{
	const struct store_options o = { .file_bytes = 6000 };
	struct error e = ERROR_INIT;
	struct message_resume rows[STREAMS];
	uint64_t next[STREAMS + 1] = { 0 };
	struct store *s;
	uint32_t run, i, n;

	if (store_open(&s, dir, &o, &e) < 0)
		_exit(2);
	run = stored_run(s, 1, 10, 20);
	n = (uint32_t)store_next_sequences(s, run, rows, STREAMS);
	for (i = 0; i < n; i++)
		next[rows[i].stream] = rows[i].next_sequence;
	for (;;) {
		for (i = 0; i < 1 + seed % 9; i++) {
			uint32_t stream = 1 + (seed = seed * 1103515245 + 12345) / 65536 % STREAMS;

			put_next(s, run, stream, next[stream]++);
		}
		if (store_commit(s, NULL, &e) < 0)
			_exit(4);
		if (write(fd, next, sizeof(next)) != sizeof(next))
			_exit(5);
	}
}

static void kill_once(uint32_t round, uint64_t durable[STREAMS + 1])
{
	uint64_t told[STREAMS + 1];
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(ends[0]);
		write_forever(ends[1], round * 77 + 1);
		_exit(0);
	}
	close(ends[1]);
	/* Mostly in the middle of its work, sometimes while it opens the store. */
	if (round % 4 && read(ends[0], told, sizeof(told)) == sizeof(told))
		memcpy(durable, told, sizeof(told));
	usleep(round * 7919 % 3000);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	while (read(ends[0], told, sizeof(told)) == sizeof(told))
		memcpy(durable, told, sizeof(told));
	close(ends[0]);
}

static void check_kept(struct store *s, uint64_t durable[STREAMS + 1])
{
	struct message_resume rows[STREAMS];
	struct store_run facts;
	uint64_t events = 0, blocks = 0, promised = 0;
	struct error e = ERROR_INIT;
	size_t n = store_next_sequences(s, 1, rows, STREAMS), i;

	for (i = 1; i <= STREAMS; i++)
		promised += durable[i];
	for (i = 0; i < n; i++) {
		assert_true(rows[i].next_sequence >= durable[rows[i].stream]);
		durable[rows[i].stream] = rows[i].next_sequence;
		events += events_before(rows[i].next_sequence);
		blocks += rows[i].next_sequence;
	}
	assert_true(blocks >= promised);
	if (!n) {
		assert_int_equal(store_get_run(s, 1, &facts, &e), -ENOENT);
		return;
	}
	facts = stored_facts(s, 1, NULL);
	assert_int_equal(facts.events, events);
	assert_int_equal(facts.blocks, blocks);
	assert_false(facts.lost_unknown);
}

/* Every block of the run, read from the log. */
static void check_blocks(struct store *s, const uint64_t durable[STREAMS + 1])
{
	struct block_reader *r;
	struct error e = ERROR_INIT;
	uint64_t place, at, n;
	struct block b;
	uint32_t stream;

	if (store_reader_open(&r, s, 1, NULL, &e) < 0)
		return;
	for (stream = 1; stream <= STREAMS; stream++) {
		for (place = 0, n = 0; r->ops->next(r, stream, &place, &b, &at) == 1; n++) {
			assert_int_equal(b.sequence, n);
			assert_int_equal(b.events, events_of(n));
		}
		assert_int_equal(n, durable[stream]);
	}
	r->ops->free(r);
}

static void test_kill(void **state)
{
	const struct store_options o = { .file_bytes = 6000 };
	uint64_t durable[STREAMS + 1] = { 0 };
	uint32_t round;
	struct store *s;

	(void)state;
	for (round = 0; round < kills(); round++) {
		kill_once(round, durable);
		s = stored_open(dir, &o);
		check_kept(s, durable);
		if (round % 8 == 0)
			check_blocks(s, durable);
		store_free(s);
	}
	assert_true(durable[1] > kills());
}

/* --- a disk without room --- */

static void test_no_room(void **state)
{
	const struct rlimit small = { 9000, RLIM_INFINITY };
	struct rlimit before;
	struct error e = ERROR_INIT;
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	uint64_t durable = 0, was;
	struct stat st;
	char path[128];
	int r = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	snprintf(path, sizeof(path), "%s/log/00000001.klog", dir);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (i = 0; r == 0; i++) {
		put_next(s, run, 1, i);
		put_next(s, run, 2, i);
		was = durable;
		r = store_commit(s, &durable, &e);
	}
	assert_int_equal(r, -EFBIG);
	assert_int_equal(durable, was);
	assert_non_null(strstr(e.text, "cannot write log file 1"));
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size < 9000); /* no half batch is left behind */
	/* What failed stays and goes with the next that succeeds, and what came meanwhile. */
	put_next(s, run, 1, i);
	assert_true(store_commit(s, &durable, &e) < 0);
	assert_int_equal(durable, was);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, NULL).blocks, 2 * i + 1);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(stored_facts(s, run, NULL).blocks, 2 * i + 1);
	store_free(s);
}

/* --- bytes --- */

static uint8_t *load(const char *name, size_t *ret_len)
{
	char path[128];
	struct stat st;
	uint8_t *data;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size + 1);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_len = (size_t)st.st_size;
	return data;
}

static void save(const char *name, const uint8_t *data, size_t len)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void make_small(uint32_t blocks, uint64_t file_bytes)
{
	const struct store_options o = { .file_bytes = file_bytes };
	struct store_device d = { .id = stored_id(1), .name = "board", .cpus = 2 };
	struct store *s = stored_open(dir, &o);
	struct error e = ERROR_INIT;
	uint32_t run, i;

	assert_int_equal(store_device(s, &d, &e), 0);
	run = stored_run(s, 1, 10, 20);
	for (i = 0; i < blocks; i++) {
		put_next(s, run, 1 + i % 2, i / 2);
		stored_commit(s);
	}
	store_free(s);
}

/* The store is one of a collector that knew no marks. */
static void forget_mark(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/log/00000001.kmark", dir);
	unlink(path);
}

/* Cut at every byte: what is before the cut is there, and the log goes on behind it. */
static void test_each_cut(void **state)
{
	struct store_run facts;
	struct error e = ERROR_INIT;
	uint64_t blocks = 0;
	struct store *s;
	uint8_t *data;
	size_t len, cut;

	(void)state;
	make_small(12, 0);
	data = load("log/00000001.klog", &len);
	for (cut = 0; cut <= len; cut++) {
		save("log/00000001.klog", data, cut);
		forget_mark();
		s = stored_open(dir, NULL);
		if (store_get_run(s, 1, &facts, &e) == 0) {
			assert_true(facts.blocks >= blocks && facts.blocks <= blocks + 1);
			blocks = facts.blocks;
		}
		if (cut % 16 == 0) {
			uint32_t run = stored_run(s, 1, 10, 20);

			put_next(s, run, 1, (blocks + 1) / 2);
			stored_commit(s);
			assert_int_equal(stored_facts(s, run, NULL).blocks, blocks + 1);
		}
		store_free(s);
	}
	assert_int_equal(blocks, 12);
	free(data);
}

/* A flipped bit in the last file costs what it hit, also where nobody knows how much was durable: but
 * at the end of the file, which it cuts there. */
static void test_each_flip(void **state)
{
	struct store_run facts;
	struct error e = ERROR_INIT;
	struct store *s;
	uint8_t *data;
	size_t len, at, record = 0;

	(void)state;
	make_small(12, 0);
	data = load("log/00000001.klog", &len);
	while (memcmp(data + record, "\xc5\x4c\x03", 3) != 0) /* the first BLOCK */
		record++;
	for (at = 0; at < len; at++) {
		data[at] ^= (uint8_t)(1U << at % 8);
		save("log/00000001.klog", data, len);
		forget_mark();
		s = stored_open(dir, NULL);
		if (store_get_run(s, 1, &facts, &e) == 0)
			assert_true(facts.blocks == 11 || at < record);
		else
			assert_true(at >= 32 && at < record); /* the run's own record */
		store_free(s);
		data[at] ^= (uint8_t)(1U << at % 8);
		stored_remove(dir);
		assert_int_equal(mkdir(dir, 0700), 0);
		make_small(0, 0);
	}
	free(data);
}

static bool has_end(const char *name, const char *end)
{
	size_t a = strlen(name), b = strlen(end);

	return a >= b && !strcmp(name + a - b, end);
}

/* Removes what is derived: the catalog, and the indexes. */
static uint32_t remove_derived(void)
{
	char path[400];
	struct dirent *d;
	uint32_t n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/log", dir);
	folder = opendir(path);
	while ((d = readdir(folder)))
		if (has_end(d->d_name, ".kidx")) {
			snprintf(path, sizeof(path), "%s/log/%s", dir, d->d_name);
			assert_int_equal(unlink(path), 0);
			n++;
		}
	closedir(folder);
	snprintf(path, sizeof(path), "%s/catalog.sqlite", dir);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/catalog.sqlite-wal", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/catalog.sqlite-shm", dir);
	unlink(path);
	return n;
}

struct answers {
	struct store_run facts[4];
	struct store_loss rows[256];
	struct store_clock clock[4];
	struct store_device device;
	struct message_resume next[4][4];
	size_t n, n_facts;
};

/* Field by field: answers are compared as bytes, and between fields there may be anything. */
static int take_row(void *context, const struct store_loss *l)
{
	struct answers *a = context;

	struct store_loss *to = &a->rows[a->n++];

	assert_true(a->n <= 256);
	to->run = l->run;
	to->stream = l->stream;
	to->cause = l->cause;
	to->from_tick = l->from_tick;
	to->to_tick = l->to_tick;
	to->count = l->count;
	return 0;
}

static int take_run(void *context, const struct store_run *r)
{
	struct answers *a = context;

	struct store_run *to = &a->facts[a->n_facts++];

	to->number = r->number;
	to->device = r->device;
	to->id = r->id;
	to->boot = r->boot;
	to->first_ns = r->first_ns;
	to->last_ns = r->last_ns;
	to->first_tick = r->first_tick;
	to->last_tick = r->last_tick;
	to->blocks = r->blocks;
	to->events = r->events;
	to->bytes = r->bytes;
	memcpy(to->lost, r->lost, sizeof(to->lost));
	to->lost_unknown = r->lost_unknown;
	to->ended = r->ended;
	to->streams = r->streams;
	return 0;
}

static int take_device(void *context, const struct store_device *d)
{
	((struct answers *)context)->device = *d;
	return 0;
}

static void ask(struct answers *a, bool read_only)
{
	const struct store_options o = { .file_bytes = 900, .read_only = read_only };
	struct store *s = stored_open(dir, &o);
	struct error e = ERROR_INIT;
	uint32_t run;

	memset(a, 0, sizeof(*a));
	assert_int_equal(store_runs(s, NULL, take_run, a, &e), 0);
	assert_int_equal(store_devices(s, take_device, a, &e), 0);
	for (run = 1; run <= 3; run++) {
		assert_int_equal(store_ledger(s, run, take_row, a, &e), 0);
		store_get_clock(s, run, &a->clock[run]);
		store_next_sequences(s, run, a->next[run], 4);
	}
	store_free(s);
}

/* Three runs in many files, with losses, and a device. */
static void make_files(void)
{
	const struct store_options o = { .file_bytes = 900 };
	struct store_device d = { .id = stored_id(1), .name = "board", .cpus = 2 };
	struct store_clock clock = { .run = 2, .device_ns = 5, .off_ns = -77, .err_ns = 9 };
	struct store *s = stored_open(dir, &o);
	struct error e = ERROR_INIT;
	uint32_t run, i;

	assert_int_equal(store_device(s, &d, &e), 0);
	for (run = 1; run <= 3; run++)
		assert_int_equal(stored_run(s, 1, 10 + run, 20), run);
	for (i = 0; i < 60; i++) {
		struct block b = { .stream = 1 + i % 2, .sequence = i + i / 20, .events = 3 };

		b.flags = BLOCK_KEY | (i % 7 ? 0 : BLOCK_LOST);
		b.lost[LOSS_RING] = i % 7 ? 0 : 2;
		b.before = 1000 * i + 10;
		b.first_tick = i * 10;
		b.ticks = 5;
		assert_int_equal(stored_put_bare(s, 1 + i % 3, b), STORE_TAKEN);
		if (i == 30)
			assert_int_equal(store_note(s, &clock, &e), 0);
		stored_commit(s);
	}
	store_free(s);
}

/* Only the log is the truth. */
static void test_derived(void **state)
{
	static struct answers before, after;

	(void)state;
	make_files();
	ask(&before, false);
	assert_true(before.n > 20 && before.n_facts == 3);
	assert_string_equal(before.device.name, "board");
	assert_int_equal(before.clock[2].off_ns, -77);
	ask(&after, true);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_true(remove_derived() > 3);
	ask(&after, true);
	assert_memory_equal(&before, &after, sizeof(before));
	ask(&after, false);
	assert_memory_equal(&before, &after, sizeof(before));
	/* They were made again on the way. */
	assert_true(remove_derived() > 3);
}

static void harm_catalog(const char *sql)
{
	char path[400];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/catalog.sqlite", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_true(sqlite3_changes(db) > 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* What SQLite takes for sound and is not. */
static void test_harmed_catalog(void **state)
{
	static const char *const harms[] = {
		"UPDATE devices SET name = 'other'",
		"UPDATE devices SET cpus = NULL",
		"UPDATE ledger SET count = count + 1 WHERE rowid = 3",
		"DELETE FROM ledger WHERE rowid = 2",
		"INSERT INTO ledger SELECT * FROM ledger LIMIT 1",
		"UPDATE runs SET to_tick = to_tick + 1 WHERE file = 2",
		"UPDATE runs SET state_out = state_in WHERE file = 2",
		"UPDATE files SET last_ns = 1",
		"DELETE FROM files WHERE file = 3",
	};
	static struct answers before, after;
	size_t i;

	(void)state;
	make_files();
	ask(&before, false);
	for (i = 0; i < sizeof(harms) / sizeof(*harms); i++) {
		harm_catalog(harms[i]);
		ask(&after, false);
		assert_memory_equal(&before, &after, sizeof(before));
	}
}

/* A byte here and there, and less and less of the end. */
static void test_flipped_catalog(void **state)
{
	static struct answers before, after;
	uint8_t *data;
	size_t len, at;

	(void)state;
	make_files();
	ask(&before, false);
	data = load("catalog.sqlite", &len);
	for (at = 0; at < len; at += 97) {
		data[at] ^= (uint8_t)(1U << at % 8);
		save("catalog.sqlite", data, len);
		ask(&after, false);
		assert_memory_equal(&before, &after, sizeof(before));
		data[at] ^= (uint8_t)(1U << at % 8);
	}
	for (at = len; at > 37; at -= at / 3 + 37) {
		save("catalog.sqlite", data, at - 37);
		ask(&after, false);
		assert_memory_equal(&before, &after, sizeof(before));
	}
	free(data);
}

/* A log file that nobody knew of is not written over. Once it is out of the way all goes on. */
static void test_unknown_file(void **state)
{
	const struct store_options o = { .file_bytes = 2000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	struct error e = ERROR_INIT;
	uint8_t bytes[500];
	char path[128];
	struct stat st;

	(void)state;
	memset(bytes, 7, sizeof(bytes));
	save("log/00000002.klog", bytes, sizeof(bytes));
	for (i = 0; i < 100; i++)
		put_next(s, run, 1, i);
	assert_int_equal(store_commit(s, NULL, &e), -EEXIST);
	assert_non_null(strstr(e.text, "log file 2"));
	snprintf(path, sizeof(path), "%s/log/00000002.klog", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, sizeof(bytes));
	assert_int_equal(unlink(path), 0);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, NULL).blocks, 100);
	store_free(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(test_kill),
		TEST(test_no_room),
		TEST(test_each_cut),
		TEST(test_each_flip),
		TEST(test_derived),
		TEST(test_harmed_catalog),
		TEST(test_flipped_catalog),
		TEST(test_unknown_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
