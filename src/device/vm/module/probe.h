/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe: the events between samples: who ran, when guests were entered and left, when virtual CPUs were woken.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_PROBE_H
#define KISEKI_DEVICE_VM_MODULE_PROBE_H

#include "device/vm/module/points.h"

/* The probes, whose data is a struct recorder. */
const struct points_probe *probe_list(void);

#endif
