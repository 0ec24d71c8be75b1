/* SPDX-License-Identifier: MIT */
/*
 * agent_func: the traced programs in the agent's loop; see agent_state.h.
 *
 * They have a run of their own and do not change the agent's state: that is the scheduler's. An agent
 * whose programs record wakes up as often as one that traces; one that waits for programs does not
 * wake up for them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/agent/agent_state.h"
#include "device/profile/told_objects.h"
#include "wire/func_door.h"

/* Who says nothing gets the socket if it is his to give. */
static bool is_wanted(const struct settings *s)
{
	return s->func_socket[0] && (geteuid() == 0 || strcmp(s->func_socket, FUNC_DOOR_PATH));
}

/* The socket's folder, if only that is missing; others than root must be able to pass through it. */
static void open_way(const struct settings *s)
{
	char path[SETTINGS_PATH_MAX];
	struct stat st;
	char *slash;

	snprintf(path, sizeof(path), "%s", s->func_socket);
	slash = strrchr(path, '/');
	if (!slash || slash == path)
		return;
	*slash = 0;
	mkdir(path, 0755); /* if it fails, what follows says why */
	if (s->func_group[0] && stat(path, &st) == 0 && st.st_uid == geteuid())
		chmod(path, (st.st_mode & 07777) | 0111);
}

void agent_open_feed(struct agent *a)
{
	const struct settings *s = a->o.settings;
	struct func_feed_options o = { .spool = a->spool,
				       .device = s->name,
				       .socket = s->func_socket,
				       .group = s->func_group,
				       .folder = s->func_folder,
				       .bytes = s->func_bytes,
				       .mode = a->config.func,
				       .told = a->told };
	struct error e = ERROR_INIT;

	if (!is_wanted(s))
		return;
	open_way(s);
	if (func_feed_new(&a->feed, &o, &e) < 0)
		agent_log(a, "no program is traced: %s", e.text);
	else
		a->config.func = func_feed_get_mode(a->feed);
}

void agent_turn_feed(struct agent *a)
{
	struct error e = ERROR_INIT;

	if (!a->feed || a->now_ms < func_feed_next(a->feed))
		return;
	func_feed_turn(a->feed, a->now_ms, &e);
	if (!e.text[0] || !strcmp(e.text, a->feed_failure.text))
		return;
	a->feed_failure = e;
	agent_log(a, "%s", e.text);
}

void agent_answer_feed(struct agent *a)
{
	func_feed_answer(a->feed, a->now_ms);
}

uint64_t agent_next_feed(const struct agent *a)
{
	return a->feed ? func_feed_next(a->feed) : UINT64_MAX;
}

int agent_feed_fd(const struct agent *a)
{
	return a->feed ? func_feed_fd(a->feed) : -1;
}

bool agent_is_fed(const struct agent *a)
{
	return a->feed && func_feed_is_busy(a->feed);
}

void agent_end_feed(struct agent *a, bool keep)
{
	struct error e = ERROR_INIT;

	if (a->feed && !keep && func_feed_stop(a->feed, a->now_ms, &e) < 0)
		agent_log(a, "%s", e.text);
	func_feed_free(a->feed);
	a->feed = NULL;
}

int agent_set_func(struct agent *a, const struct message_config *c, struct error *e)
{
	if (!(c->given >> CONFIG_FUNC & 1))
		return 0;
	if (!a->feed && c->func != FUNC_MODE_OFF)
		return error_set(e, EOPNOTSUPP,
				 "cannot trace programs: this agent has no socket for them");
	if (a->feed)
		func_feed_set_mode(a->feed, c->func, a->now_ms);
	a->config.func = c->func;
	return 0;
}

/* --- files of programs, which hold the names of their functions --- */

void agent_make_told(struct agent *a)
{
	if (is_wanted(a->o.settings) && a->o.settings->objects_rate)
		a->told = told_objects_new(a->o.settings->objects_rate);
}

void agent_want_object(void *context, const struct message_want *m)
{
	const struct agent *a = context;

	told_objects_want(a->told, m, a->now_ms);
}

uint32_t agent_put_piece(void *context, uint8_t *body)
{
	const struct agent *a = context;

	return told_objects_put(a->told, body, a->now_ms);
}

uint64_t agent_next_piece(const struct agent *a)
{
	return a->told && uplink_is_welcome(a->uplink) ? told_objects_next(a->told) : UINT64_MAX;
}

uint32_t agent_object_ability(const struct agent *a)
{
	return a->told && (a->o.settings->objects_anywhere || line_is_local(a->line))
		       ? ABILITY_OBJECTS
		       : 0;
}
