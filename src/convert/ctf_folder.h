/* SPDX-License-Identifier: MIT */
/*
 * ctf_folder: an output folder that appears whole or not at all.
 *
 * Files go to "<path>.partial.<pid>"; committing renames it. A target that exists is replaced only
 * if it is empty or holds nothing but files that an earlier export of ours has written, which its
 * metadata's second line says; anything else is refused before the first event is read.
 */
#ifndef KISEKI_CONVERT_CTF_FOLDER_H
#define KISEKI_CONVERT_CTF_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define CTF_METADATA_HEAD "/* CTF 1.8 */\n/* Written by Kiseki. */\n"

struct ctf_folder;

int ctf_folder_open(struct ctf_folder **ret, const char *path, struct error *e);
void ctf_folder_free(struct ctf_folder *f); /* without commit, nothing remains */
DEFINE_CLEANUP(ctf_folder, ctf_folder_free)

/* Adds bytes to the stream file of a CPU. No file stays open: machines have more CPUs than
 * processes may have files. */
int ctf_folder_append(struct ctf_folder *f, uint32_t cpu, const void *data, size_t len,
		      struct error *e);

const char *ctf_folder_path(const struct ctf_folder *f); /* where to write until the commit */
int ctf_folder_commit(struct ctf_folder *f, struct error *e);

#endif
