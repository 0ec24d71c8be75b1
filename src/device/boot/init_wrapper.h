/* SPDX-License-Identifier: MIT */
/*
 * init_wrapper: pid 1's first moment: starts the recorder and becomes the init that the machine would have had.
 *
 * init gets the arguments and the environment that the kernel gave, and finds signals, descriptors, folder, mask
 * and mounts as the kernel left them. Whatever goes wrong is one line in the kernel's log, and init starts.
 */
#ifndef KISEKI_DEVICE_BOOT_INIT_WRAPPER_H
#define KISEKI_DEVICE_BOOT_INIT_WRAPPER_H

/* Returns only if there is no init: an exit status. */
int init_wrapper_run(char **argv);

#endif
