/* SPDX-License-Identifier: MIT */
/*
 * bpf_kernel: what loaders of BPF programs ask about the kernel that runs, and why it refuses.
 */
#ifndef KISEKI_DEVICE_AGENT_BPF_KERNEL_H
#define KISEKI_DEVICE_AGENT_BPF_KERNEL_H

#include "base/error.h"

struct btf;

/* Its types; NULL: it has none, and errno says why. From here on what libbpf complains about is kept, not printed. */
struct btf *bpf_kernel_load_types(struct error *e);

/* The number of arguments of a tracepoint; -ENOENT if these types do not have it. */
int bpf_kernel_count_arguments(const struct btf *types, const char *tracepoint);

/* "cannot <what>: …", with libbpf's first complaint. */
int bpf_kernel_fail(struct error *e, int error, const char *what);

#endif
