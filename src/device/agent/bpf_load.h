/* SPDX-License-Identifier: MIT */
/*
 * bpf_load: the BPF programs and their maps into the kernel, where they stay, pinned in a folder of
 * bpffs:
 *
 *	cpus            counters and switches of each CPU (struct record_cpu)
 *	pids            whom the filter lets pass
 *	ring<N>         of each CPU that is present
 *	<tracepoint>    a program
 *	<tracepoint>_on its link, as long as it records (source_bpf.c)
 */
#ifndef KISEKI_DEVICE_AGENT_BPF_LOAD_H
#define KISEKI_DEVICE_AGENT_BPF_LOAD_H

#include <stdint.h>

#include "base/error.h"
#include "wire/message.h"

#define BPF_ROOT "/sys/fs/bpf"
#define BPF_DIR_MAX 256

struct bpf_order {
	const struct message_config *config; /* its filter lists; NULL: everything passes */
	uint32_t kinds;			     /* 1 << enum sched_kind */
	uint32_t cpus;			     /* entries of the map of CPUs */
	uint32_t ring_bytes;		     /* of each ring; a power of two, at least a page */
	const char *dir;		     /* NULL: only try whether it can be loaded */
};

/* Loads and pins; nothing is recorded yet. On failure nothing is left behind. */
int bpf_load(const struct bpf_order *o, struct error *e);

/* Sees to it that bpffs is mounted. */
int bpf_mount(struct error *e);

/* Removes all that is pinned in a folder, and the folder. */
void bpf_unpin(const char *dir);

/* The name of a kind's tracepoint and program. */
const char *bpf_get_program(uint32_t kind);

#endif
