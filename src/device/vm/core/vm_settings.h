/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * vm_settings: what is written to /dev/kiseki_vm, one line:
 *
 *	start [period_ns=N] [jitter=N] [exits=0|1] [switches=0|1] [buffer_kib=N] [cycles=N]
 *	stop
 *
 * A key stands once at most, and a value is digits only. What is not understood is refused as a whole.
 */
#ifndef KISEKI_DEVICE_VM_CORE_VM_SETTINGS_H
#define KISEKI_DEVICE_VM_CORE_VM_SETTINGS_H

#include "wire/types.h"

#define VM_SETTINGS_MAX 160U /* of the line */
#define VM_PERIOD_LEAST_NS 50000U
#define VM_PERIOD_MOST_NS 1000000000U
#define VM_JITTER_MOST 50U /* percent of the period, either way */
#define VM_BUFFER_LEAST_KIB 16U
#define VM_BUFFER_MOST_KIB 65536U
#define VM_CYCLES_LEAST 100000U
#define VM_CYCLES_MOST 4000000000U

struct vm_settings {
	uint32_t period_ns;  /* the mean */
	uint32_t jitter;     /* percent */
	uint32_t exits;	     /* entries, exits, ways out and halts are recorded */
	uint32_t switches;   /* switches of all tasks, and wakeups of virtual CPUs */
	uint32_t buffer_kib; /* of each CPU; a power of two */
	uint32_t cycles;     /* the mean of them between two samples of a CPU; 0: period_ns holds */
};

enum vm_order {
	VM_ORDER_NONE = 0, /* not understood */
	VM_ORDER_START = 1,
	VM_ORDER_STOP = 2,
};

/* `text` may end with one newline. *ret is set by a start only. */
enum vm_order vm_settings_parse(struct vm_settings *ret, const char *text, uint32_t len);

/* The line that starts with these settings, with a NUL; its length. */
uint32_t vm_settings_format(const struct vm_settings *s, char ret[VM_SETTINGS_MAX]);

/* 1 ms, jittered as much as can be, everything recorded. */
void vm_settings_init(struct vm_settings *s);

#endif
