/* SPDX-License-Identifier: MIT */
/* bpf_kernel: see bpf_kernel.h. */
#include "device/agent/bpf_kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What libbpf first complained about. */
static char complaint[256];

__attribute__((format(printf, 2, 0))) static int keep_complaint(enum libbpf_print_level level,
								const char *format, va_list ap)
{
	if (level == LIBBPF_WARN && !complaint[0])
		vsnprintf(complaint, sizeof(complaint), format, ap);
	complaint[strcspn(complaint, "\n")] = 0;
	return 0;
}

struct btf *bpf_kernel_load_types(struct error *e)
{
	struct btf *types;

	libbpf_set_print(keep_complaint);
	types = btf__load_vmlinux_btf();
	if (!types)
		error_set(e, errno,
			  "cannot read the kernel's types from /sys/kernel/btf/vmlinux: %s; "
			  "it needs CONFIG_DEBUG_INFO_BTF",
			  strerror(errno));
	return types;
}

int bpf_kernel_count_arguments(const struct btf *types, const char *tracepoint)
{
	const struct btf_type *t;
	char name[64];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(types, name, BTF_KIND_TYPEDEF);
	t = id < 0 ? NULL : btf__type_by_id(types, (uint32_t)id);
	t = t ? btf__type_by_id(types, t->type) : NULL; /* a pointer */
	t = t ? btf__type_by_id(types, t->type) : NULL; /* to a function */
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -ENOENT;
}

int bpf_kernel_fail(struct error *e, int error, const char *what)
{
	return error_set(e, -error, "cannot %s: %s%s%s", what, strerror(-error),
			 complaint[0] ? "; " : "", complaint);
}
