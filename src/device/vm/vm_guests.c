/* SPDX-License-Identifier: MIT */
/* vm_guests: see vm_guests.h. */
#include "device/vm/vm_guests.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/vm/vm_guest_link.h"

#define PORTS_MS 1000U /* between two looks into folders */
#define LAST_TURN_MS 20
#define ACCEPTS 64U /* in a turn */

struct vm_guests {
	struct vm_guests_options o;
	char *addresses;
	struct vm_guest_door door[VM_GUESTS_DOORS];
	uint32_t n_doors, n_links, n_machines;
	struct vm_guest_link *link[VM_GUESTS_LINKS];
	bool is_heard[VM_GUESTS_LINKS]; /* epoll tells of it */
	struct vm_guest_machine *machine[VM_GUESTS_MACHINES], *last;
	struct profile_meta *meta; /* during a turn */
	uint64_t looked_ms;
	int fd;
};

static int open_doors(struct vm_guests *g, struct error *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	char *at = g->addresses, *text;
	int r = 0;

	while (r == 0 && (text = strsep(&at, ","))) {
		if (g->n_doors == VM_GUESTS_DOORS)
			return error_set(e, E2BIG, "cannot use --guests: more than %u addresses",
					 VM_GUESTS_DOORS);
		r = vm_guest_door_open(&g->door[g->n_doors], text, e);
		if (r == 0 && g->door[g->n_doors].fd >= 0 &&
		    epoll_ctl(g->fd, EPOLL_CTL_ADD, g->door[g->n_doors].fd, &ev) < 0)
			r = error_set(e, errno, "cannot wait for guests: %s", strerror(errno));
		g->n_doors++;
	}
	return r;
}

int vm_guests_new(struct vm_guests **ret, const struct vm_guests_options *o, struct error *e)
{
	CLEANUP(vm_guests) struct vm_guests *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return error_set(e, ENOMEM, "cannot wait for guests: out of memory");
	g->o = *o;
	g->o.proc = o->proc ? o->proc : "/proc";
	g->fd = epoll_create1(EPOLL_CLOEXEC);
	g->addresses = strdup(o->addresses);
	if (g->fd < 0 || !g->addresses)
		return error_set(e, ENOMEM, "cannot wait for guests: out of memory");
	if (o->objects && mkdir(o->objects, 0755) < 0 && errno != EEXIST)
		return error_set(e, errno, "cannot make %s: %s", o->objects, strerror(errno));
	r = open_doors(g, e);
	if (r < 0)
		return r;
	*ret = take_ptr(g);
	return 0;
}

void vm_guests_free(struct vm_guests *g)
{
	uint32_t i;

	if (!g)
		return;
	for (i = 0; i < g->n_links; i++)
		vm_guest_link_free(g->link[i]);
	for (i = 0; i < g->n_machines; i++) {
		vm_guest_objects_free(g->machine[i]->objects);
		free(g->machine[i]);
	}
	for (i = 0; i < g->n_doors; i++)
		vm_guest_door_close(&g->door[i]);
	if (g->fd >= 0)
		close(g->fd);
	free(g->addresses);
	free(g);
}

int vm_guests_fd(const struct vm_guests *g)
{
	return g->fd;
}

/* --- machines --- */

static struct vm_guest_machine *get_machine(void *context, int32_t vm)
{
	struct vm_guests *g = context;
	uint32_t i;

	if (g->last && g->last->vm == vm)
		return g->last;
	for (i = 0; i < g->n_machines; i++)
		if (g->machine[i]->vm == vm)
			return g->last = g->machine[i];
	if (g->n_machines == VM_GUESTS_MACHINES)
		return NULL;
	g->last = calloc(1, sizeof(*g->last));
	if (!g->last)
		return NULL;
	g->last->vm = vm;
	if (g->o.objects && vm && vm_guest_objects_new(&g->last->objects, g->o.objects, vm) < 0)
		g->last->objects = NULL;
	return g->machine[g->n_machines++] = g->last;
}

void vm_guests_see(struct vm_guests *g, const struct sample_event *ev)
{
	struct vm_guest_machine *m;

	if (ev->kind != SAMPLE_TAKEN || ev->task.pid <= 0 || !(ev->guest & SAMPLE_GUEST_PC))
		return;
	m = get_machine(g, ev->task.pid);
	if (m && ev->mode == SAMPLE_GUEST_KERNEL)
		vm_guest_names_push(&m->names, ev->guest_pc);
	else if (m && m->objects && ev->mode == SAMPLE_GUEST_USER)
		vm_guest_objects_see(m->objects, ev);
}

/* --- links --- */

static void add_link(struct vm_guests *g, int fd, const struct vm_guest_peer *peer,
		     const char *path)
{
	struct vm_guest_link_options o = { .fd = fd,
					   .peer = *peer,
					   .is_port = path,
					   .path = path,
					   .proc = g->o.proc,
					   .meta = g->meta,
					   .get_machine = get_machine,
					   .context = g };
	struct epoll_event ev = { .events = EPOLLIN };

	if (g->n_links == VM_GUESTS_LINKS || epoll_ctl(g->fd, EPOLL_CTL_ADD, fd, &ev) < 0 ||
	    vm_guest_link_new(&g->link[g->n_links], &o) < 0) {
		close(fd);
		return;
	}
	g->is_heard[g->n_links++] = true;
}

static bool has_port(const struct vm_guests *g, const char *path)
{
	uint32_t i;

	for (i = 0; i < g->n_links; i++)
		if (!strcmp(vm_guest_link_path(g->link[i]), path))
			return true;
	return false;
}

/* Sockets of VMMs that were not there before, or whose connection ended. */
static void look_for_ports(struct vm_guests *g, const struct vm_guest_door *d)
{
	DIR *folder = opendir(d->path);
	const struct dirent *entry;
	struct vm_guest_peer peer;
	char path[VM_GUEST_PATH];
	int n, fd;

	while (folder && (entry = readdir(folder))) {
		n = snprintf(path, sizeof(path), "%s/%s", d->path, entry->d_name);
		if (entry->d_name[0] == '.' || n >= (int)sizeof(path) || has_port(g, path))
			continue;
		fd = vm_guest_door_connect(path, &peer);
		if (fd >= 0)
			add_link(g, fd, &peer, path);
	}
	if (folder)
		closedir(folder);
}

static void take_new(struct vm_guests *g, uint64_t now_ms)
{
	bool look = now_ms - g->looked_ms >= PORTS_MS;
	struct vm_guest_peer peer;
	uint32_t i, n;
	int fd;

	if (look)
		g->looked_ms = now_ms;
	for (i = 0; i < g->n_doors; i++) {
		if (g->door[i].is_folder && look)
			look_for_ports(g, &g->door[i]);
		/* Whoever finds no room is thrown out: one that waits would wake us for ever. */
		for (n = 0; !g->door[i].is_folder && n < ACCEPTS &&
			    (fd = vm_guest_door_accept(&g->door[i], &peer)) >= 0;
		     n++)
			add_link(g, fd, &peer, NULL);
	}
}

/* One that may say no more for now must not wake anybody. */
static void watch_link(struct vm_guests *g, uint32_t i)
{
	bool wants = vm_guest_link_wants(g->link[i]);
	struct epoll_event ev = { .events = wants ? EPOLLIN : 0 };

	if (wants != g->is_heard[i])
		epoll_ctl(g->fd, EPOLL_CTL_MOD, vm_guest_link_fd(g->link[i]), &ev);
	g->is_heard[i] = wants;
}

static void drop_link(struct vm_guests *g, uint32_t i, int why, const struct error *e)
{
	const struct vm_guest_machine *m = vm_guest_link_machine(g->link[i]);
	char text[sizeof(e->text) + 64];

	snprintf(text, sizeof(text),
		 why == -EPIPE ? "machine %d: its guest program is gone: %s"
			       : "machine %d: its guest program is refused: %s",
		 m ? m->vm : 0, e->text);
	if (g->o.say && (m || why != -EPIPE))
		g->o.say(text);
	vm_guest_link_free(g->link[i]);
	g->n_links--;
	memmove(&g->link[i], &g->link[i + 1], (g->n_links - i) * sizeof(struct vm_guest_link *));
	memmove(&g->is_heard[i], &g->is_heard[i + 1], (g->n_links - i) * sizeof(bool));
}

void vm_guests_turn(struct vm_guests *g, struct profile_meta *meta)
{
	struct error e = ERROR_INIT;
	uint64_t now_ns;
	uint32_t i;
	int r;

	g->meta = meta;
	take_new(g, clock_mono_ms());
	now_ns = clock_mono_ns();
	/* The oldest first: that a program ended is seen before it comes again. */
	for (i = 0; i < g->n_links;) {
		r = vm_guest_link_turn(g->link[i], now_ns, &e);
		if (r < 0)
			drop_link(g, i, r, &e);
		else
			watch_link(g, i++);
	}
}

static bool is_settled(const struct vm_guests *g)
{
	uint32_t i;

	for (i = 0; i < g->n_links; i++)
		if (!vm_guest_link_is_settled(g->link[i]))
			return false;
	return true;
}

void vm_guests_finish(struct vm_guests *g, struct profile_meta *meta)
{
	uint64_t end_ms = clock_mono_ms() + VM_GUESTS_LAST_MS;
	uint32_t i;

	for (i = 0; i < g->n_links; i++)
		vm_guest_link_hurry(g->link[i]);
	do {
		struct pollfd p = { .fd = g->fd, .events = POLLIN };

		vm_guests_turn(g, meta);
		if (is_settled(g))
			break;
		poll(&p, 1, LAST_TURN_MS);
	} while (clock_mono_ms() < end_ms);
	for (i = 0; i < g->n_links; i++)
		vm_guest_link_finish(g->link[i], clock_mono_ns());
}
