/* SPDX-License-Identifier: MIT */
/* value: see value.h. */
#include "device/agent/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int value_text(char *ret, size_t room, const char *text)
{
	size_t len = strlen(text);

	if (!len || len >= room)
		return -EINVAL;
	memcpy(ret, text, len + 1);
	return 0;
}

/* The number that the text starts with; *ret_rest is what stands behind it. */
static int leading_number(uint64_t *ret, const char *text, const char **ret_rest)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	*ret_rest = end;
	return errno ? -EINVAL : 0;
}

int value_number(uint64_t *ret, const char *text, uint64_t most)
{
	const char *rest;
	uint64_t v;

	if (leading_number(&v, text, &rest) < 0 || *rest || v > most)
		return -EINVAL;
	*ret = v;
	return 0;
}

int value_size(uint64_t *ret, const char *text)
{
	static const char units[] = "KMG";
	const char *rest, *unit;
	unsigned int shift = 0;
	uint64_t v;

	if (leading_number(&v, text, &rest) < 0)
		return -EINVAL;
	if (*rest) {
		unit = strchr(units, *rest);
		if (!unit || rest[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	if (v > UINT64_MAX >> shift)
		return -EINVAL;
	*ret = v << shift;
	return 0;
}

int value_ms(uint64_t *ret, const char *text)
{
	const char *rest;
	uint64_t v;

	if (leading_number(&v, text, &rest) < 0 || v > UINT32_MAX)
		return -EINVAL;
	if (!strcmp(rest, "s"))
		v *= 1000;
	else if (*rest && strcmp(rest, "ms"))
		return -EINVAL;
	*ret = v;
	return 0;
}

int value_bool(bool *ret, const char *text)
{
	if (strcmp(text, "yes") && strcmp(text, "no"))
		return -EINVAL;
	*ret = text[0] == 'y';
	return 0;
}

int value_word(uint8_t *ret, const char *const words[], const char *text)
{
	uint8_t i;

	for (i = 0; words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*ret = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* The next part of a list into `part`: its length, 0 at the end, -EINVAL if it is too long. */
static int next_part(const char **text, char *part, size_t room)
{
	size_t len;

	*text += strspn(*text, ", \t");
	len = strcspn(*text, ", \t");
	if (len >= room)
		return -EINVAL;
	memcpy(part, *text, len);
	part[len] = 0;
	*text += len;
	return (int)len;
}

int value_events(uint32_t *ret, const char *text)
{
	static const char *const words[] = {
		[SCHED_SWITCH] = "switch",   [SCHED_WAKING] = "waking",
		[SCHED_WAKEUP] = "wakeup",   [SCHED_WAKEUP_NEW] = "wakeup_new",
		[SCHED_FORK] = "fork",	     [SCHED_EXEC] = "exec",
		[SCHED_EXIT] = "exit",	     [SCHED_RENAME] = "rename",
		[SCHED_SETPRIO] = "setprio", [SCHED_KINDS] = NULL,
	};
	uint32_t events = 0;
	char part[16];
	uint8_t kind;
	int n;

	while ((n = next_part(&text, part, sizeof(part))) > 0) {
		if (!strcmp(part, "all"))
			events |= (1U << SCHED_KINDS) - 1;
		else if (value_word(&kind, words, part) < 0)
			return -EINVAL;
		else
			events |= 1U << kind;
	}
	if (n < 0 || !events)
		return -EINVAL;
	*ret = events;
	return 0;
}

int value_pids(struct message_config *ret, const char *text)
{
	int32_t pids[CONFIG_PIDS_MAX];
	uint32_t count = 0;
	char part[16];
	uint64_t pid;
	int n;

	while ((n = next_part(&text, part, sizeof(part))) > 0) {
		if (count == CONFIG_PIDS_MAX || value_number(&pid, part, INT32_MAX) < 0)
			return -EINVAL;
		pids[count++] = (int32_t)pid;
	}
	if (n < 0)
		return n;
	memset(ret->pids, 0, sizeof(ret->pids));
	memcpy(ret->pids, pids, count * sizeof(pids[0]));
	ret->n_pids = count;
	return 0;
}

int value_comms(struct message_config *ret, const char *text)
{
	char comms[CONFIG_COMMS_MAX][SCHED_COMM_LEN] = { 0 };
	char part[SCHED_COMM_LEN];
	uint32_t count = 0;
	int n;

	while ((n = next_part(&text, part, sizeof(part))) > 0) {
		if (count == CONFIG_COMMS_MAX)
			return -EINVAL;
		memcpy(comms[count++], part, (size_t)n);
	}
	if (n < 0)
		return n;
	memcpy(ret->comms, comms, sizeof(comms));
	ret->n_comms = count;
	return 0;
}

int value_cgroups(struct message_config *ret, const char *text)
{
	char cgroups[CONFIG_CGROUPS_MAX][CONFIG_CGROUP_LEN] = { 0 };
	char part[CONFIG_CGROUP_LEN];
	uint32_t count = 0;
	int n;

	while ((n = next_part(&text, part, sizeof(part))) > 0) {
		if (count == CONFIG_CGROUPS_MAX)
			return -EINVAL;
		memcpy(cgroups[count++], part, (size_t)n);
	}
	if (n < 0)
		return n;
	memcpy(ret->cgroups, cgroups, sizeof(cgroups));
	ret->n_cgroups = count;
	return 0;
}
