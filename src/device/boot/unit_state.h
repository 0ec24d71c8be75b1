/* SPDX-License-Identifier: MIT */
/*
 * unit_state: is a unit of systemd active? systemd is asked, over the socket that it has for root.
 *
 * That socket (/run/systemd/private) speaks D-Bus, and there is no bus between: who connects says who it is, and sends
 * messages, but only after it was welcomed: what comes together with its name systemd leaves lying. One is enough: the
 * property ActiveState of the unit. What systemd tells unasked, of all that it does, is passed over. Nothing waits for the answer, which is taken in a later
 * look. Targets have no process and no folder, so this is the only way to see that one was reached; and a service is
 * there when it is ready, not when it begins to start.
 */
#ifndef KISEKI_DEVICE_BOOT_UNIT_STATE_H
#define KISEKI_DEVICE_BOOT_UNIT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNIT_STATE_SOCKET "/run/systemd/private"
#define UNIT_STATE_ROOM 2048U	   /* of a message */
#define UNIT_STATE_NS 100000000ULL /* between two questions */

struct unit_state {
	int fd; /* -1: not connected */
	bool is_asked;
	bool is_known; /* it has said who it is */
	uint64_t look_ns;
	size_t have;
	size_t skip; /* bytes of a message that is passed over and has not come yet */
	uint8_t bytes[UNIT_STATE_ROOM];
};

void unit_state_init(struct unit_state *u);
void unit_state_close(struct unit_state *u);

/* True: it is active. root: what stands before paths of the running system. */
bool unit_state_check(struct unit_state *u, const char *root, const char *unit, uint64_t now_ns);

/* --- the messages --- */

/* What asks for the state of the unit; its length, or 0 if there is no room. */
size_t unit_state_put(uint8_t *to, size_t room, const char *unit);

enum unit_answer {
	UNIT_ANSWER_MORE = 0, /* it is not whole */
	UNIT_ANSWER_OTHER,    /* no answer to a question: passed over, though it may not be whole */
	UNIT_ANSWER_NO,	      /* not active, or there is no such unit */
	UNIT_ANSWER_YES,
	UNIT_ANSWER_BAD, /* no message, or one that is too long */
};

/* The first message of these bytes; *ret_len: how many it has. */
enum unit_answer unit_state_parse(const uint8_t *bytes, size_t len, size_t *ret_len);

#endif
