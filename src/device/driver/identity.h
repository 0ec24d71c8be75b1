/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * identity: who the device is, for HELLO.
 *
 * An identity that is given counts. Else it is made of the name and the permanent address of the
 * first Ethernet device: the same after each boot, and without any file. It is made when it is needed
 * for the first time, since a driver that is loaded early finds no network yet; then it stays.
 */
#ifndef KISEKI_DEVICE_DRIVER_IDENTITY_H
#define KISEKI_DEVICE_DRIVER_IDENTITY_H

#include "device/driver/core/settings.h"

struct identity {
	struct message_id device, boot;
	bool is_device_known;
	bool is_name_given;
	char name[SETTINGS_TEXT_LEN];
};

void identity_init(struct identity *i, const struct settings *s);

/* The host's name, where none is given, may have come meanwhile. */
void identity_refresh(struct identity *i);

/* Empty: the host's from now on. */
void identity_set_name(struct identity *i, const char *name);

const struct message_id *identity_get_device(struct identity *i);

#endif
