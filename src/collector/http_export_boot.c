/* SPDX-License-Identifier: MIT */
/*
 * http_export_boot: the export of a boot chart's records; see http_export.h.
 *
 * It is a .ksk file, from which the charts and the archives of other tools are made.
 */
#include <errno.h>
#include <string.h>

#include "collector/http_export.h"
#include "trace/boot_ksk.h"
#include "trace/boot_pack.h"

#define LOOK_EVERY 16384U /* records */

int extract_open_boot(struct http_request *q, struct extract *x, struct error *e)
{
	const char *name = http_target_get(&q->target, "format");
	int r = extract_check_whole(q, "a boot chart", e);

	if (r >= 0 && name && strcmp(name, "ksk") != 0)
		r = error_set(e, EINVAL,
			      "cannot export run %u as '%s': it is a boot chart; see "
			      "/api/v1/formats",
			      x->selection.run.number, name);
	x->format = formats_find("ksk");
	return r < 0 ? r
		     : boot_ksk_open_run(q->http->options.store, x->selection.run.number, &x->boot,
					 e);
}

/* A source that looks from time to time whether there is room and somebody who waits. */
struct careful {
	struct boot_source source;
	struct boot_source *inner;
	struct extract *x;
	const char *folder;
	uint64_t items;
};

static int careful_next(struct boot_source *s, struct boot_item *ret, struct error *e)
{
	struct careful *c = (struct careful *)s;
	int r = c->items++ % LOOK_EVERY ? 0 : extract_check(c->x, c->folder, e);

	return r < 0 ? r : c->inner->ops->next(c->inner, ret, e);
}

static int careful_rewind(struct boot_source *s, struct error *e)
{
	struct careful *c = (struct careful *)s;

	return c->inner->ops->rewind(c->inner, e);
}

static void careful_free(struct boot_source *s)
{
	(void)s; /* it is on the stack, and all it has is the inner one's */
}

static const struct boot_source_ops careful_ops = {
	.next = careful_next,
	.rewind = careful_rewind,
	.free = careful_free,
};

int extract_write_boot(struct extract *x, const char *path, const char *folder, struct error *e)
{
	struct careful c = { .source = *x->boot, .inner = x->boot, .x = x, .folder = folder };
	struct boot_packing packing = { 0 };

	c.source.ops = &careful_ops;
	return boot_pack_file(path, &c.source, &packing, e);
}
