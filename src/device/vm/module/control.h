/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control: /dev/kiseki_vm, by which one program has the machine recorded and takes the records.
 *
 * Who opens it is alone with it, and may look at the whole machine (CAP_PERFMON). What is written is a line
 * (core/vm_settings.h); a read answers with chunks (vm_record.h) of whole records, of all CPUs in turn, and with nothing
 * after a stop when all was read. A read that may wait does so until there is something, at most a tenth of a second
 * at a time; poll() tells when a ring is half full. Closing stops: nobody is left to read.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_CONTROL_H
#define KISEKI_DEVICE_VM_MODULE_CONTROL_H

int control_init(void);
void control_done(void);

#endif
