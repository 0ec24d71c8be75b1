/* SPDX-License-Identifier: MIT */
/*
 * pace_value: how often a recorder samples, for how much CPU time and in which part of the time, as people write it: on the command
 * line of the recorder, to `kiseki configure`, and in JSON.
 *
 *	0.5  0.5%     a budget: percent of one CPU
 *	10s/60s       a duty: ten seconds of each minute
 */
#ifndef KISEKI_COMMAND_PACE_VALUE_H
#define KISEKI_COMMAND_PACE_VALUE_H

#include "base/error.h"
#include "wire/message.h"

#define PACE_VALUE_LEN 64U

/* -EINVAL: it is none. 0 is none of a budget; it is within the bounds of wire/message.h. */
int pace_value_budget(uint32_t *ret_ppm, const char *text);
int pace_value_duty(uint32_t *ret_on_ms, uint32_t *ret_every_ms, const char *text);

/* One part of what is said of a recorder's pace, by its field in wire/message.h: "on" and "off", a number, a budget or 0, a duty or "".
 * -EINVAL with the reason. */
int pace_value_parse(struct config_pace *p, uint32_t part, const char *text, struct error *e);
/* The way back. */
const char *pace_value_format(const struct config_pace *p, uint32_t part,
			      char text[PACE_VALUE_LEN]);

#endif
