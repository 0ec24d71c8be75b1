/* SPDX-License-Identifier: MIT */
/* symbols build: makes the tables of objects before somebody waits for them. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/symbol_tables.h"
#include "command/args.h"
#include "command/say.h"
#include "symbol/kallsyms.h"
#include "symbol/object_reader.h"

#define DEPTH_FDS 32

/* nftw() takes no data along. */
static struct build {
	struct symcache *cache;
	struct search search;
	const char *folders[2];
	json_t *list;  /* NULL: lines are printed */
	bool is_alone; /* a file that was named, not found */
	size_t failed;
} build;

static void tell(const char *path, const struct symfile_head *h, const char *problem)
{
	char id[2 * SYMFILE_ID_MAX + 1] = "";

	if (h)
		hex_format(h->id, h->id_len, id);
	if (build.list)
		json_array_append_new(build.list,
				      json_pack("{s:o, s:o, s:o, s:o}", "file", jsonout_text(path),
						"id", h ? json_string(id) : json_null(), "symbols",
						h ? jsonout_count(h->n_symbols) : json_null(),
						"problem",
						problem ? jsonout_text(problem) : json_null()));
	else if (h)
		printf("%s  %8" PRIu32 "  %s\n", id, h->n_symbols, path);
	if (!build.list && problem)
		say_note("%s", problem);
	build.failed += !h;
}

/* A text of the kernel's names is no object. */
static int build_kernel(const char *path)
{
	struct error why = ERROR_INIT, text = ERROR_INIT;
	struct kallsyms *k = NULL;
	int r = kallsyms_open(path, build.cache, &k, &why);

	if (r == 0)
		tell(path, kallsyms_get_kept(k), NULL);
	else
		error_set(&text, -r, "%s %s", path, why.text);
	if (r < 0)
		tell(path, NULL, text.text);
	kallsyms_free(k);
	return r == -ENOMEM ? r : 0;
}

/* Whether it may be an object: most of a folder's files are not, and need no reader. */
static int has_magic(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG];
	ssize_t n = fd < 0 ? -1 : read(fd, magic, sizeof(magic));

	if (n < 0)
		return -errno;
	return n == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* 0: it is no object, or not a sound one. */
static int get_id(const char *path, struct elf_build_id *ret)
{
	const struct object_wanted w = { .path = path };
	struct object_answer a;
	int table, r = has_magic(path);

	if (r <= 0)
		return r;
	r = object_reader_ask(OBJECT_IDENTITY, &build.search, &w, &a, &table);
	if (r < 0 || a.code < 0)
		return r < 0 ? r : a.code;
	if (a.problem[0])
		return -EBADMSG;
	*ret = a.id;
	return a.is_found;
}

static int build_file(const char *path)
{
	struct elf_build_id id = { 0 };
	struct object_wanted w = { .path = path, .build_id = id.bytes, .cache = build.cache };
	struct error none = ERROR_INIT;
	_cleanup_free_ char *problem = NULL;
	const char *why;
	struct object *o = NULL;
	int r;

	r = get_id(path, &id);
	if (r == 0)
		return build.is_alone ? build_kernel(path) : 0;
	if (r < 0 && r != -ENOMEM) { /* one of many */
		error_set(&none, -r, "cannot read %s: %s", path,
			  r == -EBADMSG ? "its reader did not come back" : strerror(-r));
		tell(path, NULL, none.text);
	}
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	w.build_id_len = id.len;
	r = object_open(&build.search, &w, &o, &problem);
	if (r < 0)
		return r;
	why = object_get_cache_problem(o) ? object_get_cache_problem(o) : problem;
	if (id.len == 0) {
		error_set(&none, 0, "%s has no build-id: its table is not kept", path);
		why = none.text;
	}
	tell(path, id.len && !object_get_cache_problem(o) ? object_get_kept(o) : NULL, why);
	object_close(o);
	return 0;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	return type == FTW_F && S_ISREG(st->st_mode) ? build_file(path) : 0;
}

static int build_operand(const char *name, struct error *e)
{
	char path[PATH_MAX];
	struct stat st;
	int r = 0;

	if (!realpath(name, path) || stat(path, &st) < 0)
		return error_set(e, errno, "cannot open %s: %s", name, strerror(errno));
	build.is_alone = !S_ISDIR(st.st_mode);
	r = build.is_alone ? build_file(path) : nftw(path, visit, DEPTH_FDS, FTW_PHYS);
	return r < 0 ? error_set(e, r == -1 ? errno : -r, "cannot read %s: %s", name,
				 strerror(r == -1 ? errno : -r))
		     : 0;
}

static int run(const struct args *a)
{
	CLEANUP(symcache) struct symcache *c = NULL;
	struct error e = ERROR_INIT;
	size_t i;
	int r = symbol_tables_open(&c, &e);

	if (r >= 0)
		r = object_reader_start(OBJECT_READER_THIS_MACHINE, &e);
	build.cache = c;
	build.folders[0] = args_get(a, "symbols");
	build.search.folders = build.folders;
	build.list = args_has(a, "json") ? json_array() : NULL;
	for (i = 0; i < a->n_operands && r >= 0; i++)
		r = build_operand(a->operands[i], &e);
	if (r < 0) {
		json_decref(build.list);
		return say_failure(&e);
	}
	if (build.list && jsonout_print(json_pack("{s:s, s:o}", "folder", symbol_tables_folder(),
						  "objects", build.list)) != EXIT_OK)
		return EXIT_FAILED;
	return build.failed ? EXIT_FAILED : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "symbols", "DIR", "also look here for debug files", NULL },
	{ 0, "json", NULL, "print JSON", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "All of a device's files, before its traces are looked at:",
	  "kiseki symbols build /srv/sysroots/board-7" },
	{ NULL, NULL },
};

const struct command command_symbols_build = {
	.name = "build",
	.summary = "make the tables of objects, of folders, of a kernel",
	.usage = "FILE|DIR... [--symbols DIR] [--json]",
	.description =
		"A table is made by itself when a function of its object is first named; this "
		"makes "
		"it before. FILE is an ELF file or a copy of /proc/kallsyms; of a folder, all ELF "
		"files below it. Prints build-id, number of symbols and file.\n\n"
		"Tables are kept in $KISEKI_SYMBOL_CACHE, or below ~/.cache/kiseki; the longest "
		"unused go when they are more than 1 GiB.",
	.options = options,
	.examples = examples,
	.parent = &command_symbols,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 256,
	.run = run,
};
