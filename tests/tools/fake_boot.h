/* SPDX-License-Identifier: MIT */
/*
 * fake_boot: a boot that nobody recorded, for tests of the charts: the model (analysis/boot.h) filled by hand.
 *
 * It has every state, mark and end that a chart knows, at places that a test can name: see FAKE_*. With more
 * processes it is as large as one likes, and always the same.
 */
#ifndef KISEKI_TESTS_FAKE_BOOT_H
#define KISEKI_TESTS_FAKE_BOOT_H

#include "analysis/boot.h"

#define FAKE_MS 1000000ULL
#define FAKE_FROM_NS (400 * FAKE_MS)
#define FAKE_TO_NS (9600 * FAKE_MS)
#define FAKE_TARGET_NS (7800 * FAKE_MS)

struct fake_boot_options {
	bool exact;	/* spans know who ended them, and there are runnable ones */
	bool hostile;	/* names and texts that want to break out of the page */
	bool cut;	/* power was cut, there are gaps, and events were not told */
	bool late;	/* some things come later, one is gone and one is new */
	uint32_t more;	/* that many short processes beside the others */
	uint32_t spans; /* of each of these; 0: one */
};

/* Aborts without memory. It is freed with boot_free(). */
struct boot *fake_boot_new(const struct fake_boot_options *o);

#endif
