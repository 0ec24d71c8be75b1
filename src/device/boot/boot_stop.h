/* SPDX-License-Identifier: MIT */
/*
 * boot_stop: the command that ends a recording, from another process: a socket without a file, because early in a
 * boot there is no folder for one.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_STOP_H
#define KISEKI_DEVICE_BOOT_BOOT_STOP_H

#include <stdbool.h>

#include "base/error.h"

/* The listening socket; -EADDRINUSE: another recorder has it. */
int boot_stop_open(struct error *e);

/* Somebody who may has asked: a descriptor that is to be closed when all is done; else -1. */
int boot_stop_take(int fd);

/* Asks, and waits until the recording is over. */
int boot_stop_ask(struct error *e);

#endif
