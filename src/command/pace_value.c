/* SPDX-License-Identifier: MIT */
/* pace_value: see pace_value.h. */
#include "command/pace_value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/when.h"
#include "command/value.h"

#define NS_PER_MS 1000000U
#define PPM_PER_PERCENT 1e4
#define SHOWN 40

int pace_value_budget(uint32_t *ret_ppm, const char *text)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(text, &end);
	if (*end == '%')
		end++;
	if (errno || end == text || *end ||
	    !(percent >= CONFIG_BUDGET_LEAST / PPM_PER_PERCENT || percent == 0) ||
	    percent > CONFIG_BUDGET_MOST / PPM_PER_PERCENT)
		return -EINVAL;
	*ret_ppm = (uint32_t)(percent * PPM_PER_PERCENT + 0.5);
	return 0;
}

static bool parse_ms(const char *text, uint64_t *ret)
{
	uint64_t ns;

	if (when_parse_length(text, &ns, NULL) < 0 || ns % NS_PER_MS)
		return false;
	*ret = ns / NS_PER_MS;
	return true;
}

int pace_value_duty(uint32_t *ret_on_ms, uint32_t *ret_every_ms, const char *text)
{
	char on[PACE_VALUE_LEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;
	uint64_t on_ms = 0, every_ms = 0;

	if (!len || len >= sizeof(on))
		return -EINVAL;
	memcpy(on, text, len);
	on[len] = 0;
	if (!parse_ms(on, &on_ms) || !parse_ms(slash + 1, &every_ms) ||
	    on_ms < CONFIG_DUTY_LEAST_MS || on_ms >= every_ms || every_ms > CONFIG_DUTY_MOST_MS)
		return -EINVAL;
	*ret_on_ms = (uint32_t)on_ms;
	*ret_every_ms = (uint32_t)every_ms;
	return 0;
}

static int parse_mode(struct config_pace *p, const char *text, struct error *e)
{
	if (strcmp(text, "on") && strcmp(text, "off"))
		return error_set(e, EINVAL, "a recorder cannot be \"%.*s\": on or off", SHOWN,
				 text);
	p->is_on = !strcmp(text, "on");
	return 0;
}

int pace_value_parse(struct config_pace *p, uint32_t part, const char *text, struct error *e)
{
	uint64_t rate;

	switch (part) {
	case PACE_MODE:
		return parse_mode(p, text, e);
	case PACE_RATE:
		if (value_number(&rate, text, CONFIG_RATE_MOST) < 0 || !rate)
			return error_set(e, EINVAL,
					 "it cannot sample \"%.*s\" times a second: 1 to %u", SHOWN,
					 text, CONFIG_RATE_MOST);
		p->rate_hz = (uint32_t)rate;
		return 0;
	case PACE_BUDGET:
		return pace_value_budget(&p->budget_ppm, text) < 0
			       ? error_set(
					 e, EINVAL,
					 "\"%.*s\" is no part of a CPU: 0.01 to 100 percent, or 0",
					 SHOWN, text)
			       : 0;
	default:
		if (!*text) {
			p->on_ms = p->every_ms = 0;
			return 0;
		}
		return pace_value_duty(&p->on_ms, &p->every_ms, text) < 0
			       ? error_set(
					 e, EINVAL,
					 "\"%.*s\" is no part of the time: as 10s/60s, the first a "
					 "second at least, the second longer and at most a day",
					 SHOWN, text)
			       : 0;
	}
}

const char *pace_value_format(const struct config_pace *p, uint32_t part, char text[PACE_VALUE_LEN])
{
	if (part == PACE_MODE)
		snprintf(text, PACE_VALUE_LEN, "%s", p->is_on ? "on" : "off");
	else if (part == PACE_RATE)
		snprintf(text, PACE_VALUE_LEN, "%u", p->rate_hz);
	else if (part == PACE_BUDGET)
		snprintf(text, PACE_VALUE_LEN, "%.6g%s", p->budget_ppm / PPM_PER_PERCENT,
			 p->budget_ppm ? "%" : "");
	else if (!p->every_ms)
		text[0] = 0;
	else if (p->on_ms % 1000 || p->every_ms % 1000)
		snprintf(text, PACE_VALUE_LEN, "%ums/%ums", p->on_ms, p->every_ms);
	else
		snprintf(text, PACE_VALUE_LEN, "%us/%us", p->on_ms / 1000, p->every_ms / 1000);
	return text;
}
