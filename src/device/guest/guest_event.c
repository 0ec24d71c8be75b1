/* SPDX-License-Identifier: MIT */
/* guest_event: see guest_event.h. */
#include "device/guest/guest_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/boot/process_event.h"
#include "device/guest/guest_tables.h"
#include "device/profile/process_maps.h"

#define BUFFER (4U << 20) /* bytes of the kernel's memory for events that wait */
#define READS 64U	  /* at once */

struct guest_events {
	struct guest_tables *tables; /* borrowed; NULL: it is the connector */
	int fd;			     /* of the connector */
};

int guest_events_new(struct guest_events **ret, struct guest_tables *tables, struct error *e)
{
	struct guest_events *g = calloc(1, sizeof(*g));

	if (!g)
		return error_set(e, ENOMEM, "cannot watch processes: out of memory");
	g->tables = tables;
	g->fd = tables ? -1 : process_event_open(BUFFER, PROCESS_EVENTS_OF_ALL, e);
	if (!tables && g->fd < 0) {
		int r = g->fd;

		free(g);
		return r;
	}
	*ret = g;
	return 0;
}

void guest_events_free(struct guest_events *e)
{
	if (e && e->fd >= 0)
		close(e->fd);
	free(e);
}

int guest_events_fd(const struct guest_events *e)
{
	return e->tables ? guest_tables_fd(e->tables) : e->fd;
}

/* What the connector does not say is asked of /proc, which may be too late: one that has ended and was not waited for yet
 * is still there. */
static bool translate(const struct process_event *ev, struct guest_event *ret)
{
	static const enum guest_event_type types[] = { GUEST_EVENT_FORK, GUEST_EVENT_EXEC,
						       GUEST_EVENT_NAME, GUEST_EVENT_EXIT };

	if (ev->type > PROCESS_EXIT || ev->pid > INT32_MAX || ev->group > INT32_MAX ||
	    ev->parent > INT32_MAX)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->type = types[ev->type];
	ret->ns = ev->ns;
	ret->pid = (int32_t)ev->group;
	ret->tid = (int32_t)ev->pid;
	ret->parent = (int32_t)ev->parent;
	ret->is_last = ev->pid == ev->group;
	if (ev->type == PROCESS_NAME)
		memcpy(ret->comm, ev->comm, sizeof(ret->comm));
	else if (ev->type != PROCESS_EXIT)
		process_comm_get(ret->pid, ret->tid, ret->comm);
	return true;
}

int guest_events_read(struct guest_events *e,
		      void (*take)(void *context, const struct guest_event *ev), void *context)
{
	uint8_t bytes[8192];
	struct process_event told;
	struct guest_event ev;
	uint32_t i;
	ssize_t n;
	size_t at;

	if (e->tables)
		return guest_tables_read(e->tables, take, context);
	for (i = 0; i < READS; i++) {
		n = recv(e->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n <= 0)
			return n < 0 && errno == ENOBUFS ? -ENOBUFS : 0;
		for (at = 0; process_event_next(&told, bytes, (size_t)n, &at);)
			if (translate(&told, &ev))
				take(context, &ev);
	}
	return 0;
}
