/* SPDX-License-Identifier: MIT */
/*
 * objects: a scripted device is asked for a real object, piece by piece; goes away in between; says no, or lies in any way.
 * What it lied with is nowhere, and why is said.
 */
#include "compiled.h"

#include <pthread.h>
#include <time.h>

#include "collector/objects.h"
#include "wire/meta_encode.h"
#include "wire/sample_meta_encode.h"

#define WAIT_MS 20000 /* for the other thread; only a failure takes so long */

static struct objects *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char said[65536];
static char tree[64], tables[64], symbols[64];
static struct elf_build_id id;
static uint8_t *bytes;
static size_t size;
static char owner[8];

static void note(void *context, const char *line)
{
	(void)context;
	pthread_mutex_lock(&lock);
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
	pthread_mutex_unlock(&lock);
}

static bool was_said(const char *words)
{
	bool was;

	pthread_mutex_lock(&lock);
	was = strstr(said, words) != NULL;
	pthread_mutex_unlock(&lock);
	return was;
}

static void pause_ms(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void expect_said(const char *words)
{
	int ms;

	for (ms = 0; ms < WAIT_MS && !was_said(words); ms++)
		pause_ms(1);
	if (!was_said(words))
		fail_msg("\"%s\" was not said:\n%s", words, said);
}

static void read_object(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	get_id(path, &id);
	free(bytes);
	bytes = malloc(1 << 20);
	f = fopen(path, "r");
	assert_non_null(f);
	size = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	assert_true(size > MESSAGE_PIECE_MAX && id.len >= 8);
}

static void start(uint64_t bytes_max)
{
	const struct objects_options o = { .folder = tree,
					   .bytes_max = bytes_max,
					   .symbols = symbols,
					   .tables = tables,
					   .log = note };
	struct error e = ERROR_INIT;

	said[0] = 0;
	assert_int_equal(objects_start(&objects, &o, &e), 0);
}

static int begin(void **state)
{
	(void)state;
	snprintf(tree, sizeof(tree), "%s/tree", folder);
	snprintf(tables, sizeof(tables), "%s/tables", folder);
	snprintf(symbols, sizeof(symbols), "%s/symbols", folder);
	if (command("rm -rf tree tables symbols && mkdir symbols && cc -g3 -O1 -Wl,--build-id -o "
		    "app program.c"))
		return -1;
	read_object("app");
	start(1 << 30);
	return 0;
}

static int end(void **state)
{
	(void)state;
	objects_stop(objects);
	free(bytes);
	bytes = NULL;
	return 0;
}

/* A description that says where the object lay. */
static void tell(uint64_t session, const uint8_t *build_id, uint8_t len)
{
	static const char path[] = "/usr/bin/app";
	uint8_t payload[512], *body, *p;
	struct sample_mapping m = { .pid = 7, .from = 4096, .to = 8192, .path = path };

	m.path_len = sizeof(path) - 1;
	m.build_id_len = len;
	memcpy(m.build_id, build_id, len);
	body = meta_item_begin(payload, META_MAPPED);
	p = meta_item_end(body, sample_meta_put_mapping(body, &m));
	objects_see(objects, session, payload, (size_t)(p - payload));
}

/* The next question to the connection. */
static void expect_want(uint64_t session, const struct elf_build_id *of, uint64_t offset)
{
	struct message_want m = { 0 };
	void *whom = NULL;
	int ms;

	for (ms = 0; ms < WAIT_MS && !(whom = objects_pop(objects, &m)); ms++)
		pause_ms(1);
	assert_ptr_equal(whom, &owner[session]);
	assert_int_equal(m.id.len, of->len);
	assert_memory_equal(m.id.bytes, of->bytes, of->len);
	assert_int_equal(m.offset, offset);
}

static struct message_piece a_piece(uint64_t offset)
{
	struct message_piece m = { .id = { .len = (uint8_t)id.len },
				   .size = size,
				   .offset = offset,
				   .bytes = bytes + offset };

	memcpy(m.id.bytes, id.bytes, id.len);
	m.len = (uint32_t)(size - offset < MESSAGE_PIECE_MAX ? size - offset : MESSAGE_PIECE_MAX);
	return m;
}

static void send(uint64_t session, uint64_t offset)
{
	struct message_piece m = a_piece(offset);

	objects_take(objects, session, &m);
}

static void send_rest(uint64_t session, uint64_t offset)
{
	for (; offset < size; offset += MESSAGE_PIECE_MAX) {
		if (offset)
			expect_want(session, &id, offset);
		send(session, offset);
	}
}

static void come(uint64_t session)
{
	assert_true(objects_arrive(objects, session, &owner[session], "board"));
	tell(session, id.bytes, (uint8_t)id.len);
}

static bool is_kept(void)
{
	return command("find tree -type f ! -name '*.part' | grep -q .") == 0;
}

static void expect_no_part(void)
{
	assert_int_equal(command("find tree -name '*.part' | grep -q ."), 256);
}

static void test_whole(void **state)
{
	struct message_want m;

	(void)state;
	come(1);
	expect_want(1, &id, 0);
	send_rest(1, 0);
	expect_said("board: object");
	assert_true(was_said("came"));
	assert_true(is_kept());
	assert_int_equal(command("cmp app tree/.build-id/*/*"), 0);
	expect_no_part();
	/* Told again, and by another one: nobody is asked. */
	tell(1, id.bytes, (uint8_t)id.len);
	come(2);
	objects_stop(objects);
	start(1 << 30);
	come(3);
	tell(3, (const uint8_t *)"other", 5);
	expect_want(3, &(struct elf_build_id){ .bytes = "other", .len = 5 }, 0);
	assert_null(objects_pop(objects, &m));
	assert_int_equal(command("ls tables/*.ksym"), 0);
}

/* Where it was cut, also by another connection. */
static void test_resume(void **state)
{
	(void)state;
	come(1);
	expect_want(1, &id, 0);
	send(1, 0);
	expect_want(1, &id, MESSAGE_PIECE_MAX);
	objects_leave(objects, 1);
	come(2);
	expect_want(2, &id, MESSAGE_PIECE_MAX);
	send(2, MESSAGE_PIECE_MAX);
	for (uint64_t at = 2 * MESSAGE_PIECE_MAX; at < size; at += MESSAGE_PIECE_MAX) {
		expect_want(2, &id, at);
		send(2, at);
	}
	expect_said("came");
	assert_int_equal(command("cmp app tree/.build-id/*/*"), 0);
}

/* One at a time, from one device; who has it too waits, and is asked when the first one goes. */
static void test_two(void **state)
{
	struct message_want m;

	(void)state;
	come(1);
	expect_want(1, &id, 0);
	come(2);
	tell(2, (const uint8_t *)"second", 6);
	expect_want(2, &(struct elf_build_id){ .bytes = "second", .len = 6 }, 0);
	assert_null(objects_pop(objects, &m));
	{
		struct message_piece none = { .id = { .len = 6, .bytes = "second" } };

		objects_take(objects, 2, &none);
	}
	objects_leave(objects, 1);
	expect_want(2, &id, 0);
	assert_false(is_kept());
}

/* An object with that name, but not that one. */
static void test_wrong_bytes(void **state)
{
	(void)state;
	come(1);
	expect_want(1, &id, 0);
	memset(bytes + 64, 0xff, size - 64);
	send_rest(1, 0);
	expect_said("does not have the build-id that was asked for");
	assert_false(is_kept());
	expect_no_part();
}

static void test_garbage(void **state)
{
	struct message_want m;

	(void)state;
	come(1);
	expect_want(1, &id, 0);
	memset(bytes, 'x', size);
	send_rest(1, 0);
	expect_said("does not have the build-id");
	/* It is not asked for anything any more. */
	tell(1, (const uint8_t *)"other", 5);
	come(2);
	expect_want(2, &id, 0);
	assert_null(objects_pop(objects, &m));
}

static void expect_lie(const struct message_piece *m, const char *words)
{
	objects_stop(objects);
	assert_int_equal(command("rm -rf tree tables"), 0);
	start(1 << 30);
	come(1);
	expect_want(1, &id, 0);
	send(1, 0);
	expect_want(1, &id, MESSAGE_PIECE_MAX);
	objects_take(objects, 1, m);
	expect_said(words);
	assert_false(is_kept());
	expect_no_part();
}

static void test_lies(void **state)
{
	struct message_piece m = a_piece(0);

	(void)state;
	expect_lie(&m, "a piece that was not asked for");
	m = a_piece(MESSAGE_PIECE_MAX);
	m.offset++;
	expect_lie(&m, "a piece that was not asked for");
	m = a_piece(MESSAGE_PIECE_MAX);
	m.size = MESSAGE_OBJECT_MAX;
	expect_lie(&m, "of another size");
	m = a_piece(MESSAGE_PIECE_MAX);
	m.id.bytes[0] ^= 1;
	expect_lie(&m, "of an object that was not asked for");
}

static void test_unasked(void **state)
{
	struct message_piece m = a_piece(0);
	int i;

	(void)state;
	assert_true(objects_arrive(objects, 1, &owner[1], "board"));
	for (i = 0; i < 100000; i++) /* a flood takes no memory */
		objects_take(objects, 1, &m);
	expect_said("board: sent a piece of an object that nobody asked for");
	objects_take(objects, 99, &m); /* of nobody */
	objects_see(objects, 99, bytes, size);
	objects_see(objects, 1, bytes, size); /* no description at all */
	objects_leave(objects, 99);
	assert_false(is_kept());
}

/* What somebody left is of another file: once more, from its start. */
static void test_bad_start(void **state)
{
	char hex[2 * MESSAGE_BUILD_ID_MAX + 1] = "";
	size_t i;

	(void)state;
	for (i = 0; i < id.len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id.bytes[i]);
	assert_int_equal(command("mkdir -p tree/.build-id/%.2s && head -c %u /dev/zero "
				 ">tree/.build-id/%.2s/%s.part",
				 hex, MESSAGE_PIECE_MAX, hex, hex + 2),
			 0);
	come(1);
	expect_want(1, &id, MESSAGE_PIECE_MAX);
	for (uint64_t at = MESSAGE_PIECE_MAX; at < size; at += MESSAGE_PIECE_MAX) {
		if (at > MESSAGE_PIECE_MAX)
			expect_want(1, &id, at);
		send(1, at);
	}
	expect_want(1, &id, 0);
	send_rest(1, 0);
	expect_said("came");
	assert_int_equal(command("cmp app tree/.build-id/*/*"), 0);
}

/* A user has put it where it is looked for. */
static void test_there(void **state)
{
	struct message_want m;

	(void)state;
	assert_int_equal(command("mkdir -p symbols/usr/bin && cp app symbols/usr/bin/"), 0);
	come(1);
	tell(1, (const uint8_t *)"other", 5);
	expect_want(1, &(struct elf_build_id){ .bytes = "other", .len = 5 }, 0);
	assert_null(objects_pop(objects, &m));
}

static void test_ceiling(void **state)
{
	struct message_want m;

	(void)state;
	objects_stop(objects);
	start(size - 1);
	come(1);
	expect_want(1, &id, 0);
	send_rest(1, 0);
	expect_said("came");
	tell(1, (const uint8_t *)"other", 5);
	expect_said("no more are asked for");
	assert_null(objects_pop(objects, &m));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole),   TEST(test_resume),	    TEST(test_two),
		TEST(test_garbage), TEST(test_wrong_bytes), TEST(test_lies),
		TEST(test_unasked), TEST(test_bad_start),   TEST(test_there),
		TEST(test_ceiling),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
