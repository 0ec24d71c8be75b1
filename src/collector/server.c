/* SPDX-License-Identifier: MIT */
/*
 * server: see server.h. The loop and what wakes it: the listener, one timer, and one async for all
 * that other threads have to say (a commit's end, an instruction, the order to stop).
 */
#include "collector/server.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/connection.h"

#define BACKLOG 1024
#define STOP_COMMIT_MS 2000U /* how long the last commit may take */

#define connection_of(entry)                                                                       \
	((struct connection *)((char *)(entry)-offsetof(struct connection, deadline)))

static void set_can_wake(struct server *s, bool can_wake)
{
	uv_mutex_lock(&s->wake_lock);
	s->can_wake = can_wake;
	uv_mutex_unlock(&s->wake_lock);
}

/* From any thread. A last commit may end after the loop has. */
static void wake(void *context)
{
	struct server *s = context;

	uv_mutex_lock(&s->wake_lock);
	if (s->can_wake)
		uv_async_send(&s->wake);
	uv_mutex_unlock(&s->wake_lock);
}

/* --- stopping --- */

static void begin_stop(struct server *s)
{
	struct connection *c;

	s->stopping = true;
	s->stop_ms = server_now_ms(s) + STOP_COMMIT_MS;
	uv_close((uv_handle_t *)&s->listener, NULL);
	for (c = s->connections; c; c = c->next)
		connection_settle(c); /* nothing more is read */
}

static void finish(struct server *s)
{
	struct connection *c, *next;

	s->finishing = true;
	for (c = s->connections; c; c = next) {
		next = c->next;
		session_bye(&c->session, BYE_DONE, "the collector ends");
		connection_settle(c);
	}
}

/* Once everything that was put is acknowledged, or cannot be: BYE to all; once they are gone, the
 * loop has nothing to do any more. */
static void go_on_stopping(struct server *s)
{
	bool committed = atomic_load(&s->durable) >= store_puts(s->o.store);

	if (!s->finishing && (committed || server_now_ms(s) >= s->stop_ms))
		finish(s);
	if (s->finishing && !s->connections) {
		set_can_wake(s, false);
		uv_close((uv_handle_t *)&s->timer, NULL);
		uv_close((uv_handle_t *)&s->wake, NULL);
		uv_close((uv_handle_t *)&s->idle, NULL);
		uv_close((uv_handle_t *)&s->prepare, NULL);
	}
}

/* --- what wakes the loop --- */

static void commit_all(struct server *s)
{
	uint64_t durable = atomic_load(&s->durable);
	struct connection *c = s->waiting, *next;

	/* Those that wait again are put in front of the list. */
	for (; c; c = next) {
		next = c->next_waiting;
		connection_commit(c, durable);
	}
}

/* To all recorders of that kind beside the device's agent; of their answers the first counts. People do this, so it is seldom. */
static void send_pace(struct server *s, uint32_t slot, const struct message_instruction *m)
{
	uint32_t of = config_get_pace(&m->config);
	struct connection *c, *next;
	bool is_sent = false;

	for (c = s->connections; c; c = next) {
		next = c->next;
		if (!(c->paces & 1U << of) || c->slot != slot || !c->greeted)
			continue;
		is_sent = true;
		session_instruct(&c->session, m);
		connection_settle(c);
	}
	if (!is_sent)
		registry_push_absent(s->o.registry, slot, of);
}

static void send_instructions(struct server *s)
{
	struct message_instruction m;
	struct connection *c;
	uint32_t slot;

	while (registry_pop_instruction(s->o.registry, &slot, &m)) {
		if (config_get_pace(&m.config) < PACES) {
			send_pace(s, slot, &m);
			continue;
		}
		c = slot < s->n_places ? s->places[slot].agent : NULL;
		if (!c)
			continue; /* it left; the registry knows, or will in a moment */
		session_instruct(&c->session, &m);
		connection_settle(c);
	}
}

void server_wake(struct server *s)
{
	wake(s);
}

static void send_wants(struct server *s)
{
	struct message_want m;
	struct connection *c;

	while (s->o.objects && (c = objects_pop(s->o.objects, &m))) {
		session_want(&c->session, &m);
		connection_settle(c);
	}
}

static void on_wake(uv_async_t *handle)
{
	struct server *s = handle->data;

	commit_all(s);
	send_instructions(s);
	send_wants(s);
	if (atomic_load(&s->stop) && !s->stopping)
		begin_stop(s);
	if (s->stopping)
		go_on_stopping(s);
}

/* Before the loop looks at the sockets. */
static void on_prepare(uv_prepare_t *handle)
{
	struct server *s = handle->data;

	s->turn++;
}

static void on_second(struct server *s)
{
	struct connection *c;

	s->last_second_ms = server_now_ms(s);
	for (c = s->connections; c; c = c->next)
		connection_push_traffic(c);
	registry_tick(s->o.registry, session_clock_now().mono_ns);
}

/* What keeps connections from being taken is said once. */
static void note_refusal(struct server *s, int status)
{
	char line[120];

	if (!s->turns_away) {
		snprintf(line, sizeof(line), "cannot take connections: %s", uv_strerror(status));
		s->o.log(s->o.log_context, line);
	}
	s->turns_away = true;
}

/* libuv has one, and listens no further until it is taken. If there is no memory for it now, there may be later. */
static void take_connection(struct server *s)
{
	s->has_caller = !connection_accept(s);
	if (s->has_caller)
		note_refusal(s, UV_ENOMEM);
	else
		s->turns_away = false;
}

static void on_timer(uv_timer_t *handle)
{
	struct server *s = handle->data;
	struct wheel_entry *entry;

	if (s->has_caller && !s->stopping)
		take_connection(s);
	while ((entry = wheel_pop(&s->wheel, server_now_ms(s))))
		connection_deadline(connection_of(entry));
	guard_turn(s);
	if (server_now_ms(s) >= s->last_second_ms + 1000)
		on_second(s);
	if (s->stopping)
		go_on_stopping(s);
}

/* There is no file left for a connection: it is taken with the one that was kept for that, and closed. Or it would
 * wait at the listener, and libuv would try again at once, for ever, and do nothing else. */
static void turn_away(struct server *s)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	uv_os_fd_t listener;
	int fd;

	if (s->reserve_fd < 0)
		nanosleep(&moment, NULL); /* somebody else was faster; others may close theirs */
	else
		close(s->reserve_fd);
	if (uv_fileno((uv_handle_t *)&s->listener, &listener) == 0) {
		fd = accept(listener, NULL, NULL);
		if (fd >= 0)
			close(fd);
	}
	s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct server *s = listener->data;

	if (status >= 0) {
		take_connection(s);
		return;
	}
	note_refusal(s, status);
	if (status == UV_EMFILE || status == UV_ENFILE)
		turn_away(s);
}

static void on_commit(void *context, uint64_t durable)
{
	struct server *s = context;

	atomic_store(&s->durable, durable);
	wake(s);
}

static void log_commit(void *context, const char *line)
{
	struct server *s = context;

	s->o.log(s->o.log_context, line);
}

/* --- start and stop --- */

static int start_committer(struct server *s, struct error *e)
{
	struct committer_options o = { .store = s->o.store,
				       .commit_ms = s->o.commit_ms,
				       .done = on_commit,
				       .log = log_commit,
				       .context = s };

	return committer_start(&s->committer, &o, e);
}

static int listen_on(struct server *s, struct error *e)
{
	struct sockaddr_storage bound;
	char text[ENDPOINT_TEXT_MAX];
	int len = sizeof(bound), r;

	r = uv_tcp_bind(&s->listener, (const struct sockaddr *)&s->o.address, 0);
	if (r == 0)
		r = uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection);
	if (r < 0)
		return error_set(e, -r, "cannot listen on %s for devices: %s",
				 endpoint_format(&s->o.address, text), uv_strerror(r));
	memset(&bound, 0, sizeof(bound));
	uv_tcp_getsockname(&s->listener, (struct sockaddr *)&bound, &len);
	s->port = endpoint_get_port(&bound);
	return 0;
}

static void run_loop(void *context)
{
	struct server *s = context;

	pthread_setname_np(pthread_self(), "kiseki-ingest");
	uv_run(&s->loop, UV_RUN_DEFAULT);
}

static void free_server(struct server *s)
{
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
	committer_stop(s->committer);
	guard_close(s);
	uv_mutex_destroy(&s->wake_lock);
	session_room_free(s->env.room);
	free(s->places);
	free(s);
}

/* All handles are there from now on; a failure behind this must close them. */
static int init_loop(struct server *s)
{
	int r = uv_loop_init(&s->loop);

	if (r < 0)
		return r;
	uv_tcp_init(&s->loop, &s->listener);
	uv_timer_init(&s->loop, &s->timer);
	uv_async_init(&s->loop, &s->wake, on_wake);
	uv_idle_init(&s->loop, &s->idle);
	uv_prepare_init(&s->loop, &s->prepare);
	s->listener.data = s->timer.data = s->wake.data = s->idle.data = s->prepare.data = s;
	uv_prepare_start(&s->prepare, on_prepare);
	wheel_init(&s->wheel, uv_now(&s->loop));
	uv_timer_start(&s->timer, on_timer, WHEEL_STEP_MS, WHEEL_STEP_MS);
	s->can_wake = true;
	return 0;
}

static void close_loop(struct server *s)
{
	set_can_wake(s, false);
	uv_close((uv_handle_t *)&s->listener, NULL);
	uv_close((uv_handle_t *)&s->timer, NULL);
	uv_close((uv_handle_t *)&s->wake, NULL);
	uv_close((uv_handle_t *)&s->idle, NULL);
	uv_close((uv_handle_t *)&s->prepare, NULL);
	uv_run(&s->loop, UV_RUN_DEFAULT);
	uv_loop_close(&s->loop);
}

int server_start(struct server **ret, const struct server_options *o, struct error *e)
{
	struct server *s = calloc(1, sizeof(*s));
	int r;

	if (!s || uv_mutex_init(&s->wake_lock) < 0) {
		free(s);
		return error_set(e, ENOMEM, "cannot start the server: out of memory");
	}
	s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!(s->env.room = session_room_new()) || init_loop(s) < 0) {
		free_server(s);
		return error_set(e, ENOMEM, "cannot start the server: out of memory");
	}
	s->o = *o;
	s->env.ops = &ingest_ops;
	s->env.window = o->device_bytes_max;
	s->env.turn_bytes = SESSION_TURN_BYTES;
	atomic_store(&s->durable, store_puts(o->store));
	r = guard_open(s, e);
	if (r == 0)
		r = listen_on(s, e);
	if (r == 0)
		r = start_committer(s, e);
	if (r == 0 && uv_thread_create(&s->thread, run_loop, s) < 0)
		r = error_set(e, EAGAIN, "cannot start the server: no thread");
	if (r < 0) {
		close_loop(s);
		free_server(s);
		return r;
	}
	registry_set_wake(o->registry, wake, s);
	*ret = s;
	return 0;
}

void server_stop(struct server *s)
{
	if (!s)
		return;
	registry_set_wake(s->o.registry, NULL, NULL);
	atomic_store(&s->stop, true);
	wake(s);
	uv_thread_join(&s->thread);
	uv_loop_close(&s->loop);
	free_server(s);
}

uint16_t server_port(const struct server *s)
{
	return s->port;
}

void server_count(struct server *s, struct server_counters *ret)
{
	struct loop_counters *n = &s->counters;
	struct committer_counters commits;
	int i;

	committer_count(s->committer, &commits);
	*ret = (struct server_counters){
		.connections = atomic_load(&n->connections),
		.connections_now = atomic_load(&n->connections_now),
		.refused = atomic_load(&n->refused),
		.frames = atomic_load(&n->frames),
		.blocks = atomic_load(&n->blocks),
		.bytes = atomic_load(&n->bytes),
		.events = atomic_load(&n->events),
		.func_events = atomic_load(&n->func_events),
		.duplicates = atomic_load(&n->duplicates),
		.commits = commits.commits,
		.commit_ns = commits.commit_ns,
		.commit_errors = commits.errors,
	};
	for (i = 0; i < LOSS_CAUSES; i++)
		ret->lost[i] = atomic_load(&n->lost[i]);
}
