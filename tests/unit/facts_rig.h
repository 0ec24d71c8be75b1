/* SPDX-License-Identifier: MIT */
/* facts_rig: a folder with facts, and sets to put into it; for the tests of the engine. */
#ifndef KISEKI_TESTS_UNIT_FACTS_RIG_H
#define KISEKI_TESTS_UNIT_FACTS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/facts.h"
#include "tools/fact_random.h"

#define HOUR0 (1700000000ULL / 3600 * 3600)

static unsigned int rig_databases; /* each test has one: the server goes with all of them */
static char rig_dir[] = "/tmp/kiseki-facts-XXXXXX";
static struct facts *rig;

/* The server in which to test, as clickhouse://HOST:PORT, or NULL: then it is the folder. */
static inline const char *rig_server(void)
{
	const char *server = getenv("KISEKI_TEST_STORE");

	return server && *server ? server : NULL;
}

static inline const char *rig_place(void)
{
	static char place[256];

	if (!rig_server())
		return rig_dir;
	snprintf(place, sizeof(place), "%s/facts_%u", rig_server(), rig_databases);
	return place;
}

static inline void rig_remove(void)
{
	char command[64];

	facts_free(rig);
	rig = NULL;
	rig_databases++;
	snprintf(command, sizeof(command), "rm -rf %s/*", rig_dir);
	assert_int_equal(system(command), 0);
}

static inline int rig_group_setup(void **state)
{
	(void)state;
	return mkdtemp(rig_dir) ? 0 : -1;
}

static inline int rig_group_teardown(void **state)
{
	(void)state;
	return rmdir(rig_dir);
}

static inline void rig_open(void)
{
	struct error e = ERROR_INIT;

	facts_free(rig);
	rig = NULL;
	if (facts_open(&rig, rig_place(), &e) < 0)
		fail_msg("%s", e.text);
}

static inline int rig_setup(void **state)
{
	(void)state;
	rig_open();
	return 0;
}

static inline int rig_teardown(void **state)
{
	(void)state;
	rig_remove();
	return 0;
}

static inline struct fact_key rig_key(uint32_t device, uint8_t kind, uint64_t start_s)
{
	return (struct fact_key){ .device = fact_random_id(device),
				  .run = fact_random_id(1000 + device),
				  .kind = kind,
				  .length_s = FACT_MINUTE_S,
				  .start_s = start_s };
}

/* A set that only its key and `seed` decide. */
static inline void rig_make(struct fact_set *s, const struct fact_key *k, uint32_t seed)
{
	struct fact_random r = { .functions = 80,
				 .stacks = 60,
				 .seed = seed * 7 + (uint32_t)(k->start_s / 60) +
					 k->device.bytes[4] * 977U };

	assert_int_equal(fact_random_make(s, k, &r), 0);
}

static inline void rig_put(uint32_t device, uint8_t kind, uint64_t start_s, uint32_t seed)
{
	struct fact_key k = rig_key(device, kind, start_s);
	struct error e = ERROR_INIT;
	struct fact_set s;

	rig_make(&s, &k, seed);
	s.version += seed;
	assert_int_equal(facts_put(rig, &s, &e), 0);
	fact_set_done(&s);
}

static inline struct facts_query rig_query(uint8_t kind, uint64_t from_s, uint64_t to_s)
{
	return (struct facts_query){
		.all_devices = true, .kind = kind, .from_s = from_s, .to_s = to_s
	};
}

/* Everything that a scan gives, as one. */
struct rig_sum {
	struct fact_set set;
	uint64_t minutes, hours;
};

static inline int rig_on_set(void *context, const struct fact_set *s)
{
	struct rig_sum *sum = context;

	sum->minutes += s->key.length_s == FACT_MINUTE_S;
	sum->hours += s->key.length_s == FACT_HOUR_S;
	return fact_set_add(&sum->set, s);
}

static inline char *rig_scan(const struct facts_query *q, uint64_t *minutes, uint64_t *hours)
{
	struct fact_key key = { .kind = q->kind };
	struct rig_sum sum = { .minutes = 0 };
	struct error e = ERROR_INIT;
	char *text;

	assert_int_equal(fact_set_init(&sum.set, &key), 0);
	assert_int_equal(facts_scan(rig, q, rig_on_set, &sum, &e), 0);
	text = fact_random_text(&sum.set);
	fact_set_done(&sum.set);
	*minutes = sum.minutes;
	*hours = sum.hours;
	return text;
}

#endif
