/* SPDX-License-Identifier: MIT */
/*
 * fact_row: sets as rows of a server's table and back, without the server: names that were put are known. Without memory, wherever it is lacking,
 * nothing comes and nothing is lost.
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/clickhouse/fact_row.h"
#include "fuzz/starve.h"
#include "tools/fact_random.h"

#define LEFT_STEP 61U /* what others have left of a buffer: where it grows differs */
#define LEFT_MOST 32768U

static const struct fact_row_place place = { .rank = 3, .id = 4, .made_of = 5, .is_closed = true };

struct rig {
	struct fact_set set;
	struct fact_texts *texts;
	struct fact_hashes hashes;
};

static void make(struct rig *g, uint8_t kind)
{
	struct fact_key key = { .kind = kind, .length_s = FACT_MINUTE_S, .start_s = 600 };
	struct fact_random r = { .seed = 5, .functions = 40, .stacks = 60, .period_ns = 1000 };
	struct error e = ERROR_INIT;

	memset(g, 0, sizeof(*g));
	assert_int_equal(fact_random_make(&g->set, &key, &r), 0);
	assert_int_equal(fact_texts_new(&g->texts, NULL, &e), 0);
	assert_int_equal(fact_texts_put_set(g->texts, &g->set, &g->hashes, &e), 0);
}

static void done(struct rig *g)
{
	fact_set_done(&g->set);
	fact_texts_free(g->texts);
	fact_hashes_done(&g->hashes);
	memset(g, 0, sizeof(*g));
}

/* What stands between head and body: the server's own columns, and lists, which begin with the row that counts sets. */
static void pass_lists(struct byte_reader *in)
{
	uint64_t n, rows = 0;
	uint32_t by, column;

	reader_bytes(in, 2); /* the day */
	assert_int_equal(clickhouse_row_u64(in), place.rank);
	assert_int_equal(clickhouse_row_u64(in), place.id);
	assert_int_equal(clickhouse_row_u8(in), place.is_closed);
	assert_int_equal(clickhouse_row_u64(in), place.made_of);
	for (by = 0; by < FACTS_BYS; by++)
		for (column = 0; column < 1 + 2 * FACT_VALUES; column++) {
			n = reader_varint(in);
			assert_true(n && n <= reader_left(in) / 8);
			assert_true(!column || n == rows);
			rows = n;
			assert_int_equal(clickhouse_row_u64(in), column == 1);
			reader_bytes(in, 8 * (n - 1));
		}
}

static void open_row(const struct clickhouse_rows *rows, struct facts_head *head,
		     struct fact_row_body *body)
{
	struct byte_reader in;

	reader_init(&in, rows->data, rows->len);
	assert_true(fact_row_head(&in, head));
	pass_lists(&in);
	assert_true(fact_row_body(&in, body));
	assert_int_equal(reader_left(&in), 0);
}

static void goes_and_comes_back(struct rig *g)
{
	struct clickhouse_rows rows = { 0 };
	struct error e = ERROR_INIT;
	struct fact_row_body body;
	struct facts_head head;
	struct fact_set back;
	char *x, *y;

	assert_int_equal(fact_row_encode(&rows, &g->set, &g->hashes, &place), 0);
	open_row(&rows, &head, &body);
	assert_int_equal(fact_row_decode(&back, &head, &body, g->texts, &e), 0);
	x = fact_random_text(&g->set);
	y = fact_random_text(&back);
	assert_string_equal(x, y);
	free(x);
	free(y);
	fact_set_done(&back);
	clickhouse_rows_done(&rows);
}

static void comes_back(void **state)
{
	struct fact_key key = { .kind = FACT_SCHED, .length_s = FACT_MINUTE_S };
	struct rig g;
	uint8_t kind;

	(void)state;
	for (kind = 0; kind < FACT_KINDS; kind++) {
		make(&g, kind);
		goes_and_comes_back(&g);
		done(&g);
	}
	assert_int_equal(fact_set_init(&g.set, &key), 0); /* a minute in which nothing was */
	goes_and_comes_back(&g);
	done(&g);
}

static int encode_behind(const struct rig *g, size_t left, uint32_t fails, bool *ret_failed)
{
	struct clickhouse_rows rows = { 0 };
	int r;

	assert_int_equal(clickhouse_rows_reserve(&rows, LEFT_MOST), 0);
	rows.len = rows.room - left;
	starve_begin(fails);
	r = fact_row_encode(&rows, &g->set, &g->hashes, &place);
	*ret_failed = starve_end();
	clickhouse_rows_done(&rows);
	return r;
}

static void is_not_written_without_memory(void **state)
{
	struct rig g;
	uint32_t fails;
	uint8_t kind;
	size_t left;
	bool failed;
	int r;

	(void)state;
	for (kind = 0; kind < FACT_KINDS; kind++) {
		make(&g, kind);
		for (left = 0; left < LEFT_MOST; left += LEFT_STEP)
			for (fails = 0, failed = true; failed; fails++) {
				r = encode_behind(&g, left, fails, &failed);
				assert_int_equal(r, failed ? -ENOMEM : 0);
			}
		done(&g);
	}
}

static void is_not_read_without_memory(void **state)
{
	struct clickhouse_rows rows;
	struct error e = ERROR_INIT;
	struct fact_row_body body;
	struct facts_head head;
	struct fact_set back;
	struct rig g;
	uint32_t fails;
	uint8_t kind;
	bool failed;
	int r;

	(void)state;
	for (kind = 0; kind < FACT_KINDS; kind++) {
		make(&g, kind);
		memset(&rows, 0, sizeof(rows));
		assert_int_equal(fact_row_encode(&rows, &g.set, &g.hashes, &place), 0);
		open_row(&rows, &head, &body);
		for (fails = 0, failed = true; failed; fails++) {
			e.text[0] = 0;
			starve_begin(fails);
			r = fact_row_decode(&back, &head, &body, g.texts, &e);
			failed = starve_end();
			assert_int_equal(r, failed ? -ENOMEM : 0);
			assert_true(!failed || strstr(e.text, "cannot read"));
		}
		fact_set_done(&back);
		clickhouse_rows_done(&rows);
		done(&g);
	}
}

static void refuses(const struct rig *g, const struct facts_head *head,
		    const struct fact_row_body *body, const char *why)
{
	struct error e = ERROR_INIT;
	struct fact_set back;

	assert_int_equal(fact_row_decode(&back, head, body, g->texts, &e), -EBADMSG);
	if (!strstr(e.text, why))
		fail_msg("%s", e.text);
}

static void knows_what_is_damaged(void **state)
{
	struct clickhouse_rows rows = { 0 };
	struct fact_row_body body, wrong;
	struct facts_head head, other;
	struct rig g;

	(void)state;
	make(&g, FACT_PROFILE);
	assert_int_equal(fact_row_encode(&rows, &g.set, &g.hashes, &place), 0);
	open_row(&rows, &head, &body);
	other = head;
	other.key.kind = FACT_KINDS;
	refuses(&g, &other, &body, "of kind");
	other.key.kind = FACT_SCHED; /* which has no trees */
	refuses(&g, &other, &body, "the facts of 600: they are damaged");
	wrong = body;
	wrong.n_names = 1; /* of the many that the tree has */
	refuses(&g, &head, &wrong, "they are damaged");
	wrong = body;
	wrong.tree_len--;
	refuses(&g, &head, &wrong, "they are damaged");
	wrong = body;
	wrong.tasks = (const uint8_t *)"\1\5";
	wrong.tasks_len = 2;
	refuses(&g, &head, &wrong, "they are damaged");
	wrong = body;
	wrong.objects = (const uint8_t *)"\1\5";
	wrong.objects_len = 2;
	refuses(&g, &head, &wrong, "they are damaged");
	clickhouse_rows_done(&rows);
	done(&g);
}

/* Answers one question with no rows, as a server does whose names are lost. */
static void answer_nothing(int listener)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	static const char nothing[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	char bytes[65536] = "";
	int fd = accept(listener, NULL, NULL);
	size_t have = 0, want = SIZE_MAX;
	const char *end;
	ssize_t n;

	while (have < want && (n = recv(fd, bytes + have, sizeof(bytes) - 1 - have, 0)) > 0) {
		have += (size_t)n;
		end = memmem(bytes, have, "\r\n\r\n", 4);
		if (!end || want != SIZE_MAX)
			continue;
		want = (size_t)(end - bytes) + 4;
		want += strtoul(strstr(bytes, "Content-Length:") + 15, NULL, 10);
		if (strstr(bytes, "Expect:"))
			send(fd, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL);
	}
	send(fd, nothing, sizeof(nothing) - 1, MSG_NOSIGNAL);
	_exit(0);
}

static void open_server(struct clickhouse_url *ret)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	char url[64];
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	if (!fork())
		answer_nothing(listener);
	close(listener);
	snprintf(url, sizeof(url), "clickhouse://127.0.0.1:%u/facts", ntohs(a.sin_port));
	assert_int_equal(clickhouse_url_parse(ret, url, NULL), 0);
}

/* The table of names lacks one. */
static void misses_names(void **state)
{
	struct clickhouse_rows rows = { 0 };
	struct clickhouse_link *link;
	struct error e = ERROR_INIT;
	struct clickhouse_url url;
	struct fact_row_body body;
	struct facts_head head;
	struct rig g;

	(void)state;
	make(&g, FACT_PROFILE);
	assert_int_equal(fact_row_encode(&rows, &g.set, &g.hashes, &place), 0);
	open_row(&rows, &head, &body);
	open_server(&url);
	assert_int_equal(clickhouse_link_open(&link, &url, &e), 0);
	fact_texts_free(g.texts);
	assert_int_equal(fact_texts_new(&g.texts, link, &e), 0);
	refuses(&g, &head, &body, "they are damaged");
	assert_true(wait(NULL) > 0);
	assert_int_equal(fact_row_add_tree(&g.set, &body, g.texts, &e), -ECONNREFUSED);
	clickhouse_rows_done(&rows);
	done(&g);
	clickhouse_link_free(link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(is_not_written_without_memory),
		cmocka_unit_test(is_not_read_without_memory),
		cmocka_unit_test(knows_what_is_damaged),
		cmocka_unit_test(misses_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
