/* SPDX-License-Identifier: MIT */
/*
 * confinement: what a collector that runs can still ask of the kernel.
 *
 * It stores, answers and waits: no programs are started, no processes made, nothing is mounted, traced or
 * changed of the machine, and no memory is writable and executable. Who takes the process over has
 * that and no more. A call that is not in the list fails with EPERM, and a line of the log names
 * it (sandbox/syscall_filter.h).
 */
#ifndef KISEKI_COLLECTOR_CONFINEMENT_H
#define KISEKI_COLLECTOR_CONFINEMENT_H

#include "base/error.h"

/* All threads of the process, for good. After everything has started; SIGSYS must not be blocked in any
 * of them. -ENOSYS: not on this machine. */
int confinement_enter(struct error *e);

#endif
