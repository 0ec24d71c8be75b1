/* SPDX-License-Identifier: MIT */
/*
 * source_ctf: a CTF 1.8 folder as a source, read by a process of its own (source_child.h).
 *
 * libbabeltrace2 checks its inner state with assertions that damaged traces can break, and then ends
 * the process; a description of a field with a billion elements makes it allocate them. It reads the folder by
 * itself, so its sandbox leaves it that one folder; its plugin is loaded before.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "convert/ctf_graph.h"
#include "convert/ctf_reader.h"
#include "convert/ctf_reason.h"
#include "convert/source_child.h"

/* What the child may use grows with its input: the library keeps an entry per packet, and a tree of
 * the metadata. Damaged packets can make it add entries without end, so the rest is little. */
#define CHILD_MEMORY (256ULL << 20)
#define CHILD_MEMORY_MAX (8ULL << 30)
#define METADATA_FACTOR 128U

/* Bytes of the files in the folder; those of a folder in it do not count. */
static uint64_t input_size(const char *path, uint64_t *ret_metadata)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	uint64_t sum = 0;
	struct stat st;

	while (dir && (d = readdir(dir))) {
		if (fstatat(dirfd(dir), d->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		sum += (uint64_t)st.st_size;
		if (!strcmp(d->d_name, "metadata"))
			*ret_metadata = (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return sum;
}

static void prepare(void)
{
	/* The metadata's parser tells the line of a mistake nowhere but in its log. */
	setenv("BABELTRACE_PLUGIN_CTF_METADATA_LOG_LEVEL", "ERROR", 1);
	ctf_graph_load_plugin();
}

static int open_reader(const struct source_child_job *job, struct trace_source **ret,
		       struct error *e)
{
	return ctf_reader_open(ret, job->child.folder, child_process_alive, e);
}

int source_ctf_open(struct trace_source **ret, const char *dir, struct error *e)
{
	_cleanup_free_ char *folder = ctf_reader_folder(dir), *prefix = NULL;
	struct source_child_job job = {
		.child = { .prepare = prepare,
			   .fd = -1,
			   .folder = folder,
			   .read_log = ctf_reason_from_log,
			   .hangs = "libbabeltrace2 hangs on it",
			   .dies = "it is damaged so that libbabeltrace2 gives up" },
		.open = open_reader
	};
	uint64_t metadata = 0, memory;

	if (!folder || asprintf(&prefix, "cannot read CTF trace %s", dir) < 0)
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", dir);
	job.child.prefix = prefix;
	job.child.input_bytes = input_size(folder, &metadata);
	memory = CHILD_MEMORY + job.child.input_bytes + metadata * METADATA_FACTOR;
	job.child.memory_bytes = memory < CHILD_MEMORY_MAX ? memory : CHILD_MEMORY_MAX;
	return source_child_open(ret, &job, e);
}
