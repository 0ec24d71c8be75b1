/* SPDX-License-Identifier: MIT */
/*
 * http_export_file: the exports that are made whole before they are sent; see http_export.h.
 *
 * They are made in a folder of their own under TMPDIR or /var/tmp (not /tmp, which is often memory),
 * and their names are gone before the first byte is sent. The collector's own disk may be the same:
 * an export stops before it takes the space that blocks need.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "collector/http_export.h"
#include "collector/tar.h"

#define FREE_LEAST (256ULL << 20) /* bytes that an export leaves on its disk */
#define LOOK_EVERY 16384U	  /* items */

struct work {
	char folder[256];
	char trace[288];  /* what the sink writes */
	char packed[288]; /* the archive of it, if it is a folder */
};

static int make_folder(struct work *w, struct error *e)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || *tmp != '/' || strlen(tmp) > 200)
		tmp = "/var/tmp";
	snprintf(w->folder, sizeof(w->folder), "%s/kiseki-export-XXXXXX", tmp);
	if (!mkdtemp(w->folder)) {
		w->folder[0] = 0;
		return error_set(e, errno, "cannot export: no folder in %s: %s", tmp,
				 strerror(errno));
	}
	snprintf(w->trace, sizeof(w->trace), "%s/trace", w->folder);
	snprintf(w->packed, sizeof(w->packed), "%s/trace.tar", w->folder);
	return 0;
}

/* A folder with plain files in it. */
static void remove_files(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *one;

	while (d && (one = readdir(d)))
		unlinkat(dirfd(d), one->d_name, 0);
	if (d)
		closedir(d);
}

static void remove_folder(struct work *w)
{
	if (!w->folder[0])
		return;
	remove_files(w->trace);
	rmdir(w->trace);
	remove_files(w->folder);
	rmdir(w->folder);
}

static int pack(struct work *w, const struct extract *x, const char *name, struct error *e)
{
	struct tar_options o = { w->trace, name, x->selection.run.last_ns / 1000000000 };
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, w->packed, e);

	if (r >= 0)
		r = tar_write(out, &o, e);
	return r < 0 ? r : outfile_commit(out, e);
}

/* A sink that looks from time to time whether there is room and somebody who waits. */
struct careful {
	struct trace_sink sink;
	struct trace_sink *inner;
	struct extract *x;
	const char *folder;
	uint64_t items;
};

static int careful_begin(struct trace_sink *s, const struct trace_info *info, struct error *e)
{
	struct careful *c = (struct careful *)s;

	return c->inner->ops->begin(c->inner, info, e);
}

int extract_check(struct extract *x, const char *folder, struct error *e)
{
	struct statvfs v;

	if (http_request_is_over(x->q))
		return error_set(e, ECANCELED, "the client has gone");
	if (!statvfs(folder, &v) && (uint64_t)v.f_bavail * v.f_frsize < FREE_LEAST)
		return error_set(e, ENOSPC, "cannot export: less than %llu MiB are free in %s",
				 FREE_LEAST >> 20, folder);
	return 0;
}

static int careful_item(struct trace_sink *s, const struct trace_item *item, struct error *e)
{
	struct careful *c = (struct careful *)s;
	int r = c->items++ % LOOK_EVERY ? 0 : extract_check(c->x, c->folder, e);

	return r < 0 ? r : c->inner->ops->item(c->inner, item, e);
}

static int careful_end(struct trace_sink *s, struct error *e)
{
	struct careful *c = (struct careful *)s;

	return c->inner->ops->end(c->inner, e);
}

static void careful_free(struct trace_sink *s)
{
	(void)s; /* it is on the stack; the inner one is its maker's */
}

static const struct trace_sink_ops careful_ops = {
	.begin = careful_begin,
	.item = careful_item,
	.end = careful_end,
	.free = careful_free,
};

static int write_trace(struct work *w, struct extract *x, struct error *e)
{
	struct careful c = { .sink = { &careful_ops }, .x = x, .folder = w->folder };
	int r = format_prepare(x->format, &x->source, &x->options, e);

	if (r >= 0)
		r = format_open(x->format, &c.inner, w->trace, &x->options, e);
	if (r >= 0)
		r = extract_copy(x, &c.sink, e);
	sink_free(c.inner);
	return r;
}

int extract_make_file(struct extract *x, const char *name, struct error *e)
{
	bool is_folder = !x->is_calls && !strcmp(x->format->name, "ctf");
	struct work w = { .folder = "" };
	int fd = -1, r = make_folder(&w, e);

	if (r >= 0)
		r = x->is_calls	 ? extract_write_calls(x, w.trace, w.folder, e)
		    : x->boot	 ? extract_write_boot(x, w.trace, w.folder, e)
		    : x->profile ? extract_write_profile(x, w.trace, w.folder, e)
				 : write_trace(&w, x, e);
	if (r >= 0 && is_folder)
		r = pack(&w, x, name, e);
	if (r >= 0) {
		fd = open(is_folder ? w.packed : w.trace, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			r = error_set(e, errno, "cannot export: %s", strerror(errno));
	}
	remove_folder(&w);
	return r < 0 ? r : fd;
}
