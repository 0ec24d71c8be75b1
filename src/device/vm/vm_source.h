/* SPDX-License-Identifier: MIT */
/*
 * vm_source: where records of virtual machines come from: the module's device (vm_device.c), or programs of BPF (vm_bpf.c).
 *
 * Both hand out chunks of vm_record.h, so whoever reads one reads the other.
 */
#ifndef KISEKI_DEVICE_VM_VM_SOURCE_H
#define KISEKI_DEVICE_VM_VM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "device/vm/core/vm_settings.h"

#define VM_DEVICE "/dev/kiseki_vm"

struct vm_source;

struct vm_source_ops {
	const char *name;
	uint8_t collector; /* enum sample_collector */
	uint8_t method;	   /* enum sample_method */
	int (*start)(struct vm_source *s, const struct vm_settings *settings, struct error *e);
	int (*stop)(struct vm_source *s, struct error *e);
	/* Whole chunks into a buffer of VM_RECORD_CHUNK bytes at least; never waits. 0: nothing, now or, after a stop, any more; or a
	 * negative errno, of which -EAGAIN and -EINTR mean nothing now. */
	ssize_t (*read)(struct vm_source *s, uint8_t *to, size_t room);
	void (*free)(struct vm_source *s);
	/* Another mean period from here on, while it records; NULL: that cannot be. */
	void (*set_period)(struct vm_source *s, uint32_t period_ns);
	bool is_counted_anew; /* a start forgets the losses before it, and the time used */
};

struct vm_source {
	const struct vm_source_ops *ops;
	int fd; /* can be polled: it is time to read */
};

/* The module's. */
int vm_device_open(struct vm_source **ret, struct error *e);

/* Of programs of BPF, loaded for these settings; where they were not built in it says so. */
int vm_bpf_open(struct vm_source **ret, const struct vm_settings *settings, struct error *e);

static inline void vm_source_free(struct vm_source *s)
{
	if (s)
		s->ops->free(s);
}

#endif
