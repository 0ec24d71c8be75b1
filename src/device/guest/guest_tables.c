/* SPDX-License-Identifier: MIT */
/*
 * guest_tables: see guest_tables.h.
 *
 * The kernel's address of a page table is one of its map of all memory; what the host sees is the physical one (guest_linear.h).
 */
#include "device/guest/guest_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <guest_object.h> /* made from src/device/bpf/guest.bpf.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/bpf/guest_record.h"
#include "device/guest/guest_linear.h"

#define LINKS 5U

typedef void (*take_event)(void *context, const struct guest_event *ev);

struct guest_tables {
	struct bpf_object *object;
	struct bpf_link *link[LINKS], *list;
	uint32_t n_links;
	struct ring_buffer *ring;
	uint64_t told; /* of those that were missed */
	take_event take;
	void *context;
};

/* Of this machine: /proc/kcore is there for CAP_SYS_RAWIO only, which nobody wants to keep. */
static struct guest_linear linear;

/* What libbpf last complained about. */
static char complaint[256];

__attribute__((format(printf, 2, 0))) static int keep_complaint(enum libbpf_print_level level,
								const char *format, va_list ap)
{
	if (level == LIBBPF_WARN && !complaint[0])
		vsnprintf(complaint, sizeof(complaint), format, ap);
	complaint[strcspn(complaint, "\n")] = 0;
	return 0;
}

/* --- records --- */

/* Without what a register has beside it, and on x86 without the bit that tells a process's two tables apart. */
#if defined(__x86_64__)
#define TABLE 0x000fffffffffe000ULL
#else
#define TABLE 0x0000fffffffffffeULL
#endif

static void translate(const struct guest_record *r, struct guest_event *ret)
{
	static const enum guest_event_type types[] = { GUEST_EVENT_FORK, GUEST_EVENT_EXEC,
						       GUEST_EVENT_NAME, GUEST_EVENT_EXIT };

	*ret = (struct guest_event){ .type = types[r->kind & 3],
				     .ns = r->ns,
				     .pid = r->pid,
				     .tid = r->tid,
				     .parent = r->parent,
				     .is_last = r->is_last };
	if (r->pgd && guest_linear_get(&linear, r->pgd, &ret->table))
		ret->table &= TABLE;
#if defined(__x86_64__)
	ret->task = r->stack;
#else
	ret->task = r->task;
#endif
	memcpy(ret->comm, r->comm, strnlen(r->comm, sizeof(ret->comm)));
}

static int take_record(void *context, void *data, size_t len)
{
	struct guest_tables *t = context;
	struct guest_event ev;

	if (len < sizeof(struct guest_record))
		return 0;
	translate(data, &ev);
	t->take(t->context, &ev);
	return 0;
}

/* --- loading --- */

static int fail(int r, const char *what, struct error *e)
{
	return error_set(e, -r, "cannot tell page tables: cannot %s: %s%s%s", what, strerror(-r),
			 complaint[0] ? "; " : "", complaint);
}

static int attach(struct guest_tables *t, struct error *e)
{
	struct bpf_program *p;
	struct bpf_link *l;

	bpf_object__for_each_program(p, t->object)
	{
		bool is_list = !strcmp(bpf_program__name(p), "guest_list");

		l = is_list ? bpf_program__attach_iter(p, NULL) : bpf_program__attach_trace(p);
		if (!l)
			return fail(-errno, "attach the BPF programs", e);
		if (is_list)
			t->list = l;
		else if (t->n_links < LINKS)
			t->link[t->n_links++] = l;
	}
	return 0;
}

void guest_tables_prepare(void)
{
	guest_linear_load(&linear, "/proc/kcore");
}

int guest_tables_new(struct guest_tables **ret, struct error *e)
{
	static const struct bpf_object_open_opts opts = { .sz = sizeof(opts),
							  .object_name = "kiseki_guest" };
	CLEANUP(guest_tables) struct guest_tables *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return error_set(e, ENOMEM, "cannot tell page tables: out of memory");
	libbpf_set_print(keep_complaint);
	t->object = bpf_object__open_mem(guest_object, sizeof(guest_object), &opts);
	if (!t->object)
		return fail(-errno, "read the BPF programs", e);
	r = bpf_object__load(t->object);
	if (r < 0)
		return fail(r, "load the BPF programs", e);
	t->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(t->object, "ring"), take_record,
				   t, NULL);
	if (!t->ring)
		return fail(-errno, "map the ring", e);
	r = attach(t, e);
	if (r < 0)
		return r;
	*ret = take_ptr(t);
	return 0;
}

void guest_tables_free(struct guest_tables *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < t->n_links; i++)
		bpf_link__destroy(t->link[i]);
	bpf_link__destroy(t->list);
	ring_buffer__free(t->ring);
	bpf_object__close(t->object);
	free(t);
}

/* --- reading --- */

int guest_tables_fd(const struct guest_tables *t)
{
	return ring_buffer__epoll_fd(t->ring);
}

static uint64_t count_missed(const struct guest_tables *t)
{
	struct bpf_map *m;
	const uint64_t *v;
	size_t len;

	bpf_object__for_each_map(m, t->object)
	{
		if (!strstr(bpf_map__name(m), ".bss"))
			continue;
		v = bpf_map__initial_value(m, &len);
		return v && len >= sizeof(*v) ? __atomic_load_n(v, __ATOMIC_RELAXED) : 0;
	}
	return 0;
}

int guest_tables_read(struct guest_tables *t, take_event take, void *context)
{
	uint64_t missed = count_missed(t);

	t->take = take;
	t->context = context;
	ring_buffer__consume(t->ring);
	if (missed == t->told)
		return 0;
	t->told = missed;
	return -ENOBUFS;
}

int guest_tables_list(struct guest_tables *t, take_event take, void *context)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(t->list));
	struct guest_record r[64];
	struct guest_event ev;
	ssize_t n;
	size_t i, have = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, (char *)r + have, sizeof(r) - have)) > 0 ||
	       (n < 0 && errno == EINTR)) {
		have += n > 0 ? (size_t)n : 0;
		for (i = 0; i < have / sizeof(r[0]); i++) {
			translate(&r[i], &ev);
			take(context, &ev);
		}
		have %= sizeof(r[0]);
		memmove(r, &r[i], have);
	}
	return n < 0 ? -errno : 0;
}
