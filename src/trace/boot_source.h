/* SPDX-License-Identifier: MIT */
/*
 * boot_source: anything that yields the records of a boot chart in the order in which they were made.
 *
 * The boot stream of a .ksk file or of a run in a store (boot_ksk.h) and a bootchart's archive
 * (convert/source_bootchart.h) are such sources; the model of a boot (analysis/boot.h) and the exports take any of
 * them.
 */
#ifndef KISEKI_TRACE_BOOT_SOURCE_H
#define KISEKI_TRACE_BOOT_SOURCE_H

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/info.h"
#include "trace/source.h"
#include "wire/boot_event.h"

struct boot_item {
	enum item_type type;
	struct boot_event event; /* ITEM_EVENT; its text is borrowed until the next call */
	struct trace_loss loss;	 /* ITEM_LOSS */
};

struct boot_source;

struct boot_source_ops {
	/* 1: *ret is the next item; 0: the end; < 0: failed, e says why. */
	int (*next)(struct boot_source *s, struct boot_item *ret, struct error *e);
	int (*rewind)(struct boot_source *s, struct error *e);
	void (*free)(struct boot_source *s); /* frees s itself, too */
};

/* Embedded as the first member of every boot source. `info` is complete after opening; its clock is that of
 * the ticks. */
struct boot_source {
	const struct boot_source_ops *ops;
	struct trace_info info;
	/* The trace's end was not seen: power or link was cut, or it is still being recorded. */
	bool is_cut;
};

static inline void boot_source_free(struct boot_source *s)
{
	if (s)
		s->ops->free(s);
}
DEFINE_CLEANUP(boot_source, boot_source_free)

#endif
