/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control_files: the folder /sys/kernel/kiseki, where people and programs of the machine see and tell
 * the driver (docs/driver.md has the table). One value or one line per file. `state` and `link` can be
 * polled.
 */
#ifndef KISEKI_DEVICE_DRIVER_CONTROL_FILES_H
#define KISEKI_DEVICE_DRIVER_CONTROL_FILES_H

struct exporter;

/* Before the exporter's thread runs, and after it has ended. There is one driver, so one folder. */
int control_files_init(struct exporter *e);
void control_files_done(void);

#endif
