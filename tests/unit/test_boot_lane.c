/* SPDX-License-Identifier: MIT */
/*
 * boot_lane, boot_file, boot_index, spool: records go through the recorder's half and come out of a reader's: all of them,
 * in order, or counted; from a file that is whole, not finished, or cut.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/boot/boot_file.h"
#include "device/boot/boot_lane.h"
#include "trace/boot_ksk.h"

#define SPOOL (128U << 10)

struct fixture {
	struct memory *memory;
	struct spool *spool;
	struct boot_lane lane;
	struct place place;
	struct boot_file *file;
	char path[64];
	uint64_t now_ms;
};

static void begin(struct fixture *f)
{
	struct memory_options m = { .cpus = 1, .spool_bytes = SPOOL };
	struct spool_options o = { .policy = POLICY_OLDEST, .has_beside = true };
	struct boot_file_options file = { .path = f->path, .place = &f->place };

	memset(f, 0, sizeof(*f));
	assert_int_equal(memory_open(&f->memory, &m, NULL), 0);
	o.memory = f->memory;
	assert_int_equal(spool_open(&f->spool, &o, NULL), 0);
	boot_lane_init(&f->lane, f->spool, "board");
	assert_int_equal(boot_lane_start(&f->lane, 2, NULL), 0);
	snprintf(f->path, sizeof(f->path), "/tmp/kiseki-boot-lane-%d.ksk", (int)getpid());
	file.spool = f->spool;
	assert_int_equal(boot_file_new(&f->file, &file, NULL), 0);
	f->now_ms = 1000;
}

static void end(struct fixture *f)
{
	boot_file_free(f->file);
	spool_free(f->spool);
	memory_free(f->memory);
	unlink(f->path);
}

/* Records that a small change of the numbers tells apart. */
static void put(struct fixture *f, uint64_t i)
{
	struct boot_event ev = { .tick = 1000000 + i * 1000, .kind = BOOT_MARK, .text = "a mark" };

	ev.key = BOOT_MARK_KERNEL;
	ev.text_len = 6;
	ev.number[BOOT_MARK_TICK] = ev.tick;
	ev.number[BOOT_MARK_PID] = i * 7919 % 65536;
	f->lane.sink.put(&f->lane.sink, &ev);
}

static void put_many(struct fixture *f, uint64_t from, uint64_t to)
{
	for (; from < to; from++) {
		if (from % 100 == 0)
			boot_lane_wants_all(&f->lane);
		put(f, from);
	}
}

struct found {
	uint64_t events, lost, unknown;
	bool is_cut;
};

static struct found look(const char *path)
{
	CLEANUP(boot_source) struct boot_source *s = NULL;
	struct error e = ERROR_INIT;
	struct found found = { 0 };
	struct boot_item item;
	uint64_t last = 0;
	int r;

	if (boot_ksk_open(path, &s, &e) < 0)
		fail_msg("%s", e.text);
	while ((r = s->ops->next(s, &item, &e)) == 1) {
		if (item.type == ITEM_LOSS && item.loss.count == LOSS_UNKNOWN)
			found.unknown++;
		else if (item.type == ITEM_LOSS)
			found.lost += item.loss.count;
		if (item.type != ITEM_EVENT)
			continue;
		assert_true(item.event.tick > last);
		last = item.event.tick;
		assert_int_equal(item.event.number[BOOT_MARK_PID],
				 (last - 1000000) / 1000 * 7919 % 65536);
		found.events++;
	}
	assert_int_equal(r, 0);
	assert_string_equal(s->info.device, "board");
	found.is_cut = s->is_cut;
	return found;
}

static void everything_comes_out(void **state)
{
	struct error e = ERROR_INIT;
	struct fixture f;
	struct found found;
	uint64_t i;

	(void)state;
	begin(&f);
	for (i = 0; i < 50000; i += 500) {
		put_many(&f, i, i + 500);
		boot_lane_flush(&f.lane, f.now_ms += 500, false);
		assert_int_equal(boot_file_turn(f.file, f.now_ms, &e), 0);
		boot_file_release(f.file);
	}
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	/* Not finished: all is there, and readers know. */
	assert_int_equal(boot_file_turn(f.file, f.now_ms, &e), 0);
	found = look(f.path);
	assert_int_equal(found.events, 50000);
	assert_true(found.is_cut);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	found = look(f.path);
	assert_int_equal(found.events, 50000);
	assert_int_equal(found.lost + found.unknown, 0);
	assert_false(found.is_cut);
	assert_int_equal(boot_lane_count(&f.lane), 50000);
	end(&f);
}

static void a_full_spool_counts(void **state)
{
	struct error e = ERROR_INIT;
	struct fixture f;
	struct found found;

	(void)state;
	begin(&f);
	put_many(&f, 0, 60000); /* nobody takes them */
	assert_true(f.lane.lost[LOSS_SPOOL] > 0);
	assert_int_equal(boot_file_turn(f.file, f.now_ms, &e), 0);
	boot_file_release(f.file);
	put_many(&f, 60000, 61000); /* and there is room again */
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	found = look(f.path);
	assert_true(found.events > 1000);
	assert_int_equal(found.events + found.lost, 61000);
	assert_int_equal(found.lost, f.lane.lost[LOSS_SPOOL]);
	assert_int_equal(found.unknown, 0);
	end(&f);
}

static void losses_are_told(void **state)
{
	struct error e = ERROR_INIT;
	struct fixture f;
	struct found found;

	(void)state;
	begin(&f);
	put_many(&f, 0, 10);
	f.lane.sink.lose(&f.lane.sink, LOSS_RING, 5);
	f.lane.sink.lose(&f.lane.sink, LOSS_RING, LOSS_UNKNOWN);
	put_many(&f, 10, 20);
	f.lane.sink.lose(&f.lane.sink, LOSS_BUFFER, LOSS_UNKNOWN);
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	found = look(f.path);
	assert_int_equal(found.events, 20);
	assert_int_equal(found.lost, 5);
	assert_int_equal(found.unknown, 2);
	end(&f);
}

static void a_cut_file_is_read(void **state)
{
	struct error e = ERROR_INIT;
	struct fixture f;
	struct found found;
	struct stat st;
	uint64_t last = 0;
	off_t len;

	(void)state;
	begin(&f);
	put_many(&f, 0, 20000);
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	assert_int_equal(stat(f.path, &st), 0);
	last = 20000;
	for (len = st.st_size - 1; len > 12000; len -= len / 8) {
		assert_int_equal(truncate(f.path, len), 0);
		found = look(f.path);
		assert_true(found.events <= last);
		last = found.events;
	}
	assert_true(last < 20000);
	end(&f);
}

static void the_path_is_followed(void **state)
{
	struct error e = ERROR_INIT;
	struct fixture f;
	struct found found;
	char moved[80];

	(void)state;
	begin(&f);
	put_many(&f, 0, 1000);
	boot_lane_flush(&f.lane, f.now_ms, true);
	assert_int_equal(boot_file_turn(f.file, f.now_ms, &e), 0);
	/* As if another file system had been mounted over its folder. */
	snprintf(moved, sizeof(moved), "%s.below", f.path);
	assert_int_equal(rename(f.path, moved), 0);
	put_many(&f, 1000, 2000);
	boot_lane_flush(&f.lane, f.now_ms, true);
	assert_int_equal(boot_file_turn(f.file, f.now_ms += 2000, &e), 0);
	put_many(&f, 2000, 3000);
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	found = look(f.path);
	assert_int_equal(found.events, 3000);
	assert_int_equal(unlink(moved), 0);
	end(&f);
}

static void a_folder_may_come_later(void **state)
{
	struct boot_file_options o;
	struct error e = ERROR_INIT;
	struct fixture f;
	char folder[64], path[96];
	struct found found;

	(void)state;
	begin(&f);
	snprintf(folder, sizeof(folder), "/tmp/kiseki-boot-lane-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/later/boot.ksk", folder);
	o = (struct boot_file_options){ .spool = f.spool, .place = &f.place, .path = path };
	boot_file_free(f.file);
	assert_int_equal(boot_file_new(&f.file, &o, NULL), 0);
	put_many(&f, 0, 100);
	assert_int_equal(boot_file_turn(f.file, 1000, &e), -EAGAIN);
	assert_false(boot_file_is_open(f.file));
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(boot_file_turn(f.file, 2000, &e), 0);
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	found = look(path);
	assert_int_equal(found.events, 100);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/later", folder);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
	end(&f);
}

/* The clock was set, and then the machine got its name: the real time of the start stays. */
static void the_first_real_time_stays(void **state)
{
	CLEANUP(boot_source) struct boot_source *s = NULL;
	struct error e = ERROR_INIT;
	struct fixture f;

	(void)state;
	begin(&f);
	assert_true(f.lane.clock.has_realtime);
	f.lane.clock.realtime_off_ns = 12345;
	put_many(&f, 0, 100);
	assert_int_equal(boot_lane_describe(&f.lane, 2), 0);
	assert_int_equal(boot_lane_stop(&f.lane, &e), 0);
	assert_int_equal(boot_file_turn(f.file, f.now_ms, &e), 0);
	assert_int_equal(boot_file_finish(f.file, &e), 0);
	assert_int_equal(boot_ksk_open(f.path, &s, &e), 0);
	assert_int_equal(s->info.clock.realtime_off_ns, 12345);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_comes_out),
		cmocka_unit_test(a_full_spool_counts),
		cmocka_unit_test(losses_are_told),
		cmocka_unit_test(a_cut_file_is_read),
		cmocka_unit_test(the_path_is_followed),
		cmocka_unit_test(a_folder_may_come_later),
		cmocka_unit_test(the_first_real_time_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
