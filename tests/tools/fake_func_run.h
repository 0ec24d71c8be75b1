/* SPDX-License-Identifier: MIT */
/*
 * fake_func_run: the lower side of device/feed/func_run.h in plain memory: blocks that are put are
 * decoded at once, each by itself, and their events kept by row. Linked in place of the real one.
 */
#ifndef KISEKI_TESTS_FAKE_FUNC_RUN_H
#define KISEKI_TESTS_FAKE_FUNC_RUN_H

#include "device/feed/func_run.h"
#include "wire/func_event.h"

#define FAKE_FUNC_ROWS 8U
#define FAKE_FUNC_EVENTS 65536U

struct fake_func_row {
	struct func_event *events; /* FAKE_FUNC_EVENTS */
	uint32_t n;
	uint32_t blocks;
	uint64_t lost;	  /* as far as counted */
	uint32_t lost_at; /* events before the last loss */
	bool lost_unknown;
	struct func_run_place place;
};

struct func_run {
	struct fake_func_row rows[FAKE_FUNC_ROWS];
	bool is_full; /* puts are refused */
	bool is_bad;  /* a block could not be decoded, or had what it must not have */
};

struct func_run *fake_func_run_new(void);
void fake_func_run_free(struct func_run *r);

#endif
