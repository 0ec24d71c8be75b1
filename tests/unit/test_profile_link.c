/* SPDX-License-Identifier: MIT */
/*
 * profile_link, profile_out: what has no room on its way to a collector is counted, record by record, and a recording can
 * be ended however full the memory is. There is no collector here; tests/system/profile_collector.sh has one.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/profile/profile_meta.h"
#include "device/profile/profile_out.h"
#include "trace/sample_ksk.h"
#include "wire/sample_lane.h"

#define RECORDS 400000U
#define DESCRIPTIONS 64U

struct fixture {
	struct profile_out out;
	struct sample_lane lane;
	struct profile_meta meta;
	char state[64], path[96];
};

/* Somebody must be there, and is not: port 1 of this machine. */
static void begin(struct fixture *f, bool has_file)
{
	struct profile_out_options o = { .link = { .collector = "127.0.0.1:1",
						   .name = "test",
						   .spool_bytes = PROFILE_LINK_SPOOL_LEAST } };
	struct error e = ERROR_INIT;

	memset(f, 0, sizeof(*f));
	f->out = (struct profile_out)PROFILE_OUT_INIT;
	snprintf(f->state, sizeof(f->state), "/tmp/kiseki-profile-link-XXXXXX");
	assert_non_null(mkdtemp(f->state));
	snprintf(f->path, sizeof(f->path), "%s/beside.ksk", f->state);
	o.link.state_dir = f->state;
	o.path = has_file ? f->path : NULL;
	assert_int_equal(profile_out_open(&f->out, &o, &e), 0);
	sample_lane_init(&f->lane, &f->out.out, 0);
	profile_meta_init(&f->meta, &f->out.out);
}

static void end(struct fixture *f)
{
	char id[96];

	profile_out_close(&f->out);
	snprintf(id, sizeof(id), "%s/device-id", f->state);
	unlink(id);
	unlink(f->path);
	assert_int_equal(rmdir(f->state), 0);
}

/* Of a shape that does not compress well. */
static void put_records(struct fixture *f)
{
	uint64_t chain[4];
	uint32_t i, x = 1;

	for (i = 0; i < RECORDS; i++) {
		struct sample_event ev = { .tick = 1000 + i * 10ULL,
					   .kind = SAMPLE_TAKEN,
					   .mode = SAMPLE_USER,
					   .weight = 1,
					   .n_user = 4,
					   .chain = chain };

		ev.task.tid = ev.task.pid = 7;
		ev.task.vcpu = SAMPLE_NO_VCPU;
		chain[0] = 0x1000 + (x = x * 1664525 + 1013904223) % 65536;
		chain[1] = 0x2000 + x / 65536;
		chain[2] = 0x3000;
		chain[3] = 0x4000;
		sample_lane_put(&f->lane, &ev, 0);
	}
}

static void put_description(struct fixture *f)
{
	char path[1024];
	struct sample_mapping row = { .pid = 7, .from = 0x1000, .to = 0x2000, .path = path };

	memset(path, 'p', sizeof(path));
	row.path_len = sizeof(path);
	profile_meta_put_mapping(&f->meta, &row);
	profile_meta_flush(&f->meta);
}

static void test_counts(void **state)
{
	struct error e = ERROR_INIT;
	struct fixture f;
	uint64_t missed;
	uint32_t i;

	(void)state;
	begin(&f, false);
	put_records(&f);
	/* Some are on their way, and all others are counted as the spool's. */
	assert_true(f.lane.lost[LOSS_SPOOL] > RECORDS / 2);
	assert_int_equal(f.lane.lost[LOSS_STORE], 0);
	assert_true(f.lane.count + f.lane.pending[LOSS_SPOOL] + f.lane.encoder.events >= RECORDS);
	/* A description does not take what is kept for the end. */
	for (i = 0; i < DESCRIPTIONS; i++)
		put_description(&f);
	assert_true(f.meta.missed > 0);
	profile_out_begin_end(&f.out);
	missed = f.meta.missed;
	for (i = 0; i < DESCRIPTIONS; i++)
		put_description(&f);
	assert_int_equal(f.meta.missed, missed);
	assert_true(profile_meta_take_back(&f.meta));
	assert_false(profile_meta_take_back(&f.meta));
	sample_lane_stop(&f.lane, 0);
	assert_int_equal(f.lane.count, RECORDS);
	assert_int_equal(f.lane.pending[LOSS_SPOOL], 0);
	assert_int_equal(profile_link_end(f.out.link, &e), 0);
	end(&f);
}

/* With a file beside it nothing is lost by whoever records. */
static void test_both(void **state)
{
	struct sample_source *s = NULL;
	struct sample_item item;
	struct error e = ERROR_INIT;
	struct profile_child signals = PROFILE_CHILD_INIT;
	struct fixture f;
	uint32_t n = 0;

	(void)state;
	begin(&f, true);
	put_description(&f);
	put_records(&f);
	profile_out_begin_end(&f.out);
	assert_int_equal(sample_lane_stop(&f.lane, 0), 0);
	assert_int_equal(f.lane.lost[LOSS_SPOOL], 0);
	/* There is no collector: what waits is told to stop. */
	assert_int_equal(profile_child_start(&signals, NULL, &e), 0);
	raise(SIGTERM);
	assert_int_equal(profile_out_finish(&f.out, &signals, &e), -EAGAIN);
	assert_non_null(strstr(e.text, "the collector lacks"));
	profile_child_done(&signals);
	assert_int_equal(sample_ksk_open(f.path, &s, &e), 0);
	assert_false(s->is_cut);
	while (s->ops->next(s, &item, &e) == 1) {
		assert_int_equal(item.type, ITEM_EVENT);
		n++;
	}
	assert_int_equal(n, RECORDS);
	sample_source_free(s);
	end(&f);
}

static void test_options(void **state)
{
	struct profile_link_options o = { .collector = "nowhere",
					  .name = "test",
					  .state_dir = "/tmp",
					  .spool_bytes = PROFILE_LINK_SPOOL_LEAST };
	struct profile_link *l = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(profile_link_new(&l, &o, &e), -EINVAL);
	assert_null(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
